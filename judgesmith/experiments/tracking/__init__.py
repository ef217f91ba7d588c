"""Telling a tracking server, MLflow, what came out of an experiment: each thing once."""

from judgesmith.experiments.tracking.client import TrackingError
from judgesmith.experiments.tracking.tracker import MlflowTracker

__all__ = ["MlflowTracker", "TrackingError"]
