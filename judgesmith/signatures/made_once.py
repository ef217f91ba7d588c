"""Questions that are made of others once, and then shared by all judges that ask them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

import dspy

Given = ParamSpec("Given")
Made = TypeVar("Made")


def made_once(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Return ``make`` with the questions it made last kept for those who want the same.

    Making one takes DSPy about ten milliseconds, and a search asks for the same few of every
    judge it tries. Nobody changes a question in place, so judges can share them.

    Examples
    --------
    >>> from judgesmith.signatures.scoring import ScoreOverall
    >>> without_fields(ScoreOverall, "task") is without_fields(ScoreOverall, "task")
    True
    """
    return cast(Callable[Given, Made], lru_cache(maxsize=256)(make))


@made_once
def without_fields(signature: type[dspy.Signature], *names: str) -> type[dspy.Signature]:
    """Return ``signature`` without the fields of these names, as far as it has them.

    Examples
    --------
    >>> from judgesmith.signatures.scoring import ScoreOverall
    >>> asked = without_fields(ScoreOverall, "task", "explanation")
    >>> list(asked.input_fields), list(asked.output_fields)
    (['source', 'context', 'response', 'assessments'], ['score'])
    """
    for name in names:
        if name in signature.fields:
            signature = signature.delete(name)
    return signature
