"""Libraries that only some work needs: imported when they are used, asked for by their extra."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from judgesmith.errors import MissingExtraError

_NEEDING = {
    "reference": "reference metrics need",
    "bertscore": "BERTScore needs",
    "finetune": "training needs",
    "plot": "figures need",
    "serve": "serving needs",
    "inspect": "scorers of Inspect AI need",
    "mlflow": "MLflow tracking and models need",
    "metrics": "numbers for Prometheus need",
    "ray": "scoring on a cluster needs",
}


def library(name: str, *, extra: str = "reference") -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as fault:
        package = name.partition(".")[0]
        if fault.name is None or fault.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{_NEEDING[extra]} {package}: pip install 'judgesmith[{extra}]'"
        ) from None
