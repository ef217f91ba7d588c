"""A judge as an MLflow model: a folder that ``mlflow.pyfunc.load_model`` takes, without a pickle.

The folder is laid out as MLflow documents it for models that a module loads, in plain files, so
that writing it needs no MLflow and writes the same bytes each time.
"""

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
from judgesmith.programs.artifacts.saved_ensembles import load_saved, saved_leaves
from judgesmith.programs.exporting.about import about, about_lines
from judgesmith.programs.exporting.form import Form, Row
from judgesmith.programs.exporting.mlflow_loading import DEFAULTS, JudgeModel
from judgesmith.programs.exporting.verifying import golden_items

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

JUDGE = "judge"
"""Where the judge is in the folder, as ``compile`` writes one."""

LOADER = "judgesmith.programs.exporting.mlflow_loading"
MLFLOW = "mlflow>=3.10,<4"

_OPTIONAL = ("source", "context", "references", "source_id", "system_id")
_OUT = (("double", "score"), ("string", "explanation"), ("string", "problem"))


class MlflowModel(Form):
    """A folder for ``mlflow.pyfunc``."""

    says: ClassVar[str] = "an MLflow model: a folder for mlflow.pyfunc, without a pickle"
    folder: ClassVar[bool] = True

    def check(self, saved: AnySaved) -> str | None:
        """Return None: the package itself judges, so that every judge can be carried."""
        return None

    def write(self, saved: AnySaved, place: Path) -> None:
        """Write ``MLmodel``, what it needs to be installed, and the judge itself."""
        saved.save(place / JUDGE)
        said = yaml.safe_dump(model_told(saved), allow_unicode=True, width=100)
        write_synced(place / "MLmodel", said)
        write_synced(place / "requirements.txt", "".join(f"{one}\n" for one in needed(saved)))
        python = platform.python_version()
        environment = {
            "python": python,
            "build_dependencies": ["pip", "setuptools", "wheel"],
            "dependencies": ["-r requirements.txt"],
        }
        write_synced(place / "python_env.yaml", yaml.safe_dump(environment, sort_keys=False))
        conda = {
            "name": "mlflow-env",
            "channels": ["conda-forge"],
            "dependencies": [f"python={python}", "pip", {"pip": needed(saved)}],
        }
        write_synced(place / "conda.yaml", yaml.safe_dump(conda, sort_keys=False))
        write_synced(place / "README.md", "\n".join(_readme(saved)) + "\n")

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row]:
        """Return what the model says of the golden items, by what MLflow loads it with."""
        model = JudgeModel(load_saved(place / JUDGE), lms)
        items = [
            {
                "response": one.response,
                "source": one.source,
                "context": one.context,
                "references": list(one.references),
                "source_id": one.source_id,
            }
            for one in golden_items(saved)
        ]
        return list(model.rows(items))


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
        "signature": {
            "inputs": json.dumps(inputs),
            "outputs": json.dumps(outputs),
            "params": None,
        },
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
