"""How often intervals and promises about spans, calibration and abstention hold.

Rows lie in sources that share an error, ratings are whole points from 1 to 5 or any number, and the
truth is that of a million simulated sources (or known). One line per case: the share of
repetitions in which the interval held the truth, lay below it and lay above it. Conformal lines
give the share of new rows (of new sources) inside their interval, threshold lines the share of
repetitions whose certified risk was truly above the wished one, and how much was accepted.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.coverage.holding import SHARES, where
from benchmarks.harness import Row, benchmark
from judgesmith.metrics import calibration_error, isotonic_map
from judgesmith.metrics.calibration import (
    certified_threshold,
    conformal_margin,
    cross_calibrated,
    risk_coverage,
    risk_coverage_error,
)
from judgesmith.metrics.spans import (
    matched_span_agreement,
    span_agreement_difference,
    span_character_agreement,
)


def line(name: str, n_sources: int, size: int, case: str, intervals: list, truth: float) -> Row:
    """Return where the intervals lay."""
    row: Row = {"interval of": name, "sources": n_sources, "of": size, "case": case}
    return row | {"truth": truth} | where(intervals, truth)


def rated(
    rng: np.random.Generator, n_sources: int, size: int, shared: float, bend: float, whole: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, ratings whose mean bends away from them, and sources."""
    sources = np.repeat(np.arange(n_sources), size)
    score = rng.uniform(1, 5, size=len(sources))
    error = np.sqrt(shared) * rng.normal(size=n_sources)[sources]
    error = error + np.sqrt(1 - shared) * rng.normal(size=len(sources))
    human = score + bend * np.sin(score) + 0.8 * error
    return score, np.round(human) if whole else human, sources


def calibration(repetitions: int) -> Iterator[Row]:
    """Simulate the root mean square calibration error; its truth is that of the bins."""
    for n_sources, size, bend in itertools.product((30, 100, 400), (1, 6), (0.0, 0.1, 0.5)):
        rng = np.random.default_rng(0)
        # Ten equal bins of a uniform score: their edges hardly move.
        fine = np.linspace(1, 5, 100_001)
        gaps = (bend * np.sin(fine))[:-1].reshape(10, -1).mean(axis=1)
        truth = float(np.sqrt(np.mean(gaps**2)))
        found = []
        for _ in range(repetitions):
            score, human, sources = rated(rng, n_sources, size, 0.3 * (size > 1), bend, False)
            found.append(calibration_error(human, score, sources=sources).root_mean_square)
        yield line("calibration error", n_sources, size, f"{truth:.2f}", found, truth)


def losses(
    rng: np.random.Generator, n_sources: int, size: int, kind: str, informed: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return losses, a certainty that knows something of them, and sources."""
    sources = np.repeat(np.arange(n_sources), size)
    hard = np.exp(0.5 * rng.normal(size=n_sources)[sources] + 0.5 * rng.normal(size=len(sources)))
    certainty = -informed * np.log(hard) + rng.normal(size=len(sources))
    if kind == "absolute":
        return np.abs(hard * rng.normal(size=len(sources))), certainty, sources
    wrong = rng.random(len(sources)) < 1 - np.exp(-0.2 * hard)
    if kind == "tied":
        certainty = np.round(certainty)
    return wrong.astype(float), certainty, sources


def area(repetitions: int, n_true: int) -> Iterator[Row]:
    """Simulate the area under the risk-coverage curve."""
    for kind, informed in itertools.product(("absolute", "wrong", "tied"), (0.0, 2.0)):
        rng = np.random.default_rng(1)
        loss, sure, _ = losses(rng, n_true, 1, kind, informed)
        truth = risk_coverage_error(loss, certainty=sure)
        for n_sources, size in itertools.product((30, 100, 400), (1, 6)):
            found = []
            for _ in range(repetitions):
                loss, sure, sources = losses(rng, n_sources, size, kind, informed)
                found.append(risk_coverage(loss, certainty=sure, sources=sources).area)
            case = f"{kind} loss, informed {informed:.0f}"
            yield line("area", n_sources, size, case, found, truth)


def conformal(repetitions: int) -> Iterator[Row]:
    """Simulate coverage of new rows and of new sources."""
    for n_sources, size, whole, confidence in itertools.product(
        (19, 50, 200), (1, 6), (False, True), (0.8, 0.9)
    ):
        rng = np.random.default_rng(2)
        shares = []
        for _ in range(repetitions):
            score, human, sources = rated(rng, n_sources, size, 0.6, 0.3, whole)
            new, rating, others = rated(rng, 200, size, 0.6, 0.3, whole)
            inside = []
            for covers in ("row", "source"):
                margin = conformal_margin(
                    human, score, sources=sources, covers=covers, confidence=confidence
                )
                low, high = margin.interval(new)
                inside.append((low <= rating) & (rating <= high))
            together = np.bincount(others, weights=~inside[1]) == 0
            shares.append((inside[0].mean(), together.mean()))
        row, source = np.mean(shares, axis=0)
        yield {
            "conformal": confidence,
            "sources": n_sources,
            "of": size,
            "ratings": "whole points" if whole else "any number",
            "rows": row,
            "whole sources": source,
        }


def threshold(repetitions: int, n_true: int) -> Iterator[Row]:
    """Simulate how often a certified risk is truly too high, above all where it must not be."""
    for (kind, informed), n_sources, size in itertools.product(
        (("wrong", 0.0), ("wrong", 4.0), ("tied", 4.0), ("absolute", 0.0), ("absolute", 4.0)),
        (50, 200, 1000),
        (1, 6),
    ):
        rng = np.random.default_rng(3)
        largest = 1.0 if kind != "absolute" else 4.0
        loss, sure, _ = losses(rng, n_true, 1, kind, informed)
        loss = np.minimum(loss, largest)
        order = np.argsort(-sure, kind="stable")
        risks = np.cumsum(loss[order]) / np.arange(1, len(loss) + 1)
        # Without information every coverage has the same risk, and none may be certified.
        wished = risks[-1] * (0.75 if informed else 0.98)
        broken, coverage = [], []
        for _ in range(repetitions):
            lost, certain, sources = losses(rng, n_sources, size, kind, informed)
            found = certified_threshold(
                np.minimum(lost, largest),
                certainty=certain,
                max_risk=wished,
                largest_loss=largest,
                sources=sources if size > 1 else None,
                seed=rng,
                confidence=0.9,
            )
            accepted = int(np.searchsorted(-sure[order], -found.threshold, side="left"))
            truth = risks[min(accepted, len(risks)) - 1]
            broken.append(found.coverage > 0 and truth > wished)
            coverage.append(found.coverage)
        yield {
            "threshold .9": f"{kind} loss",
            "informed": informed,
            "sources": n_sources,
            "of": size,
            "broken": np.mean(broken),
            "mean coverage": np.mean(coverage),
        }


def marked(
    rng: np.random.Generator, n_sources: int, size: int
) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
    """Return texts with errors of five characters, of which a judge finds some and invents some."""
    predicted, gold = [], []
    for _ in range(n_sources):
        hit, false = rng.beta(4, 2), rng.beta(2, 6)
        for _ in range(size):
            places = 10 * rng.permutation(8)
            real = places[: rng.integers(0, 5)]
            said = [*real[rng.random(len(real)) < hit], *places[5:][rng.random(3) < false]]
            gold.append([(int(at), int(at) + 5) for at in real])
            begin = np.array(said, dtype=int) + rng.integers(0, 2, size=len(said))
            predicted.append([(int(at), int(at) + 5) for at in begin])
    return predicted, gold


def spans(repetitions: int) -> Iterator[Row]:
    """Simulate both F1 of spans."""
    measures: list[tuple[str, Callable, float]] = [
        # Per text 2 gold spans and 3/4 invented ones; 2/3 are found, 4 or 5 characters of each.
        ("characters", span_character_agreement, 2 * 0.9 * (4 / 3) / (2 + 4 / 3 + 3 / 4)),
        ("spans", matched_span_agreement, 2 * (4 / 3) / (2 + 4 / 3 + 3 / 4)),
    ]
    for (name, measure, truth), n_sources, size in itertools.product(
        measures, (10, 30, 100), (1, 5)
    ):
        rng = np.random.default_rng(4)
        found = []
        for _ in range(repetitions):
            predicted, gold = marked(rng, n_sources, size)
            sources = np.repeat(np.arange(n_sources), size)
            given = {"sources": sources, "seed": rng, "n_resamples": 400}
            found.append(measure(predicted, gold, **given).f1)
        yield line(f"F1 of {name}", n_sources, size, "", found, truth)


def differences(repetitions: int) -> Iterator[Row]:
    """Simulate how often judges that mark equally well are told apart."""
    for n_sources, size in itertools.product((10, 30, 100), (1, 5)):
        rng = np.random.default_rng(6)
        sources = np.repeat(np.arange(n_sources), size)
        found = []
        for _ in range(repetitions):
            (predicted, gold), judges = marked(rng, n_sources, size), []
            for _ in range(2):
                said = [[span for span in text if rng.random() < 0.8] for text in predicted]
                judges.append(span_character_agreement(gold, said, seed=rng, n_resamples=20))
            found.append(
                span_agreement_difference(*judges, sources=sources, seed=rng, n_resamples=400)
            )
        apart = np.mean([one.p_value <= 0.05 for one in found])
        yield {"F1 of two equal judges": f"{n_sources} sources of {size}", "p <= .05": apart}


def maps(repetitions: int) -> Iterator[Row]:
    """Compare what an isotonic map of noise gains on its own rows and across folds."""
    rng = np.random.default_rng(5)
    gains = []
    for _ in range(repetitions):
        score, human = rng.normal(size=(2, 60))
        seen = isotonic_map(human, score)(score)
        honest = cross_calibrated(human, score, fit=isotonic_map, seed=rng)
        flat = np.var(human)
        gains.append([1 - np.mean((each - human) ** 2) / flat for each in (seen, honest)])
    own, across = np.mean(gains, axis=0)
    yield {"squared error": "isotonic map of noise, 60 rows", "seen": -own, "unseen": -across}


@benchmark(
    quick={"repetitions": 1, "true_rows": 10_000},
    formats=SHARES
    | dict.fromkeys(("rows", "whole sources", "broken", "mean coverage", "p <= .05"), ".0%")
    | {"conformal": ".1f", "informed": ".0f", "seen": "+.1%", "unseen": "+.1%"},
)
def calibration_coverage(*, repetitions: int = 400, true_rows: int = 1_000_000) -> Iterator[Row]:
    """How often intervals and promises about spans, calibration and abstention hold."""
    yield from maps(repetitions)
    yield from calibration(repetitions)
    yield from area(repetitions, true_rows)
    yield from conformal(repetitions)
    yield from threshold(repetitions, true_rows)
    yield from spans(repetitions)
    yield from differences(repetitions)
