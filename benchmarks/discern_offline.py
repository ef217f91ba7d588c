"""What the offline model notices of damaged texts, and what it does not: tables in Markdown.

``python benchmarks/discern_offline.py`` reads rated sets below ``$JUDGESMITH_DATA``, takes good
texts from each by a seed, makes the versions of its task by rule, those of the added changes and
the controls, and lets an Active-Critic judge with the task's criteria score each text by itself:

- summaries: SummEval, of each article's references the one with most sentences;
- stories: the last sentence of a human story in OpenMEVA-ROC, after what is before it; no ending
  is known to be wrong, so there is no such change;
- translation: references of WMT-23, of at least 301 characters into German, and of at least 250
  into English, where 301 leave too few;
- answers: responses in PandaLM that all raters preferred, of at least 151 characters, in place of
  answers to questions about a paragraph;
- DEMETR and BUMP: texts that people and scripts changed, as they are.

One table has all sets, and sentences say what was not noticed; ``--tables`` adds a table for each
set, D by criterion.

With ``--recorded``, the metrics that BUMP's authors recorded: the share of pairs whose wrong
version scores lower, in per cent, as they published it, and D.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgesmith.data import DataSet, read_scores, stream_items
from judgesmith.data.formats import open_rows
from judgesmith.experiments.compile.human_criteria import known_criterion, named_criterion
from judgesmith.experiments.robustness.discerning import Discerned, KindFound, discern
from judgesmith.experiments.robustness.discernment_folder import (
    conclusions,
    estimate_text,
    metric_score,
    score_text,
    verdict_text,
)
from judgesmith.experiments.robustness.perturbed_rows import versions_of
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet, some_originals
from judgesmith.experiments.robustness.perturbing import Changes, originals_of, perturb_texts
from judgesmith.experiments.robustness.version_scores import judged_versions, recorded_versions
from judgesmith.experiments.robustness.version_weights import weights_of_task
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS
from judgesmith.programs import ActiveCritic
from judgesmith.programs.perturbing import Donors
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures import RatedItem, Rubric

KINDS = ("task", "additions", "controls", "empty_sentences")
PARTS = {
    "summarization": "A news article is summarised.",
    "story_completion": "A story of five sentences is ended by its last sentence.",
    "translation": "A text is translated.",
    "question_answering": "A question or an instruction is answered.",
}
RECORDED = "recorded/bump_metrics"
AS_THEY_ARE = ("BUMP", "DEMETR")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the texts of a table are from.

    ``texts`` returns originals to be changed; without it the rows have versions already.
    """

    title: str
    file: str
    task: str
    texts: Callable[[DataSet], list[RatedItem]] | None = None


def references(at_least: int) -> Callable[[DataSet], list[RatedItem]]:
    """Return what takes one reference per source."""
    return lambda dataset: list(originals_of(dataset, "references", min_characters=at_least).items)


def endings(dataset: DataSet) -> list[RatedItem]:
    """Return the last sentence of each human story, after the sentences before it."""
    found = []
    for item in originals_of(dataset, "references").items:
        *before, last = Passage(item.response).sentences
        if before:
            start, end = last
            update = {
                "source": f"{item.source} {item.response[:start].strip()}",
                "response": item.response[start:end].strip(),
                "references": (),
            }
            found.append(item.model_copy(update=update))
    return found


def preferred(dataset: DataSet) -> list[RatedItem]:
    """Return the responses that all raters preferred."""
    rows = [item for item in dataset if set(item.human.get("preferred", ())) == {1.0}]
    pool = DataSet(name=dataset.name, items=tuple(rows))
    return list(originals_of(pool, "responses", min_characters=151).items)


SOURCES = (
    Source(title="Summaries", file="summeval", task="summarization", texts=references(0)),
    Source(title="Stories", file="openmeva_roc", task="story_completion", texts=endings),
    Source(
        title="Translation into English",
        file="wmt23_dasqm_zhen",
        task="translation",
        texts=references(250),
    ),
    Source(
        title="Translation into German",
        file="wmt23_dasqm_ende",
        task="translation",
        texts=references(301),
    ),
    Source(title="Answers", file="pandalm", task="question_answering", texts=preferred),
    Source(title="BUMP", file="bump", task="summarization"),
    Source(title="DEMETR", file="demetr", task="translation"),
)


def read(name: str) -> DataSet:
    """Return the rows of a file, with their ratings where these are texts' only mark."""
    from judgesmith.data import read_items

    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    path = folder / f"{name}.jsonl.gz"
    if name == "pandalm":
        return read_items(path)
    return DataSet(name=name, items=tuple(stream_items(path)))


def versions(source: Source, n: int, seed: int) -> PerturbedSet:
    """Return texts and versions of a table."""
    dataset = read(source.file)
    rng = np.random.default_rng(seed)
    if source.texts is None:
        return some_originals(versions_of(dataset), n, rng=rng)
    pool = source.texts(dataset)
    drawn = np.sort(rng.choice(len(pool), min(n, len(pool)), replace=False))
    changes = Changes(kinds=KINDS, task=source.task, seed=seed)
    items = [pool[place] for place in drawn.tolist()]
    return perturb_texts(items, changes, name=source.title, donors=Donors(pool))


def tested(source: Source, n: int, seed: int) -> Discerned:
    """Return what the offline judge with the task's criteria notices."""
    perturbed = versions(source, n, seed)
    names = list(next(iter(EXPERT_WEIGHTS[source.task].values())))
    criteria = tuple(known_criterion(name) or named_criterion(name) for name in names)
    rubric = Rubric(task=PARTS[source.task], criteria=criteria)
    scores = judged_versions(ActiveCritic(rubric=rubric), perturbed, label=source.title)
    weights = weights_of_task(source.task, perturbed.kinds, scores.metrics)
    return discern(scores, perturbed, weights=weights, rng=np.random.default_rng(seed))


def line(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def head(*names: str) -> Iterator[str]:
    """Yield the first two rows of a Markdown table."""
    yield line(*names)
    yield line(*["---"] * len(names))


def summary(found: Mapping[str, Discerned]) -> Iterator[str]:
    """Yield one row per set."""
    yield from head("texts", "n", "lowest D", "average D", "lowest, experts", "false alarms")
    for title, one in found.items():
        overall = one.damage
        assert overall is not None
        yield line(
            title,
            str(one.n_originals),
            estimate_text(overall.lowest),
            estimate_text(overall.average),
            estimate_text(overall.expert_lowest) or "no weights",
            f"{len(one.false_alarms)} of {len(one.controls)}" if one.controls else "no controls",
        )


SHORT = {"noticed": "", "left alone": "", "not noticed": " no", "too few texts": " too few"}
SHORT |= {"prefers damage": " prefers", "favoured": " favours", "false alarm": " alarm"}


def together(found: Mapping[str, Discerned]) -> Iterator[str]:
    """Yield one row per kind of change, with D on every set and what is wrong with it."""
    cell = {
        (title, shown_name(kind)): f"{score_text(kind.found.score.value)}{mark(kind)}"
        for title, one in found.items()
        for kind in one.kinds
        if kind.n_versions
    }
    names = {shown_name(kind): kind.kind.lowers for one in found.values() for kind in one.kinds}
    yield from head("change", *found)
    for name in sorted(names, key=lambda name: not names[name]):
        row = [cell.get((title, name), "") for title in found]
        if any(row):
            yield line(name, *row)


def mark(one: KindFound) -> str:
    """Return a verdict in a word; none where the judge does as it should."""
    verdict = verdict_text(one)
    return SHORT.get(verdict, f" {verdict}")


def shown_name(one: KindFound) -> str:
    """Return the name of a change as tables show it."""
    name = one.kind.name.replace("_", " ")
    return name if one.kind.lowers else f"{name} (control)"


def table(found: Discerned) -> Iterator[str]:
    """Yield one row per kind of change."""
    experts = found.damage is not None and found.damage.expert_lowest is not None
    more = ["D, experts"] if experts else []
    yield from head("change", "verdict", "pairs", "D", *more, *found.metrics)
    for one in found.kinds:
        if one.n_versions:
            yield line(*cells(one, experts=experts))


def cells(one: KindFound, *, experts: bool) -> list[str]:
    """Return the row of a kind: D with its interval, D with weights, D by metric."""
    expert = one.found.expert_score
    weighed = ["" if expert is None else score_text(expert.value)] if experts else []
    return [
        shown_name(one),
        verdict_text(one),
        str(one.n_versions),
        estimate_text(one.found.score),
        *weighed,
        *(score_text(metric_score(one.found, metric)) for metric in one.lower),
    ]


def recorded() -> Iterator[str]:
    """Yield one row per metric that was recorded on BUMP."""
    dataset = read("bump")
    perturbed = versions_of(dataset)
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    path = folder / f"{RECORDED}.jsonl.gz"
    names = dict.fromkeys(str(row["judge"]) for _, row in open_rows(path).rows)
    rows = []
    for name in names:
        scores = read_scores(path, dataset, judge=name)
        judged = recorded_versions(scores, dataset, perturbed)
        found = discern(judged, perturbed, rng=np.random.default_rng(0))
        assert found.damage is not None
        share = statistics.fmean(found.lower.values())
        lowest = min(found.damaging, key=lambda one: one.found.score.value).kind.name
        rows.append(
            (
                share,
                line(
                    name.removeprefix("metric:"),
                    f"{100 * share:.1f}",
                    estimate_text(found.damage.lowest),
                    estimate_text(found.damage.average),
                    lowest.replace("_", " "),
                ),
            )
        )
    yield from head("metric", "scores lower, %", "lowest D", "average D", "hardest change")
    yield from (text for _, text in sorted(rows, reverse=True))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--items", type=int, default=100, help="texts per set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="titles of sets")
    parser.add_argument("--tables", action="store_true", help="a table for each set, too")
    parser.add_argument("--recorded", action="store_true", help="metrics recorded on BUMP")
    options = parser.parse_args()
    if options.recorded:
        print("\n".join(recorded()))
        return
    chosen = [one for one in SOURCES if not options.only or one.title in options.only]
    found = {one.title: tested(one, options.items, options.seed) for one in chosen}
    print("\n".join(summary(found)))
    made = {title: one for title, one in found.items() if title not in AS_THEY_ARE}
    print("\n" + "\n".join(together(made)))
    for title, one in found.items():
        print(f"\n### {title}\n")
        if options.tables:
            print("\n".join(table(one)) + "\n")
        print("\n".join(f"- {said}" for said in conclusions(one)))


if __name__ == "__main__":
    main()
