"""The explanations in a file that ``score`` wrote: which there are, and which are missing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.experiments.formats import RawRows
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.written_scores import open_scores
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A scored text with at least one explanation.

    Attributes
    ----------
    where : str
        File and line.
    source_id, system_id, key : str
        The text; ``key`` is that of its words.
    score : float
        Overall, in points of the judge's scale.
    explanation : str
        Of the overall score; may be empty.
    criteria : mapping of str to (float, str)
        Score, 0 to 100, and explanation by criterion; those that have both.
    """

    where: str
    source_id: str
    system_id: str
    key: str
    score: float
    explanation: str
    criteria: Mapping[str, tuple[float, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedScores:
    """What a file of scores says in words.

    Attributes
    ----------
    run : str
        The run that wrote it.
    rows : tuple of Explained
        In order.
    n_unscored, n_unexplained : int
        Texts without a score, and scored texts without any explanation.
    """

    run: str
    rows: tuple[Explained, ...]
    n_unscored: int
    n_unexplained: int


def read_explained(path: str | Path, *, scale: Scale | None = None) -> ExplainedScores:
    """Return the scored and explained rows of a file.

    Parameters
    ----------
    path : str or Path
        What ``score`` wrote.
    scale : Scale or None
        What overall scores must lie on, if that is known.

    Raises
    ------
    DataError
        With every row that ``score`` did not write as it stands, that is off the scale or of
        another run than the first; if no row has a score and an explanation.
    FileNotFoundError
        If there is no such file.
    """
    raw = open_scores(path)
    rows: list[Explained] = []
    run, n_unscored, n_unexplained = None, 0, 0
    for number, row in raw.rows:
        n_problems = len(raw.found)
        if run is None and not raw.found and "key" not in row and "run" not in row:
            # No row of such a file would do: saying it once is enough.
            expected = "the score, key and run that score writes into every row"
            came = f"the fields {shown(', '.join(row))}"
            raw.problem(number, at="row", expected=expected, came=came)
            break
        read = _Row(raw, number, row)
        score, key, of_run = read.number("score", row), read.text("key"), read.text("run")
        run = run or of_run
        if of_run and of_run != run:
            raw.problem(number, at="run", expected=f"rows of one run, {run}", came=shown(of_run))
        if scale is not None and score is not None and score not in scale:
            raw.problem(number, at="score", expected=f"a score on {scale}", came=shown(score))
        criteria, explanation = read.criteria(), read.words("explanation", row)
        if len(raw.found) > n_problems:
            continue
        if score is None:
            n_unscored += 1
        elif not criteria and not explanation.strip():
            n_unexplained += 1
        else:
            rows.append(
                Explained(
                    where=raw.where(number),
                    source_id=str(row.get("source_id") or ""),
                    system_id=str(row.get("system_id") or ""),
                    key=key,
                    score=score,
                    explanation=explanation,
                    criteria=criteria,
                )
            )
    if raw.problems:
        raise DataError(raw.problems)
    if not rows:
        expected = (
            "a scored row with an explanation (use a judge of the variant fine or coarse, compiled "
            "to explain)"
        )
        came = f"{n_unexplained} scored rows without one and {n_unscored} without a score"
        raise DataError(
            [Problem(where=raw.name, field="explanation", expected=expected, came=came)]
        )
    return ExplainedScores(
        run=run or "", rows=tuple(rows), n_unscored=n_unscored, n_unexplained=n_unexplained
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One row and where to write down what is wrong with it."""

    raw: RawRows
    at: int
    cells: Mapping[str, Any]

    def text(self, field: str) -> str:
        """Return what every row of ``score`` has."""
        found = self.cells.get(field)
        if isinstance(found, str) and found:
            return found
        self._wrong(field, f"the {field} that score writes into every row", found)
        return ""

    def number(self, field: str, cells: Mapping[str, Any], at: str = "") -> float | None:
        """Return a score, None where there is none."""
        found = cells.get(field)
        if found is None and field in cells:
            return None
        if (
            isinstance(found, int | float)
            and not isinstance(found, bool)
            and abs(found) <= sys.float_info.max
        ):
            return float(found)
        self._wrong(at or field, "a number or null, as score writes it", found)
        return None

    def words(self, field: str, cells: Mapping[str, Any], at: str = "") -> str:
        """Return an explanation, empty where there is none."""
        found = cells.get(field)
        if isinstance(found, str | None):
            return found or ""
        self._wrong(at or field, "a text", found)
        return ""

    def criteria(self) -> dict[str, tuple[float, str]]:
        """Return score and explanation of the criteria that have both."""
        found = self.cells.get("criteria")
        if found is None:
            return {}
        if not isinstance(found, Mapping):
            self._wrong("criteria", "an object with score and explanation by criterion", found)
            return {}
        both = {}
        for name, one in found.items():
            at = f"criteria.{name}"
            if not isinstance(one, Mapping):
                self._wrong(at, "an object with score and explanation", one)
                continue
            score, words = self.number("score", one, at), self.words("explanation", one, at)
            if score is not None and words.strip():
                both[str(name)] = (score, words)
        return both

    def _wrong(self, field: str, expected: str, came: object) -> None:
        self.raw.problem(self.at, at=field, expected=expected, came=shown(came))
