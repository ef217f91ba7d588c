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
from judgesmith.cli.places import check_place
from judgesmith.cli.printing import (
    basis_text,
    print_agreement,
    print_json,
    say,
    say_notes,
    say_under,
    shortened,
    stage_progress,
    usage_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgesmith.experiments import Compiled, CompileSettings, DataSet
    from judgesmith.experiments.compiling import NothingScoredError
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
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all that is drawn."
)
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
    asked for again. When the budget ends early, the best judge so far is saved, marked as
    incomplete. DATA is described under 'judgesmith check --help'.
    """
    from judgesmith.experiments import CompileSettings, compile_judge
    from judgesmith.experiments.compiling import NothingScoredError
    from judgesmith.experiments.parts import parts_of
    from judgesmith.experiments.targets import targets_of
    from judgesmith.optimizers import parse_objective
    from judgesmith.programs.asking import endpoint_of
    from judgesmith.programs.models import stack_of
    from judgesmith.signatures import Protocol, Rubric

    folder = _place(output)
    names = set(ModelChoice.__dataclass_fields__)
    choice = ModelChoice(**{name: rest.pop(name) for name in names})
    start = {"variant": variant} | ({"rubric": Rubric.load(rubric)} if rubric else {})
    settings = CompileSettings(protocol=Protocol(**start), texts=not no_texts, **rest)
    dataset = load_data(data, columns, scales)
    targets = targets_of(dataset, settings.target, settings.aggregate)
    parse_objective(settings.objective)
    parts_of(dataset, targets, settings)
    run = settings.fingerprint(dataset, choice.model_name or "offline", endpoint_of(choice.lm()))
    lm = choice.lm(run_id=f"compile {run}")
    if dry_run:
        _print_estimate(dataset, settings, lm, as_json=as_json)
        return
    earlier = _earlier(folder, run, force=force)
    if earlier is not None and earlier.settings.get("complete"):
        _print_again(earlier, folder, as_json=as_json)
        return
    stack = stack_of(lm)
    assert stack is not None
    try:
        with stage_progress(quiet=as_json) as progress:
            found = compile_judge(
                dataset, settings, lm=lm, concurrency=concurrency, progress=progress
            )
    except NothingScoredError as fault:
        if not fault.spent:
            raise
        _print_nothing(fault, dataset, stack.usage, as_json=as_json)
        return
    found.saved.save(folder, overwrite=True)
    if as_json:
        print_json(_summary(found.saved, folder, stack.usage))
    else:
        _print(found, dataset, stack.usage)
    say_notes((*dataset.notes, *found.notes, *stack.adaptations), as_json=as_json)
    if not as_json:
        _print_examples(found)
        say(f"\nsaved in {folder} (fingerprint {found.saved.fingerprint}); try:")
        say(f"  judgesmith score {folder} INPUT.jsonl -o SCORES.jsonl")


def _place(output: str) -> Path:
    """Return the folder for the judge, refusing one that holds something else."""
    folder = check_place(output)
    if folder.exists() and not (folder / "judge.json").is_file():
        raise click.UsageError(f"{folder} is there and holds no judge; name another folder.")
    return folder


def _earlier(folder: Path, run: str, *, force: bool) -> SavedJudge | None:
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
        "rows": _rows(saved.rows),
        **saved.agreement,
    }


def _rows(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in ("train", "select", "heldout", "unscored")}


def _print_again(saved: SavedJudge, folder: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(_summary(saved, folder, None))
        return
    from judgesmith.programs.card import judge_card

    say(f"{folder} holds the result of this very run; nothing was asked.\n")
    say(judge_card(saved))


def _print_nothing(
    fault: NothingScoredError, dataset: DataSet, usage: Usage, *, as_json: bool
) -> None:
    """Say that the budget ended before there was anything to report."""
    notes = [
        *dataset.notes,
        f"{str(fault).rstrip('.')}.",
        "nothing was saved; a larger budget continues from here.",
    ]
    if as_json:
        parts = ("uncompiled", "selection", "heldout", "gain", "optimism")
        print_json(
            {
                "judge": None,
                "target": fault.target,
                "calls": usage.calls,
                "cost_usd": usage.cost_usd,
                "rows": _rows(fault.rows),
                **dict.fromkeys(parts),
            }
        )
    say_notes(notes, as_json=as_json)
    if not as_json:
        say(usage_text(usage))


def _print_estimate(dataset: DataSet, settings: CompileSettings, lm: Any, *, as_json: bool) -> None:
    from judgesmith.experiments.estimating import estimate_run

    estimate = estimate_run(dataset, settings, lm)
    if as_json:
        print_json(estimate.to_dict())
        return
    cost = "unknown (give --price)" if estimate.cost_usd is None else f"${estimate.cost_usd:.2f}"
    say(
        f"{estimate.calls} calls if every answer can be read, at most {estimate.max_calls}; about "
        f"{estimate.input_tokens} tokens in and {estimate.output_tokens} out, cost {cost}.\n"
        "Nothing was asked. Answers on record are not counted off."
    )


def _print(found: Compiled, dataset: DataSet, usage: Usage) -> None:
    from judgesmith.programs.card import aggregation_text

    saved = found.saved
    rows = saved.rows
    say(
        f"{dataset.name}: {saved.target} on {saved.human_scale}; rows: {rows['train']} to show, "
        f"{rows['select']} to choose by, {rows['heldout']} held out, {rows['unrated']} unrated, "
        f"{rows['unscored']} unscored"
    )
    if found.heldout is not None:
        print_agreement(
            f"Agreement with people, held out: {basis_text(found.heldout)}",
            {"uncompiled": found.uncompiled, "compiled": found.heldout},
            gain=found.gain,
        )
        chosen = found.selection["dataset"]["q"].value
        optimism = chosen - found.heldout["dataset"]["q"].value
        if optimism == optimism:
            say(f"\nQ on the rows it was chosen by: {chosen:.3f}, {optimism:+.3f} above held out")
    else:
        print_agreement(
            f"Agreement on the rows it was chosen by: {basis_text(found.selection)}",
            {"chosen by": found.selection},
        )
        say()
    say_under("score", aggregation_text(saved.protocol.aggregation))
    shown = [f"{len(many)} in {name}" for name, many in saved.protocol.demonstrations.items()]
    say(f"demonstrations: {', '.join(shown) or 'none'}")
    say(f"model: {saved.model}; {usage_text(usage)}")


def _print_examples(found: Compiled) -> None:
    if not found.examples:
        return
    say("\nTwo judgements on texts it has not seen:")
    for item, human, judgement in found.examples:
        scale, people = found.saved.protocol.aggregation.scale, found.saved.human_scale
        say(f"\n  {judgement.score:.1f} on {scale} (people: {human:.1f} on {people})")
        say_under("response", shortened(item.response), indent=2)
        say_under("because", shortened(judgement.explanation, 400), indent=2)
