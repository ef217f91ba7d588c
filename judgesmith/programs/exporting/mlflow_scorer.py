"""A judge as an MLflow model, and as a scorer of ``mlflow.genai.evaluate``."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import yaml

from judgesmith.drafts import write_synced
from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import load_saved, saved_leaves
from judgesmith.programs.exporting.export import Form, Row, about, about_lines, golden_items
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


JUDGE = "judge"  # where the judge is in the folder, as ``compile`` writes one
LOADER = "judgesmith.programs.exporting.mlflow_loading"
MLFLOW = "mlflow>=3.10,<4"

_OPTIONAL = ("source", "context", "references", "source_id", "system_id")
_OUT = (("double", "score"), ("string", "explanation"), ("string", "problem"))


class MlflowModel(Form):
    """A folder for ``mlflow.pyfunc``."""

    says: ClassVar[str] = "an MLflow model: a folder for mlflow.pyfunc, without a pickle"
    folder: ClassVar[bool] = True

    def check(self, saved: AnySaved) -> str | None:
        return None

    def write(self, saved: AnySaved, place: Path) -> None:
        saved.save(place / JUDGE)
        said = yaml.safe_dump(model_told(saved), allow_unicode=True, width=100)
        write_synced(place / "MLmodel", said)
        write_synced(place / "requirements.txt", "".join(f"{one}\n" for one in needed(saved)))
        python = platform.python_version()
        tools = {"build_dependencies": ["pip", "setuptools", "wheel"]}
        environment = {"python": python, **tools, "dependencies": ["-r requirements.txt"]}
        write_synced(place / "python_env.yaml", yaml.safe_dump(environment, sort_keys=False))
        conda: dict[str, Any] = {"name": "mlflow-env", "channels": ["conda-forge"]}
        conda["dependencies"] = [f"python={python}", "pip", {"pip": needed(saved)}]
        write_synced(place / "conda.yaml", yaml.safe_dump(conda, sort_keys=False))
        write_synced(place / "README.md", "\n".join(_readme(saved)) + "\n")

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row]:
        model = JudgeModel(load_saved(place / JUDGE), lms)
        return list(model.rows([one.model_dump() for one in golden_items(saved)]))


def model_told(saved: AnySaved) -> dict[str, Any]:
    """Return what ``MLmodel`` says: how the model is loaded, what it takes and what it returns."""
    # Columns of pandas that hold nothing are of numbers, which MLflow takes for no texts.
    others = [{"type": "any", "name": name, "required": False} for name in _OPTIONAL]
    inputs = [{"type": "string", "name": "response", "required": True}, *others]
    outputs = [{"type": kind, "name": name, "required": True} for kind, name in _OUT]
    return {
        "flavors": {
            "python_function": {
                "loader_module": LOADER,
                "data": JUDGE,
                "env": {"conda": "conda.yaml", "virtualenv": "python_env.yaml"},
                "python_version": platform.python_version(),
                "config": dict(DEFAULTS),
            }
        },
        "signature": {"inputs": json.dumps(inputs), "outputs": json.dumps(outputs), "params": None},
        "metadata": {"judgesmith": about(saved)},
        # Of the judge, not of the hour, as everywhere.
        "model_uuid": hashlib.sha256(saved.fingerprint.encode()).hexdigest()[:32],
    }


def needed(saved: AnySaved) -> list[str]:
    """Return what must be installed where the model is loaded."""
    extras = set()
    for leaf in saved_leaves(saved):
        if leaf.protocol.judge == "reference":
            extras.add("bertscore" if vars(leaf.protocol)["metric"] == "bertscore" else "reference")
    named = f"[{','.join(sorted(extras))}]" if extras else ""
    return [MLFLOW, f"judgesmith{named}=={version('judgesmith')}"]


def _readme(saved: AnySaved) -> Iterator[str]:
    yield "# A judge as an MLflow model"
    yield ""
    yield from about_lines(saved)
    yield ""
    yield "This folder is loaded, with `mlflow` and `judgesmith` installed, by"
    yield ""
    yield "    config = {'allow_models': [...]}  # those above, if it asks others than offline"
    yield "    model = mlflow.pyfunc.load_model(FOLDER, model_config=config)"
    yield "    model.predict(pandas.DataFrame({'source': [...], 'response': [...]}))"
    yield ""
    yield "A row has `response` and perhaps `source`, `context`, `references`, `source_id`,"
    yield "`system_id`. One that could not be judged has no score, and `problem` says why."
    yield ""
    yield "The model is asked by name; its key comes from the environment. `model_config` names"
    yield "another model, an address or a ceiling, as `load_model(FOLDER, model_config={...})`:"
    yield f"`{'`, `'.join(DEFAULTS)}`."
    yield ""
    yield "Scores as a scorer of `mlflow.genai.evaluate`:"
    yield ""
    yield "    from judgesmith.programs.exporting.mlflow_scorer import mlflow_scorer"
    yield "    mlflow.genai.evaluate(data=..., scorers=[mlflow_scorer(FOLDER)])"


UNSCORED = "UNSCORED"  # the code of the error that stands for a missing score


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
            "this judge compares the responses to a source, and a scorer is told of one at a time.",
            hint="use mlflow.pyfunc, which is given all of them.",
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
        label = {"label": found["label"]} if "label" in found else {}
        if found["score"] is None:
            error = entities.AssessmentError(error_code=UNSCORED, error_message=found["problem"])
        return entities.Feedback(
            name=called,
            value=found["score"],
            error=error,
            rationale=found["explanation"] or None,
            source=by,
            metadata={"judge": saved.fingerprint, "scale": str(saved.scale), **label},
        )

    judged.__name__ = "judged"
    about = f"{saved.target} on {saved.scale}, by the judge {saved.fingerprint} of judgesmith"
    return scorers.scorer(judged, name=called, description=about)


def _saved(judge: str | Path | AnySaved) -> AnySaved:
    if not isinstance(judge, str | Path):
        return judge
    folder = Path(judge)
    if (folder / "MLmodel").is_file():
        folder = folder / JUDGE
    return load_saved(folder)


def _has(value: Any, name: str) -> bool:
    return isinstance(value, Mapping) and value.get(name) is not None


def _text(value: Any, named: str | None, usual: str, *, aside: str = "") -> str | None:
    """Return the text that is meant, of a text or of several by name; None if missing."""
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
