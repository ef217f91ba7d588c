"""What the offline model notices of damaged texts, and what it does not: tables in Markdown.

This takes good texts from rated sets by a seed, makes the versions of its task by rule, those of
the added changes and the controls, and lets an Active-Critic judge with the task's criteria score
each text by itself:

- summaries: SummEval, of each article's references the one with most sentences;
- stories: the last sentence of a human story in OpenMEVA-ROC, after what is before it; no ending
  is known to be wrong, so there is no such change;
- translation: references of WMT-23, of at least 301 characters into German, and of at least 250
  into English, where 301 leave too few;
- answers: responses in PandaLM that all raters preferred, of at least 151 characters, in place of
  answers to questions about a paragraph;
- DEMETR and BUMP: texts that people and scripts changed, as they are.

The first table has one row per set, the second D by kind of change; then follow a table for each
set, D by criterion, and sentences on what was missed. ``discern_recorded`` has the metrics
that BUMP's authors recorded: the share of pairs whose wrong version scores lower, as they published
it, and D.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, data_file, rated
from judgesmith.data import DataSet, read_scores, stream_items
from judgesmith.data.formats.opening import open_rows
from judgesmith.experiments.compile.human_criteria import known_criterion, named_criterion
from judgesmith.experiments.robustness.discerning import Discerned, KindFound, discern
from judgesmith.experiments.robustness.discernment_folder import (
    conclusions,
    d_text,
    d_value_text,
    metric_score,
    verdict_text,
)
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.experiments.robustness.perturbed_scores import recorded_versions, score_perturbed
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet, some_originals
from judgesmith.experiments.robustness.perturbing import (
    PerturbationConfig,
    get_originals,
    perturb_texts,
)
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
    return lambda dataset: list(get_originals(dataset, "references", min_characters=at_least).items)


def endings(dataset: DataSet) -> list[RatedItem]:
    """Return the last sentence of each human story, after the sentences before it."""
    found = []
    for item in get_originals(dataset, "references").items:
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
    return list(get_originals(pool, "responses", min_characters=151).items)


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
    if name == "pandalm":
        return rated(name)
    return DataSet(name=name, items=tuple(stream_items(data_file(name))))


def versions(source: Source, n: int, seed: int) -> PerturbedSet:
    """Return texts and versions of a table."""
    dataset = read(source.file)
    rng = np.random.default_rng(seed)
    if source.texts is None:
        return some_originals(get_perturbed(dataset), n, seed=rng)
    pool = source.texts(dataset)
    drawn = np.sort(rng.choice(len(pool), min(n, len(pool)), replace=False))
    changes = PerturbationConfig(kinds=KINDS, task=source.task, seed=seed)
    items = [pool[place] for place in drawn.tolist()]
    return perturb_texts(items, changes, name=source.title, donors=Donors(pool))


def tested(source: Source, n: int, seed: int) -> Discerned:
    """Return what the offline judge with the task's criteria notices."""
    perturbed = versions(source, n, seed)
    names = list(next(iter(EXPERT_WEIGHTS[source.task].values())))
    criteria = tuple(known_criterion(name) or named_criterion(name) for name in names)
    rubric = Rubric(task=PARTS[source.task], criteria=criteria)
    scores = score_perturbed(ActiveCritic(rubric=rubric), perturbed, label=source.title)
    weights = weights_of_task(source.task, perturbed.kinds, scores.metrics)
    return discern(scores, perturbed, weights=weights, seed=np.random.default_rng(seed))


def summary(found: Mapping[str, Discerned]) -> Iterator[Row]:
    """Yield one row per set."""
    for title, one in found.items():
        overall = one.damage
        assert overall is not None
        alarms = f"{len(one.false_alarms)} of {len(one.controls)}" if one.controls else None
        yield {
            "texts": title,
            "n": one.n_originals,
            "lowest D": d_text(overall.lowest),
            "average D": d_text(overall.average),
            "lowest, experts": d_text(overall.expert_lowest) or "no weights",
            "false alarms": alarms or "no controls",
        }


SHORT = {"detected": "", "unchanged": "", "missed": " no", "too few texts": " too few"}
SHORT |= {"prefers damage": " prefers", "favoured": " favours", "false alarm": " alarm"}


def together(found: Mapping[str, Discerned]) -> Iterator[Row]:
    """Yield one row per kind of change, with D on every set and what is wrong with it."""
    cell = {
        (title, shown_name(kind)): f"{d_value_text(kind.found.score.value)}{mark(kind)}"
        for title, one in found.items()
        for kind in one.kinds
        if kind.n_versions
    }
    names = {shown_name(kind): kind.kind.lowers for one in found.values() for kind in one.kinds}
    for name in sorted(names, key=lambda name: not names[name]):
        row = {title: cell.get((title, name), "") for title in found}
        if any(row.values()):
            yield {"change": name} | row


def mark(one: KindFound) -> str:
    """Return a verdict in a word; none where the judge does as it should."""
    verdict = verdict_text(one)
    return SHORT.get(verdict, f" {verdict}")


def shown_name(one: KindFound) -> str:
    """Return the name of a change as tables show it."""
    name = one.kind.name.replace("_", " ")
    return name if one.kind.lowers else f"{name} (control)"


def table(found: Discerned) -> Iterator[Row]:
    """Yield one row per kind of change: D with its interval, D with weights, D by metric."""
    experts = found.damage is not None and found.damage.expert_lowest is not None
    for one in found.kinds:
        if not one.n_versions:
            continue
        row: Row = {
            "change": shown_name(one),
            "verdict": verdict_text(one),
            "pairs": one.n_versions,
            "D": d_text(one.found.score),
        }
        if experts:
            expert = one.found.expert_score
            row["D, experts"] = "" if expert is None else d_value_text(expert.value)
        yield row | {name: d_value_text(metric_score(one.found, name)) for name in one.lower}


@benchmark(quick={"most": 1}, formats={"scores lower": ".1%"})
def discern_recorded(*, most: Annotated[int | None, "metrics"] = None) -> Iterator[Row]:
    """How often metrics that were recorded on BUMP score the wrong version lower, and their D."""
    yield from sorted(recorded(most), key=lambda row: row["scores lower"], reverse=True)


def recorded(most: int | None) -> Iterator[Row]:
    """Yield one row per metric that was recorded on BUMP."""
    dataset = read("bump")
    perturbed = get_perturbed(dataset)
    path = data_file(RECORDED)
    names = dict.fromkeys(str(row["judge"]) for _, row in open_rows(path).rows)
    for name in list(names)[:most]:
        scores = read_scores(path, dataset, judge=name)
        judged = recorded_versions(scores, dataset, perturbed)
        found = discern(judged, perturbed, seed=0)
        assert found.damage is not None
        share = statistics.fmean(found.lower.values())
        lowest = min(found.damaging, key=lambda one: one.found.score.value).kind.name
        yield {
            "metric": name.removeprefix("metric:"),
            "scores lower": share,
            "lowest D": d_text(found.damage.lowest),
            "average D": d_text(found.damage.average),
            "hardest change": lowest.replace("_", " "),
        }


@benchmark(quick={"items": 8, "only": ("Summaries",)})
def discern_offline(
    *,
    items: Annotated[int, "texts per set"] = 100,
    seed: int = 0,
    only: Annotated[tuple[str, ...], "titles of sets"] = (),
) -> Iterator[Row]:
    """What the offline model notices of damaged texts, and what it does not."""
    chosen = [one for one in SOURCES if not only or one.title in only]
    found = {one.title: tested(one, items, seed) for one in chosen}
    yield from summary(found)
    yield from together({title: one for title, one in found.items() if title not in AS_THEY_ARE})
    for title, one in found.items():
        yield from ({"texts": title} | row for row in table(one))
    for title, one in found.items():
        yield from ({"texts": title, "conclusion": said} for said in conclusions(one))
