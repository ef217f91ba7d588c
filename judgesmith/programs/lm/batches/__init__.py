"""Answers at half the price and a day's notice: OpenAI's batches of requests, and their files."""

from judgesmith.programs.lm.batches.client import batch_model
from judgesmith.programs.lm.batches.coordinator import BatchCoordinator, BatchLimits

__all__ = ["BatchCoordinator", "BatchLimits", "batch_model"]
