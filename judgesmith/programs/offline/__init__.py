"""The offline model: classical text-quality features and hand-set reasons in place of a model."""

from judgesmith.programs.offline.answering import (
    Score,
    UnknownSignature,
    answers_signature,
    features_of,
)
from judgesmith.programs.offline.engine import OfflineEngine
from judgesmith.programs.offline.reader import Example, Question, UnreadableRequest

__all__ = [
    "Example",
    "OfflineEngine",
    "Question",
    "Score",
    "UnknownSignature",
    "UnreadableRequest",
    "answers_signature",
    "features_of",
]
