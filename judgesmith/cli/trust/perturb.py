"""``judgesmith discern perturb``: perturbed texts, and controls that keep their quality."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import data_options, load_data
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import used
from judgesmith.cli.shared.model_options import ModelChoice, model_options
from judgesmith.cli.shared.options import (
    WholeNumber,
    dry_run_option,
    json_option,
    seed_option,
    shown_option,
)
from judgesmith.cli.shared.places import OUTPUT, rows_place
from judgesmith.cli.shared.printing import (
    print_json,
    print_table,
    say,
    say_notes,
    spent_on,
    usage_text,
)
from judgesmith.cli.shared.progress import counting

if TYPE_CHECKING:
    from judgesmith.data.items import DataSet
    from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
    from judgesmith.experiments.robustness.perturbing import Originals, PerturbationConfig, Which
    from judgesmith.programs.perturbing.orders import FactsCheck
    from judgesmith.programs.perturbing.perturber import PlannedCalls


@tool("perturb", old_names={"--sample": "--rows"})
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="OUT.jsonl", help="Output file.")
@data_options
@click.option(
    "--task",
    metavar="NAME",
    help="Task, which sets the perturbations: summarization, story_completion, "
    "question_answering, dialogue or translation [default: stated by the rows].",
)
@shown_option(
    "--kinds",
    str,
    "task,controls",
    ("Perturbations, such as reordering/minor, or the groups task, additions, controls and all."),
    metavar="KIND,…",
)
@click.option(
    "--amount",
    "amounts",
    multiple=True,
    metavar="KIND=NUMBER",
    help="Places to change, such as character_typos/minor=20. Repeatable.",
)
@click.option(
    "--check",
    type=click.Choice(["words", "model"]),
    default="words",
    show_default=True,
    help="Whether a model's paraphrases state the same facts: by their words, or ask it.",
)
@click.option(
    "--originals",
    "which",
    type=click.Choice(["references", "responses"]),
    help="Perturb one reference per source, or every response [default: references if present].",
)
@click.option(
    "--min-chars",
    type=WholeNumber(0),
    help="Exclude shorter texts [default: 151 for question_answering, 301 for translation, "
    "else 0].",
)
@click.option(
    "-n",
    "--rows",
    "sample",
    type=WholeNumber(1),
    help="Number of originals to sample [default: all].",
)
@seed_option
@model_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace an existing output file.")
@json_option
def command(
    data: str,
    output: str,
    task: str | None,
    kinds: str,
    amounts: tuple[str, ...],
    check: FactsCheck,
    which: Which | None,
    min_chars: int | None,
    sample: int | None,
    seed: int,
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> None:
    """Write changed versions of the texts in DATA to OUT.jsonl, each below its original.

    'judgesmith discern' tests a judge's sensitivity to them. Most changes are made by
    rule; those that take a language model are made by --model, and without one by rule as well.
    """
    from judgesmith.experiments.robustness.perturbing import (
        perturb_texts,
        perturbation_summary,
        write_perturbed,
    )
    from judgesmith.programs.perturbing import Donors
    from judgesmith.programs.perturbing.perturber import planned_calls

    place = rows_place(output, data, like="versions.jsonl", force=force)
    dataset = load_data(data)
    changes = replace(_changes(task, dataset, kinds, amounts, seed), check=check)
    pool = _pool(dataset, which, min_chars, changes.task, data)
    originals = pool if sample is None else _sample(pool, sample, seed)
    lm = choice.lm(run_id=f"perturb {dataset.digest} {seed}")
    planned = planned_calls(
        originals.items,
        changes.perturbations,
        lm,
        task=changes.task,
        amounts=changes.amounts,
        check=check,
    )
    if dry_run:
        _print_planned(planned, as_json=as_json)
        return
    choice.check_key(lm)
    _announce(planned, as_json=as_json)
    with counting("texts", len(originals.items), quiet=as_json) as tell:
        found = perturb_texts(
            originals.items,
            changes,
            name=dataset.name,
            donors=Donors(pool.items),
            lm=lm,
            concurrency=choice.concurrency,
            on_progress=tell,
        )
    with blaming(OUTPUT):
        write_perturbed(found, place)
    usage = used(lm)
    notes = [*dataset.notes, *_left_out(pool), *found.notes]
    if as_json:
        about = {"output": output, "task": changes.task, "texts": originals.which, "seed": seed}
        print_json(
            {
                **about,
                **perturbation_summary(found),
                "left_out": dict(pool.left_out),
                **spent_on(usage),
            }
        )
    else:
        _print(found, originals, changes, output)
        say(usage_text(usage))
    say_notes(notes, as_json=as_json)


def _changes(
    task: str | None, dataset: DataSet, kinds: str, amounts: tuple[str, ...], seed: int
) -> PerturbationConfig:
    """Return what is to be done to texts, as the command line and the rows say."""
    from judgesmith.experiments.robustness.perturbing import PerturbationConfig
    from judgesmith.programs.perturbing import TASKS
    from judgesmith.programs.perturbing.catalogue import named_amounts, perturbations_named

    if task is not None and task not in TASKS:
        raise OptionError(
            f"no changes are known for the task {task!r}.",
            option="--task",
            hint=f"name one of {', '.join(TASKS)}, or "
            "leave --task out for changes that fit any text.",
        )
    stated = {item.extra.get("task") for item in dataset}
    of_rows = next(iter(stated)) if len(stated) == 1 else None
    task = task or (of_rows if isinstance(of_rows, str) and of_rows in TASKS else None)
    names = tuple(name for one in kinds.split(",") if (name := one.strip()))
    with blaming("--kinds"):
        wanted = perturbations_named(names, task)
    with blaming("--amount"):
        much = named_amounts(amounts, task)
    strange = [name for name in much if name not in {way.name for way in wanted}]
    if strange:
        raise OptionError(
            f"{strange[0]} is none of the changes that are made.",
            option="--amount",
            hint="name it in --kinds, too.",
        )
    return PerturbationConfig(kinds=names, task=task, amounts=much, seed=seed)


def _pool(
    dataset: DataSet, which: Which | None, min_chars: int | None, task: str | None, data: str
) -> Originals:
    """Return all texts that can be changed."""
    from judgesmith.experiments.robustness.perturbing import MIN_CHARACTERS, get_originals

    least = MIN_CHARACTERS.get(task or "", 0) if min_chars is None else min_chars
    found = get_originals(dataset, which, min_characters=least)
    if not found.items:
        reasons = ", ".join(f"{n} × {reason}" for reason, n in found.left_out.items())
        if found.n_short:
            option, advice = "--min-chars", "give longer texts, or lower --min-chars"
        elif which == "references":
            option, advice = "--originals", "choose responses instead"
        else:
            option, advice = data, "give texts with a word"
        raise OptionError(
            f"no text of {dataset.name} can be changed: {reasons}.",
            option=option,
            hint=f"{advice}.",
        )
    return found


def _sample(pool: Originals, n: int, seed: int) -> Originals:
    import numpy as np

    return pool.sample(n, rng=np.random.default_rng(seed))


def _announce(planned: PlannedCalls, *, as_json: bool) -> None:
    """Say what is about to be asked of a model, if anything is."""
    if planned.calls:
        say(
            f"{planned.n_versions} versions to ask the model for: {planned.calls} calls if each "
            f"first answer is as asked for, {planned.max_calls} at most, less those cached",
            err=as_json,
        )


def _print_planned(planned: PlannedCalls, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(planned))
        return
    say(
        f"{planned.calls} calls, {planned.max_calls} at most, for {planned.n_versions} versions; "
        f"about {planned.input_tokens} tokens in and {planned.output_tokens} out"
    )


def _left_out(pool: Originals) -> list[str]:
    return [f"left out: {n} × {reason}." for reason, n in pool.left_out.items()]


def _print(
    found: PerturbedSet, originals: Originals, changes: PerturbationConfig, output: str
) -> None:
    say(f"{found.n_versions} versions of {len(found.originals)} {originals.which} in {output}")
    task = changes.task or "any (name one with --task)"
    say(f"task: {task}; seed {changes.seed}")
    rows = []
    for kind, versions in zip(found.kinds, found.versions, strict=True):
        reasons = found.skipped.get(kind.name, {})
        name = kind.name if kind.lowers else f"{kind.name} (control)"
        made = sum(one is not None for one in versions)
        rows.append([name, kind.level, kind.method, str(made), str(sum(reasons.values()))])
    header = ["change", "level", "by", "made", "skipped"]
    print_table("Versions", rows, header=header, left=3)
    skips = [
        [kind, reason, str(n)]
        for kind, reasons in found.skipped.items()
        for reason, n in sorted(reasons.items(), key=lambda one: -one[1])
    ]
    if skips:
        print_table("Why texts were skipped", skips, header=["change", "reason", "texts"], left=2)
