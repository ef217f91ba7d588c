"""A graded example that is shown to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from judgesmith.signatures.rated import text_key


class Demonstration(BaseModel):
    """A graded example that is shown to the model.

    Parameters
    ----------
    inputs, outputs : dict
        Values of the signature's fields, by name. Outputs may be incomplete.
    kind : {"labelled", "bootstrapped"}
        Rated by people, or also answered by a judge.

    Examples
    --------
    >>> shown = Demonstration(inputs={"source": "2 + 2?", "response": "4"}, outputs={"score": 100})
    >>> shown.key == text_key("2 + 2?", None, "4")
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: Mapping[str, str | None]
    outputs: Mapping[str, Any]
    kind: Literal["labelled", "bootstrapped"] = "labelled"

    @property
    def key(self) -> str:
        """``RatedItem.key`` of the row it was made from, so that it never scores itself."""
        text = self.inputs.get
        return text_key(text("source") or "", text("context"), text("response") or "")
