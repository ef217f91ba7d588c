"""``judgesmith evaluate``: agreement of a judge, or of scores on file, with people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.agreement import (
    basis_text,
    estimate_text,
    headline_estimate,
    print_agreement,
    print_criteria,
    print_labels,
    ranks_note,
    scored_by_text,
)
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import data_options, data_words, load_data, target_options
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models, judging_estimate, nothing_asked
from judgesmith.cli.shared.judged import (
    UNTRACED,
    Named,
    criterion_option,
    max_unscored_option,
    named,
    refuse_criterion,
    unscored_status,
)
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import (
    confidence_option,
    dry_run_option,
    given_options,
    json_option,
    seed_option,
)
from judgesmith.cli.shared.printing import (
    full_option,
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    say_under,
    say_wrapped,
    wants_full,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options
from judgesmith.cli.shared.verdicts import Verdict, agreement_verdict, label_verdict, print_verdict
from judgesmith.cli.trust.perspectives import (
    answer_scale,
    asked_perspective,
    perspective_options,
    report_perspective,
)
from judgesmith.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dspy
    import numpy as np

    from judgesmith.data import DataSet, Targets
    from judgesmith.experiments import Evaluation
    from judgesmith.experiments.evaluate.diagnostics import Diagnostics
    from judgesmith.experiments.evaluate.preferring import PreferenceEvaluation
    from judgesmith.metrics.audits import ScaleUse
    from judgesmith.metrics.systems import SystemMean
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.signatures.scale import Scale


@tool("evaluate")
@click.argument("judge", metavar="JUDGE-or-SCORES")
@click.argument("data")
@data_options
@target_options
@criterion_option
@perspective_options
@max_unscored_option
@full_option
@confidence_option
@seed_option
@asking_options
@dry_run_option
@json_option
def command(
    judge: str,
    data: str,
    target: str,
    aggregate: str,
    criterion: str | None,
    perspective: str | None,
    samples: int | None,
    answers: str | None,
    max_unscored: float,
    confidence: float,
    seed: int,
    dry_run: bool,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Report how well a judge's scores agree with the ratings in DATA.

    JUDGE-or-SCORES is a folder that 'compile' made, a file that 'score' wrote, or a file of
    recorded judges (FILE:JUDGE picks one). Rows that a judge was made from are reported apart.
    """
    import numpy as np

    from judgesmith.cli.shared.agreement import print_preferences
    from judgesmith.experiments.evaluate.preferring import PreferenceEvaluation

    given = named(judge)
    if given.path is None and criterion is not None:
        raise refuse_criterion(judge)
    scale = answer_scale(answers)
    asked = asked_perspective(perspective, samples, scale, on_file=given.path is not None)
    if asked is not None and given_options("confidence"):
        raise OptionError(
            "a perspective is reported with 95% intervals.",
            option="--confidence",
            hint="leave --confidence or --perspective out.",
        )
    dataset = load_data(data)
    if asked is not None:
        report_perspective(
            asked,
            given,
            dataset,
            data=data,
            target=target,
            aggregate=aggregate,
            criterion=criterion,
            choice=choice,
            seed=seed,
            dry_run=dry_run,
            as_json=as_json,
        )
        return 0
    rng = np.random.default_rng(seed)
    found: Evaluation | PreferenceEvaluation
    if given.path is None:
        saved, targets, lms = _asking(judge, dataset, target, aggregate, choice=choice, data=data)
        if dry_run:
            items = [dataset[place] for place in targets.rated.tolist()]
            print_estimate(judging_estimate(saved, items, lms), as_json=as_json)
            return 0
        found = _of_judge(
            judge,
            dataset,
            saved,
            targets,
            lms,
            aggregate=aggregate,
            rng=rng,
            confidence=confidence,
            concurrency=choice.concurrency,
            quiet=as_json,
        )
        notes = [*dataset.notes, *ranks_note(given.text, ranks=found.ranks), *found.stated]
    else:
        found, notes = _of_scores(
            given,
            dataset,
            target,
            aggregate,
            criterion=criterion,
            answers=scale,
            rng=rng,
            confidence=confidence,
            data=data,
        )
    notes += _label_notes(found, dataset, answers=scale)
    if dry_run:
        print_estimate(nothing_asked(), as_json=as_json)
        return 0
    if as_json:
        print_json(found.to_dict())
    elif isinstance(found, PreferenceEvaluation):
        print_preferences(found)
    else:
        is_judge = given.path is None
        print_verdict(_answer(found, dataset, judge, data, is_judge=is_judge))
        _print_scores(found, is_judge=is_judge)
    say_notes(notes, as_json=as_json)
    return unscored_status(found.unscored.n_rows, found.unscored.causes, max_unscored)


def report(found: Evaluation) -> None:
    """Print an evaluation as the command does, without commands that follow from it."""
    print_verdict(_verdict(found, is_judge=found.knows_seen))
    _print_scores(found, is_judge=found.knows_seen)


def _answer(
    found: Evaluation, dataset: DataSet, judge: str, data: str, *, is_judge: bool
) -> Verdict:
    """Return what the agreement means, and the command that follows."""
    import numpy as np

    from judgesmith.experiments.evaluate.describing import rater_correlation

    rated = data_words((data,))
    suggest = f"judgesmith label suggest {shlex.quote(judge)} UNRATED {rated} -o rate.csv -n {{n}}"
    commands: Any = {
        "use": f"judgesmith discern {shlex.quote(judge)} {data_words((data,), rated=False)}"
        if is_judge
        else None,
        "label": suggest if is_judge else None,
        "check": f"judgesmith check {rated}",
    }
    if found.labels is None:
        rng = np.random.default_rng(0)
        commands["raters"] = rater_correlation(dataset, found.target, seed=rng)
    return _verdict(found, is_judge=is_judge, **commands)


def _verdict(found: Evaluation, *, is_judge: bool, **more: Any) -> Verdict:
    """Return what the agreement means, on test rows where there are some."""
    estimate, within = headline_estimate(found.unseen or found.seen)
    known = is_judge and found.knows_seen
    rows = "rows" if not known else "test rows" if found.unseen else "rows used to compile"
    if found.labels is not None:
        return label_verdict(found.labels, rows=rows, **more)
    return agreement_verdict(estimate, rows=rows, within=within, **more)


def _print_scores(found: Evaluation, *, is_judge: bool) -> None:
    from judgesmith.experiments.evaluate.agreement import unscored_text

    say()
    say(f"{found.label} on {found.data}: {found.target}{scored_by_text(found.scored_by)}")
    unseen = "Test rows" if is_judge else "All rows"
    full = wants_full()
    basis = found.unseen or found.seen
    if found.labels is not None and basis is not None:
        where = unseen if found.criteria_on == "unseen" else "All rows"
        print_labels(f"{where}: {basis_text(basis, found.unscored)}", found.labels)
    for title, report in ((unseen, found.unseen), ("Rows used to compile", found.seen)):
        if found.labels is not None and not full:
            continue
        if report is not None and (full or report is found.unseen or found.unseen is None):
            print_agreement(f"{title}: {basis_text(report, found.unscored)}", {"agreement": report})
    on = unseen if found.criteria_on == "unseen" else "All rows"
    if found.besides is not None and full:
        print_besides(f"{on}, diagnostics", found.besides)
    print_criteria(
        f"{on}, by criterion: {100 * _confidence(found):g}% intervals over sources",
        found.by_criterion,
    )
    if found.systems and (full or found.labels is None):
        print_systems(found.systems, found.system_ranks)
    if not full:
        say("\nAll tables: --full")
    say()
    say_wrapped(f"Rated rows: {unscored_text(found.unscored)}; {found.n_unrated} unrated")


def _label_notes(
    found: Evaluation | PreferenceEvaluation, dataset: DataSet, *, answers: Scale | None
) -> list[str]:
    """Return how scores became labels, or why they could not."""
    from judgesmith.data.targets import criteria_behind
    from judgesmith.experiments import Evaluation

    if not isinstance(found, Evaluation):
        return []
    if not all(dataset.scales[one].is_verdict for one in criteria_behind(dataset, found.target)[1]):
        return []
    if found.labels is not None:
        return [found.labels.note] if found.labels.note else []
    if answers is None and found.unscored.n < found.unscored.n_rows:
        return ["the scale of the scores is unknown; TPR and TNR need --answers LOW..HIGH."]
    return []


def _confidence(found: Evaluation) -> float:
    report = found.unseen or found.seen
    return 0.95 if report is None else report["dataset"]["pearson"].confidence


def _asking(
    folder: str,
    dataset: DataSet,
    target: str,
    aggregate: str,
    *,
    choice: ModelChoice,
    data: str,
) -> tuple[AnySaved, Targets, list[dspy.LM]]:
    """Return a judge bound to its models, what it is compared with, and these models."""
    from judgesmith.data import targets_of
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    saved = load_saved(folder)
    with blaming("--target" if target != "auto" else data):
        wanted = saved.target if target == "auto" else target
        if target == "auto":
            _refuse_unrated(wanted, dataset)
        targets = targets_of(dataset, wanted, aggregate)  # type: ignore[arg-type]
    run_id = f"evaluate {saved.fingerprint} {dataset.digest} {targets.name}"
    saved, lms = asked_models(saved, choice, run_id=run_id)
    return saved, targets, lms


def _of_judge(
    folder: str,
    dataset: DataSet,
    saved: AnySaved,
    targets: Targets,
    lms: list[dspy.LM],
    *,
    aggregate: str,
    rng: np.random.Generator,
    confidence: float,
    concurrency: int,
    quiet: bool,
) -> Evaluation:
    from judgesmith.experiments import evaluate_judge

    with counting("rows", len(targets.rated), quiet=quiet) as tell:
        return evaluate_judge(
            saved,
            dataset,
            targets,
            aggregate=aggregate,  # type: ignore[arg-type]
            lm=lms[0],
            seed=rng,
            confidence=confidence,
            label=folder,
            concurrency=concurrency,
            on_progress=tell,
        )


def _refuse_unrated(made_for: str, dataset: DataSet) -> None:
    """Refuse data without ratings of the one criterion that a judge was compiled for."""
    from judgesmith.data.targets import meant_by, target_names

    names = target_names(dataset)
    if names and "+" not in made_for and meant_by(made_for, names) is None:
        raise InputError(
            f"the judge was compiled for {made_for!r}, which {dataset.name} has no ratings of; "
            f"there is {', '.join(names)}.",
            hint="say which ratings its score is to be compared with: --target NAME.",
        )


def _of_scores(
    given: Named,
    dataset: DataSet,
    target: str,
    aggregate: str,
    *,
    criterion: str | None,
    answers: Scale | None,
    rng: np.random.Generator,
    confidence: float,
    data: str,
) -> tuple[Evaluation | PreferenceEvaluation, list[str]]:
    from judgesmith.data import targets_of
    from judgesmith.data.score_files import Scores
    from judgesmith.data.targets import criteria_behind
    from judgesmith.experiments import evaluate_scores
    from judgesmith.experiments.evaluate.preferring import evaluate_preferences

    told = target != "auto"
    with blaming("--target" if told else data):
        wanted = criteria_behind(dataset, target)[0] if told else None
    scores = given.recorded_in(dataset, criterion=criterion, target=wanted)
    if not told:
        known = scores.criterion in dataset.criteria
        made_for = scores.target if isinstance(scores, Scores) else None
        target = (scores.criterion if known else made_for) or "auto"
    with blaming("--target" if told else data):
        targets = targets_of(dataset, target, aggregate)  # type: ignore[arg-type]
    notes = [*dataset.notes, *given.unused(scores, dataset), UNTRACED]
    if isinstance(scores, Scores):
        found = evaluate_scores(
            scores,
            dataset,
            targets,
            answers=answers,
            aggregate=aggregate,  # type: ignore[arg-type]
            seed=rng,
            confidence=confidence,
        )
        return found, notes
    if answers is not None:
        raise OptionError(
            f"{given.text} holds comparisons of two texts, which are points of no scale.",
            option="--answers",
            hint="leave --answers out.",
        )
    with blaming(given.text):
        return evaluate_preferences(scores, dataset, targets, confidence=confidence), notes


_OFTEN = 0.05
"""A score that fewer rows have is the most used one by accident."""


def print_besides(title: str, found: Diagnostics) -> None:
    """Print pairs, kappa, use of the scale and the bias for length, the judge beside people."""
    judge, people = found.judge_use, found.human_use
    rows = [
        ["pairs ordered as by raters", estimate_text(found.pairs["dataset"]), ""],
        ["  within sources", estimate_text(found.pairs["sample"]), ""],
        *([f"kappa, {name}", estimate_text(one), ""] for name, one in found.kappa.items()),
        ["tied pairs", estimate_text(judge.tied_pairs), estimate_text(people.tied_pairs)],
        ["different scores", str(judge.n_used), str(people.n_used)],
        ["most frequent score", _most_used(judge), _most_used(people)],
        [
            "correlation with length",
            estimate_text(found.length.correlation, signed=True),
            estimate_text(found.length.human_correlation, signed=True),
        ],
        ["  slope, at equal ratings", estimate_text(found.length.slope, signed=True), ""],
    ]
    print_table(title, rows, header=["", "judge", "raters"])
    without = found.pairs["sample"].n_undefined
    if without:
        say_under("within sources", f"{without} source{'s'[: without - 1]} without pairs")
    if found.no_kappa is not None:
        say_under("no kappa", found.no_kappa)


def print_systems(found: Sequence[SystemMean], ranks: Sequence[tuple[int, int]] = ()) -> None:
    """Print what systems are rated on average, from ratings alone and with the judge's help."""
    left = [f"{best}" if best == worst else f"{best}-{worst}" for best, worst in ranks]
    rows = [
        [
            str(one.system),
            estimate_text(one.estimate),
            estimate_text(one.classical),
            str(one.n_rated),
            str(one.n_unrated),
            *([rank] if left else []),
        ]
        for one, rank in zip(found, left or [""] * len(found), strict=True)
    ]
    header = ["", "with the judge", "ratings alone", "rated", "unrated"]
    header += ["rank"] if left else []
    print_table("Mean rating of each system", rows, header=header)


def _most_used(use: ScaleUse) -> str:
    share = use.most_used_share.value
    return f"{use.most_used:.4g} ({share:.0%} of rows)" if share >= _OFTEN else "no repeats"
