"""``judgesmith panel``: several compiled judges as one, each as heavy as it helps to agree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.judge.compile_options import refuse_unused_versions
from judgesmith.cli.judge.compiled import print_discernment, print_saved
from judgesmith.cli.shared.agreement import basis_text, print_agreement, three_digits
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import (
    comma_names,
    data_options,
    load_data,
)
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import panel_models, used
from judgesmith.cli.shared.model_options import (
    ModelAt,
    ModelChoice,
    allow_model_option,
    model_options,
)
from judgesmith.cli.shared.options import Command, field_options, judge_output_options, shown_option
from judgesmith.cli.shared.places import OUTPUT, judge_place, made_before
from judgesmith.cli.shared.printing import (
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    usage_text,
)
from judgesmith.cli.shared.progress import stage_progress
from judgesmith.cli.shared.role_options import models_by_part, role_option
from judgesmith.experiments.compile.fields import CompileFields

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.agreement import Report
    from judgesmith.experiments.panel.notes import SubsetAnalysis
    from judgesmith.experiments.panel.panelling import LearnedPanel
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedPanel
    from judgesmith.programs.lm import Usage

SUPERVISOR = "--supervisor"
PART = "supervisor"
SAME = "same"
BY_RULE = "rule"
OUTLIERS = ("auto", "deviation", "median", "none")


def panel_options(command: Command) -> Command:
    """Add ``--score``, ``--supervisor``, ``--outliers`` and ``--subsets``."""
    for option in (
        click.option(
            "--subsets",
            is_flag=True,
            help="Also report the agreement of every subset of the JUDGEs; needs no more calls.",
        ),
        click.option(
            "--outliers",
            type=click.Choice(OUTLIERS),
            metavar=f"[{'|'.join(OUTLIERS)}]",
            help="JUDGEs whose errors are dropped: auto drops outlying scores (two levels from the "
            "median; from six JUDGEs on, two SD from the mean).",
        ),
        click.option(
            SUPERVISOR,
            metavar=f"MODEL|{SAME}|{BY_RULE}",
            help="Make one list of the errors that the JUDGEs find in a text: this model does, or "
            f"that of the first JUDGE ({SAME}), or a rule without a model.",
        ),
        shown_option(
            "--score",
            click.Choice(("learned", "mean", "median")),
            "learned",
            "How the JUDGEs' scores are combined: with learned weights, or by mean or median.",
            metavar="[learned|mean|median]",
        ),
    ):
        command = option(command)
    return command


def check_supervisor(given: str | None, outliers: str | None) -> None:
    """Refuse an impossible supervisor, and outliers without a supervisor."""
    from judgesmith.programs.lm import engine_for
    from judgesmith.programs.lm.factory import check_provider

    if outliers is not None and given is None:
        raise OptionError(
            "--outliers says whose errors are left out of one list, and none is made.",
            option="--outliers",
            hint=f"name who makes it with --supervisor, a model, {SAME} or {BY_RULE}.",
        )
    if given is not None and given not in (SAME, BY_RULE):
        if "/" not in given and given != "offline":
            raise OptionError(
                f"errors are merged by {SAME} (the model of the first judge), {BY_RULE} (none), "
                f"or a model such as offline or openai/gpt-4o-mini; got {given!r}.",
                option=SUPERVISOR,
            )
        with blaming(SUPERVISOR):
            check_provider(given)
            engine_for(given)


def supervising_model(
    given: str | None,
    members: Mapping[str, AnySaved],
    parts: Mapping[str, ModelAt],
    choice: ModelChoice,
) -> tuple[str, dict[str, ModelAt]]:
    """Return the model that supervises, ``rule``, or nothing; and the models of all parts."""
    if given in (None, BY_RULE):
        return given or "", {**parts}
    own = parts.get(PART)
    if own is None and given == SAME:
        own = parts.get(next(iter(members)))
    elif own is None:
        own = ModelAt(str(given))
    if own is None:
        return choice.model_name or next(iter(members.values())).models[0], {**parts}
    return own.name, {**parts, PART: own}


def refuse_too_many(members: Mapping[str, AnySaved]) -> None:
    """Refuse panels with too many subsets."""
    from judgesmith.experiments.panel.notes import MOST_MEMBERS

    if len(members) > MOST_MEMBERS:
        raise OptionError(
            f"{len(members)} judges have {2 ** len(members) - 1:,} subsets; at most "
            f"{MOST_MEMBERS} judges are compared so.",
            option="--subsets",
        )


_MOST_SHOWN = 10


def subsets_summary(saved: SavedPanel) -> dict[str, Any]:
    """Return what a panel was told of its subsets, as it stands in ``--json``; nothing if not."""
    found = [
        {"members": one["members"], **one["values"]}
        for one in saved.history
        if one.get("stage") == "subset"
    ]
    return {"subsets": found} if found else {}


def say_subsets(found: SubsetAnalysis) -> None:
    """Print the best subsets, the whole panel, and mean and best by size."""
    statistics = list(found.whole.values)
    first = statistics[0]
    shown = [*found.subsets[:_MOST_SHOWN]]
    if found.whole not in shown:
        shown.append(found.whole)
    rows = [
        [
            f"{found.place_of(one)}. {', '.join(one.members)}",
            *(three_digits(one.values[name]) for name in statistics),
        ]
        for one in shown
    ]
    title = (
        f"Subsets, by the plain {found.middle} of their members, on {found.n} rows; the best of "
        "many looks better than it is:"
    )
    print_table(title, rows, header=["members", *statistics])
    sizes = [
        f"{size}: {three_digits(mean)}, best {three_digits(best)}"
        for size, (mean, best) in found.by_size(first).items()
    ]
    say(f"\nmean {first} by number of members: {'; '.join(sizes)}")


@tool("panel")
@click.argument("judges", nargs=-1, required=True, metavar="JUDGE…")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="PANEL", help="Folder for the panel.")
@data_options
@click.option(
    "--target",
    default="auto",
    metavar="NAME",
    help="Criterion, 'overall', 'mean' or NAME+NAME [default: the target of all JUDGEs].",
)
@field_options(CompileFields, "aggregate")
@click.option(
    "--objective",
    metavar="SUM[; CONDITION]…",
    help="Objective to maximize, as in 'compile' [default: q].",
)
@panel_options
@role_option
@field_options(CompileFields, "task", "kinds", "holdout_kinds", "versions", "holdout", "seed")
@click.option("--no-texts", is_flag=True, help="Don't store texts in the saved judge.")
@allow_model_option
@model_options
@judge_output_options
def command(
    judges: tuple[str, ...],
    data: str,
    output: str,
    target: str,
    aggregate: str,
    objective: str | None,
    score: str,
    supervisor: str | None,
    outliers: str | None,
    subsets: bool,
    task: str | None,
    kinds: str | None,
    holdout_kinds: str | None,
    versions: int,
    holdout: float,
    seed: int,
    no_texts: bool,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> None:
    """Weigh several JUDGEs by how well they agree with the ratings in DATA, and save the panel.

    Weights are learned from rows that none of the judges was made from, and reported on further
    ones. A plain mean or median (--score) needs no ratings. Each judge asks the model that it was
    compiled with, unless --model names one for all. With --supervisor the errors that judges point
    at become one list. The same command again continues where an interrupted one was.
    """
    from judgesmith.experiments.panel.panelling import (
        TooFewJudgedError,
        estimate_panel,
        learn_panel,
    )
    from judgesmith.experiments.panel.rows import PanelSettings, panel_parts, panel_to_learn
    from judgesmith.optimizers import PanelSelection
    from judgesmith.signatures.plain_data import record_faults

    folder = judge_place(output)
    with blaming("--objective"):
        PanelSelection(objective or "q")
    check_supervisor(supervisor, outliers)
    members = _members(judges)
    supervising, own = supervising_model(supervisor, members, models_by_part(choice.roles), choice)
    if subsets:
        refuse_too_many(members)
    dataset = load_data(data)
    with record_faults():
        settings = PanelSettings.model_validate(
            {
                "target": "" if target == "auto" else target,
                "aggregate": aggregate,
                **({} if objective is None else {"objective": objective}),
                "holdout": holdout,
                "seed": seed,
                "texts": not no_texts,
                "score": score,
                "supervisor": supervising,
                "outliers": outliers or "auto",
                "subsets": subsets,
                "task": task,
                "kinds": comma_names(kinds),
                "holdout_kinds": comma_names(holdout_kinds),
                "versions": versions,
            }
        )
    refuse_unused_versions(settings.for_versions)
    with blaming("--target" if settings.target else data):
        parts = panel_parts(members, dataset, settings)
        panel = panel_to_learn(members, parts, settings)
    elsewhere = choice.model_name is not None or choice.api_base is not None or bool(own)
    named = panel_models(panel, own, choice, run_id=None).told if elsewhere else ""
    run = settings.fingerprint(members, dataset, named)
    models = panel_models(panel, own, choice, run_id=f"panel {run}")
    lm, *others = models.every
    with blaming(OUTPUT):
        made = made_before(folder, run, force=force)
    if dry_run:
        panel = panel.with_parts(models.by_part)
        estimate = estimate_panel(panel, parts, models.by_name, lm, texts=settings.texts)
        print_estimate(estimate, as_json=as_json)
        return
    if made is not None and made.settings.get("complete"):
        _print_again(made, folder, as_json=as_json)
        return
    models.check_keys(choice)
    try:
        with blaming(data), stage_progress(quiet=as_json) as progress:
            found = learn_panel(
                members,
                dataset,
                settings,
                lm=lm,
                lms=models.by_name,
                own=models.by_part,
                run=run,
                concurrency=choice.concurrency,
                on_progress=progress,
            )
    except OptionError as fault:
        if not isinstance(fault.__cause__, TooFewJudgedError):
            raise
        _print_nothing(str(fault), used(lm, *others), as_json=as_json)
        return
    with blaming(OUTPUT):
        found.saved.save(folder, overwrite=True)
    usage = used(lm, *others)
    if as_json:
        print_json(_summary(found.saved, folder, usage))
    else:
        report(found, usage)
    say_notes((*dataset.notes, *found.notes), as_json=as_json)
    if not as_json:
        print_saved(found.saved, folder, choice.asked_again(models.names, own))


def _members(judges: tuple[str, ...]) -> dict[str, AnySaved]:
    """Return the judges by names that are made of their folders'."""
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    found: dict[str, AnySaved] = {}
    known: dict[str, str] = {}
    for folder in judges:
        judge = load_saved(folder)
        if judge.fingerprint in known:
            raise OptionError(
                f"{known[judge.fingerprint]} and {folder} are the same judge (fingerprint "
                f"{judge.fingerprint}).",
                option=folder,
                hint="name each once.",
            )
        known[judge.fingerprint] = folder
        path = Path(folder).resolve()
        path = path.parent if path.is_file() else path
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.name).lstrip(".-")[:60] or "judge"
        name, n = plain, 2
        while name in found:
            name, n = f"{plain}-{n}", n + 1
        found[name] = judge
    if len(found) < 2:
        raise OptionError(
            f"a panel has two judges or more, before DATA; got {', '.join(judges)} alone.",
            option=judges[0],
            hint="name another one, and DATA last.",
        )
    return found


def _summary(saved: AnySaved, folder: Path, usage: Usage | None) -> dict[str, Any]:
    from judgesmith.programs.artifacts.saved_ensembles import SavedPanel

    assert isinstance(saved, SavedPanel)
    weights = dict(zip(saved.weights.members, saved.weights.weights, strict=True))
    return {
        "judge": str(folder),
        "target": saved.target,
        "calls": usage.calls if usage else 0,
        "cost_usd": usage.cost_usd if usage else 0.0,
        "rows": dict(saved.rows),
        "weights": weights,
        "best": saved.settings.get("best_member"),
        **saved.agreement.plain,
        **subsets_summary(saved),
    }


def _print_nothing(why: str, usage: Usage | None, *, as_json: bool) -> None:
    """Say that the budget ended before there was anything to weigh."""
    if as_json:
        calls, cost = (usage.calls, usage.cost_usd) if usage else (0, 0.0)
        print_json({"judge": None, "calls": calls, "cost_usd": cost})
    say_notes([why, "nothing was saved."], as_json=as_json)
    if usage is not None and not as_json:
        say(usage_text(usage))


def _print_again(saved: AnySaved, folder: Path, *, as_json: bool) -> None:
    from judgesmith.programs.artifacts.card import judge_card

    if as_json:
        print_json(_summary(saved, folder, None))
        return
    say(f"{folder} holds the result of this very run; nothing was asked.\n")
    say(judge_card(saved))


def _print_agreement(found: LearnedPanel, selection: Report) -> None:
    saved = found.saved
    rows = saved.rows
    learned = saved.settings["score"] == "learned"  # else the mean or median
    use = "learn weights from" if learned else "tell the best judge by"
    say(
        f"{found.data}: {saved.target} on {saved.human_scale}; rows: {rows['select']} to "
        f"{use}, {rows['heldout']} held out, {rows['known']} that a judge was made from, "
        f"{rows['unrated']} unrated, {rows['unscored']} unscored"
    )
    if found.heldout is not None:
        print_agreement(
            f"Agreement with human ratings, held out: {basis_text(found.heldout)}",
            {str(found.best): found.best_member, "panel": found.heldout},
            gain=found.gain,
        )
    else:
        print_agreement(
            f"Agreement on the rows it was learned from: {basis_text(selection)}",
            {"panel": selection},
        )


def report(found: LearnedPanel, usage: Usage | None = None) -> None:
    saved = found.saved
    rows = saved.rows
    if found.selection is None and found.discernment is not None:
        say(
            f"{found.data}: no ratings; rows: {rows['select']} to learn weights from, "
            f"{rows['heldout']} held out, {rows['known']} that a judge was made from, "
            f"{rows['unscored']} unscored"
        )
    elif found.selection is None:
        say(
            f"{found.data}: agreement with human ratings is unknown; rows: {rows['known']} "
            f"that a judge was made from, {rows['unrated']} unrated; {len(saved.golden)} texts kept"
        )
    else:
        _print_agreement(found, found.selection)
    if found.discernment is not None:
        print_discernment(found.discernment, before=str(found.best), after="panel")
    total = sum(saved.weights.weights)
    pairs = zip(saved.weights.members, saved.weights.weights, strict=True)
    shares = [f"{name} {weight / total:.3f}" for name, weight in pairs if weight]
    say(f"\nweights: {', '.join(shares)}")
    if saved.rules is not None:
        by = "rule" if saved.supervisor is None else saved.supervisor.model
        say(f"errors: one list, merged by {by}")
    if found.subsets is not None:
        say_subsets(found.subsets)
    if usage is not None:
        say(f"models: {saved.model}; {usage_text(usage)}")
