"""The published numbers of ``checks.json``, recomputed from ratings and recorded answers alone.

One recipe per family of entries; each returns the numbers in the order in which they are
published. The tests compare them, benchmark ``published`` prints them side by side.
"""

import gzip
import json
import shutil
import tempfile
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.data import DataSet, read_items, read_scores, targets_of
from judgesmith.metrics import icc, kendall, pearson, spearman, weighted_kappa
from judgesmith.metrics.correlation import agreement
from judgesmith.metrics.pairs import adjacent_accuracy

ALL_THREE = (pearson, spearman, kendall)
UNIEVAL = {
    "topical_chat": (
        *("naturalness", "coherence", "engagingness"),
        *("groundedness", "understandability", "overall"),
    ),
    "sfres": ("naturalness", "informativeness", "overall"),
    "qags_cnndm": ("consistency",),
}
CLOSER_LOOK = ("geval", "geval_no_auto_cot", "llm_eval_no_cot", "analyze_rate")
DIALOGUE = ("naturalness", "coherence", "engagingness", "groundedness")
OPINIONS = ("aspect_relevance", "readability", "self_coherence", "sentiment_consistency")
PEOPLES_OPINIONS = ("aspect_relevance", "self_coherence", "sentiment_consistency", "readability")
OPINION_PROMPTS = {
    "cot": "gpt-3.5-turbo G-Eval-style prompt",
    "handwritten": "gpt-3.5-turbo hand-written prompt (one reply for all criteria)",
}
SIMPLICITY = ("bertscore_P", "bertscore_F1", "bleu", "sari", "fkgl", "samsa")
FAITHFULNESS = (
    *("BARTScore", "CoCo", "DAE", "QAFactEval", "BERTScore", "QuestEval", "BLEURT"),
    *("SummaC", "ROUGE-2", "BLEU", "Q2", "FactCC"),
)
TRANSLATORS = {
    "mqm_ted_ende": (
        *("ref", "Facebook-AI", "Online-W", "VolcTrans-AT", "metricsystem3", "VolcTrans-GLAT"),
        *("HuaweiTSC", "metricsystem1", "metricsystem2", "metricsystem5", "UEdin"),
        *("metricsystem4", "eTranslation", "Nemo"),
    ),
    "mqm_ted_zhen": (
        *("refB", "DIDI-NLP", "metricsystem2", "metricsystem1", "MiSS", "IIE-MT"),
        *("metricsystem4", "metricsystem5", "SMU", "Borderline", "NiuTrans", "Facebook-AI"),
        *("Online-W", "metricsystem3", "ref"),
    ),
}


@dataclass(frozen=True)
class Data:
    """The folder of rated sets; what was read once is kept."""

    folder: Path
    sets: dict[str, DataSet] = field(default_factory=dict)
    recordings: dict[str, dict[str, Path]] = field(default_factory=dict)

    @cached_property
    def scratch(self) -> Path:
        """A folder that goes when this does."""
        place = Path(tempfile.mkdtemp(prefix="published-"))
        weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        return place

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a file, in order."""
        with gzip.open(self.folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def rated(self, name: str) -> DataSet:
        """Return a rated set."""
        if name not in self.sets:
            self.sets[name] = read_items(self.folder / f"{name}.jsonl.gz")
        return self.sets[name]

    def judged(self, recording: str, name: str, judge: str, criterion: str) -> np.ndarray:
        """Return a recorded judge's score of each row of a rated set, nan where it has none."""
        path = self.recorded(recording)[judge]
        return read_scores(path, self.rated(name), judge=judge, criterion=criterion).values

    def recorded(self, recording: str) -> dict[str, Path]:
        """Return a file of each recorded judge: reading them all for one takes a second."""
        if recording not in self.recordings:
            lines = defaultdict(list)
            with gzip.open(self.folder / "recorded" / f"{recording}.jsonl.gz", "rb") as rows:
                for line in rows:
                    lines[json.loads(line)["judge"]].append(line)
            place = self.scratch / recording
            place.mkdir()
            paths = {judge: place / f"{n}.jsonl" for n, judge in enumerate(lines)}
            for judge, path in paths.items():
                path.write_bytes(b"".join(lines[judge]))
            self.recordings[recording] = paths
        return self.recordings[recording]

    def agreement(self, predicted: np.ndarray, name: str, target: str, **choice: Any) -> float:
        """Return how well scores agree with the mean ratings on a criterion."""
        rated = self.rated(name)
        people = targets_of(rated, target).values
        given = ~np.isnan(people)
        sources = np.asarray([item.source_id for item in rated])
        return agreement(people[given], predicted[given], sources=sources[given], **choice).value

    @cached_property
    def standardised_simplicity(self) -> np.ndarray:
        """Ratings of simplicity, standardised per rater with the population's deviation."""
        rows = self.rows("wiki_da")
        ratings = np.array([row["human"]["simplicity"] for row in rows])
        names = np.array([row["raters"] for row in rows])
        for rater in np.unique(names):
            own = ratings[names == rater]
            ratings[names == rater] = (own - own.mean()) / own.std()
        return ratings


Recipe = Callable[[Data], list[float]]


def unieval(data: Data, *, name: str, criterion: str) -> list[float]:
    """Return the three correlations over all rows."""
    predicted = data.judged("unieval", name, "UniEval", criterion)
    if name == "qags_cnndm":
        people = np.array([row["consistency_majority"] for row in data.rows(name)])
    else:
        people = targets_of(data.rated(name), criterion).values
    return [statistic(predicted, people) for statistic in ALL_THREE]


def closer_look(data: Data, *, run: str, first: str) -> list[float]:
    """Return for each criterion Pearson over all rows or dialogues, and tau within dialogues."""
    found = []
    for criterion in DIALOGUE:
        judge = f"gpt-3.5-turbo {run}"
        scores = data.judged("topical_chat_chatgpt_20samples", "topical_chat", judge, criterion)
        found += [
            data.agreement(scores, "topical_chat", criterion, statistic=statistic, level=level)
            for statistic, level in (("pearson", first), ("kendall", "sample"))
        ]
    return found


def opinions(data: Data, *, prompt: str, criterion: str) -> list[float]:
    """Return tau within each input, of one prompt's scores with each human criterion."""
    judge = OPINION_PROMPTS[prompt]
    scores = data.judged("opinsummeval_chatgpt", "opinsummeval", judge, criterion)
    return [
        data.agreement(scores, "opinsummeval", people, statistic="kendall", level="sample")
        for people in PEOPLES_OPINIONS
    ]


def preferences(data: Data) -> np.ndarray:
    """Return three annotators' preferences of 999 pairs, shape (n_pairs, 3), by the first text."""
    rows = [row for row in data.rows("pandalm") if row["system_id"] == "response_1"]
    return np.array([row["human"]["preferred"] for row in rows])


def annotator_kappa(data: Data) -> list[float]:
    """Return Cohen's kappa of annotators 1 and 2, 1 and 3, 2 and 3."""
    given = preferences(data)
    return [
        weighted_kappa(given[:, b], given[:, a], levels=(0, 0.5, 1), weights="nominal")
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]


def majorities(data: Data) -> list[float]:
    """Return how many pairs are mostly called a tie, won by the first, won by the second."""
    counts = Counter(Counter(row).most_common(1)[0][0] for row in preferences(data).tolist())
    return [float(counts[label]) for label in (0.5, 1.0, 0.0)]


def simplicity_reliability(data: Data) -> list[float]:
    """Return the one-way ICC of one rating and of the mean."""
    found = icc(data.standardised_simplicity)
    return [found.single, found.mean]


def simplicity_standardised(data: Data) -> list[float]:
    """Return the largest difference from the mean standardised ratings that were published."""
    shipped = [row["zscore_mean"]["simplicity"] for row in data.rows("wiki_da")]
    return [float(np.max(np.abs(data.standardised_simplicity.mean(axis=1) - shipped)))]


def simplicity_metric(data: Data, *, metric: str) -> list[float]:
    """Return the absolute correlation of a metric with mean standardised simplicity."""
    judge = f"metric:{metric} (ASSET references)"
    scores = data.judged("wiki_da_metrics", "wiki_da", judge, "any")
    return [abs(pearson(data.standardised_simplicity.mean(axis=1), scores))]


def translation_errors(data: Data, *, name: str) -> list[float]:
    """Return the mean error weight of every system."""
    rated = data.rated(name)
    systems = np.asarray([item.system_id for item in rated])
    errors = -targets_of(rated, "mqm").values
    return [float(errors[systems == system].mean()) for system in TRANSLATORS[name]]


def faithfulness(data: Data, *, metric: str) -> list[float]:
    """Return the percentage of pairs in which the edited summary scores below its reference."""
    rows = [
        row
        for row in data.rows("recorded/bump_metrics")
        if row["judge"] == f"metric:{metric}" and row["scores"]
    ]
    pairs = [(row["source_id"], row["pair"]) for row in rows]
    intact = [int(row["system_id"] != row["pair"]) for row in rows]
    # Some scores of BLEU are smaller than what counts as dust; their ranks are not.
    ranks = np.unique([row["scores"][0] for row in rows], return_inverse=True)[1]
    found = adjacent_accuracy(intact, ranks, sources=pairs)
    return [100 * found.value]


def error_types(data: Data) -> list[float]:
    """Return how many summaries have each type of error."""
    kinds = Counter(row["perturbation"] for row in data.rows("bump") if row["error_count"])
    return [
        float(kinds[f"{where} {what} Error"])
        for what in ("Predicate", "Entity", "Circumstance")
        for where in ("Intrinsic", "Extrinsic")
    ] + [float(kinds["Coreference Error"])]


RECIPES: dict[str, Recipe] = {
    **{
        f"unieval/{name}/{criterion}": partial(unieval, name=name, criterion=criterion)
        for name, criteria in UNIEVAL.items()
        for criterion in criteria
    },
    **{
        f"closer_look/topical_chat/{run}": partial(closer_look, run=run, first="dataset")
        for run in CLOSER_LOOK
    },
    "closer_look/topical_chat/analyze_rate_within_dialogue": partial(
        closer_look, run="analyze_rate", first="sample"
    ),
    **{
        f"opinsummeval/{prompt}/{criterion}": partial(opinions, prompt=prompt, criterion=criterion)
        for prompt in OPINION_PROMPTS
        for criterion in OPINIONS
    },
    "pandalm/cohen_kappa": annotator_kappa,
    "pandalm/labels": majorities,
    "wiki_da/icc": simplicity_reliability,
    "wiki_da/zscore": simplicity_standardised,
    **{f"wiki_da/{metric}": partial(simplicity_metric, metric=metric) for metric in SIMPLICITY},
    **{f"{name}/system_means": partial(translation_errors, name=name) for name in TRANSLATORS},
    **{f"bump/{metric}": partial(faithfulness, metric=metric) for metric in FAITHFULNESS},
    "bump/error_types": error_types,
}
"""How to recompute each entry of ``checks.json``, by its id."""
