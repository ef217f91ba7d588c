"""Which kinds of errors the comparator of a benchmark notices: a text against the same with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgesmith.experiments.anchor_comparisons import Told, compare_pairs
from judgesmith.experiments.benchmarking.models import refuse_unfinished
from judgesmith.experiments.benchmarking.plan import item_of
from judgesmith.experiments.benchmarking.sources import BenchmarkSource
from judgesmith.metrics import Estimate
from judgesmith.metrics.comparators import SeenKind, seen_kinds
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs.benchmarking import Comparator
from judgesmith.signatures.perturbation import InjectedError, Target

MODEL = "model"
"""The kind of errors that no rule made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMore:
    """A text and the same text with one error more.

    Attributes
    ----------
    source : BenchmarkSource
        What both are about.
    better, worse : Target
        The worse one's last error is the one between them.
    """

    source: BenchmarkSource
    better: Target
    worse: Target


def kind_of(error: InjectedError) -> str:
    """Return what an error is called: its rule and its side, or its side alone.

    Examples
    --------
    >>> error = InjectedError(sub_aspect="spelling", kind="typo", spans=((0, 1),), removed=("a",))
    >>> kind_of(error), kind_of(error.model_copy(update={"kind": "model"}))
    ('typo (spelling)', 'spelling')
    """
    return error.sub_aspect if error.kind == MODEL else f"{error.kind} ({error.sub_aspect})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenErrors(Record):
    """What a comparator notices.

    Attributes
    ----------
    accuracy : Estimate
        Share of pairs of which it prefers the text without the error; intervals over sources.
    similar, n_unanswered : float and int
        Share of pairs that it calls similar, and pairs without an answer, which are left out.
    kinds : tuple of SeenKind
        The same by kind of error, the least noticed first.
    """

    accuracy: Estimate
    similar: float
    n_unanswered: int
    kinds: tuple[SeenKind, ...]


def seen_errors(
    pairs: Sequence[OneMore],
    comparator: Comparator,
    *,
    progress: Told | None = None,
    note: Callable[[str], None] | None = None,
) -> SeenErrors:
    """Return how often a comparator prefers the text that has one error less.

    Parameters
    ----------
    pairs : sequence of OneMore
        What it is asked about.
    comparator : Comparator
        Who compares.
    progress : callable or None
        Told the number of pairs finished since it was last told.
    note : callable or None
        Told in a sentence how many pairs have no answer, if any.

    Raises
    ------
    UnfinishedError
        If the budget did not reach all pairs.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.
    """
    asked = (
        (item_of(one.source, one.better.text), item_of(one.source, one.worse.text)) for one in pairs
    )
    found = compare_pairs(asked, comparator, progress=progress)
    refuse_unfinished([found.tally.cause])
    if note is not None and found.tally.cause:
        note(
            f"{found.tally.n_unanswered} of {len(pairs)} pairs that the comparator was checked "
            f"with have no answer, for example: {found.tally.cause.text.rstrip('.')}."
        )
    signs, sources = found.signs, [one.source.id for one in pairs]
    answered = [place for place, sign in enumerate(signs.tolist()) if sign == sign]
    return SeenErrors(
        accuracy=share_interval(
            [int(signs[place] == 1) for place in answered],
            sources=[sources[place] for place in answered],
        ),
        similar=found.tally.n_similar / len(answered) if answered else float("nan"),
        n_unanswered=found.tally.n_unanswered,
        kinds=seen_kinds([kind_of(one.worse.errors[-1]) for one in pairs], signs, sources=sources),
    )
