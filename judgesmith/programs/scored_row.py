"""A judged item as one row of plain data, and a row as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem


def score_row(item: RatedItem, judgement: Judgement) -> dict[str, Any]:
    """Return what is written of one judged item.

    Examples
    --------
    >>> item = RatedItem(source_id="a", response="r")
    >>> row = score_row(item, Judgement(score=3.5))
    >>> row["source_id"], row["score"], row["problem"]
    ('a', 3.5, None)
    """
    fields = {"score", "explanation", "criteria", "errors", "problem"}
    fields |= {name for name in ("weighting", "notes") if getattr(judgement, name)}
    # What its kind of judgement adds: the members of a panel, the interval of a calibrated judge.
    fields |= set(type(judgement).model_fields) - set(Judgement.model_fields)
    plain = judgement.model_dump(mode="json", include=fields)
    ids = {"source_id": item.source_id, "system_id": item.system_id, "key": item.key}
    return {**ids, **plain}


def json_line(row: Mapping[str, Any]) -> str:
    """Return a row as one line of JSON, with words as people write them.

    What cannot be printed stays an escape: half a surrogate pair is no UTF-8, and some readers end
    lines where Unicode does, or obey what a terminal would.
    """
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():
        text = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)
    return text + "\n"
