from judgesmith.metrics.spans.agreement import (
    Span,
    SpanAgreement,
    SpanStatistic,
    span_agreement_difference,
)
from judgesmith.metrics.spans.matching import matched_span_agreement, span_character_agreement

__all__ = [
    "Span",
    "SpanAgreement",
    "SpanStatistic",
    "matched_span_agreement",
    "span_agreement_difference",
    "span_character_agreement",
]
