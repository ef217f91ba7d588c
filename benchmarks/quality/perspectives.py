"""Judges seen from both sides: the right rating, and the order of near neighbours.

There are five tables, all or those that ``--parts`` names:

- ``unanimous``: how many texts of SummEval keep a rating that all raters gave, beside the numbers
  of Table 4 in "A Dual-Perspective NLG Meta-Evaluation Framework with Automatic Benchmark and
  Better Interpretability" (ACL 2025), and the most that could be kept: where only a mean was
  published, some may be hidden;
- ``recorded``: kappa and local accuracy of the judges on record for SummEval (one answer each) and
  for Topical-Chat (twenty), with 95 % intervals over sources, by criterion and on average;
- ``samples``: the same for Topical-Chat with the first answers alone, means over the criteria;
- ``gap``: gpt-3.5-turbo-0301 comparing two summaries directly in both orders, and its scores of
  the same summaries, by how far apart people rated them;
- ``errors``: scoring against direct comparison on sequences that lose quality error by error, by
  how many errors more one text has. Sequences, scores and comparisons are those of the offline
  model: rules put errors in, and statistics of texts notice some of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Annotated

import numpy as np

import judgesmith
from benchmarks.harness import Cell, Row, benchmark, data_file, rated
from judgesmith.cli import main as run
from judgesmith.data import DataSet, read_items, read_recorded, read_scores
from judgesmith.data.formats.opening import open_rows
from judgesmith.data.score_files import PairedAnswers
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.evaluate.perspectives.direct import DIFFERENCES, compare_directly
from judgesmith.experiments.evaluate.perspectives.perspectives import (
    ONE_TO_TEN,
    judged,
    perspective_of_scores,
    recorded_by_criterion,
    scores_of_judge,
)
from judgesmith.experiments.evaluate.perspectives.ratings import errors_made, right_levels
from judgesmith.experiments.evaluate.perspectives.report import Perspective, local_report
from judgesmith.metrics import Estimate
from judgesmith.metrics.pairs import majority_preference
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs import family_of
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.signatures import Rubric
from judgesmith.signatures.scale import PERCENT, Scale

PUBLISHED = {
    "coherence": (13, 29, 33, 14, 111),
    "consistency": (14, 14, 5, 1, 1306),
    "fluency": (5, 10, 24, 2, 1150),
    "relevance": (5, 19, 37, 84, 83),
}
SIDES: tuple[tuple[Perspective, str], ...] = (
    ("global", "kappa"),
    ("local", "neighbours"),
)
N_SAMPLES = (1, 5, 10, 20)
GAPS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
SUMMEVAL, TOPICAL = "summeval", "topical_chat"
LIKERT = "recorded/summeval_likert_llms"
SAMPLED = "recorded/topical_chat_chatgpt_20samples"
COMPARED = "recorded/summeval_h2h_chatgpt"
SCORED = "gpt-3.5-turbo-0301 rts"
TASK = Rubric(task="A news article is summarised.", task_type="summarization")


def unanimous() -> Iterator[Row]:
    """Yield how many texts of SummEval keep a rating, beside the published numbers."""
    data = rated(SUMMEVAL)
    for criterion, published in PUBLISHED.items():
        counts = right_levels(data, criterion).counts
        assert counts is not None
        kept = "/".join(map(str, counts.n_kept))
        yield {
            "criterion": criterion,
            "kept, 1 to 5": kept,
            "published": "/".join(map(str, published)),
            "fewer by": sum(published) - sum(counts.n_kept),
            "unknown": counts.n_unknown,
            "disputed": sum(counts.n_dropped),
        }


def judges_in(path: Path) -> list[str]:
    """Return the judges on record in a file."""
    return sorted({str(row["judge"]) for _, row in open_rows(path).rows})


def peoples(data: DataSet) -> dict[str, Scale]:
    """Return what all judges on record were asked to answer on: the points of the ratings."""
    return {name: Scale(low=one.low, high=one.high) for name, one in data.scales.items()}


def recorded() -> Iterator[Row]:
    """Yield kappa and local accuracy of all recorded judges: means, then by criterion."""
    for title, name, file in (
        ("SummEval, one answer each", SUMMEVAL, LIKERT),
        ("Topical-Chat, 20 answers each", TOPICAL, SAMPLED),
    ):
        data = rated(name)
        path = data_file(file)
        for judge in judges_in(path):
            scores = recorded_by_criterion(path, data, judge=judge)
            row: Row = {title: judge}
            by_criterion: Row = {}
            for perspective, what in SIDES:
                found = perspective_of_scores(
                    scores,
                    data,
                    perspective=perspective,
                    answers=peoples(data),
                    seed=0,
                )
                row[what] = found.mean
                for one in peoples(data):
                    report = found.reports.get(one)
                    by_criterion[f"{what}, {one}"] = None if report is None else report.value
            yield row | by_criterion


def samples() -> Iterator[Row]:
    """Yield what the judges of Topical-Chat come to by fewer of their answers."""
    data = rated(TOPICAL)
    path = data_file(SAMPLED)
    for judge in judges_in(path):
        scores = recorded_by_criterion(path, data, judge=judge)
        for perspective, what in SIDES:
            row: Row = {"judge": judge, "what": what}
            for n in N_SAMPLES:
                first = {
                    name: replace(one, samples=tuple(each[:n] for each in one.samples))
                    for name, one in scores.items()
                }
                found = perspective_of_scores(
                    first,
                    data,
                    perspective=perspective,
                    answers=peoples(data),
                    seed=0,
                )
                row[str(n)] = found.mean
            yield row


def gap() -> Iterator[Row]:
    """Yield direct comparison and scoring by how far apart people rated two summaries."""
    data = rated(SUMMEVAL)
    for criterion in PUBLISHED:
        answers = read_recorded(data_file(COMPARED), data, criterion=criterion)
        assert isinstance(answers, PairedAnswers)
        scores = read_scores(data_file(LIKERT), data, judge=SCORED, criterion=criterion).values
        human = right_levels(data, criterion, "mean").values
        apart = human[answers.first] - human[answers.second]
        better = np.where(apart > 0, 1.0, 0.0)
        both = majority_preference(np.stack([answers.given, answers.swapped], axis=1))
        first, second = scores[answers.first], scores[answers.second]
        by_score = np.where(first > second, 1.0, np.where(first < second, 0.0, 0.5))
        by_score[np.isnan(first) | np.isnan(second)] = np.nan
        sources = data.groups[answers.first]
        low = 0.0
        for high in GAPS:
            within = (np.abs(apart) > low + 1e-9) & (np.abs(apart) <= high + 1e-9)
            yield {
                "criterion": criterion,
                "apart": f"{low:g} to {high:g}",
                "pairs": int(within.sum()),
                "compared": share_of(both, better, within, sources),
                "scored": share_of(by_score, better, within, sources),
                "orders agree": share_of(answers.given, answers.swapped, within, sources),
            }
            low = high


def share_of(said: np.ndarray, right: np.ndarray, within: np.ndarray, sources: np.ndarray) -> Cell:
    """Return in which share of some pairs two columns say the same."""
    kept = within & ~np.isnan(said) & ~np.isnan(right)
    if not kept.any():
        return None
    return share_interval(said[kept] == right[kept], sources=sources[kept].tolist())


def built(n_sources: int, where: Path) -> DataSet:
    """Return sequences of texts about some sources of SummEval, made by rule."""
    command = ["benchmark", str(data_file(SUMMEVAL)), "--perspective", "local", "--json"]
    command += ["-o", str(where / "built"), "--sources", str(n_sources), "--steps", "15"]
    with redirect_stdout(StringIO()):
        status = run([*command, "--ledger", str(where / "ledger.sqlite")])
    if status:
        raise SystemExit(status)
    return read_items(where / "built" / "benchmark.jsonl")


def errors(data: DataSet, n_samples: int) -> Iterator[Row]:
    """Yield I(k) of scoring and of direct comparison, by criterion."""
    n_errors = errors_made(data)
    for criterion in data.criteria:
        rubric = human_rubric(data, names=[criterion], rubric=TASK).rubric
        scored = by_scores(data, criterion, rubric, n_samples, n_errors)
        pairs = PairwiseJudge(rubric=rubric, weighting="none", temperature=1.0)
        compared = compare_directly(
            pairs, data, criterion, samples=n_samples, lm=judgesmith.model("offline", ledger=None)
        )
        agree = compared.order.consistent.value
        neither = compared.n_neither / compared.unscored.n_rows
        for way, found, more in (
            ("scored", scored, (None, None)),
            ("compared", compared.apart, (agree, neither)),
        ):
            row: Row = {"criterion": criterion, "way": way}
            row |= {f"I({k})": found.get(k) for k in DIFFERENCES}
            yield row | dict(zip(("orders agree", "neither"), more, strict=True))


def by_scores(
    data: DataSet, criterion: str, rubric: Rubric, n_samples: int, n_errors: np.ndarray
) -> Mapping[int, Estimate]:
    """Return I(k) of the means of samples on 1 to 10."""
    judge = family_of("direct").start(rubric, asks="criteria", answers=ONE_TO_TEN)
    judge = judge.with_protocol(judge.protocol.decided({"temperature": 1.0}))
    right = right_levels(data, criterion)
    found = judged(
        judge,
        data,
        right.kept.tolist(),
        n_samples,
        lm=judgesmith.model("offline", ledger=None),
        concurrency=32,
        progress=None,
    )
    scores = scores_of_judge(found, len(data), criterion, own=None, scale=PERCENT, alone=False)
    assert scores is not None
    return local_report(right, scores, data.groups, n_errors=n_errors).apart


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "unanimous": unanimous,
    "recorded": recorded,
    "samples": samples,
    "gap": gap,
}


@benchmark(quick={"parts": ("unanimous",)})
def perspectives(
    *,
    parts: tuple[str, ...] = (*PARTS, "errors"),
    sources: Annotated[int, "of sequences"] = 20,
    samples: Annotated[int, "answers to each question"] = 10,
) -> Iterator[Row]:
    """Judges seen from both sides: the right rating, and the order of near neighbours."""
    for part in parts:
        if part != "errors":
            yield from PARTS[part]()
            continue
        with tempfile.TemporaryDirectory() as made:
            data = built(sources, Path(made))
        yield from errors(data, samples)
