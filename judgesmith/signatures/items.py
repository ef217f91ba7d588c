"""Texts to be judged: rated ones, and graded examples that are shown to the model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from judgesmith.signatures.plain_data import FrozenModel
from judgesmith.signatures.scale import Scale

Aggregate = Literal["mean", "median", "mode", "unanimous", "any-fail", "any-pass", "dawid-skene"]
"""How several ratings of one item become one value; of labels ``mean`` is the majority."""


def _said() -> Any:
    """Return a field that is left out of files where nothing is said."""
    return Field(default_factory=dict, exclude_if=lambda one: not one)


class RatedItem(FrozenModel):
    """A source, a response to it, and what people said of the response.

    Parameters
    ----------
    source_id, system_id : str
        What was answered and who answered. Items that share a source stay together in splits.
    source : str
        The article, prompt, dialogue or sentence that was answered, verbatim.
    context : str or None
        Extra material that raters saw.
    response : str
        The text under judgement, verbatim.
    references : tuple of str
        Other answers known to be good; may be empty.
    human : dict of str to tuple of float
        One rating per rater, by criterion, in points of ``scale``; may be empty.
    scale : dict of str to Scale
        The rating form, by criterion. Labels such as pass are points of a scale of labels.
    rationale : dict of str to tuple of str or None
        Each rater's own words of why, by criterion, one per rating; empty without any.
    raters : dict of str to tuple of str
        Who rated, by criterion, one name per rating; empty where unknown.
    undecided : dict of str to tuple of str
        ``unsure`` and ``n/a`` of raters who gave no label, by criterion.
    extra : dict
        Every other field of the row, kept as it came.

    Examples
    --------
    >>> item = RatedItem(source="2 + 2?", response="4", human={"overall": (5, 4)})
    >>> item.human["overall"]
    (5.0, 4.0)
    >>> len(item.key)
    32
    """

    source_id: str = ""
    system_id: str = ""
    source: str = ""
    context: str | None = None
    response: str
    references: tuple[str, ...] = ()
    human: Mapping[str, tuple[float, ...]] = Field(default_factory=dict)
    scale: Mapping[str, Scale] = Field(default_factory=dict)
    rationale: Mapping[str, tuple[str | None, ...]] = _said()
    raters: Mapping[str, tuple[str, ...]] = _said()
    undecided: Mapping[str, tuple[str, ...]] = _said()
    extra: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def key(self) -> str:
        """Thirty-two hex digits of the judged texts: equal for equal texts, whatever the ids."""
        return text_key(self.source, self.context, self.response)

    @property
    def ids(self) -> tuple[str, str, str]:
        """Source, system and key, which tell rows of a dataset apart."""
        return self.source_id, self.system_id, self.key

    @property
    def texts(self) -> dict[str, str | None]:
        """What is judged, by the names under which questions show it."""
        return {"source": self.source, "context": self.context, "response": self.response}


def item_to_judge(
    source: str, response: str, context: str | None = None, references: Sequence[str] = ()
) -> RatedItem:
    """Return texts that a caller has by themselves as one value."""
    check_texts({"source": source, "response": response, "context": context or ""})
    return RatedItem(
        source=source, response=response, context=context, references=tuple(references)
    )


def check_texts(texts: Mapping[str, object]) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text; got {type(text).__name__}.")


def text_key(source: str, context: str | None, response: str) -> str:
    """Return thirty-two hex digits that are equal for equal texts alone."""
    texts = json.dumps([source, context, response])
    return hashlib.blake2b(texts.encode(), digest_size=16).hexdigest()


def source_hash(source: str, response: str) -> str:
    """Return an id for a source without one; an item without a source stands for itself."""
    text = source or response
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Demonstration(FrozenModel):
    """A graded example that is shown to the model."""

    inputs: Mapping[str, str | None]
    outputs: Mapping[str, Any]
    kind: Literal["labelled", "bootstrapped"] = "labelled"

    @property
    def key(self) -> str:
        """``RatedItem.key`` of the row it was made from, so that it never scores itself."""
        text = self.inputs.get
        return text_key(text("source") or "", text("context"), text("response") or "")
