"""``judgesmith discern``: whether a judge notices that texts got worse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.compiled import print_estimate
from judgesmith.cli.discern_texts import known_task, texts_in, versions_in
from judgesmith.cli.discern_weights import AUTO, given_weights, weights_for
from judgesmith.cli.discerned import announce, estimate_of, print_discerned
from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.judge_models import asked_models
from judgesmith.cli.judged import Named, criterion_option, named
from judgesmith.cli.model_options import ModelChoice, allow_model_option, model_options
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
from judgesmith.cli.role_options import role_option

if TYPE_CHECKING:
    import dspy

    from judgesmith.data import DataSet
    from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
    from judgesmith.experiments.robustness.version_scores import By, VersionScores
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

_OF_JUDGES = ("samples", "temperature", "dry_run", "model_name", "api_base", "roles")


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
@role_option
@allow_model_option
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
    roles: tuple[str, ...],
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

    from judgesmith.experiments.robustness.discerning import discern
    from judgesmith.experiments.robustness.discernment_folder import (
        check_discerned,
        run_of,
        save_discerned,
    )
    from judgesmith.programs.artifacts.saved_ensembles import SavedHolder
    from judgesmith.programs.judging.executors import endpoint_of
    from judgesmith.programs.judging.rows import usage_of

    given = named(judge)
    _refuse_mixed(given, criterion)
    folder = None if output is None else check_place(output)
    dataset = texts_in(data, columns)
    task = known_task(task, dataset)
    chosen = {"kinds": kinds, "task": task, "sample": sample, "seed": seed}
    perturbed = versions_in(dataset, data, **chosen, scored=given.path is not None)  # type: ignore[arg-type]
    saved = None if given.path is not None else _to_ask(judge, samples, temperature)
    what = judge if saved is None else saved.fingerprint
    asked = ModelChoice(**choice)
    models: dict[str, dspy.LM] = {}
    told: list[str] = []
    planned: AnySaved | None = None
    if saved is not None:
        looked = replace(asked, needs_keys=False)
        planned, planned_lms = asked_models(saved, looked, run_id="", roles=roles)
        models = {str(lm.model): lm for lm in planned_lms}
        told = [f"{name} {endpoint_of(lm)}" for name, lm in models.items()]
        own = planned.parts if isinstance(planned, SavedHolder) else {}
        told += [f"{part} {lm.model} {endpoint_of(lm)}" for part, lm in own.items()]
    settings = (kinds, task, sample, weights, by, form, criterion, seed)
    run = run_of(what, dataset.digest, told, *settings)
    if folder is not None:
        with blaming(OUTPUT):
            check_discerned(folder, run, force=force)
    shares = given_weights(weights, perturbed)
    lms: list[dspy.LM] = []
    if saved is None or planned is None:
        scores = _of_scores(given, dataset, perturbed, criterion, by)
    else:
        if metrics := _metrics_of(saved, by):  # refused here, before anything is asked
            weights_for(weights, shares, perturbed, metrics, task)
        if dry_run:
            print_estimate(estimate_of(planned, perturbed, models), as_json=as_json)
            return 0
        saved, lms = asked_models(saved, asked, run_id=f"discern {run}", roles=roles)
        announce(estimate_of(saved, perturbed, models), perturbed, as_json=as_json)
        scores = _of_judge(saved, perturbed, by, lms[0], judge, concurrency, quiet=as_json)
    found = discern(
        scores,
        perturbed,
        weights=weights_for(weights, shares, perturbed, scores.metrics, task),
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
            "judge, of which all criteria are tested.",
            option="--criterion",
            hint="leave it out.",
        )
    said = given_options(*_OF_JUDGES)
    if given.path is not None and said:
        raise OptionError(
            f"{given.text} is a file of scores, and no model is asked.",
            option=said[0],
            hint=f"leave out {said[0]}.",
        )


def _to_ask(judge: str, samples: int | None, temperature: float | None) -> AnySaved:
    from judgesmith.programs.artifacts.saved_ensembles import load_saved, with_sampling
    from judgesmith.programs.judging.runner import judges_sources

    saved = load_saved(judge)
    if judges_sources(saved):
        raise OptionError(
            f"{judge} compares the responses to a source with each other, and here each text is "
            "judged by itself.",
            option=judge,
            hint="name another judge.",
        )
    with blaming("--samples" if samples is not None else "--temperature"):
        return with_sampling(saved, samples=samples, temperature=temperature)


def _metrics_of(saved: AnySaved, by: By) -> tuple[str, ...]:
    """Return what of a judge will be tested, as far as its protocol says; else nothing."""
    from judgesmith.experiments.robustness.version_scores import SCORE

    protocol = getattr(saved, "protocol", None)
    if by == "score":
        return (SCORE,)
    return () if protocol is None else protocol.scored_criteria or (SCORE,)


def _of_scores(
    given: Named, dataset: DataSet, perturbed: PerturbedSet, criterion: str | None, by: By
) -> VersionScores:
    from judgesmith.experiments.robustness.version_scores import recorded_versions

    scores = given.scores(dataset, criterion=criterion, target=None)
    with blaming("--criterion"):
        return recorded_versions(scores, dataset, perturbed, by=by, criterion=criterion)


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
    from judgesmith.experiments.robustness.version_scores import blind_texts, judged_versions

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
