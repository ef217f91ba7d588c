"""``judgesmith score``: judge new texts with a compiled judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models, used
from judgesmith.cli.shared.judged import max_unscored_option, unscored_status
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import rows_output_options
from judgesmith.cli.shared.places import OUTPUT
from judgesmith.cli.shared.printing import counted, print_json, say, say_notes, spent_on, usage_text
from judgesmith.cli.shared.role_options import asking_options
from judgesmith.cli.use.batch_options import BatchChoice, Batching, batch_options, say_waiting
from judgesmith.cli.use.engine_options import ENGINE, LOCAL, EngineChoice, engine_options
from judgesmith.cli.use.shard_options import ShardChoice, shard_arguments
from judgesmith.cli.use.sizing_options import Sizing, sizing_options
from judgesmith.cli.use.watch_options import Watching, run_progress, told_options, watch_options

if TYPE_CHECKING:
    from judgesmith.signatures import RatedItem

_OF_RANKS = (
    "scores are ranks within a source, which the file does not say: to compare them with human "
    "ratings, give evaluate and compare the judge itself."
)


@tool("score")
@shard_arguments
@max_unscored_option
@click.option(
    "--retry-unscored",
    is_flag=True,
    help="Request unscored rows again, even in an unfinished run.",
)
@asking_options
@engine_options
@batch_options
@sizing_options
@watch_options
@rows_output_options
def command(
    judge: str,
    max_unscored: float,
    retry_unscored: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
    **rest: Any,
) -> int:
    """Judge every text in INPUT and write one row each to OUT, in the same order.

    INPUT is one or several files, folders or patterns. Ratings in it are never read. A row that
    could not be judged has a null score and says why in 'problem'. The same command again
    continues where an interrupted one was.
    """
    from judgesmith.data.scores import sampled_text, stated_text
    from judgesmith.experiments.evaluate.agreement import grouped_reasons
    from judgesmith.experiments.scoring import score_shards, unscored_items
    from judgesmith.experiments.scoring.watching import Pulse
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.judging.runner import judges_sources
    from judgesmith.programs.lm import lm_client_of

    files, engines = ShardChoice.taken_from(rest), EngineChoice.taken_from(rest)
    batching, sizing = Batching.taken_from(rest), Sizing.taken_from(rest)
    watching = Watching.taken_from(rest)
    engines.check(choice, in_batches=batching.wanted)
    if _at_addresses(files):
        given = {
            "--batch": batching.wanted,
            "--dry-run": sizing.dry_run,
            "--unordered": files.unordered,
            "--retry-unscored": retry_unscored,
            "--log": watching.log,
            "--metrics-port": watching.metrics_port is not None,
            "--metrics-file": watching.metrics_file,
        }
        return _score_at_addresses(
            judge,
            files,
            engines,
            choice,
            max_unscored=max_unscored,
            force=force,
            as_json=as_json,
            unfit=[option for option, was in given.items() if was],
        )
    place = files.place()
    saved = load_saved(judge)
    shards, n_expected = files.shards()
    run_id = f"score {saved.fingerprint} {files.named}"
    watching.check(place, *(shard.name for shard in shards))
    if sizing.dry_run:
        sizing.print(
            saved,
            shards,
            files,
            batching,
            choice,
            force=force,
            as_json=as_json,
        )
        return 0
    with batching.desk_for(place, shards, run=run_id, choice=choice) as coordinator:
        asked = (
            engines.asked(choice)
            if coordinator is None
            else choice.of(BatchChoice, coordinator=coordinator)
        )
        saved, (lm, *others) = asked_models(saved, asked, run_id=run_id)
        if retry_unscored:
            for one in (lm, *others):
                if (asked_through := lm_client_of(one)) is not None:
                    asked_through.renew()
        pulse = Pulse((lm, *others), n_expected=n_expected)
        told = told_options(choice, inputs=files.inputs, output=files.output)
        with (
            watching.looked_on(pulse, judge=saved.fingerprint, options=told) as watch,
            run_progress(pulse, quiet=as_json) as progress,
            blaming(OUTPUT),
        ):
            if coordinator is not None:

                def read() -> Iterator[RatedItem]:
                    return unscored_items(
                        saved, shards, files.output, lm=lm, overwrite=force, **files.said
                    )

                if left := batching.answer(saved, read, coordinator, lm, progress):
                    return say_waiting(left, as_json=as_json)
            with engines.started(saved, lm, concurrency=choice.concurrency) as engine:
                pulse.counted = None if engine is None else (lambda: engine.usage)
                found = score_shards(
                    saved,
                    shards,
                    files.output,
                    lm=lm,
                    concurrency=choice.concurrency,
                    overwrite=force,
                    judging=engine,
                    watch=watch,
                    **files.said,
                )
        if coordinator is not None:
            coordinator.finished()
    client = lm_client_of(lm)
    usage = used(lm, *others) if engine is None else engine.usage
    assert client is not None
    if as_json:
        print_json(
            {
                "output": files.output,
                "judge": saved.fingerprint,
                "rows": found.n_rows,
                "unscored": found.n_unscored,
                **found.unscored_dict(),
                **({"stated": dict(found.stated)} if found.stated else {}),
                **({"sampled": dict(found.sampled)} if found.sampled else {}),
                **({"labels": dict(found.labels)} if found.labels else {}),
                **spent_on(usage),
            }
        )
    else:
        say(f"{counted(found.n_rows, 'row')} in {files.output}, {found.n_unscored} without a score")
        if found.labels:
            n = sum(found.labels.values())
            say(f"  {', '.join(f'{k} {v} ({v / n:.0%})' for k, v in found.labels.items())}")
        for problem, n in list(grouped_reasons(found.reasons).items())[:5]:
            say(f"  {n} × {problem}")
        say(usage_text(usage))
    stated = [*stated_text(found.stated, found.n_rows), *sampled_text(found.sampled, found.n_rows)]
    adaptations = client.adaptations if engine is None else engine.adaptations
    ranks = [_OF_RANKS] if judges_sources(saved) else []
    say_notes((*found.notes, *ranks, *stated, *adaptations), as_json=as_json)
    return unscored_status(found.n_rows, found.causes, max_unscored)


def _at_addresses(files: ShardChoice) -> bool:
    """Say whether an input or the output is an address rather than a path."""
    return any("://" in one for one in (*files.inputs, files.output))


def _score_at_addresses(
    judge: str,
    files: ShardChoice,
    engines: EngineChoice,
    choice: ModelChoice,
    *,
    max_unscored: float,
    force: bool,
    as_json: bool,
    unfit: Sequence[str],
) -> int:
    """Have Ray read rows, judge them, and write them; return the status of the command."""
    if engines.engine == LOCAL:
        raise OptionError(
            "rows at addresses are read and written by a cluster.",
            option=ENGINE,
            hint="give --engine ray, too.",
        )
    for one in files.inputs:
        if "://" not in one:
            raise OptionError(
                f"{one[:80]!r} is a path, and other names are addresses.",
                option=one[:80],
                hint="name addresses alone.",
            )
    if "://" not in files.output:
        raise OptionError(
            "rows that are read from addresses are written to one.",
            option=OUTPUT,
            hint="name one, such as s3://bucket/scores/.",
        )
    for option in unfit:
        raise OptionError(
            f"{option} is for files of this machine.", option=option, hint="leave it out."
        )
    from judgesmith.data.columns import column_map
    from judgesmith.experiments.scoring.clusters import ClusterError
    from judgesmith.experiments.scoring.clusters.addresses import FORMATS, score_addresses
    from judgesmith.programs.artifacts.saved_ensembles import load_saved
    from judgesmith.programs.lm import lm_client_of
    from judgesmith.programs.lm.errors import public_address

    form = files.form or FORMATS[0]
    if form not in FORMATS:
        raise OptionError(
            f"at addresses rows are written as {' or '.join(FORMATS)}.",
            option="--as",
            hint="choose one.",
        )
    with blaming("--map"):
        column_map(files.columns)
    saved = load_saved(judge)
    run_id = f"score {saved.fingerprint} {' '.join(map(public_address, files.inputs))}"
    saved, (lm, *_) = asked_models(saved, engines.asked(choice), run_id=run_id)
    client = lm_client_of(lm)
    assert client is not None
    before = client.spent
    try:
        with blaming(ENGINE):
            found = score_addresses(
                saved,
                files.inputs,
                files.output,
                lm=lm,
                columns=files.columns,
                form=form,
                address=engines.cluster,
                workers=engines.workers,
                concurrency=choice.concurrency,
                overwrite=force,
            )
    except ClusterError as fault:
        raise OptionError(fault, option=ENGINE) from None
    spent = client.spent
    usd = None if client.price is None else spent.usd - before.usd
    output = public_address(files.output)
    if as_json:
        print_json(
            {
                "output": output,
                "judge": saved.fingerprint,
                "rows": found.n_rows,
                "unscored": found.n_unscored,
                **found.unscored_dict(),
                "calls": spent.calls - before.calls,
                "cost_usd": usd,
            }
        )
    else:
        say(f"{counted(found.n_rows, 'row')} in {output}, {found.n_unscored} without a score")
        for problem, n in list(found.reasons.items())[:5]:
            say(f"  {n} × {problem}")
        cost = "unknown cost" if usd is None else f"${usd:.4f}"
        say(f"{spent.calls - before.calls} calls, {cost}")
    return unscored_status(found.n_rows, found.causes, max_unscored)
