"""Prompts: DSPy signatures, and the values in them.

The signatures need DSPy and live in ``judgesmith.signatures.questions``; the values here do not.
"""

from judgesmith.signatures.config import ActiveCriticConfig, Aggregation, Demonstration
from judgesmith.signatures.fences import Untrusted, UntrustedOrNone, fence_tag, fenced
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Judgement, Reason
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale

__all__ = ["PERCENT", "ActiveCriticConfig", "Aggregation", "Criterion", "CriterionScore"]
__all__ += ["Demonstration", "ErrorSpan", "Judgement", "Perturbation", "RatedItem", "Reason"]
__all__ += ["Rubric", "Scale", "Untrusted", "UntrustedOrNone", "fence_tag", "fenced"]
