"""``judgesmith score``: judge new texts with a compiled judge."""

from __future__ import annotations

from typing import Any

import click

from judgesmith.cli.options import SAMPLE, ModelChoice, json_option, model_options
from judgesmith.cli.printing import print_json, stage_progress, usage_text


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
@click.option("--force", is_flag=True, help="Replace rows that another judge wrote.")
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
    from judgesmith.experiments.samples import sample_path
    from judgesmith.experiments.scoring import score_file
    from judgesmith.programs.models import stack_of
    from judgesmith.programs.saved import SavedJudge

    saved = SavedJudge.load(judge)
    items = stream_items(sample_path() if data == SAMPLE else data, columns=columns)
    lm = ModelChoice(**choice).lm(default=saved.model, run_id=f"score {saved.fingerprint} {data}")
    with stage_progress(quiet=as_json) as progress:
        tell = None if progress is None else (lambda n: progress("rows", n, None))
        found = score_file(
            saved, items, output, lm=lm, concurrency=concurrency, overwrite=force, progress=tell
        )
    stack = stack_of(lm)
    assert stack is not None
    too_many = found.n_rows > 0 and (
        max_unscored is not None and found.n_unscored / found.n_rows > max_unscored
    )
    if as_json:
        usage = stack.usage
        print_json(
            {
                "output": output,
                "judge": saved.fingerprint,
                "rows": found.n_rows,
                "unscored": found.n_unscored,
                "problems": dict(found.reasons),
                "calls": usage.calls,
                "cost_usd": usage.cost_usd,
            }
        )
    else:
        for note in items.notes:
            click.echo(f"note: {note}")
        click.echo(f"{found.n_rows} rows in {output}, {found.n_unscored} without a score")
        for problem, n in list(found.reasons.items())[:5]:
            click.echo(f"  {n} × {problem}")
        click.echo(usage_text(stack.usage))
    return 1 if too_many else 0
