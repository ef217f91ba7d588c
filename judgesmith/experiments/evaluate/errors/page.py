"""Pages from jinja2 templates, in which all text is escaped, and the one that shows errors."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judgesmith.drafts import put_text
from judgesmith.experiments.evaluate.errors.found import (
    GRADES,
    MOST,
    ErrorTotals,
    TextErrors,
    numbered_errors,
    place_text,
    quoted_otherwise,
    severity_text,
    text_pieces,
    worst_grade,
)
from judgesmith.programs.artifacts.test_rows import cut
from judgesmith.signatures.fences import unix_lines

# Joiners shape words in many scripts and do nothing else.
_HARMLESS = frozenset("\n\t\u200c\u200d")
_LINE_ENDS = frozenset("\x85\u2028\u2029")


def page_text(value: object) -> object:
    r"""Return a text with characters that hide or turn others written out, and lines ended ``\n``.

    Markup and what is no text stay as they are.
    """
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(map(_shown, unix_lines(value)))


def _shown(character: str) -> str:
    if character.isprintable() or character in _HARMLESS:
        return character
    if character.isspace() and character > "\x1f" and character not in _LINE_ENDS:
        return character
    return character.encode("unicode_escape").decode()


def points(value: float | None) -> str:
    """Return a score as people read it."""
    return "none" if value is None else f"{value:.4g}"


TEMPLATES = Environment(
    loader=PackageLoader("judgesmith.experiments", "report/templates"),
    autoescape=True,
    finalize=page_text,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
"""The templates of all pages; each value that they print is made readable and escaped."""

TEMPLATES.filters |= {"cut": cut, "points": points}
TEMPLATES.globals |= {
    "MOST": MOST,
    "numbered_errors": numbered_errors,
    "place_text": place_text,
    "quoted_otherwise": quoted_otherwise,
    "severity_text": severity_text,
    "text_pieces": text_pieces,
    "worst_grade": worst_grade,
}

_REPORT = files("judgesmith.experiments").joinpath("report", "templates")

STYLE = files("judgesmith.programs").joinpath("serving/page/family.css").read_text("utf-8")
STYLE += _REPORT.joinpath("report.css").read_text("utf-8")
"""How every page looks."""

SCRIPT = _REPORT.joinpath("pages.js").read_text("utf-8")
"""What lists of a page need, to be chosen from and sorted."""

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"
"""What a browser is to allow: the page's own style, this very script, and nothing else."""

LARGEST = 3_000_000
"""Bytes of a page: larger ones take long to open."""


def macro(template: str, name: str, *args: object, **named: object) -> Markup:
    """Return what a macro of a template makes of values."""
    made: Markup = getattr(TEMPLATES.get_template(template).module, name)(*args, **named)
    return made


def one_file(template: str, *, title: str, **given: object) -> str:
    """Return a page of one file, with its own style and script, which needs nothing else."""
    return TEMPLATES.get_template(template).render(
        title=title, style=STYLE, policy=POLICY, script=SCRIPT, **given
    )


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
        article = macro("texts.html", "article", text, number)
        size += len(article.encode()) + 1
        if size > LARGEST - 100_000:
            break
        shown.append(article)
    page = one_file(
        "errors.html",
        label=label,
        title=f"Errors in {name[:200]}",
        articles=shown,
        totals=totals,
        grades=GRADES,
        n=len(texts),
        start=start,
    )
    put_text(place, page)
    return len(shown)
