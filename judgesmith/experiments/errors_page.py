"""A page that shows texts with the errors in them: one file, without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.experiments.errors_found import TextErrors
from judgesmith.experiments.errors_marks import MOST, numbered
from judgesmith.experiments.errors_markup import CRITERIA, NAME, WORDS, cut, listed, marked
from judgesmith.experiments.errors_style import STYLE
from judgesmith.experiments.errors_summary import GRADES, ErrorTotals
from judgesmith.experiments.page_markup import Markup, element, joined

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
    """Write a page of at most 3 MB, and return how many of the texts are on it.

    Parameters
    ----------
    place : Path
        The file, which appears whole.
    label, name : str
        What the errors and the texts come from.
    texts : sequence of TextErrors
        In the order in which they are to be read; those that do not fit are left out at the end.
    totals : ErrorTotals
        Counts over all texts, shown or not.
    start : int
        The number of the first text.
    """
    shown, size = [], 0
    for number, text in enumerate(texts, start=start):
        article = _article(text, number)
        size += len(article.encode()) + 1
        if size > LARGEST - 100_000:
            break
        shown.append(article)
    with draft_beside(place) as draft:
        write_synced(draft, _page(label, name, shown, totals, n=len(texts), start=start))
        put(draft, place)
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
    every = numbered(text.errors or ())
    errors = every[:MOST]
    ids = ", ".join(one[:NAME] for one in (item.source_id, item.system_id) if one)
    heading = f"Text {number}: {ids}" if ids else f"Text {number}"
    parts = [
        element("h2", element("bdi", heading), id=mark),
        element("p", *_verdict(text), class_="soft"),
        element("p", *marked(item.response, errors, mark), class_="text", dir="auto"),
        *listed(text, errors, mark, n_more=len(every) - len(errors)),
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
