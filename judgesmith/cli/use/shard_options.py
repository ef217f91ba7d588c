"""What rows are read from and written to by ``judgesmith score``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import (
    Command,
    TakenOptions,
    map_option,
    reading,
    text_options,
    together,
)
from judgesmith.cli.shared.places import OUTPUT, check_output, file_place

if TYPE_CHECKING:
    from judgesmith.experiments.scoring import Shard

FORMAT = "--as"
_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".parquet")  # as scoring.formats has them


def shard_arguments(command: Command) -> Command:
    """Add JUDGE, INPUT (one or several) and where rows are written."""
    return together(
        command,
        click.argument("judge"),
        click.argument("inputs", metavar="INPUT...", nargs=-1, required=True),
        click.option(
            "-o",
            OUTPUT,
            required=True,
            metavar="OUT",
            help="Output file (.jsonl, .jsonl.gz, .csv, .parquet), or a folder (OUT/) with one "
            "file for each input.",
        ),
        click.option(
            "form",
            FORMAT,
            type=click.Choice([one.removeprefix(".") for one in _ENDINGS]),
            help="Format of the files in an output folder.  [default: jsonl]",
        ),
        click.option(
            "--unordered",
            is_flag=True,
            help="Write rows in the order in which they finish, with row numbers.",
        ),
        map_option,
        text_options,
    )


@dataclass(frozen=True, kw_only=True)
class ShardChoice(TakenOptions):
    """What the command line says of inputs and outputs."""

    inputs: tuple[str, ...]
    output: str
    form: str | None
    unordered: bool
    columns: str | None

    @property
    def named(self) -> str:
        return " ".join(self.inputs)

    @property
    def said(self) -> dict[str, Any]:
        """How inputs are read and rows written, as ``score_shards`` takes it."""
        return {
            "columns": self.columns,
            "ending": self.ending,
            "ordered": not self.unordered,
        }

    @property
    def ending(self) -> str | None:
        """How the files in a folder end, if that was said."""
        return None if self.form is None else f".{self.form}"

    def place(self) -> Path:
        """Return where rows are written."""
        from judgesmith.experiments.scoring.shards import is_folder, output_places

        into_folder = is_folder(self.output)
        if self.form is not None and not into_folder:
            raise OptionError(
                f"this is for the files of a folder, and {self.output} is a file.",
                option=FORMAT,
                hint=f"leave it out, or name a folder ({self.output}/).",
            )
        if into_folder:
            place = check_output(self.output)
            if place.exists() and not place.is_dir():
                raise OptionError(f"{place} is a file.", option=OUTPUT, hint="name a folder.")
            if (place / "judge.json").exists():
                raise OptionError(
                    f"{place} holds a judge.", option=OUTPUT, hint="name another folder."
                )
        else:
            place = file_place(self.output, *self.inputs, like="scores.jsonl")
        with blaming(OUTPUT):
            output_places(self.output, (), ending=self.ending)
        return place

    def shards(self) -> tuple[tuple[Shard, ...], int | None]:
        """Return the files to score, all of them read through once."""
        from judgesmith.data.columns import column_map
        from judgesmith.data.problems import nothing_in
        from judgesmith.experiments.scoring import shards_of
        from judgesmith.experiments.scoring.shards import output_places

        with blaming("--map"):
            column_map(self.columns)
        for one in self.inputs:
            with blaming(one):
                shards_of(one, **reading())
        shards = shards_of(self.inputs, **reading())
        with blaming(OUTPUT):
            output_places(self.output, shards, ending=self.ending)
        n_rows = 0
        for shard in shards:
            if not shard.once:
                with blaming(shard.name):
                    n_rows += sum(1 for _ in shard.items(self.columns))
        if not n_rows and not any(shard.once for shard in shards):
            raise nothing_in(shards[0].items(self.columns).name if len(shards) == 1 else self.named)
        return shards, None if any(shard.once for shard in shards) else n_rows
