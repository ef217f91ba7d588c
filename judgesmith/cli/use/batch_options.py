"""Options of scoring by batches, and the models that are asked in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.model_options import AskedChoice, ModelChoice
from judgesmith.cli.shared.options import Command, Number, TakenOptions, shown_option, together
from judgesmith.cli.shared.printing import print_json, say
from judgesmith.cli.shared.stopping import leave_unfinished
from judgesmith.results.progress import OnProgress, ProgressEvent

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments.scoring import Shard
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import ClientModel
    from judgesmith.programs.lm.batches import BatchCoordinator
    from judgesmith.signatures import RatedItem

BATCH, FILES = "--batch", "--batch-files"


def batch_options(command: Command) -> Command:
    """Add ``--batch``, ``--batch-files`` and ``--poll``."""
    return together(
        command,
        click.option(
            "batch",
            BATCH,
            is_flag=True,
            help="Use the OpenAI Batch API: cheaper, answered within a day.",
        ),
        click.option(
            "batch_files",
            FILES,
            metavar="FOLDER",
            help="Folder for batch requests to submit yourself, and for their answers.",
        ),
        shown_option(
            "--poll",
            Number(0, above=True),
            60.0,
            "Maximum time between two checks of a batch.",
            metavar="SECONDS",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Batching(TakenOptions):
    """What the command line says of batches."""

    batch: bool
    batch_files: str | None
    poll: float

    @property
    def wanted(self) -> bool:
        """Whether models are asked in batches at all."""
        return self.batch or self.batch_files is not None

    @property
    def option(self) -> str:
        return FILES if self.batch_files is not None else BATCH

    @contextmanager
    def desk_for(
        self, output: Path, shards: Sequence[Shard], *, run: str, choice: ModelChoice
    ) -> Iterator[BatchCoordinator | None]:
        """Return a block with a desk where requests are put down, or None if none is wanted."""
        self.check(shards, choice)
        if not self.wanted:
            yield None
            return
        from judgesmith.programs.lm.batches import BatchCoordinator

        folder = None if self.batch_files is None else Path(self.batch_files)
        with blaming(self.option):
            coordinator = BatchCoordinator(output, run=run, folder=folder)
        try:
            yield coordinator
        finally:
            coordinator.close()

    def check(self, shards: Sequence[Shard], choice: ModelChoice) -> None:
        """Refuse options that do not go together, and an input that can be read but once."""
        if not self.wanted:
            return
        if self.batch and self.batch_files is not None:
            raise OptionError(
                f"{BATCH} submits requests itself and {FILES} leaves that to you.",
                option=FILES,
                hint="give one.",
            )
        if any(shard.once for shard in shards):
            raise OptionError(
                "rows are read once for each round of questions, and standard input can be read "
                "but once.",
                option=self.option,
                hint="name a file.",
            )
        if choice.recorded_run is not None:
            raise OptionError(
                "requests in batches are neither recorded nor replayed.",
                option=self.option,
                hint="leave this out.",
            )
        if self.batch_files is not None and not Path(self.batch_files).is_dir():
            fault = f"there is no folder {Path(self.batch_files)}."
            raise OptionError(fault, option=FILES, hint="make it first.")

    def check_models(self, names: Sequence[str], api_base: str | None) -> None:
        """Refuse models that are not asked in batches, where they are to be."""
        if not self.wanted:
            return
        from judgesmith.programs.lm.batches.client import BatchEngine
        from judgesmith.programs.lm.factory import OFFLINE

        served = [name for name in names if name != OFFLINE]
        if not served:
            raise OptionError(
                "the offline model answers at once and for nothing.",
                option=self.option,
                hint="leave this out, or name a model of OpenAI's protocol (--model openai/NAME).",
            )
        with blaming(self.option):
            for name in served:
                BatchEngine(name, api_base=api_base)

    def answer(
        self,
        saved: AnySaved,
        read: Callable[[], Iterator[RatedItem]],
        coordinator: BatchCoordinator,
        lm: ClientModel | dspy.LM,
        on_progress: OnProgress,
    ) -> tuple[Path, ...]:
        """Have all questions answered; return files that somebody else has to submit first."""
        from judgesmith.experiments.scoring.batches import answer_in_batches

        self.check_models(list(coordinator.clients), None)

        def watch(words: str) -> None:
            on_progress(ProgressEvent(stage=words, n=0))

        with blaming(self.option):
            coordinator.check()
        return answer_in_batches(saved, read, coordinator, lm=lm, poll=self.poll, watch=watch)


def say_waiting(files: Sequence[Path], *, as_json: bool) -> int:
    """Print which files wait for answers and how to resume; return the exit status."""
    leave_unfinished()
    if as_json:
        print_json({"output": None, "waiting": [str(one) for one in files]})
        return 0
    for one in files:
        say(f"{one} waits to be answered")
    say(
        "submit each as a batch, put the returned files (output and errors, .jsonl) next to it, "
        "and give the same command again; nothing is scored yet."
    )
    return 0


@dataclass(frozen=True, kw_only=True)
class BatchChoice(AskedChoice):
    """The models of saved judges, asked in batches."""

    coordinator: BatchCoordinator = field(repr=False)

    def _made(self, name: str, **settings: Any) -> ClientModel:
        from judgesmith.programs.lm.batches import batch_model

        made = super()._made(name, **settings)
        with blaming(BATCH if self.coordinator.folder is None else FILES):
            return batch_model(
                made, self.coordinator, api_base=settings["api_base"], price=settings["price"]
            )
