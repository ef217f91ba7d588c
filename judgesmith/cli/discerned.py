"""What ``judgesmith discern`` prints: how much is asked, then tables, weak spots, conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.cli.printing import say, say_notes, say_under, say_wrapped, shortened, usage_text
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments.compile.estimate import RunEstimate
    from judgesmith.experiments.robustness.discerning import Discerned, WeakPair
    from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import Usage

_WORDS = 240


def estimate_of(
    judge: AnySaved, perturbed: PerturbedSet, models: Mapping[str, dspy.LM]
) -> RunEstimate:
    """Return what it takes to judge every text of a set."""
    from judgesmith.experiments.panel.estimate import estimate_judging
    from judgesmith.experiments.robustness.version_scores import blind_texts

    texts = list(blind_texts(perturbed).values())
    return estimate_judging([judge], texts, models, next(iter(models.values())))


def announce(estimate: RunEstimate, perturbed: PerturbedSet, *, as_json: bool) -> None:
    """Say what is about to be asked."""
    from judgesmith.experiments.robustness.version_scores import blind_texts

    n_originals = len({(one.source_id, one.key) for one in perturbed.originals})
    say(
        f"{len(blind_texts(perturbed))} texts to judge, {n_originals} of them originals: "
        f"{estimate.calls} calls if every answer can be read, less those on record",
        err=as_json,
    )


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
        _print_tables(found)
        _print_pairs(found.weakest)
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


def _print_tables(found: Discerned) -> None:
    from judgesmith.experiments.robustness.discernment_folder import (
        estimate_text,
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
        rows = [["lowest D", estimate_text(overall.lowest)]]
        rows += [["average D", estimate_text(overall.average)]]
        if experts:
            rows[0].append(estimate_text(overall.expert_lowest))
            rows[1].append(estimate_text(overall.expert_average))
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
