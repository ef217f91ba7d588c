"""The local perspective: sequences of texts, each with one error more than the one before."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.benchmark.plan import (
    Built,
    OneMore,
    Plan,
    SeenErrors,
    counting,
    counts_dict,
    seen_errors,
)
from judgesmith.experiments.benchmark.rows import BenchmarkSource, BenchmarkText, local_scale
from judgesmith.programs.perturbing.injecting import sequences
from judgesmith.signatures.perturbation import Target
from judgesmith.signatures.questions.texts import Reference
from judgesmith.signatures.rubric import Criterion

CHECKED_SOURCES = 30
"""Sources with whose sequences the comparator is checked: enough for an interval by kind."""

_Begun = tuple[BenchmarkSource, Reference, tuple[Target, ...]]


def build_local(plan: Plan) -> Built:
    """Return sequences from references: the top rating has no error, each further one has one more.

    Every criterion of a source starts from another reference, as far as there are several. What
    stays of a sequence that ends early is kept from two texts on.
    """
    texts: list[BenchmarkText] = []
    criteria: dict[str, dict[str, Any]] = {}
    for place, criterion in enumerate(plan.criteria):
        kept, told = _sequences(plan, criterion, place)
        checked = _checked(plan, criterion, kept)
        texts += _texts(plan, criterion, kept)
        criteria[criterion.name] = {**told, "comparator": checked.to_dict()}
    if not texts:
        reasons = dict.fromkeys(
            why for one in criteria.values() for why in one["errors"]["dropped"]
        )
        raise InputError(
            f"no text could be made worse on any criterion: {'; '.join(reasons)}.",
            hint="give longer references, other sub-aspects, or another injector.",
        )
    order = {source.id: place for place, source in enumerate(plan.sources)}
    texts.sort(key=lambda one: order[one.source.id])
    return Built(texts=tuple(texts), criteria=criteria, files={})


def _sequences(plan: Plan, criterion: Criterion, place: int) -> tuple[list[_Begun], dict[str, Any]]:
    """Return the sequences of one criterion, and what is to be said of them."""
    settings = plan.settings
    begun = [
        (source, own[place % len(own)])
        for source in plan.sources
        if (own := plan.references.get(source.id, ()))
    ]
    sides = plan.sub_aspects[criterion.name]
    jobs = [plan.job(source, criterion, one, sides, key="steps") for source, one in begun]
    tell = plan.tells(f"errors put in ({criterion.name})", len(jobs))
    with plan.models.step("errors put in", "injector") as lm, counting() as counts:
        made = sequences(
            jobs,
            settings.steps,
            lm,
            seed=settings.seed,
            donors=plan.donors,
            concurrency=plan.models.concurrency,
            told=plan.note,
            counts=counts,
        )
        found = []
        for (source, reference), (_, targets) in zip(begun, made, strict=True):
            found.append((source, reference, targets))
            if tell is not None:
                tell(1)
    kept = [one for one in found if len(one[2]) > 1]
    lengths = Counter(len(targets) for _, _, targets in found)
    return kept, {
        "sources": len(begun),
        "sequences": len(kept),
        "texts": sum(len(targets) for _, _, targets in kept),
        "lengths": {str(n): lengths[n] for n in sorted(lengths)},
        "short": counts.short,
        "lost": counts.lost,
        "errors": counts_dict(counts),
        "kinds": _kinds(kept),
    }


def _kinds(kept: Sequence[_Begun]) -> dict[str, int]:
    """Return how many errors of each side there are, most frequent first."""
    sides = Counter(error.sub_aspect for _, _, targets in kept for error in targets[-1].errors)
    return dict(sides.most_common())


def _checked(plan: Plan, criterion: Criterion, kept: Sequence[_Begun]) -> SeenErrors:
    pairs = [
        OneMore(source=source, better=better, worse=worse)
        for source, _, targets in kept[:CHECKED_SOURCES]
        for better, worse in itertools.pairwise(targets)
    ]
    with plan.models.step("comparator checked", "comparator") as lm:
        tell = plan.tells(f"comparator checked ({criterion.name})", len(pairs))
        return seen_errors(
            pairs,
            plan.comparator(criterion, lm),
            progress=tell,
            note=lambda said: plan.note(f"{criterion.name}: {said}"),
        )


def _texts(plan: Plan, criterion: Criterion, kept: Sequence[_Begun]) -> Iterator[BenchmarkText]:
    steps = plan.settings.steps
    for source, reference, targets in kept:
        for step, target in enumerate(targets):
            yield BenchmarkText(
                source=source,
                criterion=criterion,
                target=target,
                reference=reference.id,
                rating=steps - target.n_errors,
                scale=local_scale(steps),
                more={"step": step},
            )
