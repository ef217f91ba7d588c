"""A search by races whose winner replaces the start only if it is better on other rows, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from judgesmith.optimizers.confirming import Confirm, Confirmation
from judgesmith.optimizers.racing_search import Contender, OneCandidate, RacingSearch
from judgesmith.optimizers.splitting import IntArray


@dataclass(kw_only=True, eq=False)
class ConfirmedSearch(RacingSearch[OneCandidate]):
    """Proposes, races and remembers; holds every new leader against the start on other rows.

    That happens as soon as it leads, so that a budget may end the search at any moment: who was
    confirmed until then is known. What comes of it is not told to the race, which goes on as if it
    had not been asked. Of several leaders that pass the last is taken, the best in the race.

    Attributes
    ----------
    rule : Confirm or None
        Who passes; None takes the best in the race.
    aside : array of int
        Places of rows to confirm on, none of them in ``order``. Where there are none, the choice is
        crossed on those of the race, at its end.
    confirmations : list of Confirmation
        What came of it, in order.
    taken : int
        Number of the trial that was taken, 0 for the start.
    """

    rule: Confirm | None
    aside: IntArray
    confirmations: list[Confirmation] = field(default_factory=list)
    taken: int = 0
    whole: dict[int, OneCandidate] = field(default_factory=dict)

    def run(self, start: OneCandidate, known: Iterable[str] = ()) -> OneCandidate:
        """Return the last leader that passed, or ``start``.

        Where the budget ends the search, that is the last one that had passed until then.

        Parameters
        ----------
        start : Candidate
            As for ``RacingSearch``.
        known : iterable of str
            As for ``RacingSearch``.
        """
        self.whole = {0: start}
        best = super().run(start, known)
        if self.rule is None:
            self.taken = next(number for number, one in self.whole.items() if one is best)
            return best
        if not len(self.aside) and 0 in self.trials:
            self._cross(self.rule)
        passed = [one.number for one in self.confirmations if one.passed]
        self.taken = passed[-1] if passed else 0
        return self.whole[self.taken]

    @property
    def n_judged(self) -> int:
        """Rows that those who were tried were judged on, with those to confirm on."""
        n_confirmed = len(self.confirmations) + bool(self.confirmations)  # the start, once
        return super().n_judged + len(self.aside) * n_confirmed

    def _raced(
        self, leader: Contender[OneCandidate], batch: Sequence[Contender[OneCandidate]]
    ) -> Iterator[Contender[OneCandidate]]:
        for one in super()._raced(leader, batch):
            self.whole[one.number] = one.candidate
            yield one

    def _leads(self, best: Contender[OneCandidate]) -> None:
        if self.rule is None or not len(self.aside):
            return
        rows = self.aside.tolist()
        start = self.whole[0]
        self.together.judged([start, best.candidate], rows)
        # What grows with the number of rows weighs here what it weighed in the race.
        chosen, before = (
            one.table(rows).standing_for(len(self.order)) for one in (best.candidate, start)
        )
        self.confirmations.append(
            self.rule.on_others(
                self.objective,
                chosen,
                before,
                number=best.number,
                before=(self.trials[best.number].value, self.trials[0].value),
                rng=np.random.default_rng([self.seed, 6, best.number]),
            )
        )

    def _cross(self, rule: Confirm) -> None:
        rows = np.sort(self.order).tolist()
        found = rule.crossed(
            self.objective,
            [one.table(rows) for one in self.whole.values()],
            numbers=list(self.whole),
            rng=np.random.default_rng([self.seed, 6]),
        )
        if found is not None:
            self.confirmations.append(found)
