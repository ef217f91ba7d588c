"""A judge as a scorer of ``mlflow.genai.evaluate``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.exporting.mlflow_loading import (
    DEFAULTS,
    JudgeModel,
    check_settings,
    models_of,
)
from judgesmith.programs.extras import library
from judgesmith.programs.judging.runner import judges_sources

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

UNSCORED = "UNSCORED"
"""The code of the error that stands for a score where there is none."""


def mlflow_scorer(
    judge: str | Path | AnySaved,
    *,
    name: str | None = None,
    source: str | None = None,
    context: str = "context",
    response: str | None = None,
    lms: Mapping[str, dspy.LM] | None = None,
    **settings: Any,
) -> Any:
    """Return a judge as a scorer for ``mlflow.genai.evaluate(data=…, scorers=[…])``.

    A text without a score is a feedback with an error that says why: MLflow leaves it out of
    means and counts it, and it is never 0.

    Parameters
    ----------
    judge : str, Path or saved judge
        A judge's folder, or what ``export --to mlflow`` wrote.
    name : str or None
        What the scores are called; None takes the judge's target.
    source, context : str
        Which of the ``inputs`` hold the source and further material. None for the source takes
        ``source``, else the only other input there is, else all of them as JSON.
    response : str or None
        Which of the ``outputs`` is judged, where these are several; None takes ``response``, else
        the only one, else all of them as JSON. ``expected_response`` among the ``expectations``
        is the reference of judges that read one.
    lms : dict of str to dspy.LM, or None
        What answers instead of each of the judge's models, by name.
    **settings
        Where ``lms`` is None: ``model`` (one for all that the judge asks), ``allow_models`` (those
        of its own that it may ask), ``api_base``, ``ledger``, ``max_calls``, ``max_tokens``,
        ``max_usd``, ``max_minutes``, ``price``.

    Returns
    -------
    mlflow.genai.scorers.Scorer

    Raises
    ------
    ImportError
        If MLflow is not installed.
    ValueError
        If there is no such setting, or the judge compares responses, which are scored one by one.
    SavedJudgeError
        If there is no judge in the folder that can be trusted.

    Examples
    --------
    >>> mlflow_scorer("judge", max_call=10)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: there is no setting 'max_call'; choose from model, allow_models, \
api_base, ledger, max_calls, max_tokens, max_usd, max_minutes, price, concurrency.
    """
    check_settings(settings, DEFAULTS)
    saved = _saved(judge)
    if judges_sources(saved):
        raise InputError(
            "this judge compares the responses to a source, and a scorer is told of one at a "
            "time; use mlflow.pyfunc, which is given all of them."
        )
    scorers = library("mlflow.genai.scorers", extra="mlflow")
    entities = library("mlflow.entities", extra="mlflow")
    settings.pop("concurrency", None)
    model = JudgeModel(saved, lms or models_of(saved, **settings), concurrency=1)
    called = name or saved.target
    by = entities.AssessmentSource(
        source_type="LLM_JUDGE", source_id=f"judgesmith {saved.fingerprint}"
    )

    def judged(inputs: Any = None, outputs: Any = None, expectations: Any = None) -> Any:
        row = {
            "source": _text(inputs, source, "source", aside=context),
            "context": _text(inputs.get(context), None, "") if _has(inputs, context) else None,
            "response": _text(outputs, response, "response"),
            "references": _references(expectations),
        }
        (found,) = model.rows([row])
        error = None
        if found["score"] is None:
            error = entities.AssessmentError(error_code=UNSCORED, error_message=found["problem"])
        return entities.Feedback(
            name=called,
            value=found["score"],
            error=error,
            rationale=found["explanation"] or None,
            source=by,
            metadata={"judge": saved.fingerprint, "scale": str(saved.scale)},
        )

    judged.__name__ = "judged"
    about = f"{saved.target} on {saved.scale}, by the judge {saved.fingerprint} of judgesmith"
    return scorers.scorer(judged, name=called, description=about)


def _saved(judge: str | Path | AnySaved) -> AnySaved:
    if not isinstance(judge, str | Path):
        return judge
    folder = Path(judge)
    if (folder / "MLmodel").is_file():
        from judgesmith.programs.exporting.mlflow_model import JUDGE

        folder = folder / JUDGE
    return load_saved(folder)


def _has(value: Any, name: str) -> bool:
    return isinstance(value, Mapping) and value.get(name) is not None


def _text(value: Any, named: str | None, usual: str, *, aside: str = "") -> str | None:
    """Return the text that is meant, of a text or of several by name; None where there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if named is not None and named not in value:
            raise InputError(
                f"expected {named!r}; got {', '.join(map(str, value))[:200] or 'nothing'}."
            )
        others = [one for one in value if one != aside]
        chosen = named or (usual if usual in value else others[0] if len(others) == 1 else None)
        if chosen is not None:
            return _text(value[chosen], None, "")
    return json.dumps(value, ensure_ascii=False, default=str)


def _references(expectations: Any) -> tuple[str, ...]:
    if not _has(expectations, "expected_response"):
        return ()
    return (str(expectations["expected_response"]),)
