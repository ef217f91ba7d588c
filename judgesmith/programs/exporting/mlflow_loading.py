"""What MLflow loads an exported judge with: ``_load_pyfunc``, and the judge as it calls it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.judging.runner import CONCURRENCY, score_batch
from judgesmith.signatures.items import RatedItem, source_hash
from judgesmith.signatures.judgement import Judgement, Reason

if TYPE_CHECKING:
    import dspy
    import pandas as pd

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

_CEILINGS = ("max_calls", "max_tokens", "max_usd", "max_minutes")
_OPTIONS = ("model", "allow_models", "api_base", "ledger", *_CEILINGS, "price")
DEFAULTS: Mapping[str, Any] = {**dict.fromkeys(_OPTIONS), "concurrency": CONCURRENCY}
"""What ``model_config`` may say, and what is so if it does not. Keys come from the environment."""

COLUMNS = ("score", "explanation", "problem", "criteria", "errors", "source_id", "system_id", "key")
"""What every frame of results has; some kinds of judges add columns."""

MISSING = "there is no response to judge"

_TEXTS = ("source", "context", "source_id", "system_id")


class JudgeModel:
    """A saved judge as MLflow calls it."""

    def __init__(
        self, saved: AnySaved, lms: Mapping[str, dspy.LM], *, concurrency: int = CONCURRENCY
    ) -> None:
        self.saved = saved
        self.judge = saved.with_models(lms)
        self.lm = lms[saved.models[0]]
        self.concurrency = concurrency

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        import pandas as pd

        columns: list[Any]
        given: Sequence[Mapping[Any, Any]]
        if isinstance(model_input, pd.DataFrame):
            whole = model_input.astype(object)
            columns, index = list(whole.columns), whole.index
            given = whole.where(whole.notna(), None).to_dict("records")
        else:
            given = [dict(model_input)] if isinstance(model_input, Mapping) else list(model_input)
            columns, index = list(dict.fromkeys(name for one in given for name in one)), None
        if given and "response" not in columns:
            raise InputError(
                "expected rows with response, and perhaps source, context and references; got "
                f"{', '.join(map(str, columns))[:200] or 'nothing'}."
            )
        rows = self.rows(given)
        names = dict.fromkeys((*COLUMNS, *(name for row in rows for name in row), "judge"))
        found = pd.DataFrame(rows, columns=list(names), index=index, dtype=object)
        found["score"] = found["score"].astype(float)
        return found

    def rows(self, given: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
        """Return a row as ``judgesmith score`` writes it for each row of texts."""
        items = [row_item(one) for one in given]
        asked = [place for place, one in enumerate(given) if not _is_missing(one.get("response"))]
        judgements = [Judgement.unscored(MISSING, reason=Reason.UNSUITABLE) for _ in items]
        judged = score_batch(
            self.judge, [items[place] for place in asked], lm=self.lm, concurrency=self.concurrency
        )
        for place, judgement in zip(asked, judged, strict=True):
            judgements[place] = judgement
        mark = {"judge": self.saved.fingerprint}
        return [
            score_row(item, judgement) | mark
            for item, judgement in zip(items, judgements, strict=True)
        ]


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> JudgeModel:
    """Return the judge in a folder; MLflow calls this by its name."""
    said = {**DEFAULTS, **(model_config or {})}
    check_settings(said, DEFAULTS)
    concurrency = said.pop("concurrency")
    saved = load_saved(path)
    return JudgeModel(saved, models_of(saved, **said), concurrency=concurrency)


def check_settings(given: Iterable[str], known: Iterable[str]) -> None:
    there = list(known)
    if unknown := set(given) - set(there):
        raise InputError(
            f"there is no setting {min(unknown)!r}.", hint=f"choose from {', '.join(there)}."
        )


def models_of(
    saved: AnySaved,
    *,
    model: str | None = None,
    allow_models: Collection[str] | str | None = None,
    **options: Any,
) -> dict[str, dspy.LM]:
    """Return what answers for each of a judge's models: itself, or the one named for all."""
    from uuid import uuid4

    from judgesmith.programs.lm import engine_for, lm_client_of
    from judgesmith.programs.lm import model as model_named
    from judgesmith.programs.lm.factory import refusal, unnamed

    allowed = [allow_models] if isinstance(allow_models, str) else list(allow_models or ())
    if model is None and (others := unnamed(saved.models, allowed)):
        raise refusal(
            {name: engine_for(name, api_base=options.get("api_base")).endpoint for name in others},
            f"name it with allow_models={others}, or give another with model=.",
        )
    ledger = options.pop("ledger", None)
    options["run_id"] = uuid4().hex
    made: dict[str, dspy.LM] = {}
    for name in dict.fromkeys([model] if model is not None else saved.models):
        lm = model_named(name, ledger=ledger, **_for(name, options))
        client = lm_client_of(lm)
        assert client is not None  # it was made with one
        ledger = client.ledger
        made[name] = lm
    return {name: made[model if model is not None else name] for name in saved.models}


def row_item(row: Mapping[str, Any]) -> RatedItem:
    """Return a row of texts as judges take it; what is missing is empty."""
    texts = {name: _text(row.get(name)) for name in _TEXTS}
    response = _text(row.get("response"))
    given = row.get("references")
    references = () if given is None or _is_missing(given) else given
    if isinstance(references, str):
        references = (references,)
    return RatedItem(
        source_id=texts["source_id"] or source_hash(texts["source"], response),
        system_id=texts["system_id"],
        source=texts["source"],
        context=texts["context"] or None,
        response=response,
        references=tuple(str(one) for one in references),
    )


def _for(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one model; the offline model has no address."""
    return {**options, "api_base": None} if name == "offline" else dict(options)


def _text(value: Any) -> str:
    """Return a text; a column of ids with gaps makes 7 into 7.0, which is 7 again here."""
    if _is_missing(value):
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
