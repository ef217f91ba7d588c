"""Errors of a text as markup: marked where they are, and listed below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgesmith.experiments.errors_found import TextErrors
from judgesmith.experiments.errors_marks import (
    Numbered,
    Piece,
    pieces,
    place_text,
    quoted_otherwise,
)
from judgesmith.experiments.errors_severity import Grade, grade_of, severity_text
from judgesmith.experiments.errors_summary import GRADES
from judgesmith.experiments.page_markup import Markup, element, joined

CRITERIA = 30
"""Criteria, notes or names that are shown of one text."""

NAME, WORDS = 200, 2_000
"""Characters of a name, and of an explanation."""

_AROUND = 1_000  # characters shown on either side of a mark
_QUOTED = 300


def marked(response: str, errors: Sequence[Numbered], mark: str) -> Iterator[Markup]:
    """Yield a text with its errors marked; ``mark`` opens the names of places to go to."""
    grades = {one.number: grade_of(one.error.severity) for one in errors}
    for piece in pieces(response, errors, around=_AROUND):
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


def listed(
    text: TextErrors, errors: Sequence[Numbered], mark: str, *, n_more: int
) -> Iterator[Markup]:
    """Yield a text's errors as a list, and what else its judge says; ``n_more`` are not shown."""
    if text.errors is None:
        yield element("p", "There is no answer, so nobody knows of errors.", class_="soft")
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
