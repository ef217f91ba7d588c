"""Scoring on many machines: Ray moves rows between workers that judge as one process would."""

from judgesmith.experiments.clusters.connecting import ClusterError
from judgesmith.experiments.clusters.datasets import score_dataset
from judgesmith.experiments.clusters.judging import RayJudging, ray_judging

__all__ = ["ClusterError", "RayJudging", "ray_judging", "score_dataset"]
