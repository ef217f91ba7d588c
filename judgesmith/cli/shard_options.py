"""What rows are read from and written to by ``judgesmith score``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.faults import blaming
from judgesmith.cli.options import Command, map_option, together
from judgesmith.cli.places import lines_place

if TYPE_CHECKING:
    from judgesmith.experiments.scoring import Shard


def shard_arguments(command: Command) -> Command:
    """Add JUDGE, INPUT (one or several) and where rows are written."""
    return together(
        command,
        click.argument("judge"),
        click.argument("inputs", metavar="INPUT...", nargs=-1, required=True),
        click.option(
            "-o", "--output", required=True, metavar="OUT.jsonl", help="Where rows are written."
        ),
        map_option,
    )


@dataclass(frozen=True, kw_only=True)
class ShardChoice:
    """What the command line says of inputs and outputs."""

    inputs: tuple[str, ...]
    output: str
    columns: str | None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> ShardChoice:
        """Return what ``options`` say of them, and take it out of them."""
        return cls(**{name: options.pop(name) for name in cls.__dataclass_fields__})

    @property
    def named(self) -> str:
        """All inputs as they were named."""
        return " ".join(self.inputs)

    def place(self) -> Path:
        """Return where rows are written.

        Raises
        ------
        OptionError
            If nothing can be written there, or it would replace an input.
        """
        return lines_place(self.output, *self.inputs, like="scores.jsonl")

    def shards(self) -> tuple[tuple[Shard, ...], int | None]:
        """Return the files to score, all of them read through once.

        Returns
        -------
        tuple of Shard
            In the order of the inputs.
        int or None
            How many rows they have; None where one can be read but once.

        Raises
        ------
        DataError, OSError, ValueError
            If one cannot be read, or there is no row in any. No answer is to be bought for files
            that cannot be scored. Standard input can be read but once.
        """
        from judgesmith.experiments.columns import column_map
        from judgesmith.experiments.problems import nothing_in
        from judgesmith.experiments.scoring import shards_of

        with blaming("--map"):
            column_map(self.columns)
        for one in self.inputs:
            with blaming(one):
                shards_of(one)
        shards = shards_of(self.inputs)
        n_rows = 0
        for shard in shards:
            if not shard.once:
                with blaming(shard.name):
                    n_rows += sum(1 for _ in shard.items(self.columns))
        if not n_rows and not any(shard.once for shard in shards):
            raise nothing_in(shards[0].items(self.columns).name if len(shards) == 1 else self.named)
        return shards, None if any(shard.once for shard in shards) else n_rows
