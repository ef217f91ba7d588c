"""What scoring would cost, before anything is asked: the options, and the table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models
from judgesmith.cli.shared.model_options import AskedChoice, ModelChoice
from judgesmith.cli.shared.options import Command, Number, dry_run_option, together
from judgesmith.cli.shared.places import OUTPUT
from judgesmith.cli.shared.printing import print_json, print_table, say, say_wrapped

if TYPE_CHECKING:
    from judgesmith.cli.use.batch_options import Batching
    from judgesmith.cli.use.shard_options import ShardChoice
    from judgesmith.experiments.scoring import Shard
    from judgesmith.experiments.scoring.run_size import RunSize, ScoringSize
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import ClientModel

_BOUNDS = {"concurrency": "answers", "rpm": "--rpm", "tpm": "--tpm", "processor": "processor"}
_FROM = {"given": "as given", "record": "as recorded", "assumed": "assumed; --seconds-per-call"}
_TIMES = ((365.25 * 86400, "years"), (86400, "days"), (3600, "h"), (60, "min"), (1, "s"))
_BYTES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))


def sizing_options(command: Command) -> Command:
    """Add ``--dry-run`` and ``--seconds-per-call``."""
    return together(
        command,
        dry_run_option,
        click.option(
            "--seconds-per-call",
            type=Number(0, above=True),
            metavar="SECONDS",
            help="With --dry-run: seconds per call [default: measured from the cache, else 2].",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Sizing:
    """What the command line says of what a run would cost."""

    dry_run: bool
    seconds_per_call: float | None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Sizing:
        """Return what ``options`` say of it, and take it out of them."""
        found = cls(**{name: options.pop(name) for name in cls.__dataclass_fields__})
        if found.seconds_per_call is not None and not found.dry_run:
            raise OptionError(
                "this is for what a run would take.",
                option="--seconds-per-call",
                hint="give --dry-run, too, or leave it out.",
            )
        return found

    def print(
        self,
        saved: AnySaved,
        shards: tuple[Shard, ...],
        files: ShardChoice,
        batching: Batching,
        choice: ModelChoice,
        *,
        force: bool,
        as_json: bool,
    ) -> None:
        """Say what it takes that a judge scores some rows; nothing is asked or written."""
        from judgesmith.experiments.scoring import rows_to_score
        from judgesmith.experiments.scoring.run_size import scoring_size

        batching.check(shards, choice)
        looked = choice.of(_LookedUp)
        saved, lms = asked_models(saved, looked, run_id="")
        batching.check_models([str(lm.model) for lm in lms], looked.api_base)
        with blaming(OUTPUT):
            rows = rows_to_score(
                saved, shards, files.output, lm=lms[0], overwrite=force, **files.said
            )
        found = scoring_size(
            saved,
            rows,
            {str(lm.model): lm for lm in lms},
            concurrency=choice.concurrency,
            seconds_per_call=self.seconds_per_call,
            rpm=looked.rpm,
            tpm=looked.tpm,
        )
        if as_json:
            print_json(found.to_dict())
        else:
            _print(found)


class _LookedUp(AskedChoice):
    """The models of a run, looked up and not called; a missing ledger is not created."""

    def _made(self, name: str, **settings: Any) -> ClientModel:
        from judgesmith.programs.lm.factory import cache_only_model

        ledger = settings["ledger"]
        if isinstance(ledger, str) and "://" not in ledger:
            settings["ledger"] = ledger if Path(ledger).expanduser().exists() else None
        return cache_only_model(super()._made(name, **settings))


def _print(found: ScoringSize) -> None:
    these, *_ = sizes = found.sizes
    lines: list[Sequence[str]] = [
        ["calls", *(_count(one.calls) for one in sizes)],
        ["calls at most", *(_count(one.most_calls) for one in sizes)],
        ["tokens in", *(_count(one.input_tokens) for one in sizes)],
        ["tokens out", *(_count(one.output_tokens) for one in sizes)],
        ["cost", *(_dollars(one.cost_usd) for one in sizes)],
        ["  in batches", *(_dollars(one.batch_usd) for one in sizes)],
        ["  less, where cached", *(_dollars(one.cached_usd) for one in sizes)],
        ["time", *(_unit(one.seconds, _TIMES) for one in sizes)],
        ["  bound by", *(_BOUNDS[one.bound_by] for one in sizes)],
        ["our own processor time", *(_unit(one.cpu_seconds, _TIMES) for one in sizes)],
        ["  processes kept busy", *(_count(one.processes) for one in sizes)],
        ["ledger", *(_unit(one.ledger_bytes, _BYTES) for one in sizes)],
        ["output, as JSON Lines", *(_unit(one.output_bytes, _BYTES) for one in sizes)],
        ["To be done within a day:"],
        ["  requests under way", *(_count(one.day_in_flight) for one in sizes)],
        ["  requests a minute", *(_count(one.day_rpm) for one in sizes)],
        ["  tokens a minute", *(_count(one.day_tpm) for one in sizes)],
        ["  processes", *(_count(one.day_processes) for one in sizes)],
    ]
    without = set[str]()
    if not found.row.input_usd and these.cost_usd is not None:
        without |= {"  in batches", "  less, where cached"}
    if not found.row.shared_usd:
        without |= {"  less, where cached"}
    if found.row.offline_calls == found.row.calls:
        without |= {"  requests under way", "  requests a minute", "  tokens a minute"}
    lines = [line for line in lines if line[0] not in without]
    print_table(
        "What scoring would take; nothing was asked",
        lines,
        header=["", *(f"{one.rows:,} rows" for one in sizes)],
    )
    say()
    for note in _notes(found, these):
        say_wrapped(note)


def _notes(found: ScoringSize, these: RunSize) -> Iterable[str]:
    means, looked = found.means, found.found
    yield (
        "The offline model answers on the processor of one process."
        if found.row.offline_calls == found.row.calls
        else f"{means.concurrency} texts at a time, {means.seconds_per_call:.2g} s a call "
        f"({_FROM[found.seconds_from]}), one process."
    )
    if looked.n_looked:
        of = "all" if looked.n_looked == these.rows else "of whole sources, drawn by a hash"
        yield (
            f"{looked.n_rows:,} of {looked.n_looked:,} rows that were looked up ({of}) are cached "
            f"and cost nothing: about {these.rows_on_record:,} of {these.rows:,}. The other "
            "columns count none."
        )
    basis = (
        f"as {found.row.n_measured:,} cached rows took"
        if found.row.n_measured
        else "reckoned from characters, four to a token"
    )
    yield f"Calls, if every answer can be read, and tokens are {basis}."
    if these.cost_usd is None:
        yield "The price of the model is unknown: give it with --price IN,OUT."
    elif these.cost_usd or found.row.input_usd:
        cached = (
            ", and so does input that a server has cached: what prompts begin with, where that "
            "is 1,024 tokens or more" * bool(found.row.shared_usd)
        )
        yield f"Assumed: batches cost half{cached}. What your provider asks counts."


def _count(n: float) -> str:
    """Return a number of three digits that count."""
    return f"{_rounded(n):,.0f}"


def _rounded(n: float) -> float:
    return round(n, 2 - math.floor(math.log10(n))) if n >= 1000 else n


def _dollars(usd: float | None) -> str:
    """Return dollars, in cents where they are few."""
    if usd is None:
        return "unknown"
    if usd >= 100 or not usd:
        return f"${_count(usd)}"
    return f"${usd:.2f}" if usd >= 0.01 else "< $0.01"


def _unit(amount: float, units: Sequence[tuple[float, str]]) -> str:
    """Return an amount in the largest unit that it has one of."""
    for size, name in units:
        if amount >= size:
            n = amount / size
            return f"{n:.1f} {name}" if n < 10 and name not in ("s", "B") else f"{_count(n)} {name}"
    return f"< 1 {units[-1][1]}" if amount else f"0 {units[-1][1]}"
