"""Which metric should notice which kind of damage: weights of ours, to be replaced by votes.

Yuan et al. (2024), "DHP Benchmark", asked ten experts which metric each kind of perturbation
harms most and print their answers in a figure only. These are this project's own judgement, in
the same form: shares that sum to 1. Whoever can ask experts should give their votes instead.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["EXPERT_WEIGHTS"]

Weights = Mapping[str, float]


def _of(*metrics: str, **shares: float) -> Weights:
    """Return the share of each metric, 0 where none is said."""
    return MappingProxyType({metric: shares.get(metric, 0.0) for metric in metrics})


def _summary(**shares: float) -> Weights:
    return _of("coherence", "consistency", "fluency", "relevance", **shares)


def _story(**shares: float) -> Weights:
    return _of("coherence", "consistency", "fluency", **shares)


def _answer() -> Weights:
    return _of("answer_quality", answer_quality=1.0)


def _translation(**shares: float) -> Weights:
    return _of("accuracy", "fluency", **shares)


EXPERT_WEIGHTS: Final[Mapping[str, Mapping[str, Weights]]] = MappingProxyType(
    {
        "summarization": MappingProxyType(
            {
                "character_deletions": _summary(fluency=1.0),
                "character_typos": _summary(fluency=1.0),
                "fictional_entities": _summary(consistency=1.0),
                "grammatical_errors": _summary(fluency=1.0),
                "reordering": _summary(coherence=1.0),
                "rewriting": _summary(relevance=0.6, coherence=0.2, fluency=0.2),
            }
        ),
        "story_completion": MappingProxyType(
            {
                "character_deletions": _story(fluency=1.0),
                "character_typos": _story(fluency=1.0),
                "fictional_entities": _story(consistency=1.0),
                "grammatical_errors": _story(fluency=1.0),
                "random_ending": _story(coherence=0.5, consistency=0.5),
                "wrong_ending": _story(coherence=0.5, consistency=0.5),
            }
        ),
        "question_answering": MappingProxyType(
            {
                "character_deletions": _answer(),
                "character_typos": _answer(),
                "fictional_entities": _answer(),
                "grammatical_errors": _answer(),
                "random_answer": _answer(),
            }
        ),
        "translation": MappingProxyType(
            {
                "character_deletions": _translation(fluency=0.7, accuracy=0.3),
                "character_typos": _translation(fluency=0.7, accuracy=0.3),
                "word_deletions": _translation(accuracy=0.7, fluency=0.3),
                "fictional_entities": _translation(accuracy=1.0),
                "grammatical_errors": _translation(fluency=1.0),
            }
        ),
    }
)
"""Shares by task, kind of perturbation and metric."""
