"""``judgesmith discern``: whether a judge detects that texts got worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import texts_in
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models, judging_estimate, used
from judgesmith.cli.shared.judged import Named, criterion_option, named
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import (
    Number,
    WholeNumber,
    dry_run_option,
    given_options,
    json_option,
    map_option,
    seed_option,
    shown_option,
    text_options,
)
from judgesmith.cli.shared.places import OUTPUT, check_output
from judgesmith.cli.shared.printing import (
    full_option,
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    say_under,
    say_wrapped,
    spent_on,
    usage_text,
    wants_full,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options
from judgesmith.cli.shared.verdicts import Verdict, discern_verdict, print_verdict
from judgesmith.errors import shortened

if TYPE_CHECKING:
    import dspy

    from judgesmith.data import DataSet
    from judgesmith.experiments.robustness.discerning import Discerned, WeakPair
    from judgesmith.experiments.robustness.perturbed_scores import By, VersionScores
    from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
    from judgesmith.experiments.robustness.version_weights import Shares, VersionWeights
    from judgesmith.experiments.scoring.estimates import RunEstimate
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import Usage

AUTO, NONE = "auto", "none"


def versions_in(
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

    from judgesmith.experiments.robustness.perturbed_rows import get_perturbed, is_perturbed
    from judgesmith.experiments.robustness.perturbed_set import some_kinds, some_originals

    names = None if kinds is None else [name for one in kinds.split(",") if (name := one.strip())]
    rng = np.random.default_rng(seed)
    if not (is_perturbed(dataset) or scored):
        return _made(dataset, data, names, task, sample, seed)
    with blaming(data):
        perturbed = get_perturbed(dataset)
    if names is not None:
        with blaming("--kinds"):
            perturbed = some_kinds(perturbed, names, task=task)
    if sample is not None:
        perturbed = some_originals(perturbed, sample, seed=rng)
    if not perturbed.n_versions:
        raise OptionError(
            f"no text in {dataset.name} has a version to compare it with.",
            option=data,
            hint="give rows with both.",
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

    from judgesmith.experiments.robustness.perturbing import (
        MIN_CHARACTERS,
        USUAL,
        PerturbationConfig,
        get_originals,
        perturb_texts,
    )
    from judgesmith.programs.perturbing import Donors

    pool = get_originals(dataset, min_characters=MIN_CHARACTERS.get(task or "", 0))
    part = pool if sample is None else pool.sample(sample, rng=np.random.default_rng(seed))
    changes = PerturbationConfig(
        kinds=USUAL if names is None else tuple(names), task=task, seed=seed
    )
    with blaming("--kinds"):
        assert changes.perturbations
    found = perturb_texts(part.items, changes, name=dataset.name, donors=Donors(pool.items))
    if not found.n_versions:
        reasons = ", ".join(f"{n} × {reason}" for reason, n in pool.left_out.items())
        raise OptionError(
            f"no text of {dataset.name} can be changed{': ' if reasons else ''}{reasons}.",
            option=data,
            hint="give longer texts, or make versions with judgesmith perturb.",
        )
    left_out = tuple(f"left out: {n} × {reason}." for reason, n in pool.left_out.items())
    made = f"versions are made by rule from the {part.which}; perturb has more choices."
    return replace(found, notes=(made, *left_out, *found.notes))


def known_task(named_task: str | None, dataset: DataSet) -> str | None:
    """Return the task that is named, or the one that all rows state, as far as it is known."""
    from judgesmith.metrics.perturbations import EXPERT_WEIGHTS

    if named_task is not None and named_task not in EXPERT_WEIGHTS:
        raise OptionError(
            f"no changes are known for the task {named_task!r}.",
            option="--task",
            hint=f"name one of {', '.join(EXPERT_WEIGHTS)}, or leave --task out.",
        )
    stated = {item.extra.get("task") for item in dataset}
    of_rows = next(iter(stated)) if len(stated) == 1 else None
    known = isinstance(of_rows, str) and of_rows in EXPERT_WEIGHTS
    return named_task or (of_rows if known else None)


def given_weights(weights: str, perturbed: PerturbedSet) -> Shares | None:
    """Return the weights in a file, read before anything is asked; None where none is named."""
    from judgesmith.experiments.robustness.version_weights import read_weights
    from judgesmith.metrics.perturbations import EXPERT_WEIGHTS

    if weights in (AUTO, NONE, *EXPERT_WEIGHTS):
        return None
    if not Path(weights).is_file():
        raise OptionError(
            f"there is no file {weights}.",
            option="--weights",
            hint=f"name one, or auto, none, {', '.join(EXPERT_WEIGHTS)}.",
        )
    with blaming("--weights"):
        return read_weights(weights, perturbed.kinds)


def weights_for(
    weights: str,
    given: Shares | None,
    perturbed: PerturbedSet,
    metrics: Sequence[str],
    task: str | None,
) -> VersionWeights:
    """Return expert weights for the judge's metrics, or why there are none."""
    from judgesmith.experiments.robustness.version_weights import (
        VersionWeights,
        fitted_weights,
        missing_metrics,
        weights_of_task,
    )

    if weights == NONE:
        return VersionWeights(said="none, as asked for")
    if weights == AUTO:
        return weights_of_task(task, perturbed.kinds, metrics)
    if given is not None:
        with blaming("--weights"):
            return fitted_weights(given, metrics, said=f"from {Path(weights).name}")
    missing = missing_metrics(weights, metrics)
    if missing:
        raise OptionError(
            f"the weights for {weights} need scores on {', '.join(missing)}, and the judge has "
            f"{', '.join(metrics)}.",
            option="--weights",
            hint="give others in a file.",
        )
    return weights_of_task(weights, perturbed.kinds, metrics)


_WORDS = 240


def discern_estimate(
    judge: AnySaved, perturbed: PerturbedSet, models: Mapping[str, dspy.LM]
) -> RunEstimate:
    """Return what it takes to judge every text of a set."""
    from judgesmith.experiments.robustness.perturbed_scores import blind_texts

    return judging_estimate(judge, list(blind_texts(perturbed).values()), list(models.values()))


def announce(estimate: RunEstimate, perturbed: PerturbedSet, *, as_json: bool) -> None:
    from judgesmith.experiments.robustness.perturbed_scores import blind_texts

    n_originals = len({(one.source_id, one.key) for one in perturbed.originals})
    say(
        f"{len(blind_texts(perturbed))} texts to judge, {n_originals} of them originals: "
        f"{estimate.calls} calls if every answer can be read, less those cached",
        err=as_json,
    )


def report(found: Discerned) -> None:
    print_discerned(found, (), None, None, as_json=False)


def print_discerned(
    found: Discerned,
    notes: Sequence[str],
    usage: Usage | None,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print a test; with ``as_json`` only the notes, on standard error."""
    from judgesmith.experiments.robustness.discernment_folder import conclusions

    if not as_json:
        print_verdict(_verdict(found))
        _print_tables(found)
        if wants_full():
            _print_pairs(found.weakest)
        else:
            say("\nAll tables, and the pairs where it is weakest: --full")
        say()
    for one in conclusions(found):
        if not as_json:
            say_wrapped(one, hang=2)
    for problem, n in list(found.problems.items())[:3]:
        if not as_json:
            say_wrapped(f"  {n} × {problem}", hang=4)
    if not as_json:
        if usage is not None:
            say(usage_text(usage))
        if folder is not None:
            say(f"the report and all scores are in {folder}")
    say_notes(notes, as_json=as_json)


def _verdict(found: Discerned) -> Verdict:
    """Return the answer, of the kinds of damage that were tested."""
    odd = {*found.preferred, *found.mixed}
    tested = [one for one in found.damaging if one.tested and one.kind.name not in odd]
    names: dict[bool, list[str]] = {True: [], False: []}
    for one in tested:
        names[bool(one.scored_lower)].append(one.kind.name)
    mixed = list(found.mixed)
    damaging = {one.kind.name for one in found.damaging}
    return discern_verdict(
        detected=[*names[True], *mixed],
        missed=names[False],
        preferred=found.preferred,
        false_alarms=found.false_alarms,
        untested=len(damaging & set(found.untested)),
        n_originals=found.n_originals,
        n_mixed=len(mixed),
        holm=found.holm,
    )


def _print_tables(found: Discerned) -> None:
    from judgesmith.experiments.robustness.discernment_folder import (
        d_text,
        kind_header,
        kind_rows,
        matrix_rows,
    )

    metrics = ", ".join(shortened(name, 30) for name in found.metrics)
    say(f"{found.label} on {found.name}: {found.n_originals} originals, by {metrics}")
    experts = found.damage is not None and found.damage.expert_lowest is not None
    header = kind_header(experts=experts)
    if found.damage is not None:
        overall = found.damage
        rows = [["lowest D", d_text(overall.lowest)]]
        rows += [["average D", d_text(overall.average)]]
        if experts:
            rows[0].append(d_text(overall.expert_lowest))
            rows[1].append(d_text(overall.expert_average))
        n = f"{overall.lowest.confidence:.0%} intervals over originals"
        print_table(
            f"D of 1 is a p-value of .05, {n}",
            rows,
            header=["over all damage", "D", *(["D, experts"] if experts else [])],
        )
        print_table("Damage", kind_rows(found.damaging, experts=experts), header=header)
    if found.controls:
        title = "Controls, which should not lower a score"
        print_table(title, kind_rows(found.controls, experts=experts), header=header)
    if not wants_full():
        return
    print_table(
        "D by criterion, and the share of pairs whose version scores lower",
        matrix_rows(found),
        header=["change", *(shortened(name, 20) for name in found.metrics)],
    )


def _print_pairs(pairs: Sequence[WeakPair]) -> None:
    if pairs:
        say("\nWhere it is weakest")
    for pair in pairs:
        say(
            f"  {pair.perturbation}, {shortened(pair.source_id, 30)} "
            f"{shortened(pair.system_id, 30)}: {shortened(pair.metric, 30)} {pair.before:g} → "
            f"{pair.after:g}"
        )
        say_under("original", shortened(pair.original, _WORDS), indent=4)
        say_under("version", shortened(pair.version, _WORDS), indent=4)
        words = {"of the original": pair.said_of_original, "of the version": pair.said_of_version}
        for whose, said in words.items():
            if said:
                say_under(f"said {whose}", shortened(said, _WORDS), indent=4)


_OF_JUDGES = ("samples", "temperature", "dry_run", "model_name", "api_base", "roles")


@tool("discern", old_names={"--sample": "--rows"})
@click.argument("judge", metavar="JUDGE-or-SCORES")
@click.argument("data")
@map_option
@text_options
@click.option("--task", metavar="NAME", help="Task of the data [default: stated by its rows].")
@click.option("--kinds", metavar="KIND,…", help="Perturbations to test, such as reordering/minor.")
@click.option(
    "-n",
    "--rows",
    "sample",
    type=WholeNumber(2),
    help="Number of originals to sample [default: all].",
)
@shown_option(
    "--weights",
    str,
    AUTO,
    ("Which criterion should detect which perturbation; auto uses the weights of the data's task."),
    metavar="FILE|TASK|none",
)
@shown_option(
    "--by",
    click.Choice(["criteria", "score"]),
    "criteria",
    "Test the scores on criteria, or the overall score.",
)
@shown_option(
    "--form",
    click.Choice(["normalised", "printed"]),
    "normalised",
    "Form of the mean over criteria; 'printed' reproduces the paper's figures.",
)
@click.option("--samples", type=WholeNumber(1), help="Answers per prompt [default: the judge's].")
@click.option(
    "--temperature", type=Number(0, 2), help="Sampling temperature [default: the judge's]."
)
@click.option(
    "--min-d",
    type=Number(0),
    help="Exit with status 1 if the lowest D is below this value.",
)
@criterion_option
@seed_option
@click.option("-o", "--output", metavar="FOLDER", help="Folder for the report and scores.")
@full_option
@asking_options
@dry_run_option
@click.option("--force", is_flag=True, help="Replace the results of another run.")
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
    dry_run: bool,
    force: bool,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Say whether a judge scores damaged versions of texts lower than the texts themselves.

    DATA holds texts and versions, as 'judgesmith discern perturb' writes them, or plain texts, of
    which versions are made by rule. No ratings are read.
    JUDGE-or-SCORES is a folder that 'compile' made, or a file of scores for the rows of DATA
    (FILE:JUDGE picks one of several). Every text is judged by itself, and the judge is not told
    which is which. The same command again continues where an interrupted one was.
    """
    import numpy as np

    from judgesmith.experiments.robustness.discerning import discern
    from judgesmith.experiments.robustness.discernment_folder import (
        check_discerned,
        discernment_run,
        save_discerned,
    )
    from judgesmith.programs.artifacts.saved_ensembles import SavedComposite
    from judgesmith.programs.judging.executors import endpoint_of

    given = named(judge)
    _refuse_mixed(given, criterion)
    folder = None if output is None else check_output(output)
    dataset = texts_in(data, columns)
    task = known_task(task, dataset)
    chosen = {"kinds": kinds, "task": task, "sample": sample, "seed": seed}
    perturbed = versions_in(dataset, data, **chosen, scored=given.path is not None)  # type: ignore[arg-type]
    saved = None if given.path is not None else _to_ask(judge, samples, temperature)
    what = judge if saved is None else saved.fingerprint
    models: dict[str, dspy.LM] = {}
    told: list[str] = []
    planned: AnySaved | None = None
    if saved is not None:
        looked = replace(choice, needs_keys=False)
        planned, planned_lms = asked_models(saved, looked, run_id="")
        models = {str(lm.model): lm for lm in planned_lms}
        told = [f"{name} {endpoint_of(lm)}" for name, lm in models.items()]
        own = planned.parts if isinstance(planned, SavedComposite) else {}
        told += [f"{part} {lm.model} {endpoint_of(lm)}" for part, lm in own.items()]
    settings = (kinds, task, sample, weights, by, form, criterion, seed)
    run = discernment_run(what, dataset.digest, told, *settings)
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
            print_estimate(discern_estimate(planned, perturbed, models), as_json=as_json)
            return 0
        saved, lms = asked_models(saved, choice, run_id=f"discern {run}")
        announce(discern_estimate(saved, perturbed, models), perturbed, as_json=as_json)
        scores = _of_judge(saved, perturbed, by, lms[0], judge, choice.concurrency, quiet=as_json)
    found = discern(
        scores,
        perturbed,
        weights=weights_for(weights, shares, perturbed, scores.metrics, task),
        form=form,
        seed=np.random.default_rng(seed),
    )
    if folder is not None:
        with blaming(OUTPUT):
            save_discerned(folder, found, scores, perturbed, marks={"run": run, "judge": what})
    usage = used(*lms) if lms else None
    notes = [*dataset.notes, *perturbed.notes]
    if as_json:
        spent = spent_on(usage) if usage else {}
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
    from judgesmith.experiments.robustness.perturbed_scores import SCORE

    protocol = getattr(saved, "protocol", None)
    if by == "score":
        return (SCORE,)
    return () if protocol is None else protocol.scored_criteria or (SCORE,)


def _of_scores(
    given: Named, dataset: DataSet, perturbed: PerturbedSet, criterion: str | None, by: By
) -> VersionScores:
    from judgesmith.experiments.robustness.perturbed_scores import recorded_versions

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
    from judgesmith.experiments.robustness.perturbed_scores import blind_texts, score_perturbed

    with counting("texts", len(blind_texts(perturbed)), quiet=quiet) as tell:
        return score_perturbed(
            saved,
            perturbed,
            by=by,
            lm=lm,
            label=label,
            concurrency=concurrency,
            on_progress=tell,
        )
