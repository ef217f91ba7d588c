"""``judgesmith score`` between addresses of object stores, which Ray reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models
from judgesmith.cli.shared.judged import unscored_status
from judgesmith.cli.shared.places import OUTPUT
from judgesmith.cli.shared.printing import counted, print_json, say
from judgesmith.cli.use.engine_options import ENGINE, LOCAL, EngineChoice

if TYPE_CHECKING:
    from judgesmith.cli.shared.model_options import ModelChoice
    from judgesmith.cli.use.shard_options import ShardChoice


def at_addresses(files: ShardChoice) -> bool:
    """Say whether an input or the output is an address rather than a path."""
    return any("://" in one for one in (*files.inputs, files.output))


def score_at_addresses(
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
