"""Pages from jinja2 templates, in which all text is escaped, and the one that shows errors."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judgesmith.data.scores import Key
from judgesmith.drafts import put_text
from judgesmith.experiments.evaluate.errors.found import (
    GRADES,
    MOST,
    ErrorTotals,
    TextErrors,
    distinct_errors,
    numbered_errors,
    place_text,
    quoted_otherwise,
    severity_text,
    text_pieces,
    worst_grade,
)
from judgesmith.experiments.evaluate.placing import apart
from judgesmith.programs.artifacts.test_rows import cut
from judgesmith.results.charts import Chart, tally
from judgesmith.signatures.fences import unix_lines

# Joiners shape words in many scripts and do nothing else.
_HARMLESS = frozenset("\n\t\u200c\u200d")
_LINE_ENDS = frozenset("\x85\u2028\u2029")


def page_text(value: object) -> object:
    """Return a text with characters that hide or turn others written out, and plain line ends."""
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
"""How every page looks."""

SCRIPT = _REPORT.joinpath("pages.js").read_text("utf-8")
"""What lists of a page need, to be chosen from and sorted."""

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"
"""What a browser is to allow: the page's own style, this very script, and nothing else."""

LARGEST = 3_000_000
"""Bytes of a page: larger ones take long to open."""


def macro(template: str, name: str, *args: object, **named: object) -> Markup:
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
    people: Mapping[Key, float] | None = None,
) -> int:
    """Write a page of at most 3 MB, with what ``people`` say; return how many texts are on it."""
    shown, size = [], 0
    numbers = {name: f"c{n}" for n, name in enumerate(totals.criteria)}
    places = _against_people(texts, people or {})
    for number, text in enumerate(texts, start=start):
        about = _about(text, numbers) | {"people": places[number - start]}
        article = macro("texts.html", "article", text, number, about)
        size += len(article.encode()) + 1
        if size > LARGEST - 100_000:
            break
        shown.append(article)
    page = one_file(
        "errors.html",
        label=label,
        title=f"Errors in {name[:200]}",
        articles=shown,
        charts=[one.figure(f"f{n}") for n, one in enumerate(_charts(texts, totals))],
        choices={
            "severity": ("Severity", {one: one for one in GRADES if totals.grades[one]}),
            "criterion": ("Criterion", {mark: one for one, mark in numbers.items()}),
            "found": ("Found by", _FOUND if any(text.support for text in texts) else {}),
            "people": ("Judge and raters", _PEOPLE if any(places) else {}),
        },
        totals=totals,
        grades=GRADES,
        n=len(texts),
        start=start,
    )
    put_text(place, page)
    return len(shown)


_FOUND = {"several": "several members", "one": "one member alone"}
_PEOPLE = {
    "alike": "place the text alike",
    "higher": "judge a quarter or more higher",
    "lower": "judge a quarter or more lower",
}
_FAR = 0.25
_MANY = 12


def _about(text: TextErrors, criteria: Mapping[str, str]) -> dict[str, str]:
    """Return what texts can be filtered by."""
    errors = numbered_errors(text.errors or ())
    named = {criteria[name] for one in errors for name in one.criteria if name in criteria}
    finders = {"several" if len(names) > 1 else "one" for names in text.finders.values()}
    return {
        "severity": " ".join(sorted({one.grade for one in errors})),
        "criterion": " ".join(sorted(named)),
        "found": " ".join(sorted(finders)),
    }


def _against_people(texts: Sequence[TextErrors], people: Mapping[Key, float]) -> list[str]:
    """Return whether the judge places each text as people do; empty if unknown."""
    human = [people.get((text.item.source_id, text.item.system_id)) for text in texts]
    gaps = apart(human, [text.score for text in texts])
    return [
        "" if gap is None else "alike" if abs(gap) < _FAR else "higher" if gap > 0 else "lower"
        for gap in gaps
    ]


def _charts(texts: Sequence[TextErrors], totals: ErrorTotals) -> Iterator[Chart]:
    if not totals.errors:
        return
    yield tally({one: n for one, n in totals.grades.items() if n}, title="Errors by severity")
    if totals.criteria:
        ordered = sorted(totals.criteria.items(), key=lambda one: -one[1])[:20]
        named = {str(page_text(name)): n for name, n in ordered}
        yield tally(named, title="Errors by criterion")
    counts = Counter(min(len(distinct_errors(text.errors or ())), _MANY) for text in texts)
    by_number = {f"{n} or more" if n == _MANY else str(n): counts[n] for n in sorted(counts)}
    yield tally(by_number, title="Texts by their number of errors")
