"""``judgesmith rate``: pass rates of systems, corrected for the errors of a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.agreement import estimate_text, three_digits
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import data_options, load_data, target_options
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
    json_option,
    seed_option,
)
from judgesmith.cli.shared.printing import (
    answer,
    print_estimate,
    print_json,
    print_table,
    say,
    say_notes,
    say_under,
)
from judgesmith.cli.shared.progress import counting
from judgesmith.cli.shared.role_options import asking_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dspy

    from judgesmith.data import DataSet, Targets
    from judgesmith.experiments.evaluate.rating import RateReport
    from judgesmith.metrics.arrays import FloatArray
    from judgesmith.metrics.verdicts import PassRateDifference, PassRates
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.signatures import Judgement

_MAP = "--labelled-map"
_NARROW = 0.2
"""How wide the interval of a rate is, at most, that answers the question: ±10 points."""

_KINDS = {
    "judged": "judged",
    "corrected": "corrected",
    "bootstrap": "bootstrap",
    "labelled": "labels alone",
    "powered": "PPI++",
}


@tool("rate")
@click.argument("judge", metavar="JUDGE-or-SCORES")
@click.argument("data")
@click.option(
    "--labelled",
    metavar="LABELLED",
    help="File with labelled rows [default: the labelled rows of DATA].",
)
@click.option(
    _MAP,
    metavar="FIELD=COLUMN,…",
    help="Columns of LABELLED by field, where they differ from those of DATA [default: --map].",
)
@data_options
@target_options
@criterion_option
@max_unscored_option
@confidence_option
@seed_option
@asking_options
@dry_run_option
@json_option
def command(
    judge: str,
    data: str,
    labelled: str | None,
    labelled_map: str | None,
    target: str,
    aggregate: str,
    criterion: str | None,
    max_unscored: float,
    confidence: float,
    seed: int,
    dry_run: bool,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Estimate the pass rate of each system in DATA, corrected for the judge's errors.

    JUDGE-or-SCORES judges all rows, and is named as for 'evaluate'. Its rates of right verdicts on
    the labelled rows correct the rate at which it passes the others.
    """
    from collections import Counter

    from judgesmith.experiments.evaluate.rating import left_out_text, rate_systems, verdicts_of
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    given = named(judge)
    if given.path is None and criterion is not None:
        raise refuse_criterion(judge)
    rated = labelled or data
    if labelled_map is not None and labelled is None:
        raise OptionError(
            "there is no other file with labels.", option=_MAP, hint="name it with --labelled."
        )
    maps = {} if labelled_map is None else {rated: (_MAP, labelled_map)}
    dataset = load_data(*dict.fromkeys((data, rated)), maps=maps)
    saved = load_saved(judge) if given.path is None else None
    targets = _targets(dataset, target if target != "auto" else saved, aggregate, rated)
    lms: list[dspy.LM] = []
    if saved is not None:
        run_id = f"rate {saved.fingerprint} {dataset.digest}"
        saved, lms = asked_models(saved, choice, run_id=run_id)
    if dry_run:
        estimate = judging_estimate(saved, list(dataset), lms) if saved else nothing_asked()
        print_estimate(estimate, as_json=as_json)
        return 0
    if saved is None:
        judgements, verdicts, notes = _on_file(given, dataset, targets, criterion)
    else:
        judgements = _judged(saved, dataset, lms[0], choice.concurrency, quiet=as_json)
        verdicts, notes = verdicts_of(judgements, targets, saved.scale), []
    with blaming(rated):
        seen = () if saved is None else saved.seen_keys
        found = rate_systems(
            dataset, targets, verdicts, seen=seen, confidence=confidence, seed=seed
        )
    notes = [*dataset.notes, *notes]
    if any(found.left_out.values()):
        notes.append(f"left out: {left_out_text(found.left_out)}.")
    if as_json:
        print_json({"judge": judge, "data": dataset.name, **found.to_dict()})
    else:
        report(found, f"{judge} on {dataset.name}: ")
    say_notes(notes, as_json=as_json)
    causes = Counter(one.cause for one in judgements if one.cause is not None)
    return unscored_status(len(dataset), causes, max_unscored)


def _targets(
    dataset: DataSet, target: str | AnySaved | None, aggregate: str, rated: str
) -> Targets:
    """Return the labels that are named, or that the judge was made for; refuse ratings."""
    from judgesmith.data import targets_of
    from judgesmith.experiments.evaluate.rating import positive_label

    named = isinstance(target, str)
    wanted = target if isinstance(target, str) else "auto" if target is None else target.target
    with blaming("--target" if named else rated):
        targets = targets_of(dataset, wanted, aggregate)  # type: ignore[arg-type]
    with blaming(rated):
        positive_label(targets)
    return targets


def _on_file(
    given: Named, dataset: DataSet, targets: Targets, criterion: str | None
) -> tuple[list[Judgement], FloatArray, list[str]]:
    """Return judgements and verdicts on file, and notes."""
    from judgesmith.data.targets import FRACTION
    from judgesmith.experiments.evaluate.judged_rows import recorded_judgements
    from judgesmith.experiments.evaluate.rating import verdicts_of

    scores = given.scores(dataset, criterion=criterion, target=targets.name)
    with blaming(given.text):
        judgements = recorded_judgements(scores, targets)
        verdicts = verdicts_of(judgements, targets, FRACTION)
    return judgements, verdicts, [*given.unused(scores, dataset), UNTRACED]


def _judged(
    saved: AnySaved, dataset: DataSet, lm: dspy.LM, concurrency: int, *, quiet: bool
) -> list[Judgement]:
    from judgesmith.programs import score_batch

    with counting("rows", len(dataset), quiet=quiet) as tell:
        return score_batch(saved, dataset, lm=lm, concurrency=concurrency, on_progress=tell)


def report(found: RateReport, of: str = "") -> None:
    """Print pass rates; ``of`` says whose they are."""
    from judgesmith.experiments.evaluate.rating import ASSUMPTIONS

    rates = found.rates
    best = next(one for one in rates.systems if one.problem is None)
    percent = f"{100 * best.corrected.confidence:g}%"
    first = f"{_label(best.system)} passes" if len(rates.systems) > 1 else "Pass rate"
    answer(
        f"{first} {estimate_text(best.corrected)} corrected, {estimate_text(best.judged)} as "
        f"judged. TPR {estimate_text(best.tpr)} on {best.n_positive} rows, TNR "
        f"{estimate_text(best.tnr)} on {best.n_negative}.",
        tone="good" if best.corrected.high - best.corrected.low <= _NARROW else "open",
    )
    say()
    say(f"{of}share of {found.positive!r} of {found.target}")
    rows = [
        [_label(one.system), *(estimate_text(getattr(one, kind)) for kind in _KINDS)]
        for one in rates.systems
    ]
    header = ["", *_KINDS.values()]
    print_table(f"Pass rates, {percent} intervals over sources", rows, header=header)
    rows = [
        [
            _label(one.system),
            estimate_text(one.tpr),
            estimate_text(one.tnr),
            f"{one.n_positive} + {one.n_negative}",
            str(one.judged.n),
            one.uses if one.problem is None else one.problem,
        ]
        for one in rates.systems
    ]
    print_table("The judge", rows, header=["", "TPR", "TNR", "labelled", "scored", "rates of"])
    if rates.differences:
        _print_differences(rates.differences, rates)
    say()
    for kind, needs in ASSUMPTIONS.items():
        say_under(_KINDS[kind], f"right if {needs}")


def _print_differences(differences: Sequence[PassRateDifference], rates: PassRates) -> None:
    kinds = [kind for kind in _KINDS if kind != "bootstrap"]
    rows = [
        [
            f"{_label(one.first_system)} - {_label(one.second_system)}",
            *(estimate_text(getattr(one, kind), signed=True) for kind in kinds),
            "yes" if one.is_reliable else "no",
        ]
        for one in differences
    ]
    header = ["", *(_KINDS[kind] for kind in kinds), "reliable"]
    print_table("Differences, paired by source", rows, header=header)
    untested = [_label(one.system) for one in rates.systems if not one.is_tested]
    p_values = f"TPR p {three_digits(rates.equal_tpr)}, TNR p {three_digits(rates.equal_tnr)}"
    verdict = "no difference is shown" if rates.is_equal else "they differ"
    if untested:
        verdict += f"; too few labels to test {', '.join(untested)}"
    say_under("equal in all systems", f"{p_values}: {verdict}")
    ranks = [
        f"{_label(name)} {best}{f' to {worst}' * (worst > best)}"
        for name, (best, worst) in rates.ranks.items()
    ]
    say_under("ranks by PPI++", ", ".join(ranks))


def _label(system: object) -> str:
    return str(system) or "all rows"
