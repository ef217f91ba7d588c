"""``judgesmith discern``: whether a judge notices that texts got worse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.compiled import print_estimate
from judgesmith.cli.discerned import announce, estimate_of, print_discerned
from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.judge_models import asked_models, models_of_all
from judgesmith.cli.judged import Named, criterion_option, named
from judgesmith.cli.model_options import ModelChoice, model_options
from judgesmith.cli.numbers import Number, WholeNumber
from judgesmith.cli.options import (
    Command,
    dry_run_option,
    given_options,
    json_option,
    map_option,
    seed_option,
    together,
)
from judgesmith.cli.places import OUTPUT, check_place
from judgesmith.cli.printing import print_json, say
from judgesmith.cli.progress import stage_progress

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments import DataSet
    from judgesmith.experiments.perturbed_set import PerturbedSet
    from judgesmith.experiments.version_scores import By, VersionScores
    from judgesmith.experiments.version_weights import Shares, VersionWeights
    from judgesmith.programs.saved_kinds import AnySaved

AUTO, NONE = "auto", "none"
_OF_JUDGES = ("samples", "temperature", "dry_run", "model_name", "api_base")


def _test_options(command: Command) -> Command:
    """Add the options that say what is tested, and how."""
    return together(
        command,
        click.option(
            "--weights",
            default=AUTO,
            show_default=True,
            metavar="FILE|TASK|none",
            help="Which metric should notice which change; auto takes ours for the task of the "
            "data, where the judge has that task's criteria.",
        ),
        click.option(
            "--by",
            type=click.Choice(["criteria", "score"]),
            default="criteria",
            show_default=True,
            help="Whether its scores on criteria are tested, or its score of the whole.",
        ),
        click.option(
            "--form",
            type=click.Choice(["normalised", "printed"]),
            default="normalised",
            show_default=True,
            help="Of the mean over criteria; 'printed' compares with the paper's figures.",
        ),
        click.option(
            "--samples", type=WholeNumber(1), help="Answers per question [default: the judge's]."
        ),
        click.option(
            "--temperature", type=Number(0, 2), help="Of every call [default: the judge's]."
        ),
        click.option(
            "--min-d", type=Number(0), help="Exit with status 1 if the lowest D is below this."
        ),
    )


@click.command("discern")
@click.argument("judge", metavar="JUDGE-or-SCORES")
@click.argument("data")
@map_option
@click.option("--task", metavar="NAME", help="Of the data [default: what its rows say].")
@click.option("--kinds", metavar="KIND,…", help="Changes to test, such as reordering/minor.")
@click.option("--sample", type=WholeNumber(2), help="Originals to draw [default: all].")
@_test_options
@criterion_option
@seed_option("Of what is drawn.")
@click.option("-o", "--output", metavar="FOLDER", help="Folder for the report and the scores.")
@model_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace a test of another run.")
@json_option
def command(
    judge: str,
    data: str,
    columns: str | None,
    task: str | None,
    kinds: str | None,
    sample: int | None,
    weights: str,
    by: By,
    form: Any,
    samples: int | None,
    temperature: float | None,
    min_d: float | None,
    criterion: str | None,
    seed: int,
    output: str | None,
    concurrency: int,
    dry_run: bool,
    force: bool,
    as_json: bool,
    **choice: Any,
) -> int:
    """Say whether a judge scores damaged versions of texts lower than the texts themselves.

    DATA holds texts and versions, as 'judgesmith perturb' writes them, or plain texts, of which
    versions are made by rule. No ratings are read.
    JUDGE-or-SCORES is a folder that 'compile' made, or a file of scores for the rows of DATA
    (FILE:JUDGE picks one of several). Every text is judged by itself, and the judge is not told
    which is which. The same command again continues where an interrupted one was.
    """
    import numpy as np

    from judgesmith.experiments.discerning import discern
    from judgesmith.experiments.discernment_folder import check_discerned, run_of, save_discerned
    from judgesmith.programs.costs import usage_of

    given = named(judge)
    _refuse_mixed(given, criterion)
    folder = None if output is None else check_place(output)
    dataset = _texts(data, columns)
    task = _known_task(task, dataset)
    chosen = {"kinds": kinds, "task": task, "sample": sample, "seed": seed}
    perturbed = _versions(dataset, data, **chosen, scored=given.path is not None)  # type: ignore[arg-type]
    saved = None if given.path is not None else _to_ask(judge, samples, temperature)
    what = judge if saved is None else saved.fingerprint
    run = run_of(what, dataset.digest, kinds, task, sample, weights, by, form, criterion, seed)
    if folder is not None:
        with blaming(OUTPUT):
            check_discerned(folder, run, force=force)
    shares = _given_weights(weights, perturbed)
    asked = ModelChoice(**choice)
    lms: list[dspy.LM] = []
    if saved is None:
        scores = _of_scores(given, dataset, perturbed, criterion, by)
    else:
        models = models_of_all([saved], asked, run_id=f"discern {run}")
        if dry_run:
            print_estimate(estimate_of(saved, perturbed, models), as_json=as_json)
            return 0
        saved, lms = asked_models(saved, asked, run_id=f"discern {run}")
        announce(estimate_of(saved, perturbed, models), perturbed, as_json=as_json)
        scores = _of_judge(saved, perturbed, by, lms[0], judge, concurrency, quiet=as_json)
    found = discern(
        scores,
        perturbed,
        weights=_weights(weights, shares, perturbed, scores, task),
        form=form,
        rng=np.random.default_rng(seed),
    )
    if folder is not None:
        with blaming(OUTPUT):
            save_discerned(folder, found, scores, perturbed, marks={"run": run, "judge": what})
    usage = usage_of(*lms) if lms else None
    notes = [*dataset.notes, *perturbed.notes]
    if as_json:
        spent = {"calls": usage.calls, "cost_usd": usage.cost_usd} if usage else {}
        print_json({**found.to_dict(), **spent, "output": output})
    print_discerned(found, notes, usage, folder, as_json=as_json)
    if min_d is not None and not found.lowest >= min_d:
        say(f"the lowest D is not {min_d:g} or more.", err=True)
        return 1
    return 0


def _refuse_mixed(given: Named, criterion: str | None) -> None:
    """Refuse options of scores beside a judge, and options of judges beside scores."""
    if given.path is None and criterion is not None:
        raise OptionError(
            f"--criterion picks one of the criteria in a file of scores, and {given.text} is a "
            "judge, of which all criteria are tested; leave it out.",
            option="--criterion",
        )
    said = given_options(*_OF_JUDGES)
    if given.path is not None and said:
        raise OptionError(
            f"{given.text} is a file of scores, and no model is asked; leave out {said[0]}.",
            option=said[0],
        )


def _texts(data: str, columns: str | None) -> DataSet:
    """Return the rows of DATA, without their ratings."""
    from judgesmith.experiments import DataSet, stream_items
    from judgesmith.experiments.columns import column_map
    from judgesmith.experiments.problems import DataError, Problem

    with blaming("--map"):
        column_map(columns)
    with blaming(data):
        rows = stream_items(data, columns=columns)
        items = tuple(rows)
        if not items:
            nothing = Problem(
                where=rows.name, field="file", expected="at least one row", came="none"
            )
            raise DataError([nothing])
    return DataSet(name=rows.name.split(".")[0], items=items, notes=tuple(rows.notes))


def _versions(
    dataset: DataSet,
    data: str,
    *,
    kinds: str | None,
    task: str | None,
    sample: int | None,
    seed: int,
    scored: bool,
) -> PerturbedSet:
    """Return originals and versions, as many of both as are wanted, and where they are from."""
    import numpy as np

    from judgesmith.experiments.perturbed_rows import is_perturbed, versions_of
    from judgesmith.experiments.version_choice import some_kinds, some_originals

    names = None if kinds is None else [name for one in kinds.split(",") if (name := one.strip())]
    rng = np.random.default_rng(seed)
    if not (is_perturbed(dataset) or scored):
        return _made(dataset, data, names, task, sample, seed)
    with blaming(data):
        perturbed = versions_of(dataset)
    if names is not None:
        with blaming("--kinds"):
            perturbed = some_kinds(perturbed, names)
    if sample is not None:
        perturbed = some_originals(perturbed, sample, rng=rng)
    if not perturbed.n_versions:
        raise OptionError(
            f"no text in {dataset.name} has a version to compare it with; give rows with both.",
            option=data,
        )
    return perturbed


def _made(
    dataset: DataSet,
    data: str,
    names: list[str] | None,
    task: str | None,
    sample: int | None,
    seed: int,
) -> PerturbedSet:
    """Return versions of plain texts, made by rule as 'perturb' makes them."""
    import numpy as np

    from judgesmith.experiments.originals import MIN_CHARACTERS, originals_of
    from judgesmith.experiments.perturbing import USUAL, Changes, perturb_texts
    from judgesmith.programs.perturbing import Donors

    pool = originals_of(dataset, min_characters=MIN_CHARACTERS.get(task or "", 0))
    part = pool if sample is None else pool.sample(sample, rng=np.random.default_rng(seed))
    changes = Changes(kinds=USUAL if names is None else tuple(names), task=task, seed=seed)
    with blaming("--kinds"):
        assert changes.perturbations
    found = perturb_texts(part.items, changes, name=dataset.name, donors=Donors(pool.items))
    if not found.n_versions:
        reasons = ", ".join(f"{n} × {reason}" for reason, n in pool.left_out.items())
        raise OptionError(
            f"no text of {dataset.name} can be changed{': ' if reasons else ''}{reasons}; give "
            "longer texts, or make versions with judgesmith perturb.",
            option=data,
        )
    left_out = tuple(f"left out: {n} × {reason}." for reason, n in pool.left_out.items())
    made = f"versions are made by rule from the {part.which}; perturb has more choices."
    return replace(found, notes=(made, *left_out, *found.notes))


def _known_task(named_task: str | None, dataset: DataSet) -> str | None:
    """Return the task that is named, or the one that all rows state, as far as it is known."""
    from judgesmith.metrics import EXPERT_WEIGHTS

    if named_task is not None and named_task not in EXPERT_WEIGHTS:
        raise OptionError(
            f"no changes are known for the task {named_task!r}; name one of "
            f"{', '.join(EXPERT_WEIGHTS)}, or leave --task out.",
            option="--task",
        )
    stated = {item.extra.get("task") for item in dataset}
    of_rows = next(iter(stated)) if len(stated) == 1 else None
    known = isinstance(of_rows, str) and of_rows in EXPERT_WEIGHTS
    return named_task or (of_rows if known else None)


def _to_ask(judge: str, samples: int | None, temperature: float | None) -> AnySaved:
    from judgesmith.programs.running import judges_sources
    from judgesmith.programs.sampled_judge import with_sampling
    from judgesmith.programs.saved_kinds import load_saved

    saved = load_saved(judge)
    if judges_sources(saved):
        raise OptionError(
            f"{judge} compares the responses to a source with each other, and here each text is "
            "judged by itself; name another judge.",
            option=judge,
        )
    with blaming("--samples" if samples is not None else "--temperature"):
        return with_sampling(saved, samples=samples, temperature=temperature)


def _of_scores(
    given: Named, dataset: DataSet, perturbed: PerturbedSet, criterion: str | None, by: By
) -> VersionScores:
    from judgesmith.experiments.version_scores import recorded_versions

    scores = given.scores(dataset, criterion=criterion, target=None)
    return recorded_versions(scores, dataset, perturbed, by=by)


def _of_judge(
    saved: AnySaved,
    perturbed: PerturbedSet,
    by: By,
    lm: dspy.LM,
    label: str,
    concurrency: int,
    *,
    quiet: bool,
) -> VersionScores:
    from judgesmith.experiments.version_scores import blind_texts, judged_versions

    n_texts = len(blind_texts(perturbed))
    with stage_progress(quiet=quiet) as progress:
        tell = None if progress is None else (lambda n: progress("texts", n, n_texts))
        return judged_versions(
            saved,
            perturbed,
            by=by,
            lm=lm,
            label=label,
            concurrency=concurrency,
            progress=tell,
        )


def _given_weights(weights: str, perturbed: PerturbedSet) -> Shares | None:
    """Return the weights in a file, read before anything is asked; None where none is named."""
    from judgesmith.experiments.version_weights import read_weights
    from judgesmith.metrics import EXPERT_WEIGHTS

    if weights in (AUTO, NONE, *EXPERT_WEIGHTS):
        return None
    if not Path(weights).is_file():
        raise OptionError(
            f"there is no file {weights}; name one, or auto, none, {', '.join(EXPERT_WEIGHTS)}.",
            option="--weights",
        )
    with blaming("--weights"):
        return read_weights(weights, perturbed.kinds)


def _weights(
    weights: str,
    given: Shares | None,
    perturbed: PerturbedSet,
    scores: VersionScores,
    task: str | None,
) -> VersionWeights:
    """Return expert weights for the judge's metrics, or why there are none."""
    from judgesmith.experiments.version_weights import (
        VersionWeights,
        fitted_weights,
        missing_metrics,
        weights_of_task,
    )

    if weights == NONE:
        return VersionWeights(said="none, as asked for")
    if weights == AUTO:
        return weights_of_task(task, perturbed.kinds, scores.metrics)
    if given is not None:
        with blaming("--weights"):
            return fitted_weights(given, scores.metrics, said=f"from {Path(weights).name}")
    missing = missing_metrics(weights, scores.metrics)
    if missing:
        raise OptionError(
            f"the weights for {weights} need scores on {', '.join(missing)}, and the judge has "
            f"{', '.join(scores.metrics)}; give others in a file.",
            option="--weights",
        )
    return weights_of_task(weights, perturbed.kinds, scores.metrics)
