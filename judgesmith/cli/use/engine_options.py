"""Options that say where rows are judged: in this process, or by workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.model_options import AskedChoice, ModelChoice, announced
from judgesmith.cli.shared.options import Command, TakenOptions, WholeNumber, shown_option, together

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments.scoring.clusters import RayJudging
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import AnyModel, Usage
    from judgesmith.signatures import Judgement, RatedItem

ENGINE, ADDRESS, WORKERS = "--engine", "--address", "--workers"
LOCAL, RAY = "local", "ray"
ADDRESS_VARIABLE = "RAY_ADDRESS"
"""Where Ray has the address of a cluster from, and so have we."""


def engine_options(command: Command) -> Command:
    """Add ``--engine``, ``--address`` and ``--workers``."""
    return together(
        command,
        shown_option(
            ENGINE,
            click.Choice([LOCAL, RAY]),
            LOCAL,
            "Where scoring runs: this process, or a Ray cluster.",
        ),
        click.option(
            ADDRESS,
            metavar="HOST:PORT",
            help="Ray cluster, or auto [default: $RAY_ADDRESS, else a local one].",
        ),
        click.option(
            WORKERS,
            type=WholeNumber(1),
            help="Ray workers [default: one per processor].",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class EngineChoice(TakenOptions):
    """What the command line says of engines."""

    engine: str
    address: str | None
    workers: int | None

    def check(self, choice: ModelChoice, *, in_batches: bool) -> None:
        """Refuse what does not go together, before anything is read."""
        if self.engine == LOCAL:
            for option, given in ((ADDRESS, self.address), (WORKERS, self.workers)):
                if given is not None:
                    raise OptionError(
                        f"{option} is about a cluster.",
                        option=option,
                        hint=f"give {ENGINE} {RAY}, too.",
                    )
            return
        if in_batches:
            raise OptionError(
                "batches are answered elsewhere and leave workers nothing to do.",
                option=ENGINE,
                hint="leave this out.",
            )
        if choice.recorded_run is not None:
            raise OptionError(
                "what workers ask is neither recorded nor replayed.",
                option=ENGINE,
                hint="leave this out.",
            )
        from judgesmith.experiments.scoring.clusters.connecting import ray_module

        ray_module(alone=self.cluster is None)

    @property
    def cluster(self) -> str | None:
        """The address of a cluster that is there; None for one of this machine's own."""
        if self.address is not None:
            return self.address
        return os.environ.get(ADDRESS_VARIABLE) or None

    def asked(self, choice: ModelChoice) -> AskedChoice:
        """Return the models, for which keys are needed where they are asked."""
        elsewhere = self.engine == RAY and self.cluster is not None
        return choice.of(_AskedElsewhere if elsewhere else AskedChoice)

    @contextmanager
    def started(
        self, saved: AnySaved, lm: AnyModel, *, concurrency: int
    ) -> Iterator[RayEngine | None]:
        """Return a block with what judges rows; None for this process."""
        if self.engine == LOCAL:
            yield None
            return
        with ExitStack() as held:
            yield RayEngine(self, saved, lm, concurrency, held)


class _AskedElsewhere(AskedChoice):
    """Models that other machines ask, with keys of their own."""

    def check_key(self, lm: dspy.LM, *, option: str = "--model") -> None:
        """Leave it to the machines that ask to say that a key is missing."""
        announced(lm)


class RayEngine:
    """Judges rows on a cluster, which is connected to when the first row comes."""

    def __init__(
        self, given: EngineChoice, saved: AnySaved, lm: AnyModel, concurrency: int, held: ExitStack
    ) -> None:
        self._given = given
        self._saved = saved
        self._lm = lm
        self._concurrency = concurrency
        self._held = held
        self._judging: RayJudging | None = None

    def __call__(self, items: Iterator[RatedItem]) -> Iterator[tuple[RatedItem, Judgement]]:
        from judgesmith.experiments.scoring.clusters import ClusterError

        first = next(items, None)
        if first is None:
            return
        try:
            yield from self._started()(chain([first], items))
        except ClusterError as fault:
            option = ENGINE if self._given.cluster is None else ADDRESS
            raise OptionError(fault, option=option) from None

    def _started(self) -> RayJudging:
        from judgesmith.experiments.scoring.clusters import ray_judging

        if self._judging is None:
            # A cluster that cannot be had is the fault of its address.
            with blaming(ENGINE if self._given.cluster is None else ADDRESS):
                judging = ray_judging(
                    self._saved,
                    self._lm,
                    address=self._given.cluster,
                    workers=self._given.workers,
                    concurrency=self._concurrency,
                )
                self._judging = self._held.enter_context(judging)
        return self._judging

    @property
    def usage(self) -> Usage:
        """What workers asked and spent."""
        from judgesmith.programs.lm import Usage

        return Usage() if self._judging is None else self._judging.tallies.usage

    @property
    def adaptations(self) -> tuple[str, ...]:
        """Settings that workers sent another way."""
        return () if self._judging is None else self._judging.tallies.adaptations
