"""Answers at half the price and a day's notice: OpenAI's batches of requests, and their files."""

from judgesmith.programs.lm.batches.desk import BatchDesk, BatchLimits
from judgesmith.programs.lm.batches.service import BatchEngine
from judgesmith.programs.lm.batches.stack import BatchStack, batch_model

__all__ = ["BatchDesk", "BatchEngine", "BatchLimits", "BatchStack", "batch_model"]
