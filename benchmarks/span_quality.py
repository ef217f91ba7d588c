"""How well judges that look for errors mark what was changed in good texts: a table in Markdown.

``python benchmarks/span_quality.py [SET]`` reads a rated set below ``$JUDGESMITH_DATA``
(SummEval), takes of each source the reference with most sentences, changes it by rule in every
way there is for summaries, and lets an annotator with the criteria of SummEval mark errors, each
text by itself and offline. Errors that it marks in the unchanged text, too, are left out of
account. The last column is a judge that marks every character: what marks are worth is how far
they are above it.

A place that was only taken out cannot be marked; such places are counted, and no part of F1.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

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
from judgesmith.experiments.robustness.perturbing import Changes, originals_of, perturb_texts
from judgesmith.metrics import Estimate
from judgesmith.programs import family_of, judge_items
from judgesmith.programs.perturbing import Donors
from judgesmith.signatures import Rubric
from judgesmith.signatures.judgement import ErrorSpan

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
KINDS = ("task", "additions", "controls")
TASK = "A news article is summarised."


def changed(name: str, n: int, seed: int) -> PerturbedSet:
    """Return good texts of a set and their versions."""
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    dataset = DataSet(name=name, items=tuple(stream_items(folder / f"{name}.jsonl.gz")))
    pool = originals_of(dataset, "references")
    drawn = pool.sample(n, rng=np.random.default_rng(seed))
    changes = Changes(kinds=KINDS, task="summarization", seed=seed)
    return perturb_texts(drawn.items, changes, name=name, donors=Donors(pool.items))


def marking_all(found: FoundErrors) -> FoundErrors:
    """Return a judge that marks every character of the same texts."""

    def whole(text: TextErrors) -> TextErrors:
        response = text.item.response
        return replace(text, errors=(ErrorSpan(text=response, start=0, end=len(response)),))

    return replace(found, texts=tuple(map(whole, found.texts)))


def cell(one: Estimate, *, interval: bool = True) -> str:
    """Return a value, with its interval where there is one and it is wanted."""
    if one.value != one.value:
        return "–"
    if not interval or one.low != one.low:
        return f"{one.value:.2f}"
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]"


def rows(found: SpanEvaluation, base: SpanEvaluation) -> list[list[str]]:
    """Return a row of cells for each kind of change, and one for all damage."""
    assert found.new is not None
    assert base.places is not None
    lines = [("all damage", found.new, base.places)]
    for one, other in zip(found.kinds, base.kinds, strict=True):
        name = one.kind.name if one.kind.lowers else f"{one.kind.name} (control)"
        lines.append((name, one.new, other.places))
    return [
        [
            name,
            str(places.pairs.f1.n),
            f"{places.pairs.gold:g}",
            str(places.pairs.n_unlocated_gold),
            f"{places.pairs.predicted:g}",
            cell(places.characters.precision, interval=False),
            cell(places.characters.recall, interval=False),
            cell(places.characters.f1),
            cell(places.pairs.f1),
            cell(whole.characters.f1, interval=False),
        ]
        for name, places, whole in lines
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("set", nargs="?", default="summeval")
    parser.add_argument("--texts", type=int, default=100, help="originals (100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--overlap", type=float, default=0.5, help="of errors that are one (.5)")
    arguments = parser.parse_args()
    perturbed = changed(arguments.set, arguments.texts, arguments.seed)
    items = [
        *perturbed.originals,
        *(one for row in perturbed.versions for one in row if one is not None),
    ]
    known = [known_criterion(name) or named_criterion(name) for name in CRITERIA]
    judge = family_of("annotator").start(Rubric(task=TASK, criteria=tuple(known)))
    found = found_errors(items, judge_items(judge, items), label="annotator")
    dataset = DataSet(name=arguments.set, items=tuple(items))
    settings = SpanSettings(overlap=arguments.overlap)
    one, base = (
        evaluate_spans(each, dataset, settings=settings, rng=np.random.default_rng(0))
        for each in (found, marking_all(found))
    )
    n = len(perturbed.originals)
    marked = sum(len(distinct_errors(text.errors or ())) for text in found.texts[:n])
    print(
        f"{n} texts of {arguments.set}, {perturbed.n_versions} versions, seed {arguments.seed}: "
        f"{found.n_unscored} unscored, {marked / n:.2f} errors marked in an unchanged text\n"
    )
    header = ["change", "versions", "places", "taken out", "marked", "precision", "recall"]
    header += ["F1, characters", "F1, one to one", "all marked"]
    for line in (header, ["---"] * len(header), *rows(one, base)):
        print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
