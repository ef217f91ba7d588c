"""What can be chosen about distillation data, as one value."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field


class DistilSettings(BaseModel):
    """How much is sampled, what is left out, and what is kept for validation.

    Parameters
    ----------
    outputs : int
        Outputs of each input that are annotated at most, of different systems where there are.
    aspects : int
        Criteria that each output is annotated on at most.
    validation : float
        Share of the sources whose examples are for validation, 0 to below 1.
    unresolved : float
        Share of the errors of an example, 0 to 1, that may be nowhere in the output: with more
        the example is left out, with less only these errors are.
    seed : int
        Of what is drawn.

    Examples
    --------
    >>> own = DistilSettings()
    >>> own.outputs, own.aspects
    (4, 3)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    outputs: int = Field(default=4, ge=1)
    aspects: int = Field(default=3, ge=1)
    validation: float = Field(default=0.1, ge=0, lt=1)
    unresolved: float = Field(default=0.25, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    def fingerprint(self, about: Sequence[str]) -> str:
        """Return twelve hex digits that change with a setting or what else a run is ``about``."""
        plain = "\n".join([self.model_dump_json(), *about])
        return hashlib.sha256(plain.encode()).hexdigest()[:12]
