"""The errors that a judge found in texts, beside the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from judgesmith.experiments.score_rows import Criteria
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import ErrorSpan, Judgement


@dataclass(frozen=True, kw_only=True)
class TextErrors:
    """A text and what a judge says is wrong with it.

    Attributes
    ----------
    item : RatedItem
        The text.
    errors : tuple of ErrorSpan or None
        In the judge's order; None where it gave no answer that could be read.
    score : float or None
        Its score of the whole, in points of its own scale.
    explanation : str
        Its words for the whole.
    criteria : mapping of str to CriterionScore
        Its scores on criteria, from 0 to 100.
    notes : tuple of str
        What is to be known of its judgement, such as that the score contradicts the errors.
    problem : str or None
        Why there is no score.
    support : tuple of tuple of str
        For each error of a panel, the members that found it; empty for other judges.
    """

    item: RatedItem
    errors: tuple[ErrorSpan, ...] | None
    score: float | None = None
    explanation: str = ""
    criteria: Criteria = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str | None = None
    support: tuple[tuple[str, ...], ...] = ()

    @property
    def finders(self) -> dict[ErrorSpan, tuple[str, ...]]:
        """The members of a panel that found each of ``distinct_errors``, where that is known."""
        found: dict[ErrorSpan, tuple[str, ...]] = {}
        for error, names in zip(self.errors or (), self.support, strict=False):
            plain = _on_no_criterion(error)
            found[plain] = tuple(dict.fromkeys((*found.get(plain, ()), *names)))
        return found

    @property
    def source(self) -> str:
        """What tells its source from others: intervals draw sources."""
        return self.item.source_id or self.item.source


@dataclass(frozen=True, kw_only=True)
class FoundErrors:
    """What a judge found in every text of a set.

    Attributes
    ----------
    label : str
        What the errors come from, for tables.
    texts : tuple of TextErrors
        One per item, in the order of the set.
    n_unused : int
        Rows of the file that belong to no item.
    """

    label: str
    texts: tuple[TextErrors, ...]
    n_unused: int

    @property
    def n_unscored(self) -> int:
        """Texts without an answer that could be read."""
        return sum(text.errors is None for text in self.texts)


def distinct_errors(errors: Sequence[ErrorSpan]) -> dict[ErrorSpan, tuple[str, ...]]:
    """Return each error without its criterion, and the criteria that it offends, in order.

    An annotator that is asked about each criterion may state the same error on several.

    Examples
    --------
    >>> errors = [ErrorSpan(text="b", criterion=name) for name in "xy"]
    >>> [(error.text, criteria) for error, criteria in distinct_errors(errors).items()]
    [('b', ('x', 'y'))]
    """
    found: dict[ErrorSpan, tuple[str, ...]] = {}
    for error in errors:
        plain = _on_no_criterion(error)
        before = found.setdefault(plain, ())
        if error.criterion and error.criterion not in before:
            found[plain] = (*before, error.criterion)
    return found


def _on_no_criterion(error: ErrorSpan) -> ErrorSpan:
    return error.model_copy(update={"criterion": ""}) if error.criterion else error


def found_errors(
    items: Sequence[RatedItem], judgements: Sequence[Judgement], *, label: str
) -> FoundErrors:
    """Return the errors that a judge has just found, as a file of scores would state them.

    Parameters
    ----------
    items : sequence of RatedItem
        The judged texts.
    judgements : sequence of Judgement
        Aligned with ``items``.
    label : str
        What the judge is called, in tables.

    Examples
    --------
    >>> found = found_errors([RatedItem(response="a")], [Judgement(score=1)], label="it")
    >>> found.texts[0].errors
    ()
    """
    texts = (
        TextErrors(
            item=item,
            errors=None if one.score is None and not one.errors else one.errors,
            score=one.score,
            explanation=one.explanation,
            criteria=one.criteria,
            notes=tuple(note.text for note in one.notes),
            problem=one.problem,
        )
        for item, one in zip(items, judgements, strict=True)
    )
    return FoundErrors(label=label, texts=tuple(texts), n_unused=0)
