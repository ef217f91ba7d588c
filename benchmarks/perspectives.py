"""Judges seen from both sides: the right rating, and the order of near neighbours.

``python benchmarks/perspectives.py PART…`` reads what it needs below ``$JUDGESMITH_DATA`` and
prints tables in Markdown; without a part, all of them:

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

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np

import judgesmith
from judgesmith.cli import main as run
from judgesmith.data import DataSet, read_items, read_recorded, read_scores
from judgesmith.data.formats import open_rows
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
from judgesmith.experiments.evaluate.perspectives.ratings import errors_of, right_levels
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
    ("local", "neighbours in order"),
)
N_SAMPLES = (1, 5, 10, 20)
GAPS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
SUMMEVAL, TOPICAL = "summeval", "topical_chat"
LIKERT = "recorded/summeval_likert_llms"
SAMPLED = "recorded/topical_chat_chatgpt_20samples"
COMPARED = "recorded/summeval_h2h_chatgpt"
SCORED = "gpt-3.5-turbo-0301 rts"
TASK = Rubric(task="A news article is summarised.", task_type="summarization")


def place(folder: Path, name: str) -> Path:
    """Return where a file of the data is."""
    return folder / f"{name}.jsonl.gz"


def number(value: float) -> str:
    """Write a number to three digits without the leading nought, a dash where it is undefined."""
    return "–" if value != value else f"{value:.3f}".replace("0.", ".", 1)


def shown(found: Estimate) -> str:
    """Write an estimate with its interval."""
    ends = f"{found.low:.2f}, {found.high:.2f}".replace("0.", ".").replace("nan", "–")
    return f"{number(found.value)} [{ends}]"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def unanimous(folder: Path) -> str:
    """Return how many texts of SummEval keep a rating, beside the published numbers."""
    data = read_items(place(folder, SUMMEVAL))
    rows = []
    for criterion, published in PUBLISHED.items():
        counts = right_levels(data, criterion).counts
        assert counts is not None
        kept = "/".join(map(str, counts.n_kept))
        rows.append(
            [
                criterion,
                kept,
                "/".join(map(str, published)),
                str(sum(published) - sum(counts.n_kept)),
                str(counts.n_unknown),
                str(sum(counts.n_dropped)),
            ]
        )
    header = ["criterion", "kept, 1 to 5", "published", "fewer by", "unknown", "disputed"]
    return table(header, rows)


def judges_in(path: Path) -> list[str]:
    """Return the judges on record in a file."""
    return sorted({str(row["judge"]) for _, row in open_rows(path).rows})


def peoples(data: DataSet) -> dict[str, Scale]:
    """Return what all judges on record were asked to answer on: the points of the ratings."""
    return {name: Scale(low=one.low, high=one.high) for name, one in data.scales.items()}


def recorded(folder: Path) -> str:
    """Return kappa and local accuracy of all judges on record."""
    parts = []
    for name, file in ((SUMMEVAL, LIKERT), (TOPICAL, SAMPLED)):
        data = read_items(place(folder, name))
        path = place(folder, file)
        on_record = {one: recorded_by_criterion(path, data, judge=one) for one in judges_in(path)}
        for perspective, what in SIDES:
            rows: list[list[str]] = []
            names: tuple[str, ...] = ()
            for judge, scores in on_record.items():
                found = perspective_of_scores(
                    scores,
                    data,
                    perspective=perspective,
                    answers=peoples(data),
                    rng=np.random.default_rng(0),
                )
                names = names or tuple(found.reports)
                cells = [
                    shown(found.reports[one].value) if one in found.reports else "–"
                    for one in names
                ]
                rows.append([judge, *cells, shown(found.mean)])
            parts.append(f"{name}, {what}:\n\n{table(['judge', *names, 'mean'], rows)}")
    return "\n".join(parts)


def samples(folder: Path) -> str:
    """Return what the judges of Topical-Chat come to by fewer of their answers."""
    data = read_items(place(folder, TOPICAL))
    path = place(folder, SAMPLED)
    rows = []
    for judge in judges_in(path):
        scores = recorded_by_criterion(path, data, judge=judge)
        for perspective, what in SIDES:
            cells = []
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
                    rng=np.random.default_rng(0),
                )
                cells.append(shown(found.mean))
            rows.append([judge, what, *cells])
    return table(["judge", "", *map(str, N_SAMPLES)], rows)


def gap(folder: Path) -> str:
    """Return direct comparison and scoring by how far apart people rated two summaries."""
    data = read_items(place(folder, SUMMEVAL))
    rows = []
    for criterion in PUBLISHED:
        answers = read_recorded(place(folder, COMPARED), data, criterion=criterion)
        assert isinstance(answers, PairedAnswers)
        scores = read_scores(place(folder, LIKERT), data, judge=SCORED, criterion=criterion).values
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
            rows.append(
                [
                    criterion,
                    f"{low:g} to {high:g}",
                    str(int(within.sum())),
                    *(share_of(one, better, within, sources) for one in (both, by_score)),
                    share_of(answers.given, answers.swapped, within, sources),
                ]
            )
            low = high
    header = ["criterion", "apart", "pairs", "compared", "scored", "orders agree"]
    return table(header, rows)


def share_of(said: np.ndarray, right: np.ndarray, within: np.ndarray, sources: np.ndarray) -> str:
    """Return in which share of some pairs two columns say the same."""
    kept = within & ~np.isnan(said) & ~np.isnan(right)
    if not kept.any():
        return "–"
    return shown(share_interval(said[kept] == right[kept], sources=sources[kept].tolist()))


def built(folder: Path, n_sources: int, where: Path) -> DataSet:
    """Return sequences of texts about some sources of SummEval, made by rule."""
    command = ["benchmark", str(place(folder, SUMMEVAL)), "--perspective", "local", "--json"]
    command += ["-o", str(where / "built"), "--sources", str(n_sources), "--steps", "15"]
    with redirect_stdout(StringIO()):
        status = run([*command, "--ledger", str(where / "ledger.sqlite")])
    if status:
        raise SystemExit(status)
    return read_items(where / "built" / "benchmark.jsonl")


def errors(data: DataSet, n_samples: int) -> str:
    """Return I(k) of scoring and of direct comparison, by criterion."""
    rows = []
    n_errors = errors_of(data)
    for criterion in data.criteria:
        rubric = human_rubric(data, names=[criterion], rubric=TASK).rubric
        scored = by_scores(data, criterion, rubric, n_samples, n_errors)
        pairs = PairwiseJudge(rubric=rubric, weighting="none", temperature=1.0)
        compared = compare_directly(
            pairs, data, criterion, samples=n_samples, lm=judgesmith.model("offline", ledger=None)
        )
        agree = number(compared.order.consistent.value)
        neither = number(compared.n_neither / compared.unscored.n_rows)
        for way, found, more in (
            ("scored", scored, ["", ""]),
            ("compared", compared.apart, [agree, neither]),
        ):
            cells = [shown(found[k]) if k in found else "–" for k in DIFFERENCES]
            rows.append([criterion, way, *cells, *more])
    header = ["criterion", "", *(f"I({k})" for k in DIFFERENCES), "orders agree", "neither"]
    return table(header, rows)


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


def main() -> None:
    """Print the tables that are asked for."""
    parts = {"unanimous": unanimous, "recorded": recorded, "samples": samples, "gap": gap}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "part", nargs="*", choices=[*parts, "errors", []], help="which tables [all]"
    )
    parser.add_argument("--sources", type=int, default=20, help="of sequences (20)")
    parser.add_argument("--samples", type=int, default=10, help="answers to each question (10)")
    options = parser.parse_args()
    folder = Path(os.environ["JUDGESMITH_DATA"])
    for part in options.part or [*parts, "errors"]:
        print(f"\n## {part}\n")
        if part == "errors":
            with tempfile.TemporaryDirectory() as made:
                data = built(folder, options.sources, Path(made))
            print(errors(data, options.samples))
        else:
            print(parts[part](folder))


if __name__ == "__main__":
    main()
