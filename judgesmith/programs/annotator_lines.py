"""Lines of an annotator's answer: which label a line begins with, and what stands behind it.

Models write labels in bold, as headings, behind bullets and numbers, several in a line, or in the
language of the text. A label is looked for where a line or a part of it begins, nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Label = Literal["errors", "location", "explanation", "severity", "score", "grade", "reason"]
"""What a line is about. A grade is a score that may be of an error or of the whole."""

_NAMES: dict[Label, str] = {
    "reason": (
        r"(?:score|overall|rating|final|general)[ _-]+(?:score[ _-]+)?(?:explanation|reason(?:ing)?"
        r"|justification|rationale|comment)|(?:explanation|reason|reasoning|justification|rationale)"
        r" (?:of|for) (?:the )?(?:overall )?(?:score|rating)|summary|justification|rationale"
        r"|conclusion|gesamtbegründung|总体说明|评分理由|评分说明"
    ),
    "score": (
        r"(?:overall|final|total|general|global)(?:[ _-]+(?:quality|\w+))?[ _-]+"
        r"(?:score|rating|grade|verdict|assessment|evaluation|judge?ment|level)"
        r"|overall(?:[ _-]+quality)?|verdict|gesamt(?:bewertung|urteil|note|wertung)"
        r"|总体评分|总分|总体评价|综合评分"
        r"|(?:puntuación|valoración) (?:general|global|final)|note (?:globale|finale)"
        r"|évaluation globale|score global|calificación (?:general|global)"
    ),
    "grade": r"score|rating|grade|note|bewertung|评分|puntuación|calificación",
    "severity": (
        r"(?:error )?severity(?:[ _-]+(?:level|score|rating|grade))?|seriousness"
        r"|schwere(?:grad)?|gravedad|severidad|gravité|sévérité|gravità|gravidade|严重程度|严重性|严重度"
    ),
    "location": (
        r"(?:error )?(?:location|span|excerpt|quote|quotation|passage|snippet|phrase|segment)"
        r"(?: of (?:the )?error)?|(?:quoted|exact|error|wrong|affected)[ _-]+(?:text|words|span)"
        r"|text|words|where|stelle|textstelle|fundstelle|ubicación|localización|fragmento|emplacement"
        r"|localisation|passage concerné|posizione|位置|错误位置|原文"
    ),
    "explanation": (
        r"(?:error )?(?:explanation|description|reason|reasoning|comment|details?|analysis)"
        r"|why|issue|problem|erklärung|begründung|explicación|razón|descripción|explication|raison"
        r"|spiegazione|解释|说明|原因|错误说明"
    ),
    "errors": (
        r"(?:list of |identified |found )?(?:errors?|annotations?|issues|mistakes|problems)"
        r"(?: found| identified| list| annotations?)?|fehler(?:liste)?|errores|erreurs"
        r"|errori|erros|错误|错误列表"
    ),
}
_MARKS = r"*_`~\s"
_PREFIX = (
    rf"[{_MARKS}>#\-•+–|]*+(?:[(（]?\d{{1,3}}[.):、．）](?!\d)[{_MARKS}]*+)?"
    rf"(?:(?:error|annotation|issue|fehler|erreur|错误)\s*#?\d{{1,3}}[{_MARKS}]*+[.:)–—-]++[{_MARKS}]*+)?"
)
_BEHIND = rf"[{_MARKS}]*+(?:\([^()\n]{{0,60}}\)[{_MARKS}]*+)?"
_LABELS = "|".join(f"(?P<{label}>{names})" for label, names in _NAMES.items())
_OPENS = re.compile(rf"{_PREFIX}[\[\"“]?(?:{_LABELS}){_BEHIND}[\]\"”]?\s*[:：=][*\s]*+", re.I)
_SAID = re.compile(
    rf"{_PREFIX}(?:the |my )?(?:{_NAMES['score']}|score) (?:is|would be|:)[:\s]*", re.I
)
_TITLE = re.compile(rf"\s*(?:#{{1,6}}\s*|\*\*)(?:{_LABELS})[{_MARKS}:]*\Z", re.I)
_HEADING = re.compile(rf"[{_MARKS}]*(?:{_NAMES['errors']})[{_MARKS}]*\Z", re.I)
_INSIDE = re.compile(
    rf"(?:[|;,(\[–—·]\s*+|(?<=[.!?\"”»'’)])\s++|(?<!\s)\s-\s|(?<!\s)\s{{2,}}+)[*_`]*+"
    rf"(?:(?P<severity>{_NAMES['severity']})|(?P<explanation>{_NAMES['explanation']})"
    rf"|(?P<location>{_NAMES['location']}))[{_MARKS}]*[:：=][*\s]*",
    re.I,
)
_FURTHER = re.compile(
    r"[*_`\s]*(?:(?:error|issue)[ _-])?(?:(?:sub)?(?:type|category)|kind|class|confidence|aspect"
    r"|criterion|correction|suggestion|suggested \w+|fix|evidence|reference|typ|kategorie|tipo"
    r"|categoría|类型)[*_`\s]*[:：=]",
    re.I,
)
_ITEM = re.compile(
    rf"\s*[*_>#\s]*(?:[(（]?\d{{1,3}}[.):、．）](?!\d)|[-*•+–](?=\s)|[①-⑳]|#\d{{1,3}}\b"
    rf"|(?:error|annotation|issue|fehler|erreur|错误)\s*#?\d{{1,3}}(?!\w))[{_MARKS}.:)–—-]*+",
    re.I,
)
_NUMBERED = re.compile(r"\s*[*_>#\s]*(?:\(?\d|[①-⑳]|#\d|(?:error|annotation|issue|fehler)\b)", re.I)
_PAIRS = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "「": "」",
    "『": "』",
    "‘": "’",
    "'": "'",
    "`": "`",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: its label if it has one, what it says, and whether an item begins here.

    Where one does without a label, ``numbered`` says whether by a number or behind a bullet.
    """

    label: Label | None
    text: str
    begins: bool = False
    numbered: bool = False


def pieces_of(line: str) -> Iterator[Piece]:
    """Yield the parts of a line, each with its label.

    Examples
    --------
    >>> [(one.label, one.text) for one in pieces_of('1. **Location:** "in 1998" (Severity: 4)')]
    [('location', '"in 1998"'), ('severity', '4')]
    >>> next(pieces_of("- The year is wrong."))
    Piece(label=None, text='The year is wrong.', begins=True, numbered=False)
    """
    item = _ITEM.match(line)
    begins = item is not None
    if title := _TITLE.match(line):
        yield Piece(_label_of(title), "", begins=begins and _NUMBERED.match(line) is not None)
        return
    if _HEADING.match(line):
        yield Piece("errors", "")
        return
    opened = _OPENS.match(line)
    said = _SAID.match(line) if opened is None else None
    if opened is None and said is None:
        numbered = begins and _NUMBERED.match(line) is not None
        rest = line[item.end() :].strip() if item else line.strip()
        for piece in _inside(None, rest, begins):
            yield replace(piece, numbered=numbered) if piece.begins else piece
        return
    if said is not None:
        yield Piece("score", line[said.end() :].strip())
        return
    assert opened is not None
    label = _label_of(opened)
    numbered = begins and _NUMBERED.match(line) is not None
    rest = line[opened.end() :].strip()
    if label in ("location", "explanation", "severity"):
        yield from _inside(label, rest, numbered)
    else:
        yield Piece(label, rest, begins=numbered and label == "errors")


def has_further_label(line: str) -> bool:
    """Say whether a line is about something else that is often told of errors, and not asked for.

    Examples
    --------
    >>> has_further_label("**Type:** Invention"), has_further_label("Typists: two")
    (True, False)
    """
    return _FURTHER.match(line) is not None


def closing_of(text: str) -> int | None:
    """Return where the quotation that opens ``text`` ends, mark included; None where none opens.

    A mark of the same kind inside a word, as in it's, closes nothing.
    """
    closes = _PAIRS.get(text[:1])
    if closes is None:
        return None
    for place in range(1, len(text)):
        if text[place] in closes:
            following = text[place + 1 : place + 2]
            if not (following.isalnum() and text[place - 1].isalnum()):
                return place + 1
    return None


def _inside(label: Label | None, text: str, begins: bool) -> Iterator[Piece]:
    """Yield the parts of a text in which further labels stand, past a quotation that opens it."""
    start = (closing_of(text) or 0) if label in (None, "location") else 0
    at = 0
    for found in _INSIDE.finditer(text, start):
        if label is not None or text[at : found.start()].strip(" *_-("):
            yield Piece(label, _bare(text[at : found.start()]), begins=begins)
            begins = False
        label = _label_of(found)
        at = found.end()
    yield Piece(label, _bare(text[at:]) if at else text, begins=begins)


def _bare(text: str) -> str:
    """Return a part without what closes the part that its label opened."""
    text = text.strip().rstrip("|;,").strip()
    for opening, closing in ("()", "[]"):
        if text.endswith(closing) and text.count(closing) > text.count(opening):
            text = text[:-1].strip()
    return text


def _label_of(found: re.Match[str]) -> Label:
    for name, text in found.groupdict().items():
        if text is not None:
            return name  # type: ignore[return-value]
    raise AssertionError("a pattern of labels matched without a label")
