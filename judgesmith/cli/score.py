"""``judgesmith score``: judge new texts with a compiled judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judgesmith.cli.options import ModelChoice, json_option, model_options
from judgesmith.cli.places import check_place
from judgesmith.cli.printing import print_json, say, say_notes, stage_progress, usage_text


@click.command("score")
@click.argument("judge")
@click.argument("data", metavar="INPUT")
@click.option("-o", "--output", required=True, metavar="OUT.jsonl", help="Where rows are written.")
@click.option("--map", "columns", metavar="FIELD=COLUMN,…", help="Which column holds what.")
@click.option(
    "--max-unscored",
    type=click.FloatRange(0, 1),
    help="Exit with status 1 if a larger share of rows has no score.",
)
@model_options
@click.option("--force", is_flag=True, help="Replace whatever OUT.jsonl holds.")
@json_option
def command(
    judge: str,
    data: str,
    output: str,
    columns: str | None,
    max_unscored: float | None,
    concurrency: int,
    force: bool,
    as_json: bool,
    **choice: Any,
) -> int:
    """Judge every text in INPUT and write one row each to OUT.jsonl, in the same order.

    Ratings in INPUT are never read. A row that could not be judged has a null score and says
    why in 'problem'. The same command again continues where an interrupted one was.
    """
    from judgesmith.experiments import stream_items
    from judgesmith.experiments.scoring import score_file
    from judgesmith.programs.models import stack_of
    from judgesmith.programs.saved import SavedJudge

    place = check_place(output)
    if place.exists() and Path(data).exists() and place.samefile(data):
        raise click.UsageError(f"{output} is the input itself; name another file.")
    saved = SavedJudge.load(judge)
    items = stream_items(data, columns=columns)
    lm = ModelChoice(**choice).lm(default=saved.model, run_id=f"score {saved.fingerprint} {data}")
    with stage_progress(quiet=as_json) as progress:
        tell = None if progress is None else (lambda n: progress("rows", n, None))
        found = score_file(
            saved, items, place, lm=lm, concurrency=concurrency, overwrite=force, progress=tell
        )
    stack = stack_of(lm)
    assert stack is not None
    if as_json:
        print_json(
            {
                "output": output,
                "judge": saved.fingerprint,
                "rows": found.n_rows,
                "unscored": found.n_unscored,
                "problems": dict(found.reasons),
                "calls": stack.usage.calls,
                "cost_usd": stack.usage.cost_usd,
            }
        )
    else:
        say(f"{found.n_rows} rows in {output}, {found.n_unscored} without a score")
        for problem, n in list(found.reasons.items())[:5]:
            say(f"  {n} × {problem}")
        say(usage_text(stack.usage))
    say_notes((*items.notes, *stack.adaptations), as_json=as_json)
    too_many = max_unscored is not None and found.n_unscored > max_unscored * found.n_rows
    return 1 if too_many else 0
