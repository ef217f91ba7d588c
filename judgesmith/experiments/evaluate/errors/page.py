"""A page that shows texts with the errors in them: one file, without a script, all text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from judgesmith.drafts import put_text
from judgesmith.experiments.evaluate.errors.found import (
    GRADES,
    ErrorTotals,
    Grade,
    TextErrors,
    distinct_errors,
    grade_of,
    severity_text,
)
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.judgement import ErrorSpan

# Joiners shape words in many scripts and do nothing else.
_HARMLESS = frozenset("\n\t\u200c\u200d")
_LINE_ENDS = frozenset("\x85\u2028\u2029")
_VOID = frozenset({"input", "meta"})


class Markup(str):
    """HTML as it is to stand in a page."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    r"""Return a text as HTML that shows it; what is already HTML stays as it is.

    All lines end in ``\n``.
    """
    if isinstance(text, Markup):
        return text
    plain = text if text.isprintable() else "".join(map(_shown, unix_lines(text)))
    return Markup(html.escape(plain))


def _shown(character: str) -> str:
    if character.isprintable() or character in _HARMLESS:
        return character
    if character.isspace() and character > "\x1f" and character not in _LINE_ENDS:
        return character
    return character.encode("unicode_escape").decode()


def joined(*parts: str) -> Markup:
    """Return parts one after the other, each escaped."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """Return an element with its children and attributes, all of them escaped."""
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
    )
    if tag in _VOID:
        return Markup(f"<{tag}{told}>")
    return Markup(f"<{tag}{told}>{joined(*children)}</{tag}>")


MOST = 50
"""Errors that are shown of one text; more help no reader."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """An error and the number it is shown by."""

    number: int
    error: ErrorSpan
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text in which nothing begins or ends."""

    text: str
    closes: tuple[int, ...] = ()
    opens: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    left_out: int = 0


def numbered_errors(errors: Sequence[ErrorSpan]) -> tuple[Numbered, ...]:
    """Return errors in the order of the text, those without a place after them.

    Errors that differ by their criterion alone are one.
    """
    criteria = distinct_errors(errors)
    placed = [one for one in criteria if one.start is not None]
    placed.sort(key=lambda one: (one.start, one.end))
    others = [one for one in criteria if one.start is None]
    return tuple(
        Numbered(number, one, criteria[one])
        for number, one in enumerate([*placed, *others], start=1)
    )


def place_text(error: ErrorSpan) -> str:
    """Return where an error is and how its place was found, in words."""
    if error.start is None:
        return _WITHOUT_PLACE.get(error.located or "", "without a place")
    at = "before character" if error.start == error.end else f"characters {error.start} to"
    parts = [f"{at} {error.end}"]
    if error.located in _OTHERWISE:
        parts.append(_OTHERWISE[error.located])
    if error.ambiguous:
        parts.append("one of several such places")
    return ", ".join(parts)


_WITHOUT_PLACE = {
    "missing": "missing from the text",
    "unresolved": "quoted, but not in the text",
}
_OTHERWISE = {
    "normalised": "quoted with other spaces, case or quotation marks",
    "fuzzy": "quoted with other letters",
}


def quoted_otherwise(error: ErrorSpan, response: str) -> str:
    """Return what was quoted, where that is not what stands at the place that was found.

    What is missing has no words to quote.
    """
    there = "" if error.start is None else response[error.start : error.end]
    if error.located == "missing" or error.text == there:
        return ""
    return error.text.strip()


def text_pieces(text: str, errors: Sequence[Numbered], *, around: int) -> Iterator[Piece]:
    """Yield a text piece by piece, with the errors that begin, end and run on there."""
    spans = {
        one.number: (one.error.start, one.error.end)
        for one in errors
        if one.error.start is not None and one.error.end is not None
    }
    points = sorted({0, len(text), *(edge for span in spans.values() for edge in span)})
    for start, end in zip(points, [*points[1:], len(text)], strict=True):
        empty = tuple(n for n, span in spans.items() if span == (start, start))
        closes = tuple(n for n, span in spans.items() if span[0] < start == span[1])
        opens = tuple(n for n, span in spans.items() if span[0] == start < span[1])
        over = tuple(n for n, span in spans.items() if span[0] <= start < span[1])
        if empty:
            yield Piece(text="", closes=closes, opens=empty)
            closes = empty
        tail = around if end < len(text) else 0
        hidden = end - start - around - tail
        if hidden > around:
            yield Piece(text=text[start : start + around], closes=closes, opens=opens, over=over)
            yield Piece(text=text[end - tail : end], over=over, left_out=hidden)
        elif end > start or closes:
            yield Piece(text=text[start:end], closes=closes, opens=opens, over=over)


STYLE = (
    files("judgesmith.programs")
    .joinpath("serving", "page", "family.css")
    .read_text(encoding="utf-8")
)


CRITERIA = 30
"""Criteria, notes or names that are shown of one text."""

NAME, WORDS = 200, 2_000
"""Characters of a name, and of an explanation."""

_AROUND = 1_000  # characters shown on either side of a mark
_QUOTED = 300


def marked(response: str, errors: Sequence[Numbered], mark: str) -> Iterator[Markup]:
    """Yield a text with its errors marked; ``mark`` opens the names of places to go to."""
    grades = {one.number: grade_of(one.error.severity) for one in errors}
    for piece in text_pieces(response, errors, around=_AROUND):
        yield from _numbers(piece, grades, mark)
        if piece.left_out:
            yield element("span", f" … {piece.left_out} characters … ", class_="gap", dir="ltr")
        if piece.over:
            worst = min((grades[number] for number in piece.over), key=GRADES.index)
            yield element("mark", piece.text, class_=worst)
        else:
            yield joined(piece.text)


def _numbers(piece: Piece, grades: dict[int, Grade], mark: str) -> Iterator[Markup]:
    for number in piece.closes:
        yield element("span", f"{number}]", class_=f"n {grades[number]}")
    for number in piece.opens:
        yield element(
            "a",
            f"[{number}",
            class_=f"n {grades[number]}",
            id=f"{mark}m{number}",
            href=f"#{mark}e{number}",
            aria_label=f"error {number}, {grades[number]}, begins",
        )


def error_list(
    text: TextErrors, errors: Sequence[Numbered], mark: str, *, n_more: int
) -> Iterator[Markup]:
    """Yield a text's errors as a list, and what else its judge says; ``n_more`` are not shown."""
    if text.errors is None:
        yield element("p", "There is no answer, so errors are unknown.", class_="soft")
    elif not errors:
        yield element("p", "No errors.", class_="soft")
    else:
        yield element("ol", *(_entry(one, text, mark) for one in errors), class_="errors")
    if n_more:
        yield element("p", f"And {n_more} more, which are not shown.", class_="soft")
    for note in text.notes[:CRITERIA]:
        yield element("p", element("strong", "Note: "), cut(note, WORDS))
    if text.explanation.strip():
        words = element("p", cut(text.explanation, 2 * WORDS), class_="text", dir="auto")
        yield element("details", element("summary", "The judge on the whole"), words)


def _entry(one: Numbered, text: TextErrors, mark: str) -> Markup:
    error, grade = one.error, grade_of(one.error.severity)
    number: Markup = element("strong", f"{one.number}")
    if error.start is not None:
        back = f"error {one.number}, back to the text"
        number = element("a", f"{one.number}", href=f"#{mark}m{one.number}", aria_label=back)
    about: list[str] = [place_text(error)]
    for name in one.criteria[:CRITERIA]:
        about += [" · ", element("bdi", name[:NAME])]
    if finders := text.finders.get(error, ()):
        names = ", ".join(name[:NAME] for name in finders[:CRITERIA])
        about += [" · found by ", element("bdi", names)]
    parts = [
        element(
            "p",
            number,
            element("span", severity_text(error.severity), class_=f"tag {grade}"),
            element("span", *about, class_="soft"),
        )
    ]
    if quoted := quoted_otherwise(error, text.item.response):
        parts.append(element("p", "Quoted: ", element("q", cut(quoted, _QUOTED), dir="auto")))
    if error.explanation.strip():
        parts.append(element("p", cut(error.explanation, WORDS), dir="auto"))
    return element("li", *parts, id=f"{mark}e{one.number}", class_=grade)


def cut(text: str, longest: int) -> str:
    """Return a text, or its beginning and how much is missing."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} … {len(text) - longest} more characters"


LARGEST = 3_000_000
"""Bytes of a page: larger ones take long to open."""

_SOURCE = 8_000
_SAFE = "default-src 'none'; style-src 'unsafe-inline'"


def write_page(
    place: Path,
    label: str,
    name: str,
    texts: Sequence[TextErrors],
    totals: ErrorTotals,
    *,
    start: int = 1,
) -> int:
    """Write a page of at most 3 MB, and return how many of the texts are on it."""
    shown, size = [], 0
    for number, text in enumerate(texts, start=start):
        article = _article(text, number)
        size += len(article.encode()) + 1
        if size > LARGEST - 100_000:
            break
        shown.append(article)
    put_text(place, _page(label, name, shown, totals, n=len(texts), start=start))
    return len(shown)


def _page(
    label: str, name: str, shown: Sequence[Markup], totals: ErrorTotals, *, n: int, start: int
) -> str:
    title = f"Errors in {name[:NAME]}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_SAFE),
        element("title", title),
        Markup(f"<style>{STYLE}</style>"),
    )
    last = start + len(shown) - 1
    which = f"Texts {start} to {last} are on this page" if shown else "No text is on this page"
    left = f"; {n - len(shown)} more did not fit." if n > len(shown) else "."
    header = element(
        "header",
        element("h1", title),
        element("p", f"As marked in {label[:NAME]}. {which}{left}", class_="soft"),
        _facts(totals),
        _legend(),
    )
    body = element("body", header, element("main", *(joined(one, "\n") for one in shown)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _facts(totals: ErrorTotals) -> Markup:
    facts = [
        f"{totals.errors} errors in {totals.with_errors} of {totals.texts} texts",
        *(f"{totals.grades[grade]} {grade}" for grade in GRADES if totals.grades[grade]),
        f"{totals.places['missing']} missing from their text",
        f"{totals.places['unresolved']} quoted, but not in their text",
        f"{totals.unscored} of the texts without a score",
    ]
    return element("ul", *(element("li", one) for one in facts), class_="facts")


def _legend() -> Markup:
    words = {"major": "major, 4 and 5", "moderate": "moderate, 3", "minor": "minor, 1 and 2"}
    parts: list[str] = ["How bad an error is: "]
    for grade, word in words.items():
        parts += [element("mark", word, class_=grade), " "]
    parts += ["Numbers lead from the text to the list below it, and back."]
    return element("p", *parts)


def _article(text: TextErrors, number: int) -> Markup:
    item, mark = text.item, f"t{number}"
    every = numbered_errors(text.errors or ())
    errors = every[:MOST]
    ids = ", ".join(one[:NAME] for one in (item.source_id, item.system_id) if one)
    heading = f"Text {number}: {ids}" if ids else f"Text {number}"
    parts = [
        element("h2", element("bdi", heading), id=mark),
        element("p", *_verdict(text), class_="soft"),
        element("p", *marked(item.response, errors, mark), class_="text", dir="auto"),
        *error_list(text, errors, mark, n_more=len(every) - len(errors)),
    ]
    for name, given in (("Source", item.source), ("Context", item.context or "")):
        if given:
            shown = element("p", cut(given, _SOURCE), class_="text", dir="auto")
            parts.append(element("details", element("summary", name), shown))
    return element("article", *parts, aria_labelledby=mark)


def _verdict(text: TextErrors) -> Iterator[str]:
    if text.score is None:
        yield f"No score: {cut(text.problem or 'no reason given', WORDS)}"
    else:
        yield f"Score {text.score:.4g}"
    for name, one in list(text.criteria.items())[:CRITERIA]:
        points = "none" if one.score is None else f"{one.score:.4g}"
        yield joined(" · ", element("bdi", name[:NAME]), f" {points}")
    if len(text.criteria) > CRITERIA:
        yield f" · and {len(text.criteria) - CRITERIA} more"
