"""The offline model: classical text-quality features and hand-set reasons in place of a model."""

import judgesmith.programs.offline.checking
import judgesmith.programs.offline.comparing
import judgesmith.programs.offline.comparing_across
import judgesmith.programs.offline.exemplars
import judgesmith.programs.offline.inferring
import judgesmith.programs.offline.injecting
import judgesmith.programs.offline.judging
import judgesmith.programs.offline.perturbing
import judgesmith.programs.offline.planning
import judgesmith.programs.offline.sub_aspects
import judgesmith.programs.offline.supervising
import judgesmith.programs.offline.writing  # noqa: F401 - they register their answers
from judgesmith.programs.offline.answering import (
    Score,
    UnknownSignature,
    Words,
    answers_signature,
    features_of,
)
from judgesmith.programs.offline.engine import OfflineEngine
from judgesmith.programs.offline.reader import Example, Question, UnreadableRequest
from judgesmith.programs.offline.task_form import limits_of

__all__ = [
    "Example",
    "OfflineEngine",
    "Question",
    "Score",
    "UnknownSignature",
    "UnreadableRequest",
    "Words",
    "answers_signature",
    "features_of",
    "limits_of",
]
