"""``judgesmith evaluate``: agreement of a judge, or of scores on file, with people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judgesmith.cli.options import (
    ModelChoice,
    data_options,
    json_option,
    load_data,
    model_options,
    target_options,
)
from judgesmith.cli.printing import (
    agreement_rows,
    basis_text,
    print_json,
    print_table,
    stage_progress,
    unscored_text,
)


@click.command("evaluate")
@click.argument("judge", metavar="JUDGE-or-SCORES")
@click.argument("data")
@data_options
@target_options
@click.option("--criterion", metavar="NAME", help="Which recorded criterion [default: --target].")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals.")
@model_options
@json_option
def command(
    judge: str,
    data: str,
    columns: str | None,
    scales: tuple[str, ...],
    target: str,
    aggregate: str,
    criterion: str | None,
    seed: int,
    concurrency: int,
    as_json: bool,
    **choice: Any,
) -> None:
    """Report how well a judge's scores agree with the ratings in DATA.

    JUDGE-or-SCORES is a folder that 'compile' made, a file that 'score' wrote, or a file of
    recorded judges (FILE:JUDGE picks one). Rows that a judge was made from are reported apart.
    """
    import numpy as np

    from judgesmith.experiments import evaluate_judge, evaluate_scores, read_scores, targets_of
    from judgesmith.programs.saved import SavedJudge

    dataset = load_data(data, columns, scales)
    rng = np.random.default_rng(seed)
    path, recorded = _scores_path(judge)
    if path is None:
        saved = SavedJudge.load(judge)
        wanted = saved.target if target == "auto" else target
        targets = targets_of(dataset, wanted, aggregate)  # type: ignore[arg-type]
        lm = ModelChoice(**choice).lm(default=saved.model)
        with stage_progress(quiet=as_json) as progress:
            tell = None
            if progress is not None:
                n_rated = len(targets.rated)
                tell = lambda n: progress("rows", n, n_rated)  # noqa: E731
            found = evaluate_judge(
                saved,
                dataset,
                targets,
                lm=lm,
                rng=rng,
                label=judge,
                concurrency=concurrency,
                progress=tell,
            )
    else:
        if target == "auto" and criterion in dataset.criteria:
            target = criterion
        targets = targets_of(dataset, target, aggregate)  # type: ignore[arg-type]
        named = criterion or (targets.name if target != "auto" else None)
        scores = read_scores(path, dataset, judge=recorded, criterion=named)
        found = evaluate_scores(scores, dataset, targets, rng=rng)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(f"{found.label} on {dataset.name}: {found.target} on {targets.scale}")
    for title, report in (
        ("Rows it has not seen", found.unseen),
        ("Rows it was made from", found.seen),
    ):
        if report is not None:
            rows = agreement_rows([report])
            print_table(
                f"{title}: {basis_text(report)}", rows, header=["level", "", "agreement"], left=2
            )
    click.echo(unscored_text(found.unscored))


def _scores_path(text: str) -> tuple[Path | None, str | None]:
    """Return the file and the recorded judge that ``text`` names; no file for a folder."""
    path = Path(text)
    if path.is_file() and path.name != "judge.json":
        return path, None
    head, separator, name = text.partition(":")
    while separator and not Path(head).is_file():
        more, separator, name = name.partition(":")
        head = f"{head}:{more}"
    if separator and Path(head).is_file():
        return Path(head), name
    return None, None
