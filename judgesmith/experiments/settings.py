"""What decides, besides data and model, what a compiled judge becomes."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.ratings import Aggregate
from judgesmith.signatures import Protocol


class CompileSettings(BaseModel):
    """Everything but data and model that decides what a compiled judge becomes.

    Parameters
    ----------
    target : str
        A criterion, ``overall``, ``mean``, or ``auto``: overall if people rated it, else mean.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How several raters become one value.
    protocol : Protocol
        Where the judge starts from.
    optimizer : {"random", "none"}
        Random demonstration search and learned aggregation, or the judge as it is.
    objective : str
        What is made as large as possible, such as ``q`` or ``spearman@sample``.
    holdout : float
        Share of sources kept for the report, from 0 to below 1.
    n_demonstrations, n_rounds : int
        Demonstrations per prompt, and sets of them that are tried.
    lexical : bool or None
        Whether lexical features may enter the aggregation; None allows them where the model is
        the offline one, which is made of nothing else.
    seed : int
        Of everything that is drawn.
    texts : bool
        Whether a few judged texts are kept in the artifact.
    split_rows : bool
        True splits single rows instead of sources, as Active-Critic's authors do.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str = "auto"
    aggregate: Aggregate = "mean"
    protocol: Protocol = Field(default_factory=Protocol)
    optimizer: Literal["random", "none"] = "random"
    objective: str = "q"
    holdout: float = Field(default=0.3, ge=0.0, lt=1.0)
    n_demonstrations: int = Field(default=3, ge=0)
    n_rounds: int = Field(default=11, ge=1)
    lexical: bool | None = None
    seed: int = 0
    texts: bool = True
    split_rows: bool = False

    def fingerprint(self, dataset: DataSet, model: str, endpoint: str = "") -> str:
        """Return twelve hex digits that change when data, model or any setting does.

        So they do with the endpoint that answers, and with the version of this package.
        """
        whole = [
            self.model_dump(mode="json"),
            dataset.digest,
            model,
            endpoint,
            version("judgesmith"),
        ]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]
