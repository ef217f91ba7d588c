"""A language model that changes many texts: steps written once, answers verified, none lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from judgesmith.programs.asking import Asker, current_lm
from judgesmith.programs.models import ModelError
from judgesmith.programs.perturbing.change_steps import (
    UNREADABLE,
    Wanted,
    change_steps,
    planning_steps,
)
from judgesmith.programs.perturbing.orders import GENERAL_STEPS
from judgesmith.programs.perturbing.perturber import Perturber
from judgesmith.programs.readable import ENOUGH_UNREAD
from judgesmith.programs.running import CONCURRENCY, NOT_ASKED, Work, beginning, work_each
from judgesmith.signatures.perturbation import Perturbed, Skipped

if TYPE_CHECKING:
    import dspy

Outcome = Perturbed | Skipped
"""What became of one text and one way to change it."""

Plans = Mapping[str, tuple[str, ...]]
"""The steps of each change, by order."""


class ModelPerturber:
    """Lets a language model change texts, many at a time, each answer verified.

    Parameters
    ----------
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model, which answers by rules.
    concurrency : int
        Versions asked for at the same time.
    told : callable or None
        Told in sentences what stood in for what.
    """

    def __init__(
        self,
        lm: dspy.LM | None = None,
        *,
        concurrency: int = CONCURRENCY,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._lm = lm or current_lm()
        self._asker = Asker.of(Perturber(), self._lm)
        self._concurrency = concurrency
        self._told = told or (lambda sentence: None)

    def plans(self, orders: Iterable[str]) -> Plans:
        """Return the steps of each order, as the model writes them once for all texts.

        General steps stand in where it writes none, or the budget does not reach so far.
        """
        work = _Planning(self._asker)
        several = list(dict.fromkeys(orders))
        found: dict[str, tuple[str, ...]] = {}
        written = work_each(
            work,
            several,
            concurrency=self._concurrency,
            may_begin=beginning(1, self._lm),
        )
        for order, steps in written:
            if isinstance(steps, str):
                name = order.partition(":")[0]
                self._told(f"{name} is carried out by general steps: {steps.rstrip('.')}.")
            found[order] = GENERAL_STEPS if isinstance(steps, str) else steps
        return found

    def each(
        self, wanted: Iterable[Wanted], *, orders: Iterable[str]
    ) -> Iterator[tuple[Wanted, Outcome]]:
        """Yield versions that were asked for with what became of them, in order.

        Parameters
        ----------
        wanted : iterable of Wanted
            Read only as far as needed.
        orders : iterable of str
            All orders among them.
        """
        work = _Changing(self._asker, self.plans(orders))
        yield from work_each(
            work,
            wanted,
            concurrency=self._concurrency,
            may_begin=beginning(1, self._lm),
        )
        for n, problem in work.faults.values():
            self._told(fault_in_words(n, problem))


def fault_in_words(n: int, problem: str, what: str = "version") -> str:
    """Return what is told of versions, or what else, that the model could not be asked for.

    Examples
    --------
    >>> fault_in_words(2, "not asked: max_calls=3 is reached")
    '2 versions were not asked for: max_calls=3 is reached. The same again with more goes on there.'
    >>> fault_in_words(1, "the model could not be reached: no route")
    '1 version was skipped: the model could not be reached, for example: no route.'
    """
    were = f"{n} {what}{'s were' if n > 1 else ' was'}"
    happened, _, why = problem.rstrip(".").partition(": ")
    if problem.startswith(NOT_ASKED):
        return f"{were} not asked for: {why}. The same again with more goes on there."
    return f"{were} skipped: {happened}, for example: {why}."


class _Planning(Work[str, "tuple[str, ...] | str"]):
    """Orders, for each of which steps are written."""

    async def done(self, unit: str) -> tuple[str, ...] | str:
        """Return the steps, or why there are none."""
        return await self.asker.taken(planning_steps(unit))

    def undone(self, unit: str, problem: str) -> tuple[str, ...] | str:
        """Return why the model could not be asked."""
        return problem


class _Changing(Work[Wanted, Outcome]):
    """Versions of texts, each asked for by itself."""

    def __init__(self, asker: Asker, plans: Plans) -> None:
        super().__init__(asker)
        self._plans = plans
        self.faults: dict[str, tuple[int, str]] = {}
        self._n_unread = 0
        self._any_read = False

    async def done(self, unit: Wanted) -> Outcome:
        """Return one changed text, or why there is none."""
        if reason := unit.no_use:
            return Skipped(reason=reason)
        found = await self.asker.taken(change_steps(unit, self._plans[unit.order]))
        self._count(found)
        return found

    def undone(self, unit: Wanted, problem: str) -> Outcome:
        """Return the reason, without what is particular to one request."""
        reason = problem.partition(":")[0]
        n, first = self.faults.get(reason, (0, problem))
        self.faults[reason] = n + 1, first
        return Skipped(reason=reason)

    def _count(self, found: Outcome) -> None:
        if isinstance(found, Perturbed) or found.reason != UNREADABLE:
            self._any_read = True
        elif not self._any_read:
            self._n_unread += 1
            if self._n_unread >= ENOUGH_UNREAD:
                raise ModelError(
                    f"{self._n_unread} texts in a row were not changed, because nothing that the "
                    "model answered could be read. Check that the address and the model are those "
                    "of a chat model that keeps to a layout."
                )
