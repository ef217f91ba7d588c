"""What is said of one text as plain data, in the keys of the rows that judgesmith writes."""

from __future__ import annotations

from typing import Any

from judgesmith.programs.exporting.runtime.records import Record
from judgesmith.signatures.judgement import Judgement, Weighting

_SAID = ("score", "explanation", "criteria", "errors", "problem")
_UNSAID = {"n": 0, "sum": None}  # what only some weightings have


def row_of(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as JSON has it: ``score`` or else ``problem``, and the words."""
    names = [*_SAID, *(one for one in ("weighting", "notes") if getattr(judgement, one))]
    # What its kind adds: the members of a panel, the interval of a calibrated judge.
    names += [one for one in type(judgement).model_fields if one not in Judgement.model_fields]
    return {name: _plain(getattr(judgement, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        own = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        if isinstance(value, Weighting):
            own = {k: v for k, v in own.items() if k not in _UNSAID or v != _UNSAID[k]}
        return own
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
