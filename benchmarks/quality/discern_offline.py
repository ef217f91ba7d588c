"""What the offline model notices of damaged texts, and what it does not: tables in Markdown.

This takes good texts from rated sets by a seed, makes the versions of its task by rule, those of
the added changes and the controls, and lets an Active-Critic judge with the task's criteria score
each text by itself:

- summaries: SummEval, of each article's references the one with most sentences;
- stories: the last sentence of a human story in OpenMEVA-ROC, after what is before it; no ending
  is known to be wrong, so there is no such change;
- translation: references of WMT-23, of at least 301 characters into German, and of at least 250
  into English, where 301 leave too few;
- dialogue: turns that people wrote in Topical-Chat, after the turns before them;
- answers: responses in PandaLM that all raters preferred, of at least 151 characters, in place of
  answers to questions about a paragraph;
- DEMETR and BUMP: texts that people and scripts changed, as they are.

The first table has one row per set, the second D by kind of change. The next two hold the model to
goals, over several draws of texts and changes: D, and the share of pairs in which the criterion
that should notice a change does. They take what the model expects of a text before this is rounded
to an answer, so that a tie is a change that nothing was counted of. Then follow a table for each
set, D by criterion, and sentences on what was missed. ``discern_recorded`` has the metrics
that BUMP's authors recorded: the share of pairs whose wrong version scores lower, as they published
it, and D.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, data_file, rated
from judgesmith.data import DataSet, read_scores, stream_items
from judgesmith.data.formats.opening import open_rows
from judgesmith.experiments.compile.human_criteria import known_criterion, named_criterion
from judgesmith.experiments.robustness.discerning import (
    FEWEST_PAIRS,
    NOTICED,
    Discerned,
    KindFound,
    discern,
)
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
from judgesmith.metrics.perturbations import (
    EXPERT_WEIGHTS,
    discernment_score,
    harmonic_mean_log_p,
    wilcoxon_log_p,
)
from judgesmith.programs import ActiveCritic
from judgesmith.programs.features.texts import Text
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.programs.offline.judging import criterion_points
from judgesmith.programs.perturbing import Donors
from judgesmith.programs.perturbing.grammar import names_and_numbers
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.scale import PERCENT

KINDS = ("task", "additions", "controls", "empty_sentences")
PARTS = {
    "summarization": "A news article is summarised.",
    "story_completion": "A story of five sentences is ended by its last sentence.",
    "translation": "A text is translated.",
    "dialogue": "A conversation is continued by one turn.",
    "question_answering": "A question or an instruction is answered.",
}
RECORDED = "recorded/bump_metrics"
DUST = 1e-9  # points; the noise of sums is no difference
AS_THEY_ARE = ("BUMP", "DEMETR")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the texts of a table are from.

    ``texts`` returns originals to be changed; without it the rows have versions already. ``drawn``
    returns those that are drawn from for the goals, where there are more. ``faithful`` is the
    criterion that should notice a false fact.
    """

    title: str
    file: str
    task: str
    texts: Callable[[DataSet], list[RatedItem]] | None = None
    drawn: Callable[[DataSet], list[RatedItem]] | None = None
    faithful: str = "consistency"
    lowest: float | None = None  # the goal for D


def references(at_least: int) -> Callable[[DataSet], list[RatedItem]]:
    """Return what takes one reference per source."""
    return lambda dataset: list(get_originals(dataset, "references", min_characters=at_least).items)


def every_reference(dataset: DataSet) -> list[RatedItem]:
    """Return all references that have sentences enough to be put in another order."""
    found = []
    for item in {one.source_id: one for one in dataset}.values():
        for place, text in enumerate(item.references):
            if len(Passage(text).sentences) >= 3:
                update = {"system_id": f"reference {place}", "response": text, "references": ()}
                found.append(item.model_copy(update=update))
    return found


def human_turns(dataset: DataSet) -> list[RatedItem]:
    """Return what people said."""
    people = ("Original Ground Truth", "New Human Generated")
    rows = tuple(item for item in dataset if item.system_id in people)
    return list(get_originals(DataSet(name=dataset.name, items=rows), "responses").items)


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
    Source(
        title="Summaries",
        file="summeval",
        task="summarization",
        texts=references(0),
        drawn=every_reference,
        lowest=1.0,
    ),
    Source(
        title="Stories", file="openmeva_roc", task="story_completion", texts=endings, lowest=0.5
    ),
    Source(
        title="Dialogue",
        file="topical_chat",
        task="dialogue",
        texts=human_turns,
        faithful="groundedness",
        lowest=0.5,
    ),
    Source(
        title="Translation into English",
        file="wmt23_dasqm_zhen",
        task="translation",
        texts=references(250),
        faithful="accuracy",
    ),
    Source(
        title="Translation into German",
        file="wmt23_dasqm_ende",
        task="translation",
        texts=references(301),
        faithful="accuracy",
    ),
    Source(
        title="Answers",
        file="pandalm",
        task="question_answering",
        texts=preferred,
        faithful="answer_quality",
    ),
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
    if source.texts is None:
        return some_originals(get_perturbed(dataset), n, seed=np.random.default_rng(seed))
    return changed(source, source.texts(dataset), n, seed)


def changed(source: Source, pool: list[RatedItem], n: int, seed: int) -> PerturbedSet:
    """Return texts that are drawn from many, with versions."""
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.choice(len(pool), min(n, len(pool)), replace=False))
    changes = PerturbationConfig(kinds=KINDS, task=source.task, seed=seed)
    items = [pool[place] for place in drawn.tolist()]
    return perturb_texts(items, changes, name=source.title, donors=Donors(pool))


def rubric_of(task: str) -> Rubric:
    """Return the criteria that experts' weights are for."""
    names = list(next(iter(EXPERT_WEIGHTS[task].values())))
    criteria = tuple(known_criterion(name) or named_criterion(name) for name in names)
    return Rubric(task=PARTS[task], criteria=criteria)


def tested(source: Source, n: int, seed: int) -> Discerned:
    """Return what the offline judge with the task's criteria notices."""
    perturbed = versions(source, n, seed)
    judge = ActiveCritic(rubric=rubric_of(source.task))
    scores = score_perturbed(judge, perturbed, label=source.title)
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


Lost = dict[str, list[np.ndarray]]
"""By change, what each pair loses by criterion, an array for each draw of shape (n, n_criteria)."""


class Expected:
    """What the offline model expects of a text on each criterion, before it is rounded."""

    def __init__(self, task: str) -> None:
        self.rubric = rubric_of(task)
        self.names = self.rubric.names
        self._lines = criteria_text(self.rubric, PERCENT).split("\n")
        self._known: dict[tuple[str | None, ...], list[float]] = {}

    def of(self, item: RatedItem) -> list[float]:
        """Return the expected scores, 0 to 100."""
        texts = {"source": item.source, "context": item.context, "response": item.response}
        key = tuple(texts.values())
        if key not in self._known:
            asked = [{"criterion": line} | texts for line in self._lines]
            self._known[key] = [criterion_points(one, "response").mean for one in asked]
        return self._known[key]

    def check(self, perturbed: PerturbedSet) -> None:
        """Hold the expected scores of originals against the judge's answers."""
        answers = score_perturbed(ActiveCritic(rubric=self.rubric), perturbed, label="").originals
        expected = np.array([self.of(one) for one in perturbed.originals])
        assert np.all(np.abs(answers - expected) <= 0.5 + 1e-9), "not what the judge answers"


def held_to(source: Source, n: int, draws: int) -> tuple[Row, list[Row]]:
    """Return the row of a set's D over several draws, and those of its shares of pairs."""
    pool = (source.drawn or source.texts)(read(source.file))
    expected, lost = Expected(source.task), Lost()
    lowest: list[tuple[float, str]] = []
    alarms = Counter[str]()
    for seed in range(draws):
        perturbed = changed(source, pool, n, seed)
        if not seed:
            expected.check(perturbed)
        found: dict[str, float] = {}
        for kind, versions in zip(perturbed.kinds, perturbed.versions, strict=True):
            own = lost_by(expected, perturbed.originals, versions, kind.kind, lost)
            if len(own) < FEWEST_PAIRS:
                continue
            log_p = wilcoxon_log_p(own.T, np.zeros(own.T.shape))
            d = float(discernment_score(harmonic_mean_log_p(log_p)))
            if kind.lowers:
                found[kind.name] = d
            else:
                alarms[kind.kind] += d >= NOTICED
        for item in perturbed.originals:
            lost_by(expected, [item], [exchanged(item)], "names that change places", lost)
        hardest = min(found, key=found.__getitem__)
        lowest.append((found[hardest], hardest))
    values = [d for d, _ in lowest]
    hard = Counter(name for _, name in lowest).most_common(1)[0][0]
    row: Row = {
        "texts": source.title,
        "pool": len(pool),
        "lowest D, median [range]": (statistics.median(values), min(values), max(values)),
        "goal": "–" if source.lowest is None else f"≥ {source.lowest:g}",
        "most often lowest": hard.replace("_", " "),
        "alarms by padding": f"{alarms['padding']} of {draws}",
        "by paraphrase": f"{alarms['paraphrase']} of {draws}",
        "by empty sentences": f"{alarms['empty_sentences']} of {draws}",
    }
    return row, list(shares(source, expected.names, lost))


def lost_by(
    expected: Expected,
    originals: Sequence[RatedItem],
    versions: Sequence[RatedItem | None],
    kind: str,
    lost: Lost,
) -> np.ndarray:
    """Return what pairs lose whose text did change, and put it where it belongs."""
    pairs = [
        (original, version)
        for original, version in zip(originals, versions, strict=True)
        if version is not None and version.response != original.response
    ]
    own = np.array(
        [np.subtract(expected.of(one), expected.of(other)) for one, other in pairs]
    ).reshape(-1, len(expected.names))
    lost.setdefault(kind, []).append(own)
    if kind in ("number_change", "name_swap"):
        stated = [was_stated(*pair) for pair in pairs]
        lost.setdefault(f"{kind}, stated", []).append(own[np.array(stated, dtype=bool)])
    if kind == "number_swap":
        kept = [
            sorted(one.response.split()) == sorted(other.response.split()) for one, other in pairs
        ]
        lost.setdefault("numbers that change places", []).append(own[np.array(kept, dtype=bool)])
    return own


def was_stated(original: RatedItem, version: RatedItem) -> bool:
    """Say whether source or context have every word that a version has lost."""
    material = set(Text(f"{original.source}\n{original.context or ''}").words)
    return set(Text(original.response).words) - set(Text(version.response).words) <= material


def exchanged(item: RatedItem) -> RatedItem | None:
    """Return a text in which two names without a common word have changed places, if it has two."""
    passage, text = Passage(item.response), item.response
    spans = list(names_and_numbers(passage, item.source))
    names = [span for span in spans if not passage.shown(span)[0].isdigit()]
    for one, other in combinations(names, 2):
        first, second = passage.shown(one), passage.shown(other)
        if set(first.split()).isdisjoint(second.split()):
            between = text[one[1] : other[0]]
            changed = f"{text[: one[0]]}{second}{between}{first}{text[other[1] :]}"
            return item.model_copy(update={"response": changed})
    return None


GOALS = (
    ("character_deletions", "fluency", 0.95),
    ("character_typos", "fluency", 0.95),
    ("number_change", "", 0.9),
    ("number_change, stated", "", 0.9),
    ("name_swap", "", 0.9),
    ("name_swap, stated", "", 0.9),
    ("numbers that change places", "", 0.6),
    ("names that change places", "", 0.6),
    ("negation", "", 0.6),
)
"""Change, the criterion that should notice it (none: that of facts), and share of pairs."""


def shares(source: Source, names: Sequence[str], lost: Lost) -> Iterator[Row]:
    """Yield how many pairs of each change lower the criterion that should notice."""
    for change, criterion, goal in GOALS:
        name = criterion or source.faithful
        own = np.concatenate(lost[change]) if change in lost else np.zeros((0, 1))
        if len(own) < FEWEST_PAIRS or name not in names:
            continue
        column = own[:, list(names).index(name)]
        yield {
            "texts": source.title,
            "change": change.replace("_", " "),
            "criterion": name.replace("_", " "),
            "pairs": len(own),
            "lower": float(np.mean(column > DUST)),
            "equal": float(np.mean(np.abs(column) <= DUST)),
            "goal": "–" if source.lowest is None else f"≥ {goal:.0%}",
        }


@benchmark(
    quick={"items": 8, "draws": 1, "only": ("Summaries",)},
    formats={"lower": ".1%", "equal": ".1%", "lowest D, median [range]": ".2f"},
)
def discern_offline(
    *,
    items: Annotated[int, "texts per set"] = 100,
    draws: Annotated[int, "of texts and changes, for the goals"] = 20,
    seed: int = 0,
    only: Annotated[tuple[str, ...], "titles of sets"] = (),
) -> Iterator[Row]:
    """What the offline model notices of damaged texts, and what it does not."""
    chosen = [one for one in SOURCES if not only or one.title in only]
    found = {one.title: tested(one, items, seed) for one in chosen}
    yield from summary(found)
    yield from together({title: one for title, one in found.items() if title not in AS_THEY_ARE})
    held = [held_to(one, items, draws) for one in chosen if one.texts is not None]
    yield from (row for row, _ in held)
    yield from (row for _, rows in held for row in rows)
    for title, one in found.items():
        yield from ({"texts": title} | row for row in table(one))
    for title, one in found.items():
        yield from ({"texts": title, "conclusion": said} for said in conclusions(one))
