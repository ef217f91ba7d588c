"""``judgesmith compile``: from rated texts to a judge, and how far it can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    shortened,
    stage_progress,
    usage_text,
)

if TYPE_CHECKING:
    from judgesmith.experiments import Compiled, CompileSettings, DataSet
    from judgesmith.programs.models import Usage
    from judgesmith.programs.saved import SavedJudge


@click.command("compile")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="JUDGE", help="Folder for the judge.")
@data_options
@target_options
@click.option(
    "--rubric", metavar="FILE", help="YAML with task and criteria [default: a general rubric]."
)
@click.option(
    "--variant",
    type=click.Choice(["vanilla", "fine"]),
    default="fine",
    show_default=True,
    help="Graded examples alone, or criteria first and then the whole.",
)
@click.option(
    "--optimizer",
    type=click.Choice(["random", "none"]),
    default="random",
    show_default=True,
    help="Search demonstrations and fit the aggregation, or take the judge as it is.",
)
@click.option(
    "--objective",
    default="q",
    show_default=True,
    metavar="NAME[@LEVEL]",
    help="q, pearson, spearman or kendall; at dataset, sample or system level.",
)
@click.option(
    "--demonstrations",
    "n_demonstrations",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Rated examples shown in a prompt.",
)
@click.option(
    "--rounds",
    "n_rounds",
    type=click.IntRange(min=1),
    default=11,
    show_default=True,
    help="Sets of demonstrations that are tried.",
)
@click.option(
    "--lexical/--no-lexical",
    default=None,
    help="Let lexical features into the aggregation [default: with the offline model only].",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.3,
    show_default=True,
    help="Share of sources kept for the report; 0 uses all and reports nothing.",
)
@click.option("--split-rows", is_flag=True, help="Split rows, not sources, as some papers do.")
@click.option("--no-texts", is_flag=True, help="Keep no judged texts in the artifact.")
@click.option("--seed", type=int, default=0, show_default=True)
@model_options
@click.option("--dry-run", is_flag=True, help="Say what it would cost, and ask nothing.")
@click.option("--force", is_flag=True, help="Replace a judge that another run made.")
@json_option
def command(
    data: str,
    output: str,
    columns: str | None,
    scales: tuple[str, ...],
    rubric: str | None,
    variant: str,
    no_texts: bool,
    concurrency: int,
    dry_run: bool,
    force: bool,
    as_json: bool,
    **rest: Any,
) -> None:
    """Make a judge that agrees with the ratings in DATA, and save it in a folder.

    The same command again continues where an interrupted one was: no answer on record is
    asked for again. DATA is described under 'judgesmith check --help'.
    """
    from judgesmith.experiments import CompileSettings, compile_judge
    from judgesmith.signatures import Protocol, Rubric

    names = set(ModelChoice.__dataclass_fields__)
    choice = ModelChoice(**{name: rest.pop(name) for name in names})
    dataset = load_data(data, columns, scales)
    start = {"variant": variant} | ({"rubric": Rubric.load(rubric)} if rubric else {})
    settings = CompileSettings(protocol=Protocol(**start), texts=not no_texts, **rest)
    run = settings.fingerprint(dataset, choice.model_name or "offline")
    lm = choice.lm(run_id=f"compile {run}")
    folder = Path(output)
    if dry_run:
        _print_estimate(dataset, settings, lm, as_json=as_json)
        return
    finished = _finished(folder, run, force=force)
    if finished is not None:
        _print_again(finished, folder, as_json=as_json)
        return
    from judgesmith.programs.models import stack_of

    with stage_progress(quiet=as_json) as progress:
        found = compile_judge(dataset, settings, lm=lm, concurrency=concurrency, progress=progress)
    found.saved.save(folder, overwrite=True)
    stack = stack_of(lm)
    assert stack is not None
    if as_json:
        print_json(_summary(found.saved, folder, stack.usage))
    else:
        _print(found, dataset, folder, stack.usage)


def _finished(folder: Path, run: str, *, force: bool) -> SavedJudge | None:
    """Return the judge that this very run has made before, and refuse to replace another."""
    from judgesmith.programs.saved import SavedJudge

    if not folder.exists() or force:
        return None
    saved = SavedJudge.load(folder)
    if saved.settings.get("run") == run:
        return saved
    raise FileExistsError(
        f"{folder} holds a judge from another run ({saved.settings.get('run')}, this is {run}); "
        "name another folder, or replace it with --force."
    )


def _summary(saved: SavedJudge, folder: Path, usage: Usage | None) -> dict[str, Any]:
    return {
        "judge": str(folder),
        "target": saved.target,
        "calls": usage.calls if usage else 0,
        "cost_usd": usage.cost_usd if usage else 0.0,
        "rows": dict(saved.rows),
        **saved.agreement,
    }


def _print_again(saved: SavedJudge, folder: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(_summary(saved, folder, None))
        return
    from judgesmith.programs.card import judge_card

    click.echo(f"{folder} holds the result of this very run; nothing was asked.\n")
    click.echo(judge_card(saved))


def _print_estimate(dataset: DataSet, settings: CompileSettings, lm: Any, *, as_json: bool) -> None:
    from judgesmith.experiments.estimating import estimate_run

    estimate = estimate_run(dataset, settings, lm)
    if as_json:
        print_json(estimate.to_dict())
        return
    cost = "unknown (give --price)" if estimate.cost_usd is None else f"${estimate.cost_usd:.2f}"
    click.echo(
        f"at most {estimate.calls} calls, about {estimate.input_tokens} tokens in and "
        f"{estimate.output_tokens} out, cost {cost}; nothing was asked."
    )


def _print(found: Compiled, dataset: DataSet, folder: Path, usage: Usage) -> None:
    from judgesmith.programs.card import aggregation_text

    saved = found.saved
    rows = saved.rows
    for note in dataset.notes:
        click.echo(f"note: {note}")
    click.echo(
        f"{dataset.name}: {saved.target} on {saved.human_scale}; rows: {rows['train']} to show, "
        f"{rows['select']} to choose by, {rows['heldout']} held out, {rows['unrated']} unrated, "
        f"{rows['unscored']} unscored"
    )
    if found.heldout is not None:
        title = f"Agreement with people, held out: {basis_text(found.heldout)}"
        header = ["level", "", "uncompiled", "compiled", "gain"]
        reports = [found.uncompiled, found.heldout]
        print_table(title, agreement_rows(reports, found.gain), header=header, left=2)
        chosen = found.selection["dataset"]["q"].value
        optimism = chosen - found.heldout["dataset"]["q"].value
        click.echo(f"Q on the rows it was chosen by: {chosen:.3f}, {optimism:+.3f} above held out")
    else:
        title = f"Agreement on the rows it was chosen by: {basis_text(found.selection)}"
        print_table(
            title, agreement_rows([found.selection]), header=["level", "", "chosen by"], left=2
        )
    n_shown = sum(len(shown) for shown in saved.protocol.demonstrations.values())
    click.echo(f"score: {aggregation_text(saved.protocol.aggregation)}")
    click.echo(f"demonstrations: {n_shown}; model: {saved.model}; {usage_text(usage)}")
    for note in found.notes:
        click.echo(f"note: {note}")
    _print_examples(found)
    click.echo(f"\nsaved in {folder} (fingerprint {saved.fingerprint}); try:")
    click.echo(f"  judgesmith score {folder} INPUT.jsonl -o SCORES.jsonl")


def _print_examples(found: Compiled) -> None:
    if not found.examples:
        return
    click.echo("\nTwo judgements on texts it has not seen:")
    for item, human, judgement in found.examples:
        scale = found.saved.protocol.aggregation.scale
        score = "no score" if judgement.score is None else f"{judgement.score:.1f}"
        click.echo(f"\n  {score} on {scale} (people: {human:.1f} on {found.saved.human_scale})")
        click.echo(f"  response: {shortened(item.response)}")
        click.echo(f"  because:  {shortened(judgement.explanation, 400)}")
