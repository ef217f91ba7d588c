"""What models put around a text that they were asked for alone: fences, remarks, refusals."""

from __future__ import annotations

import re
import unicodedata

from judgesmith.signatures.fences import imitates_layout

_FENCE = re.compile(r"<verbatim-([0-9a-f]{12})>\s*\n(.*)\n\s*</verbatim-\1>", re.DOTALL)
_BLOCK = re.compile(r"(```+|~~~+)\w*[ \t]*\n(.*)\n[ \t]*\1", re.DOTALL)
_QUOTED = (('"', '"'), ("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"))

_REFUSES = re.compile(
    r"\W*+(?:i['\u2019]?m sorry|i am sorry|sorry,|i apologi[sz]e|as an ai\b|as a language model"
    r"|i (?:can(?:no|['\u2019])t|am unable|am not able|won['\u2019]t|will not|must decline)"
    r"|i['\u2019]m (?:unable|not able)|unfortunately, i\b)",
    re.IGNORECASE,
)
_REMARKS = re.compile(
    r"\W*+(?:sure\b[,!.:]|certainly\b[,!.:]|of course\b[,!.:]|okay\b[,!.:]|ok\b[,!.:]"
    r"|absolutely\b[,!.:]|here(?:['\u2019]s| is| are) (?:the|a|an|your|my|one)\b[^.!?\n]{0,80}:"
    r"|(?:the )?(?:changed|modified|revised|edited|rewritten|paraphrased|new|final) "
    r"(?:text|version)\b[^.!?\n]{0,40}:"
    r"|(?:output|answer|result|text|note|explanation|changes(?: made)?)\s*:"
    r"|i (?:hope|have|['\u2019]ve|replaced|changed|introduced|added|kept|made)\b[^.!?\n]{0,80}"
    r"(?:\b(?:this|text|error|errors|sentence|sentences|entity|entities|helps|order)\b)"
    r"|let me know\b|is there anything else\b|feel free\b)",
    re.IGNORECASE,
)
_UNSEEN = ("Cc", "Cf", "Co", "Cn", "Cs")
_MARKUP = frozenset("*_#`~|<>[]{}\\^=")


def unwrapped(answer: str, original: str) -> str:
    r"""Return a text without the fence, the code block or the quotation marks around all of it.

    What stands around the original as well belongs to it.

    Examples
    --------
    >>> unwrapped("```text\nAnn left.\n```", "Ann left.")
    'Ann left.'
    >>> unwrapped('"Ann left."', '"Ann left."')
    '"Ann left."'
    """
    text, plain = answer.strip(), original.strip()
    for pattern in (_FENCE, _BLOCK):
        if (found := pattern.fullmatch(text)) and not pattern.fullmatch(plain):
            text = found[2].strip()
    for opens, closes in _QUOTED:
        inside = text[len(opens) : -len(closes)]
        around = text.startswith(opens) and text.endswith(closes) and len(text) > 2
        own = plain.startswith(opens) or plain.endswith(closes)
        if around and not own and opens not in inside and closes not in inside:
            text = inside.strip()
    return text


def spoken_around(text: str, original: str) -> str:
    r"""Return what is wrong with a text that does not only say what the original says.

    Returns
    -------
    str
        A few words; empty if there is no refusal, no remark to the reader, no mark of the layout
        of questions, no markup and no hidden sign, beyond what the original has itself.

    Examples
    --------
    >>> spoken_around("I'm sorry, I cannot do that.", "Ann left.")
    'a refusal'
    >>> spoken_around("Sure, here it is:\nAnn left.", "Ann left.")
    'a remark beside the text'
    >>> spoken_around("I'm sorry, Ann left.", "I'm sorry, Bob left.")
    ''
    """
    if _REFUSES.match(text) and not _REFUSES.match(original):
        return "a refusal"
    lines, own = text.strip().split("\n"), original.strip().split("\n")
    for line, other in ((lines[0], own[0]), (lines[-1], own[-1])):
        if _REMARKS.match(line) and not _REMARKS.match(other):
            return "a remark beside the text"
    if lines[0].rstrip().endswith(":") and not own[0].rstrip().endswith(":"):
        return "a remark beside the text"
    if imitates_layout(text) and not imitates_layout(original):
        return "marks of the layout of questions"
    new = set(text) - set(original)
    if new & _MARKUP:
        return "markup that the text does not have"
    if any(unicodedata.category(sign) in _UNSEEN and not sign.isspace() for sign in new):
        return "signs that nobody sees"
    return ""
