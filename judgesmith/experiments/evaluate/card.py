"""The card of a compiled judge as a page of one file, and its sections for other pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judgesmith.experiments.evaluate.errors.page import LARGEST, macro, one_file, page_text
from judgesmith.experiments.evaluate.placing import PARTS, apart, band, thirds, with_both
from judgesmith.programs.artifacts.card import (
    RATE_TITLES,
    protocol_lines,
    useless_text,
    verdicts_text,
)
from judgesmith.programs.artifacts.record import SavedEstimate, SavedRecord, estimate_in
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedComposite, load_saved
from judgesmith.programs.artifacts.test_rows import JudgedRow, read_rows
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.results.charts import (
    Chart,
    Interval,
    NumberWithEnds,
    by_length,
    distribution,
    forest,
    reliability,
    scatter,
    search_charts,
    trade_off,
)
from judgesmith.signatures.scale import Scale

_FOR_ROWS = LARGEST - 600_000
_MOST_LEVELS = 7
_CHOICES = ("optimizer", "effort", "objective", "seed", "holdout", "run")
_STATISTICS = {
    "dataset": "over all rows",
    "sample": "within sources",
    "system": "of systems",
}


def card_html(folder: str | Path) -> str:
    """Return the card of the judge in a folder: one page that needs nothing from anywhere else.

    Parameters
    ----------
    folder : str or Path
        As ``judgesmith compile`` makes it; rows and texts are on the page where it keeps them.

    Raises
    ------
    SavedJudgeError
        If the folder holds no judge that can be read.
    InputError
        If its test rows were changed since.

    Examples
    --------
    >>> import tempfile
    >>> import judgesmith
    >>> found = judgesmith.compile("sample", n_rounds=2)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     page = judgesmith.experiments.card_html(found.save(f"{place}/judge"))
    >>> page == found.to_html(), "<svg" in page, "http:" in page or "https:" in page
    (True, True, False)
    """
    return card_page(load_saved(folder), read_rows(folder))


def card_page(saved: AnySaved, rows: Sequence[JudgedRow]) -> str:
    title = f"Judge of {saved.target[:100]}"
    return one_file("card.html", title=title, sections=card_sections(saved, rows))


def card_sections(saved: AnySaved, rows: Sequence[JudgedRow]) -> Markup:
    """Return the sections of a card, without style and script."""
    judged = _Judged(saved, rows)
    charts = [one.figure(f"card-f{n}") for n, one in enumerate(judged.charts())]
    counts = judged.counts()
    articles, size = [], 0
    for number in range(len(rows)):
        body = macro("texts.html", "judged_row", judged.shown(number), f"card-r{number}")
        size += len(body.encode())
        if size > _FOR_ROWS:
            break
        articles.append(body)
    return macro(
        "judge.html",
        "card",
        saved,
        verdict=verdict_line(saved),
        facts=list(_facts(saved, rows)),
        charts=charts,
        levels=judged.levels,
        counts=counts,
        biggest=max(map(max, counts), default=0),
        articles=articles,
        n_rows=len(rows),
        asks=asked_lines(saved),
        made=list(_made(saved)),
    )


def served_card(saved: AnySaved, rows: Sequence[JudgedRow]) -> str:
    """Return what the page of a server shows of a judge: how far to trust it, without texts."""
    charts = [one.figure(f"trust-f{n}") for n, one in enumerate(_Judged(saved, rows).charts())]
    return macro(
        "judge.html", "served", saved, verdict_line(saved), list(_facts(saved, rows)), charts
    )


def verdict_line(saved: AnySaved) -> str:
    """Return in a sentence how far a judge can be trusted, from what is saved of it."""
    found = saved.agreement.verdicts
    if found is not None:
        return f"It {verdicts_text(found, saved.human_scale)}.{useless_text(found.heldout)}"
    if saved.agreement.is_unrated:
        return "It was compiled without ratings: its agreement with human ratings is unknown."
    if not saved.agreement.reports:
        return "It was never tested: its agreement with human ratings is unknown."
    where, report = saved.agreement.best_known
    one, within = estimate_in(report, "dataset", "pearson"), ""
    if one is None or one.value is None:
        one, within = estimate_in(report, "sample", "pearson"), " within sources"
    if one is None or one.value is None:
        return (
            "Its agreement with human ratings is undefined: all scores, or all ratings, are equal."
        )
    rows = "test rows" if where == "held out" else "the rows that it was selected by"
    said = f"r = {one.text('.2f')} with human ratings{within} on {one.n} {rows}."
    before = estimate_in(saved.agreement.uncompiled, "sample" if within else "dataset", "pearson")
    if before is not None and before.value is not None:
        said += f" The baseline has {before.text('.2f')}."
    if one.low is None:
        return f"{said} There are too few sources for an interval."
    if one.low <= 0:
        return f"{said} Do not use it: its agreement with human ratings may be zero."
    return said


def _facts(saved: AnySaved, rows: Sequence[JudgedRow]) -> Iterator[tuple[str, str]]:
    if not saved.agreement.is_unrated:
        yield "Judges", f"{saved.target}, which raters gave on {saved.human_scale}"
    yield "Answers on", str(saved.scale)
    yield "Model", ", ".join(saved.models)
    calls = calls_per_item(saved)
    cost = [row.usd for row in rows if row.usd is not None]
    usd = "price unknown"
    if saved.models == ("offline",):
        usd = "$0.00"
    elif cost and len(cost) == len(rows):
        usd = f"${1000 * sum(cost) / len(cost):.2f}"
    yield "Per 1,000 texts", f"{1000 * calls:,} calls, {usd}"
    counted = {"train": "to learn from", "select": "for validation", "heldout": "for the test"}
    told = [f"{saved.rows.get(use, 0)} {words}" for use, words in counted.items()]
    yield "Rows", ", ".join(told)
    if rows:
        unscored = sum(row.score is None for row in rows)
        yield "Without a score", f"{unscored} of {len(rows)} test rows"
    yield "Fingerprint", saved.fingerprint


def _made(saved: AnySaved) -> Iterator[tuple[str, str]]:
    for name in _CHOICES:
        if (value := saved.settings.get(name)) not in (None, ""):
            yield name, str(value)
    if earlier := saved.settings.get("earlier"):
        yield "started from", str(earlier)


class _Judged:
    """A judge with its test rows, on one scale: that of the raters."""

    def __init__(self, saved: AnySaved, rows: Sequence[JudgedRow]) -> None:
        self.saved, self.rows = saved, rows
        self.human = [row.human for row in rows]
        self.scores = [self._on_human_scale(row.score) for row in rows]
        self.gaps = apart(self.human, self.scores)
        self.levels, self.cells = self._cells()

    def _on_human_scale(self, score: float | None) -> float | None:
        saved, scale = self.saved, self.saved.human_scale
        if score is None or scale.is_verdict or saved.agreement.is_unrated:
            return score
        return scale.points(saved.scale.fraction(score))

    def _cells(self) -> tuple[Sequence[str], dict[int, tuple[int, int]]]:
        """Return levels, and the levels that people and the judge give each row that has both."""
        scale = self.saved.human_scale
        places, human, scores = with_both(self.human, self.scores)
        if scale.is_verdict:
            labelled = [n for n in places if self.rows[n].label in scale.labels]
            return scale.labels, {
                n: (
                    int((self.human[n] or 0) - scale.low),
                    scale.labels.index(str(self.rows[n].label)),
                )
                for n in labelled
            }
        if scale.high - scale.low < _MOST_LEVELS and float(scale.low).is_integer():
            names = [f"{scale.low + n:g}" for n in range(int(scale.high - scale.low) + 1)]
            pairs = zip(human.tolist(), scores.tolist(), strict=True)
            return names, {
                n: (_level(one, scale), _level(other, scale))
                for n, (one, other) in zip(places, pairs, strict=True)
            }
        both = zip(thirds(human), thirds(scores), strict=True)
        return PARTS, dict(zip(places, both, strict=True))

    def counts(self) -> list[list[int]]:
        """Return how many rows have which level by people, down, and by the judge, across."""
        found = [[0] * len(self.levels) for _ in self.levels]
        for row, column in self.cells.values():
            found[row][column] += 1
        return found

    def charts(self) -> Iterator[Chart]:
        """Yield what there is to draw of the judge."""
        yield from self._forests()
        agreement, scale = self.saved.agreement, self.saved.human_scale
        found = agreement.verdicts
        if found is not None and (offs := found.plain.get("trade_off")):
            points = [(one["threshold"], one["tnr"], one["tpr"]) for one in offs]
            own = found.plain.get("threshold")
            yield trade_off(points, title="What other thresholds would do", threshold=own)
        places, human, scores = with_both(self.human, self.scores)
        known = [one for one in self.scores if one is not None]
        if len(places) > 1 and not scale.is_verdict:
            line = band(human, scores, [self.rows[n].group for n in places], seed=0)
            yield scatter(
                human.tolist(),
                scores.tolist(),
                title="Judge against human ratings, test rows",
                line=line.line if line else (),
                band=line.area if line else (),
                words=f"Each dot is one of {len(places)} rows, both on {scale}; the line with its "
                "95% band over sources.",
            )
            yield reliability(human.tolist(), scores.tolist(), title="Ratings by score")
        if known:
            people = [] if scale.is_verdict else human.tolist()
            yield distribution(
                known,
                people,
                title="How often each score is given",
                x_label="score" if people else f"score, on {self.saved.scale}",
                words="Filled: the judge. Outlined: raters." if people else "",
            )
            lengths = [row.n_characters for row in self.rows if row.score is not None]
            yield by_length(
                lengths, known, title="Score by length", words=_length_words(lengths, known)
            )
        trials = [one for one in self.saved.history if one.get("stage") != "aggregation"]
        for draw in search_charts(trials).values():
            yield draw()

    def _forests(self) -> Iterator[Chart]:
        agreement = self.saved.agreement
        if (found := agreement.verdicts) is not None:
            yield _forest(
                {title: found.heldout.get(name) for name, title in RATE_TITLES.items()},
                {title: found.uncompiled.get(name) for name, title in RATE_TITLES.items()},
                title="Labels on test rows",
            )
        where, report = agreement.best_known
        titles = {
            f"{name.capitalize()} {words}": (level, name)
            for level, words in _STATISTICS.items()
            for name in ("pearson", "spearman", "kendall")
        }
        both = [
            {title: estimate_in(one, *place) for title, place in titles.items()}
            for one in (report, agreement.uncompiled)
        ]
        yield _forest(
            *both, title=f"Agreement with human ratings, rows {where}".removesuffix(" of selection")
        )
        criteria = agreement.criteria or {}
        now, then = (
            {
                name: estimate_in(one, "dataset", "pearson")
                for name, one in (criteria.get(part) or {}).items()
            }
            for part in ("heldout", "uncompiled")
        )
        if now:
            yield _forest(now, then, title="Pearson's correlation by criterion")

    def shown(self, number: int) -> Mapping[str, Any]:
        """Return what the text of a row is shown with."""
        row, scale = self.rows[number], self.saved.human_scale
        human = "not rated" if row.human is None else f"{row.human:.3g}"
        if row.human is not None and scale.is_verdict:
            human = scale.labels[int(row.human - scale.low)]
        score = self.scores[number]
        said = "no score" if score is None else f"{score:.3g}"
        if row.label is not None:
            said = f"{row.label} ({said})" if score is not None else row.label
        cell = self.cells.get(number)
        gap = self.gaps[number]
        kinds = ["unscored"] if row.score is None else []
        if gap:
            kinds.append("higher" if gap > 0 else "lower")
        if cell is not None:
            kinds.append("same" if cell[0] == cell[1] else "other")
        return {
            "row": row,
            "human": human,
            "judge": said,
            "gap": gap,
            "cell": "" if cell is None else f"{cell[0]}-{cell[1]}",
            "kinds": " ".join(kinds),
            "name": _row_name(row),
        }


def _row_name(row: JudgedRow) -> str:
    parts = {"source": row.source_id, "system": row.system_id}
    said = ", ".join(f"{kind} {name}" for kind, name in parts.items() if name)
    return said[:1].upper() + said[1:] if said else f"Row {row.key[:8]}"


def _level(value: float, scale: Scale) -> int:
    return round(min(max(value, scale.low), scale.high) - scale.low)


def _forest(
    found: Mapping[str, SavedEstimate | None],
    before: Mapping[str, SavedEstimate | None],
    *,
    title: str,
) -> Chart:
    now, then = (
        {
            str(page_text(name)): NumberWithEnds.of(one.value, one.low, one.high)
            for name, one in given.items()
            if one is not None
        }
        for given in (found, before)
    )
    earlier: Mapping[str, Interval] = then
    words = "Lines are 95% intervals; pale dots are the baseline." if then else ""
    return forest(now, before=earlier, title=title, words=words)


def _length_words(lengths: Sequence[int], scores: Sequence[float]) -> str:
    from judgesmith.metrics import spearman

    if len(set(lengths)) < 2 or len(set(scores)) < 2:
        return ""
    return f"Spearman's correlation with length: {spearman(lengths, scores):+.2f}."


def asked_lines(saved: SavedRecord) -> list[str]:
    """Return what a judge asks, and how it scores; of its members, where it has several."""
    if isinstance(saved, SavedJudge):
        return [line.removeprefix("- ") for line in protocol_lines(saved)]
    if not isinstance(saved, SavedComposite):
        return []
    return [f"{name}: {line}" for name, one in saved.members.items() for line in asked_lines(one)]
