"""What is asked: DSPy signatures, and the values they speak of.

The signatures need DSPy and live in ``judgesmith.signatures.scoring``; the values here do not.
"""

from judgesmith.signatures.fences import Untrusted, fence_tag, fenced
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Judgement
from judgesmith.signatures.protocol import Aggregation, Demonstration, Protocol
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale

__all__ = [
    "PERCENT",
    "Aggregation",
    "Criterion",
    "CriterionScore",
    "Demonstration",
    "ErrorSpan",
    "Judgement",
    "Protocol",
    "RatedItem",
    "Rubric",
    "Scale",
    "Untrusted",
    "fence_tag",
    "fenced",
]
