"""Scoring on many machines: Ray moves rows between workers that judge as one process would."""

from judgesmith.experiments.scoring.clusters.connecting import ClusterError
from judgesmith.experiments.scoring.clusters.datasets import score_dataset
from judgesmith.experiments.scoring.clusters.judging import RayJudging, ray_judging

__all__ = ["ClusterError", "RayJudging", "ray_judging", "score_dataset"]
