"""What a judge said of its test rows: kept with it for its card alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, FiniteFloat, ValidationError

from judgesmith.errors import InputError, file_faults
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import FrozenModel, plain_faults

ROWS_FILE = "test_rows.jsonl"
_CUT = 2000
"""Characters of one text that are kept, and of the others less."""
_MOST_TEXT = 1_000_000
"""Characters of texts of all rows; the rows that differ most have theirs first."""
_LARGEST = 64 * 2**20


class JudgedRow(FrozenModel):
    """A test row: what raters and the judge say of it, and the beginning of its texts."""

    key: str
    group: int = 0
    source_id: str = ""
    system_id: str = ""
    n_characters: int = Field(ge=0)
    human: FiniteFloat | None = None  # in points of the raters' scale
    score: FiniteFloat | None = None  # in points of the judge's scale
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    label: str | None = None
    problem: str | None = None
    usd: FiniteFloat | None = None  # None where unknown
    criteria: Mapping[str, FiniteFloat | None] = Field(default_factory=dict)
    rationale: tuple[str, ...] = ()
    explanation: str = ""
    source: str = ""
    response: str | None = None  # None where texts are not kept

    @classmethod
    def of(
        cls,
        item: RatedItem,
        judgement: Judgement,
        *,
        human: float,
        target: str,
        group: int = 0,
        usd: float | None = None,
    ) -> Self:
        return cls(
            key=item.key,
            group=group,
            source_id=item.source_id,
            system_id=item.system_id,
            n_characters=len(item.response),
            human=None if human != human else human,
            usd=None if usd is None or usd != usd else usd,
            criteria={name: one.score for name, one in judgement.criteria.items()},
            rationale=tuple(cut(one, _CUT // 4) for one in item.rationale.get(target, ()) if one),
            explanation=cut(judgement.explanation, _CUT // 2),
            source=cut(item.source, _CUT),
            response=cut(item.response, _CUT),
            **_said(judgement),
        )

    def saying(self, judgement: Judgement) -> Self:
        """Return the row with another judgement of its text, such as a calibrated one."""
        return self.model_copy(update=_said(judgement))

    @property
    def without_texts(self) -> Self:
        """The row without anybody's words but the reason why it has no score."""
        return self.model_copy(
            update={"rationale": (), "explanation": "", "source": "", "response": None}
        )


def _said(judgement: Judgement) -> dict[str, object]:
    ends = (getattr(judgement, "low", None), getattr(judgement, "high", None))
    return {
        "score": judgement.score,
        "label": judgement.label,
        "problem": judgement.problem,
        "low": ends[0],
        "high": ends[1],
    }


def cut(text: str, longest: int) -> str:
    """Return a text, or its beginning and how much is missing."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} … {len(text) - longest} more characters"


def rows_text(rows: Iterable[JudgedRow]) -> str:
    """Return rows as lines of JSON; without texts past a million characters of them."""
    lines, left = [], _MOST_TEXT
    for row in rows:
        left -= len(row.source) + len(row.response or "") + len(row.explanation)
        kept = row if left >= 0 else row.without_texts
        lines.append(json.dumps(kept.model_dump(mode="json", exclude_defaults=True)))
    return "".join(f"{line}\n" for line in lines)


@file_faults()
def read_rows(folder: str | Path) -> Sequence[JudgedRow]:
    """Return the test rows that are kept beside a judge; none where it has no such file."""
    place = Path(folder) / ROWS_FILE
    if not place.is_file():
        return ()
    if place.stat().st_size > _LARGEST:
        raise InputError(f"is larger than {_LARGEST // 2**20} MiB.", at=place, hint=_AGAIN)
    rows = []
    for number, line in enumerate(place.read_text("utf-8").splitlines(), start=1):
        try:
            rows.append(JudgedRow.model_validate(json.loads(line)))
        except (ValidationError, ValueError, RecursionError) as fault:
            said = plain_faults(fault) if isinstance(fault, ValidationError) else "no row in JSON"
            raise InputError(
                f"line {number} was changed after it was written: {said[:300]}.",
                at=place,
                hint=_AGAIN,
            ) from None
    return rows


_AGAIN = "compile the judge again, or delete the file: the card then lacks its rows."
