"""What a model that rewrites texts is shown: where a judge contradicts people most, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.metrics import worst_pairs
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import SCORE, FloatArray, on_criterion
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import PERCENT, Scale

N_PAIRS, N_ROWS = 3, 4
"""Pairs and single rows that are shown at most: about as much as a long article."""

LONGEST_SHOWN = 1000
"""Characters shown of each text; what is left out of its middle is said."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Feedback:
    """Rows as a judge scored them, with what each adds to the objective.

    Attributes
    ----------
    rows : Rows
        The rows.
    judgements : sequence of Judgement
        One per row.
    parts : array, shape (len(rows),), in the unit of the objective
        See ``row_parts``; nan where a row has none.
    target : str
        What is compared with people: ``score``, or a criterion.
    judge_scale : Scale
        What the judge's score is in.
    within_sources : bool
        Whether only responses to one source are compared.
    """

    rows: Rows
    judgements: Sequence[Judgement]
    parts: FloatArray
    target: str = SCORE
    judge_scale: Scale = PERCENT
    within_sources: bool = False

    @property
    def verdicts(self) -> list[Judgement]:
        """What the judge says of the target."""
        if self.target == SCORE:
            return list(self.judgements)
        return on_criterion(self.judgements, self.target)

    def pairs_json(self) -> str:
        """Return the pairs that are ordered worst, the most harmful first.

        Pairs that the judge orders the other way round than people do; without any, those that
        it ties and people do not.
        """
        said = self.rows.said(self.target)
        rated = np.flatnonzero(~np.isnan(said))
        predicted = np.asarray([np.nan if v.score is None else v.score for v in self.verdicts])
        if np.count_nonzero(~np.isnan(predicted[rated])) < 2:
            return "[]"
        groups = self.rows.groups[rated].tolist() if self.within_sources else None
        kinds = (
            worst_pairs(predicted[rated], said[rated], sources=groups, n=N_PAIRS, kind=kind)
            for kind in ("reversed", "tied")
        )
        found = next((pairs for pairs in kinds if pairs), ())
        return _json([self._pair(int(rated[p.better]), int(rated[p.worse])) for p in found])

    def rows_json(self) -> str:
        """Return the rows that add least to the objective, and those without a score, as JSON."""
        order = np.argsort(np.where(np.isnan(self.parts), np.inf, self.parts), kind="stable")
        lowest = [int(row) for row in order if not np.isnan(self.parts[row])][:N_ROWS]
        failed = [row for row, one in enumerate(self.verdicts) if one.score is None][:N_ROWS]
        return _json([self._row(row) for row in [*failed, *lowest][:N_ROWS]])

    def _pair(self, better: int, worse: int) -> dict[str, Any]:
        people, own = self._scales()
        said = self.rows.said(self.target)
        verdicts = self.verdicts
        points = [f"{verdicts[row].score:g}" for row in (better, worse)]
        items = [self.rows.items[row] for row in (better, worse)]
        told = (
            f"Response A was rated {said[better]:g} by people ({people}) and {points[0]} by the "
            f"judge ({own}); response B was rated {said[worse]:g} by people and {points[1]} by the "
            "judge."
        )
        shared = items[0].source == items[1].source and items[0].context == items[1].context
        if shared:
            return {
                "rated": told,
                **_given(items[0]),
                "response A": _cut(items[0].response),
                "response B": _cut(items[1].response),
            }
        return {
            "rated": told,
            "A": {**_given(items[0]), "response": _cut(items[0].response)},
            "B": {**_given(items[1]), "response": _cut(items[1].response)},
        }

    def _row(self, row: int) -> dict[str, Any]:
        people, own = self._scales()
        said, verdict = self.rows.said(self.target)[row], self.verdicts[row]
        rated = "by nobody" if np.isnan(said) else f"{said:g} by people ({people})"
        scored = (
            f"got no score, because {_cut(verdict.problem or 'of an unknown fault')}"
            if verdict.score is None
            else f"{verdict.score:g} by the judge ({own})"
        )
        part = self.parts[row]
        added = "" if np.isnan(part) else f" It adds {part:+.4f} to the agreement of these rows."
        found: dict[str, Any] = {"rated": f"Rated {rated}; {scored}.{added}"}
        item = self.rows.items[row]
        found |= {**_given(item), "response": _cut(item.response)}
        if verdict.explanation:
            found["judge's explanation"] = _cut(verdict.explanation)
        return found

    def _scales(self) -> tuple[Scale, Scale]:
        if self.target != SCORE:
            return PERCENT, PERCENT
        return self.rows.scale, self.judge_scale


def _given(item: RatedItem) -> Mapping[str, str]:
    texts = {"source": item.source, "context": item.context or ""}
    return {name: _cut(text) for name, text in texts.items() if text}


def _cut(text: str) -> str:
    text = unix_lines(text)
    if len(text) <= LONGEST_SHOWN:
        return text
    half = LONGEST_SHOWN // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"


def _json(records: Sequence[Mapping[str, Any]]) -> str:
    text = "[" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in records) + "]"
    # Half of a character (a lone surrogate) can be sent to no model.
    return text.encode("utf-8", "replace").decode()
