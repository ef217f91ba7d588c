"""How well judges that look for errors mark what was changed in good texts: a table in Markdown.

Of each source of a rated set (SummEval) it takes the reference with most sentences, changes it by
rule in every way there is for summaries, and lets an annotator with the criteria of SummEval mark
errors, each text by itself and offline. Errors that it marks in the unchanged text, too, are left
out of account. The last column is a judge that marks every character: what marks are worth is how
far they are above it.

A place that was only taken out cannot be marked; such places are counted, and no part of F1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, data_file
from judgesmith.data import DataSet, stream_items
from judgesmith.experiments.compile.human_criteria import known_criterion, named_criterion
from judgesmith.experiments.evaluate.errors.evaluation import (
    SpanEvaluation,
    SpanSettings,
    evaluate_spans,
)
from judgesmith.experiments.evaluate.errors.found import (
    FoundErrors,
    TextErrors,
    distinct_errors,
    found_errors,
)
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.experiments.robustness.perturbing import (
    PerturbationConfig,
    get_originals,
    perturb_texts,
)
from judgesmith.programs import family_of, score_batch
from judgesmith.programs.perturbing import Donors
from judgesmith.signatures import Rubric
from judgesmith.signatures.judgement import ErrorSpan

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
KINDS = ("task", "additions", "controls")
TASK = "A news article is summarised."


def changed(name: str, n: int, seed: int) -> PerturbedSet:
    """Return good texts of a set and their versions."""
    dataset = DataSet(name=name, items=tuple(stream_items(data_file(name))))
    pool = get_originals(dataset, "references")
    drawn = pool.sample(n, rng=np.random.default_rng(seed))
    changes = PerturbationConfig(kinds=KINDS, task="summarization", seed=seed)
    return perturb_texts(drawn.items, changes, name=name, donors=Donors(pool.items))


def marking_all(found: FoundErrors) -> FoundErrors:
    """Return a judge that marks every character of the same texts."""

    def whole(text: TextErrors) -> TextErrors:
        response = text.item.response
        return replace(text, errors=(ErrorSpan(text=response, start=0, end=len(response)),))

    return replace(found, texts=tuple(map(whole, found.texts)))


def rows(found: SpanEvaluation, base: SpanEvaluation) -> Iterator[Row]:
    """Yield a row for each kind of change, and one for all damage."""
    assert found.new is not None
    assert base.places is not None
    lines = [("all damage", found.new, base.places)]
    for one, other in zip(found.kinds, base.kinds, strict=True):
        name = one.kind.name if one.kind.lowers else f"{one.kind.name} (control)"
        lines.append((name, one.new, other.places))
    for name, places, whole in lines:
        yield {
            "change": name,
            "versions": places.pairs.f1.n,
            "places": places.pairs.gold,
            "taken out": places.pairs.n_unlocated_gold,
            "marked": places.pairs.predicted,
            "precision": places.characters.precision.value,
            "recall": places.characters.recall.value,
            "F1, characters": places.characters.f1,
            "F1, one to one": places.pairs.f1,
            "all marked": whole.characters.f1.value,
        }


TO_TWO = ("precision", "recall", "F1, characters", "F1, one to one", "all marked")


@benchmark(
    quick={"texts": 2},
    formats=dict.fromkeys(TO_TWO, ".2f") | dict.fromkeys(("places", "marked"), "g"),
)
def span_quality(
    *,
    set: str = "summeval",  # noqa: A002 - the name of the option
    texts: Annotated[int, "originals"] = 100,
    seed: int = 0,
    overlap: Annotated[float, "of errors that are one"] = 0.5,
) -> Iterator[Row]:
    """How well judges that look for errors mark what was changed in good texts."""
    perturbed = changed(set, texts, seed)
    items = [
        *perturbed.originals,
        *(one for row in perturbed.versions for one in row if one is not None),
    ]
    known = [known_criterion(name) or named_criterion(name) for name in CRITERIA]
    judge = family_of("annotator").start(Rubric(task=TASK, criteria=tuple(known)))
    found = found_errors(items, score_batch(judge, items), label="annotator")
    dataset = DataSet(name=set, items=tuple(items))
    settings = SpanSettings(overlap=overlap)
    one, base = (
        evaluate_spans(each, dataset, settings=settings, seed=0)
        for each in (found, marking_all(found))
    )
    yield from rows(one, base)
    n = len(perturbed.originals)
    marked = sum(len(distinct_errors(text.errors or ())) for text in found.texts[:n])
    row: Row = {"texts": n, "versions": perturbed.n_versions, "unscored": found.n_unscored}
    yield row | {"errors marked in an unchanged text": f"{marked / n:.2f}"}
