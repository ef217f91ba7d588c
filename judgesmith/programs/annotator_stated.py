"""What an annotator stated, before anything of it is looked for in the response."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from judgesmith.signatures.answer_scale import Level

_NONE = re.compile(
    r"[\W_]*(?:there (?:are|is|were|was) )?(?:i (?:found|see|find) )?"
    r"(?:no|none|zero|not any|keine?n?|sin|aucune?|pas d['’]|nessuno?|nenhum"
    r"|没有(?:发现)?|无|未发现)\s*"
    r"(?:(?:clear|major|significant|notable|obvious|other|such|specific|apparent|real) )?"
    r"(?:errors?|issues?|problems?|mistakes?|faults?|annotations?|fehler|errores|erreurs?|errori"
    r"|erros?|错误|问题)?"
    r"(?: (?:was|were|is|are|have been|could be))?(?: (?:found|detected|identified|present|seen"
    r"|gefunden|encontrados|détectée?s?))?"
    r"(?: (?:in|with|for) (?:the|this) [\w ]{1,40})?[\W_]*"
    r"|[\W_]*(?:n/?a|not applicable|-+)[\W_]*",
    re.IGNORECASE,
)
_LONGEST = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedError:
    """One error as it is stated.

    Attributes
    ----------
    location : str
        What stands for its place, quotation marks included; empty where nothing does.
    explanation : str
        Why it is one.
    severity : float or None
        1 to 5, 5 the worst; None where none could be read.
    """

    location: str
    explanation: str
    severity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A whole answer: errors in their order, the score as the scale writes it, words about it."""

    errors: tuple[StatedError, ...]
    score: Level
    explanation: str


def says_none(text: str) -> bool:
    """Say whether a text says that there is no error, and nothing else.

    Examples
    --------
    >>> says_none("**No Error**"), says_none("No errors were found in the summary.")
    (True, True)
    >>> says_none("No date is given."), says_none("None of it is true.")
    (False, False)
    """
    return len(text) <= _LONGEST and _NONE.fullmatch(text) is not None


def errors_text(errors: Sequence[StatedError]) -> str:
    """Return errors as the text that a reply keeps them as.

    Examples
    --------
    >>> one = StatedError(location="x", explanation="Wrong.", severity=None)
    >>> errors_of(errors_text([one])) == (one,)
    True
    """
    return json.dumps([asdict(one) for one in errors], ensure_ascii=False)


def errors_of(text: str) -> tuple[StatedError, ...]:
    """Return the errors that ``errors_text`` wrote."""
    return tuple(StatedError(**one) for one in json.loads(text))
