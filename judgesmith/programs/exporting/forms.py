"""The forms of export by name, each imported when it is used."""

from __future__ import annotations

from importlib import import_module

from judgesmith.errors import InputError
from judgesmith.programs.exporting.form import Form

FORMS: dict[str, str] = {
    "prompt": "judgesmith.programs.exporting.prompt:Prompt",
    "python": "judgesmith.programs.exporting.python_file:PythonFile",
    "dspy": "judgesmith.programs.exporting.dspy_program:DspyProgram",
    "mlflow": "judgesmith.programs.exporting.mlflow_model:MlflowModel",
    "inspect": "judgesmith.programs.exporting.inspect_package:InspectPackage",
}
"""Where each form is, as ``module:Class``."""


def form_of(name: str) -> Form:
    """Return the form of that name."""
    if name not in FORMS:
        raise InputError(
            f"a judge cannot be exported as {name[:80]!r}; choose from {', '.join(FORMS)}."
        )
    module, _, kind = FORMS[name].partition(":")
    form: Form = getattr(import_module(module), kind)()
    return form
