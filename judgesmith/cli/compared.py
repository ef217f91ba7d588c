"""What ``judgesmith compare`` prints: the answer in a sentence, what it rests on, every number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.agreement import (
    LEVELS,
    estimate_text,
    interval_text,
    level_text,
    scored_by_text,
)
from judgesmith.cli.printing import counted, say, say_under, say_wrapped
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.agreement import Gain
    from judgesmith.experiments.evaluate.comparing import Comparison, ComparisonTests, Side
    from judgesmith.metrics import PairedEstimate


def print_compared(found: Comparison, *, name: str) -> None:
    """Print a comparison on the set called ``name``."""
    from judgesmith.experiments.evaluate.agreement import unscored_text

    say_wrapped(verdict(found))
    say()
    for letter, side in _sides(found):
        say_under(letter, f"{side.label}{scored_by_text(side.scored_by)}")
    say_under("held against", f"{found.target} of {name}")
    tests: ComparisonTests | None = found.tests
    if found.unseen is not None:
        _print_gain(_unseen_by(found), found.unseen, tests)
        tests = None
    if found.seen is not None:
        _print_gain(f"Rows that {_seen_by(found)} has seen", found.seen, tests)
    _say_tests(found.tests)
    say()
    without = {letter: unscored_text(side.unscored) for letter, side in _sides(found)}
    if without["A"] == without["B"]:
        without = {"A and B": without["A"]}
    for letters, text in without.items():
        say_under(f"of the rated rows, by {letters}", text)
    if found.n_unrated:
        say(f"{found.n_unrated} more rows are unrated")


def verdict(found: Comparison) -> str:
    """Return the answer in one sentence, and what stands in the way of trusting it."""
    gain, name = found.gain, _name(found)
    seen_by = _seen_by(found)
    where = "" if found.unseen else f" on rows that {seen_by} was made from (there are no others)"
    if gain.value != gain.value:
        none = [
            side.label
            for side, value in ((found.a, gain.first), (found.b, gain.second))
            if value != value
        ]
        return (
            f"Which agrees better with people cannot be told{where}: {name} is undefined for "
            f"{' and '.join(none)}."
        )
    if gain.value == 0:
        return (
            f"{found.a.label} and {found.b.label} agree equally well with people{where}: {name} "
            f"{gain.first:.3f} each."
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
    return (
        f"{first.label} agrees better with people{where}: {name} {values[0]:.3f} against "
        f"{values[1]:.3f} for {second.label}, difference {values[0] - values[1]:+.3f} {sure}: "
        f"{_clear_text(found)}."
    )


def _clear_text(found: Comparison) -> str:
    """Return whether a difference is clear, and why not where its interval leaves out zero."""
    gain = found.gain
    if found.is_clear:
        return f"clear at {gain.confidence:.0%}"
    if gain.has_few_groups:
        return f"not clear, because {gain.n_groups} sources are too few for an interval"
    if gain.low <= 0 <= gain.high or gain.low != gain.low:
        return "not clear"
    return (
        "not clear: the interval leaves out zero, but the p-value adjusted for all differences in "
        f"the table is above {1 - gain.confidence:.2g}"
    )


def _sides(found: Comparison) -> tuple[tuple[str, Side], tuple[str, Side]]:
    return ("A", found.a), ("B", found.b)


def p_text(p: float) -> str:
    """Return a p-value to three decimals."""
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
    return f"Rows that {known[0]} has not seen" if known[1:] == [] else "Rows that neither has seen"


def _name(found: Comparison) -> str:
    statistic, level = found.objective.statistic, found.objective.level
    name = {"q": "Q"}.get(statistic, statistic.capitalize())
    return name if level == "dataset" else f"{name} at {level} level"


def _print_gain(title: str, gain: Gain, tests: ComparisonTests | None) -> None:
    basis = gain["dataset"]["pearson"]
    rows = []
    for level in LEVELS:
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
        f"{basis.confidence:.0%} intervals over sources"
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
        f"permutation, where all scores of {what} change hands; pairs: the share that is ordered, "
        "or tied, as by people",
    )
    said = [
        f"{level} level t({one.n - 3}) = {one.statistic:.2f}, p {_equals(one.p_value)}"
        for level, one in tests.williams.items()
        if one.p_value == one.p_value
    ]
    if said:
        say_under("Williams' test of Pearson", f"{'; '.join(said)}; it takes rows for independent")
