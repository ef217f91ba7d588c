"""How well the offline model agrees with people, on every rated set at hand.

Per set: the uncompiled judge (variant fine, default rubric) at dataset level; what a few
random graded demonstrations change; what a plain ridge regression on the lexical features, and on
features and the judge's own scores, learns from the ratings of a quarter of the sources. Seeds 0
to 4.

Milliseconds of CPU for one row, the least of nine rounds over the first 300 rows, whose texts no
cache knows though their words were met before: *reading* cuts each response, and each different
source and context once, into words and sentences; *features* computes the vectors, and so reads as
well; *above reading* is the difference; *judge* is all questions of the judge, with vectors that
are known: requests, answers and what is read from them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import fmean, pstdev
from typing import Annotated, Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Row, benchmark, records
from judgesmith.metrics import kendall, pearson, spearman
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.active_critic import assessments_text
from judgesmith.programs.features import lexical_features
from judgesmith.programs.features.texts import Text
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.lm import ModelRequest
from judgesmith.programs.offline import OfflineEngine
from judgesmith.signatures.config import ActiveCriticConfig, Demonstration
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

TARGETS = {
    "summeval": "mean",
    "topical_chat": "overall",
    "qags_cnndm": "consistency",
    "wiki_da": "mean",
    "sfres": "overall",
    "openmeva_roc": "overall",
    "webnlg2020_en": "mean",
    "newsroom": "mean",
    "realsumm": "litepyramid_recall",
    "simpeval_2022": "overall",
    "simpeval_past": "overall",
    "summeval_op": "mean",
    "opinsummeval": "mean",
    "bagel": "overall",
    "pandalm": "preferred",
}
SEEDS = range(5)
ROUNDS, TIMED = 9, 300
ENGINE = OfflineEngine()


def read(name: str, most: int | None) -> list[dict[str, Any]]:
    """Return the rows of a set; a response that is no text is an empty one."""
    rows = records(name)[:most]
    for row in rows:
        row["response"] = row["response"] if isinstance(row["response"], str) else ""
    return rows


def fraction(row: dict[str, Any], target: str) -> float:
    """Return the target as a fraction of its scale."""
    names = [one for one in row["human"] if one != "overall"] if target == "mean" else [target]
    ends = [row["scale"][name] for name in names]
    means = [fmean(row["human"][name]) for name in names]
    return fmean((mean - low) / (high - low) for mean, (low, high) in zip(means, ends, strict=True))


def agreement(scores: Any, human: Any) -> tuple[float, float, float]:
    """Return Pearson, Spearman and Kendall's tau-b."""
    return pearson(human, scores), spearman(human, scores), kendall(human, scores)


def judged(rows: list[dict[str, Any]]) -> list[Judgement]:
    """Return the uncompiled judge's judgement of every row."""
    judge = ActiveCritic()
    templates = {name: (one, one.prefix()) for name, one in judge.templates().items()}
    found = []
    for row in rows:
        texts = {name: row[name] for name in ("source", "context", "response")}
        steps = judge.steps(RatedItem(**texts))
        try:
            ask = next(steps)
            while True:
                template, prefix = templates[ask.predictor]
                text = template.render(ask.inputs)
                answer = ENGINE.answer(ModelRequest(model="offline", prefix=prefix, user=text))
                ask = steps.send(ModelReply(fields=template.read(answer.text)))
        except StopIteration as end:
            found.append(end.value)
    return found


def with_demonstrations(
    rows: list[dict[str, Any]], judgements: list[Judgement], grades: list[int], chosen: list[int]
) -> Any:
    """Return a function from a row's number to its score by a judge with demonstrations."""

    def inputs(place: int) -> dict[str, Any]:
        row = rows[place]
        texts = {name: row[name] for name in ("source", "context", "response")}
        return {**texts, "assessments": assessments_text(judgements[place].criteria)}

    demos = tuple(
        Demonstration(inputs=inputs(place), outputs={"score": grades[place]}) for place in chosen
    )
    judge = ActiveCritic(ActiveCriticConfig(demonstrations={"overall": demos}))
    template = judge.templates()["overall"]
    prefix = template.prefix()

    def score(place: int) -> float:
        user = template.render(inputs(place))
        answer = ENGINE.answer(ModelRequest(model="offline", prefix=prefix, user=user))
        return float(template.read(answer.text)["score"])

    return score


def quarter(rows: list[dict[str, Any]], seed: int) -> np.ndarray:
    """Say which rows belong to a random quarter of the sources."""
    sources = sorted({row["source_id"] for row in rows})
    kept = set(np.random.default_rng(seed).permutation(sources)[: len(sources) // 4])
    return np.array([row["source_id"] in kept for row in rows])


def learned(terms: np.ndarray, human: np.ndarray, rows: list[dict[str, Any]]) -> list[float]:
    """Return Pearson and Spearman of a standardised ridge on the other three quarters."""
    found = []
    for seed in SEEDS:
        train = quarter(rows, seed)
        model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(0, 4, 9)))
        predicted = model.fit(terms[train], human[train]).predict(terms[~train])
        found.append(agreement(predicted, human[~train])[:2])
    return [fmean(column) for column in zip(*found, strict=True)]


def changes(
    rows: list[dict[str, Any]], judgements: list[Judgement], human: np.ndarray, n_demos: int
) -> list[float]:
    """Return by how much Q changes with random demonstrations, one number per seed."""
    grades = [round(100 * float(value)) for value in human]
    plain = np.array([one.score for one in judgements])
    found = []
    for seed in SEEDS:
        train = quarter(rows, seed)
        rng = np.random.default_rng(seed)
        chosen = rng.choice(np.flatnonzero(train), n_demos, replace=False)
        held = rng.permutation(np.flatnonzero(~train))[:500]
        score = with_demonstrations(rows, judgements, grades, [int(one) for one in chosen])
        taught = [score(int(place)) for place in held]
        with_q, without_q = (sum(agreement(x, human[held])) for x in (taught, plain[held]))
        found.append(with_q - without_q)
    return found


def milliseconds(rows: list[dict[str, Any]]) -> Row:
    """Return the CPU that a row takes, in milliseconds: the least of several rounds."""
    took: dict[str, list[float]] = {"reading": [], "features": [], "judge": []}

    def timed(name: str, work: Callable[[], object]) -> None:
        began = time.process_time()
        work()
        took[name].append(1000 * (time.process_time() - began) / len(rows))

    for place in range(ROUNDS):
        new = " " * (place + 1)  # at their end, so that no cache knows the texts
        fresh = [
            {name: row[name] and row[name] + new for name in ("source", "context", "response")}
            for row in rows
        ]
        texts = [tuple(row.values()) for row in fresh]
        given = dict.fromkeys(text for *pair, _ in texts for text in pair if text)
        every = [*given, *(response for *_, response in texts)]
        timed("reading", lambda every=every: [Text(one) for one in every])
        timed("features", lambda texts=texts: [lexical_features(*one) for one in texts])
        timed("judge", lambda fresh=fresh: judged(fresh))
    least = {name: min(values) for name, values in took.items()}
    least["above reading"] = least["features"] - least["reading"]
    return {name: least[name] for name in ("reading", "features", "above reading", "judge")}


@benchmark(
    quick={"sets": ("topical_chat",), "most": 60},
    formats=dict.fromkeys(
        ("P", "S", "K", "Q", "mean Q", "reading", "features", "above reading", "judge"), ".2f"
    ),
)
def offline_quality(
    *,
    sets: tuple[str, ...] = tuple(TARGETS),
    most: Annotated[int | None, "rows of each set, or all"] = None,
) -> Iterator[Row]:
    """How well the offline model agrees with people, on every rated set at hand."""
    for name in sets:
        rows = read(name, most)
        human = np.array([fraction(row, TARGETS[name]) for row in rows])
        vectors = [lexical_features(row["source"], row["context"], row["response"]) for row in rows]
        judgements = judged(rows)
        scores = [one.score for one in judgements]
        means = [fmean(c.score or 0.0 for c in one.criteria.values()) for one in judgements]
        lexical = np.array([vector.values for vector in vectors])
        own = [[one.score, *(c.score for c in one.criteria.values())] for one in judgements]
        plain = agreement(scores, human)
        moved = [changes(rows, judgements, human, n_demos) for n_demos in (3, 8)]
        learnt = learned(lexical, human, rows), learned(np.hstack([lexical, own]), human, rows)
        row: Row = {"set": name, "rows": len(rows)}
        row |= dict(zip(("P", "S", "K"), plain, strict=True))
        row |= {"Q": sum(plain), "mean Q": sum(agreement(means, human))}
        for demos, change in zip(("3 demos", "8 demos"), moved, strict=True):
            row[demos] = f"{fmean(change):+.3f} ± {pstdev(change):.3f}"
        for what, pair in zip(("learned P/S", "+ scores"), learnt, strict=True):
            row[what] = "/".join(f"{one:.3f}" for one in pair)
        yield row | milliseconds(rows[:TIMED])
