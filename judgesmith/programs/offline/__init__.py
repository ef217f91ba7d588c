"""The offline model: lexical features with hand-set weights in place of a language model."""

from judgesmith.programs.offline import (  # they register what answers which question
    annotating,  # noqa: F401
    inferring,  # noqa: F401
    judging,  # noqa: F401
)
from judgesmith.programs.offline.engine import OfflineEngine
from judgesmith.programs.offline.inferring import limits_of
from judgesmith.programs.offline.requests import (
    Example,
    Question,
    Score,
    UnknownSignature,
    UnreadableRequest,
    Words,
    answers_signature,
    features_of,
)

__all__ = ["Example", "OfflineEngine", "Question", "Score", "UnknownSignature", "UnreadableRequest"]
__all__ += ["Words", "answers_signature", "features_of", "limits_of"]
