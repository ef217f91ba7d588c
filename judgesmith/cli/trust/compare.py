"""``judgesmith compare``: whether one judge correlates better with human ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesmith.cli.judge.compile_options import refuse_over_sources
from judgesmith.cli.shared.agreement import (
    LEVELS,
    estimate_text,
    interval_text,
    level_text,
    ranks_note,
    scored_by_text,
)
from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.data_options import data_options, load_data, target_options
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import (
    asked_models,
    judging_estimate,
    nothing_asked,
    role_names,
)
from judgesmith.cli.shared.judged import UNTRACED, Named, criterion_option, named, refuse_criterion
from judgesmith.cli.shared.model_options import ModelChoice
from judgesmith.cli.shared.options import (
    confidence_option,
    dry_run_option,
    json_option,
    seed_option,
)
from judgesmith.cli.shared.printing import (
    answer,
    counted,
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
from judgesmith.cli.shared.role_options import ROLE, asking_options, models_by_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dspy

    from judgesmith.data import DataSet, Targets
    from judgesmith.data.score_files import Scores
    from judgesmith.experiments.evaluate.agreement import Gain
    from judgesmith.experiments.evaluate.comparing import (
        Comparison,
        ComparisonTests,
        LabelComparison,
        Side,
    )
    from judgesmith.experiments.evaluate.judged_rows import JudgedRows
    from judgesmith.metrics import PairedEstimate
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved


@tool("compare")
@click.argument("a")
@click.argument("b")
@click.argument("data")
@data_options
@target_options
@criterion_option
@full_option
@click.option(
    "--objective",
    metavar="NAME[@LEVEL]",
    help="Statistic that decides: pearson, spearman, kendall or q, at dataset, sample or system "
    "level; of labels also balanced_accuracy, tnr or tpr [default: balanced_accuracy of labels, "
    "else pearson; pearson@sample for ranks within a source].",
)
@confidence_option
@seed_option
@asking_options
@dry_run_option
@json_option
def command(
    a: str,
    b: str,
    data: str,
    target: str,
    aggregate: str,
    criterion: str | None,
    objective: str | None,
    confidence: float,
    seed: int,
    dry_run: bool,
    as_json: bool,
    choice: ModelChoice,
) -> None:
    """Say whether judge A agrees better than judge B with the ratings in DATA.

    Each of A and B is a folder that 'compile' made, a file that 'score' wrote, or a file of
    recorded judges (FILE:JUDGE picks one). Both are compared on the rows that both scored; rows
    that either was made from are compared apart.
    """
    import numpy as np

    from judgesmith.data.scores import other_models
    from judgesmith.experiments.evaluate.comparing import (
        check_compared,
        compare_rows,
        parse_compared,
    )
    from judgesmith.programs.judging.runner import judges_sources

    with blaming("--objective"):
        wanted = None if objective is None else parse_compared(objective)
    sides = _two(a, b)
    if criterion is not None and all(one.path is None for one in sides):
        raise refuse_criterion(a)
    judges = _judges(sides)
    for judge, side in zip(judges, sides, strict=True):
        if objective is not None and judges_sources(judge):
            refuse_over_sources(objective, judge=side.text)
    dataset = load_data(data)
    scores, targets = _targets(sides, judges, dataset, target, aggregate, criterion, data=data)
    with blaming("--objective"):
        check_compared(wanted, targets)
    asked = _asked(judges, choice, f"{dataset.digest} {targets.name}")
    if dry_run and any(asked):
        items = [dataset[place] for place in targets.rated.tolist()]
        estimates = [judging_estimate(judge, items, lms) for judge, lms in filter(None, asked)]
        print_estimate(sum(estimates, nothing_asked()), as_json=as_json)
        return
    rows = _judged(
        sides, asked, scores, dataset, targets, concurrency=choice.concurrency, quiet=as_json
    )
    with blaming(b):
        found = compare_rows(
            *rows,
            targets,
            objective=wanted,
            rng=np.random.default_rng(seed),
            confidence=confidence,
            data=dataset.name,
        )
    if dry_run:
        print_estimate(nothing_asked(), as_json=as_json)
        return
    ranking = [side.label for side in (found.a, found.b) if side.ranks]
    notes = [*dataset.notes, *ranks_note(*ranking, ranks=bool(ranking))]
    notes += () if found.labels is None else found.labels.notes
    for side, own in zip(sides, scores, strict=True):
        if own is not None:
            notes += side.unused(own, dataset)
    notes += [note for side in rows for note in other_models(side.judgements)]
    if any(own is not None for own in scores):
        notes.append(UNTRACED)
    if as_json:
        print_json(found.to_dict())
    else:
        print_compared(found)
    say_notes(list(dict.fromkeys(notes)), as_json=as_json)


def _two(a: str, b: str) -> tuple[Named, Named]:
    """Return what A and B name, which must be two things."""
    first, second = named(a), named(b)
    same_place = (first.path or Path(a)).resolve() == (second.path or Path(b)).resolve()
    if same_place and first.recorded == second.recorded:
        raise OptionError(f"A and B are both {b}.", option=b, hint="name two judges.")
    return first, second


def _judges(sides: tuple[Named, Named]) -> list[AnySaved | None]:
    """Load the judges among the two."""
    if all(side.path is not None for side in sides):
        return [None, None]
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    judges = [None if side.path else load_saved(side.text) for side in sides]
    first, second = judges
    if first and second and first.fingerprint == second.fingerprint:
        b = sides[1].text
        raise OptionError(
            f"A and B are the same judge (fingerprint {first.fingerprint}).",
            option=b,
            hint="name two.",
        )
    return judges


def _targets(
    sides: tuple[Named, Named],
    judges: list[AnySaved | None],
    dataset: DataSet,
    target: str,
    aggregate: str,
    criterion: str | None,
    *,
    data: str,
) -> tuple[list[Scores | None], Targets]:
    """Read the scores among the two, and find the ratings that both are held against."""
    from judgesmith.data import targets_of
    from judgesmith.data.targets import criteria_behind
    from judgesmith.experiments.evaluate.comparing import shared_target

    told = target != "auto"
    with blaming("--target" if told else data):
        known = [target] if told else [judge.target for judge in judges if judge]
        wanted = criteria_behind(dataset, known[0])[0] if known else None
    scores = [
        side.scores(dataset, criterion=criterion, target=wanted) if side.path else None
        for side in sides
    ]
    if not told:
        first, second = (judge or own for judge, own in zip(judges, scores, strict=True))
        assert first is not None
        assert second is not None
        with blaming("--target"):
            target = shared_target(first, second, dataset) or target
    with blaming("--target" if told else data):
        return scores, targets_of(dataset, target, aggregate)  # type: ignore[arg-type]


_Asked = tuple["AnySaved", "list[dspy.LM]"]
"""A judge bound to its models, and these."""


def _asked(judges: Sequence[AnySaved | None], choice: ModelChoice, of: str) -> list[_Asked | None]:
    """Return each judge with its models, None for scores on file; one budget holds for both."""
    names = "|".join(judge.fingerprint for judge in judges if judge)
    models = {name for judge in judges if judge for name in judge.models}
    by_role = models_by_part(choice.roles)
    models |= {one.name for one in by_role.values()}
    of_judges = [set(role_names(judge)) & set(by_role) if judge else set() for judge in judges]
    if unknown := set(by_role).difference(*of_judges, ()):
        raise OptionError(
            f"neither judge has a role {min(unknown)[:80]!r}.", option=ROLE, hint="drop it."
        )
    found: list[_Asked | None] = []
    for judge, own_roles in zip(judges, of_judges, strict=True):
        if judge is None:
            found.append(None)
            continue
        given = [one for one in choice.roles if one.partition("=")[0].strip() in own_roles]
        asked = {*judge.models, *(by_role[role].name for role in own_roles)}
        own = replace(choice.about(asked, among=models), roles=tuple(given))
        found.append(asked_models(judge, own, run_id=f"compare {names} {of}"))
    return found


def _judged(
    sides: tuple[Named, Named],
    asked: Sequence[_Asked | None],
    scores: Sequence[Scores | None],
    dataset: DataSet,
    targets: Targets,
    *,
    concurrency: int,
    quiet: bool,
) -> tuple[JudgedRows, JudgedRows]:
    """Return what either says of the rated rows."""
    from judgesmith.experiments.evaluate.judged_rows import rows_of_judge, rows_of_scores

    found = []
    for letter, side, judging, own in zip("AB", sides, asked, scores, strict=True):
        if judging is None:
            assert own is not None
            found.append(rows_of_scores(own, dataset, targets))
            continue
        judge, lms = judging
        with counting(f"rows by {letter}", len(targets.rated), quiet=quiet) as tell:
            found.append(
                rows_of_judge(
                    judge,
                    dataset,
                    targets,
                    own=judge.target,
                    lm=lms[0],
                    label=side.text,
                    concurrency=concurrency,
                    on_progress=tell,
                )
            )
    return found[0], found[1]


def print_compared(found: Comparison) -> None:
    from judgesmith.experiments.evaluate.agreement import unscored_text

    by_label = found.by_label
    text = verdict(found) if by_label is None else label_sentence(found, by_label)
    answer(text, tone="good" if found.is_clear else "open")
    say()
    for letter, side in _sides(found):
        say_under(letter, f"{side.label}{scored_by_text(side.scored_by)}")
    say_under("ratings", f"{found.target} of {found.data}")
    tests: ComparisonTests | None = found.tests
    if by_label is not None:
        _print_labels(by_label)
        if not wants_full():
            say("\nAll tables and tests: --full")
            return
    if found.unseen is not None:
        _print_gain(_unseen_by(found), found.unseen, tests)
        tests = None
    if found.seen is not None and (wants_full() or found.unseen is None):
        _print_gain(f"Rows seen by {_seen_by(found)}", found.seen, tests)
    if wants_full():
        _say_tests(found.tests)
    else:
        say("\nAll tables and tests: --full")
    say()
    without = {letter: unscored_text(side.unscored) for letter, side in _sides(found)}
    if without["A"] == without["B"]:
        without = {"A and B": without["A"]}
    for letters, text in without.items():
        say_under(f"rated rows, {letters}", text)
    if found.n_unrated:
        say(f"{found.n_unrated} more rows are unrated")


def verdict(found: Comparison) -> str:
    """Return which judge agrees better, and whether the difference is significant."""
    gain, name = found.gain, _name(found)
    where = ""
    if not found.unseen:
        where = f" on rows that {_seen_by(found)} was compiled from (there are no others)"
    if gain.value != gain.value:
        sides = ((found.a, gain.first), (found.b, gain.second))
        undefined = " and ".join(side.label for side, value in sides if value != value)
        return f"No result{where}: {name} is undefined for {undefined}."
    if gain.value == 0:
        return (
            f"{found.a.label} and {found.b.label} agree equally well with human ratings{where}: "
            f"{name} {gain.first:.3f} each."
        )
    ahead = gain.value > 0
    first, second = (found.a, found.b) if ahead else (found.b, found.a)
    values = (gain.first, gain.second) if ahead else (gain.second, gain.first)
    ends = (gain.low, gain.high) if ahead else (-gain.high, -gain.low)
    sure = (
        f"{interval_text(*ends, signed=True)}, p {_equals(gain.p_value)}, Holm-adjusted p "
        f"{_equals(found.holm)}"
        if gain.low == gain.low
        else "[no interval]"
    )
    figures = (
        f"{name} {values[0]:.3f} for {first.label}, {values[1]:.3f} for {second.label}, "
        f"difference {values[0] - values[1]:+.3f} {sure}"
    )
    if found.is_clear:
        return (
            f"{first.label} agrees better with human ratings{where}: {figures}. The difference is "
            f"significant at {1 - gain.confidence:.2g}."
        )
    return f"No significant difference{where}: {figures}.{_why_unclear(found)}"


_RATES = {"balanced_accuracy": "balanced accuracy", "tnr": "TNR", "tpr": "TPR"}


def label_sentence(found: Comparison, labels: LabelComparison) -> str:
    """Return which judge labels better, and what it stops and passes more."""
    one, name = found.gain, _RATES[str(found.objective)]
    ahead = not one.value < 0
    first, second = (found.a, found.b) if ahead else (found.b, found.a)
    values = (one.first, one.second) if ahead else (one.second, one.first)
    figures = f"{name} {values[0]:.3f} for {first.label}, {values[1]:.3f} for {second.label}"
    if one.value == 0:
        figures = f"{name} {one.first:.3f} each"
    if one.value != one.value:
        return f"No result: {name} is undefined, since a label is not among the rows."
    parts = [
        f"stops {_points(labels, 'tnr', ahead=ahead)} of the bad answers",
        f"passes {_points(labels, 'tpr', ahead=ahead)} of the good ones",
    ]
    details = f"{first.label} {' and '.join(parts)}"
    if found.is_clear:
        p = _equals(found.holm)
        return f"{first.label} labels better: {figures}, Holm-adjusted p {p}. {details}."
    clear = [name.upper() for name in ("tnr", "tpr") if labels.is_clear(name)]
    also = f" The difference in {' and '.join(clear)} is significant." if clear else ""
    return f"No significant difference: {figures}. {details}.{also}"


def _points(labels: LabelComparison, name: str, *, ahead: bool) -> str:
    """Return a difference in percentage points with interval and p-value, the better one's."""
    one = labels.rates[name]
    value, low, high = (100 * end for end in (one.value, one.low, one.high))
    if not ahead:
        value, low, high = -value, -high, -low
    known = not (one.has_few_groups or low != low)
    shown = f"[{low:+.0f}, {high:+.0f}], " if known else ""
    test = "exact McNemar" if labels.differences.test == "mcnemar" else "sign-flip by source"
    more = "fewer" if value < 0 else "more"
    return f"{abs(value):.0f} points {more} ({shown}p {_equals(one.p_value)}, {test})"


def _print_labels(labels: LabelComparison) -> None:
    found = labels.differences
    rows = [
        [
            _RATES[name],
            f"{one.first:.3f}",
            f"{one.second:.3f}",
            estimate_text(one, signed=True),
            p_text(one.p_value),
            p_text(labels.holm[name]),
        ]
        for name, one in labels.rates.items()
    ]
    confidence = found.tpr.confidence
    title = (
        f"Labels: {found.n} rows of {counted(found.n_groups, 'source')}, {100 * confidence:g}% "
        "intervals over sources"
    )
    print_table(title, rows, header=["", "A", "B", "A - B", "p", "p Holm"])
    only = [
        [what, str(found.first_only[place]), str(found.second_only[place])]
        for place, what in enumerate(("good", "bad"))
    ]
    print_table("Right by one of the two alone", only, header=["answers", "A", "B"])


def _why_unclear(found: Comparison) -> str:
    """Return why a difference whose interval excludes 0 is not significant."""
    gain = found.gain
    if gain.has_few_groups:
        return f" {gain.n_groups} sources are too few for an interval."
    if needed := _sources_needed(found):
        return (
            f" With {gain.n_groups} sources no such difference can be significant, since all "
            f"differences in the table are adjusted together; that takes {needed} sources or more."
        )
    if gain.low <= 0 <= gain.high or gain.low != gain.low:
        return ""
    return (
        " The interval excludes 0, but the p-value adjusted for all differences in the table is "
        f"above {1 - gain.confidence:.2g}. 'compile' does not adjust the p-value of its gain."
    )


def _sources_needed(found: Comparison) -> int | None:
    """Return the sources that a significant correlation takes, or None if there are enough."""
    from judgesmith.experiments.evaluate.comparing import FEW_SOURCES_RESAMPLES
    from judgesmith.metrics.resampling.draws import least_p

    report = found.unseen or found.seen or {}
    floors = [one.least_p for row in report.values() for one in row.values()]
    floors = [one for one in floors if one == one]
    level = 1 - found.gain.confidence
    if not floors or len(floors) * min(floors) <= level:
        return None
    counts = range(found.gain.n_groups + 1, 100)
    enough = (n for n in counts if len(floors) * least_p(n, FEW_SOURCES_RESAMPLES) <= level)
    return next(enough, 100)


def _sides(found: Comparison) -> tuple[tuple[str, Side], tuple[str, Side]]:
    return ("A", found.a), ("B", found.b)


def p_text(p: float) -> str:
    if p != p:
        return "undefined"
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def _equals(p: float) -> str:
    text = p_text(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def _seen_by(found: Comparison) -> str:
    return " or ".join(letter for letter, side in _sides(found) if side.n_seen)


def _unseen_by(found: Comparison) -> str:
    if not found.n_seen:
        return "All rows"
    known = [letter for letter, side in _sides(found) if side.knows_seen]
    return f"Rows unseen by {known[0]}" if known[1:] == [] else "Rows unseen by both"


def _name(found: Comparison) -> str:
    assert not isinstance(found.objective, str)
    statistic, level = found.objective.statistic, found.objective.level
    name = {"q": "Q"}.get(statistic, statistic.capitalize())
    return name if level == "dataset" else f"{name} at {level} level"


def _print_gain(title: str, gain: Gain, tests: ComparisonTests | None) -> None:
    basis = gain["dataset"]["pearson"]
    rows: list[list[str]] = []
    for level in LEVELS:
        if rows and not wants_full():
            break
        lines = []
        shown: dict[str, PairedEstimate] = dict(gain[level].items())  # type: ignore[index]
        if tests is not None and level in tests.pairs:
            shown["pairs"] = tests.pairs[level]  # type: ignore[index]
        for name, one in shown.items():
            if one.value != one.value:
                continue
            line = [f"  {name}", f"{one.first:.3f}", f"{one.second:.3f}"]
            line += [estimate_text(one, signed=True), p_text(one.p_value)]
            if tests is not None:
                permuted = tests.permutation[level].get(name)  # type: ignore[index,call-overload]
                line.append(p_text(tests.holm[level][name]))  # type: ignore[index]
                line.append(p_text(permuted.p_value) if permuted else "")
            lines.append(line)
        if lines:
            of_level = {name: [one] for name, one in shown.items()}
            rows += [[level_text(level, of_level)], *lines]
    about = (
        f"{title}: {basis.n} of {counted(basis.n_groups, 'source')}, "
        f"{100 * basis.confidence:g}% intervals over sources"
    )
    header = ["", "A", "B", "A - B", "p", *(["p Holm", "p perm"] if tests else [])]
    if rows:
        print_table(about, rows, header=header)
    else:
        say(f"\n{about}")
    if all(one.value != one.value for row in gain.values() for one in row.values()):
        say_wrapped("correlations are undefined: the scores of A or B are all the same there")


def _say_tests(tests: ComparisonTests) -> None:
    what = "systems and sources" if tests.swap == "both" else "sources"
    say()
    say_under(
        "p",
        "of the interval, for one comparison; p Holm: adjusted for all in the table; p perm: by "
        f"permutation, swapping the two judges' scores of {what}; pairs: share ordered, or tied, "
        "as by raters",
    )
    said = [
        f"{level} level t({one.n - 3}) = {one.statistic:.2f}, p {_equals(one.p_value)}"
        for level, one in tests.williams.items()
        if one.p_value == one.p_value
    ]
    if said:
        say_under("Williams' test of Pearson", f"{'; '.join(said)}; assumes independent rows")
