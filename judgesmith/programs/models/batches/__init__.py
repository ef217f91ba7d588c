"""Answers at half the price and a day's notice: OpenAI's batches of requests, and their files."""

from judgesmith.programs.models.batches.desk import BatchDesk, BatchLimits
from judgesmith.programs.models.batches.engine import BatchEngine
from judgesmith.programs.models.batches.stack import BatchStack, batch_model

__all__ = ["BatchDesk", "BatchEngine", "BatchLimits", "BatchStack", "batch_model"]
