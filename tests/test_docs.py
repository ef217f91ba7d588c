"""Pages: links, names of Python, and the tests that guarantees name."""

import ast
import functools
import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from urllib.parse import unquote

import hostile
import loopback_faults
import pytest
from looping import for_each
from sessions import EVERY_PAGE, ROOT

# Links between pages lead to a file that is there, and to a heading where they name one.

CODE = re.compile(r"^ *```.*?^ *```|(?<!`)`[^`\n]+`(?!`)", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")


@functools.cache
def headings(page):
    """Return the addresses of a page's headings, as GitHub makes them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found, times = set(), {}
    for head in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        times[slug] = times.get(slug, -1) + 1
        found.add(f"{slug}-{times[slug]}" if times[slug] else slug)
    return found


def broken(page):
    """Return the links of a page that lead nowhere."""
    wrong = []
    for link in LINK.findall(CODE.sub("``", page.read_text(encoding="utf-8"))):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, heading = unquote(link).partition("#")
        target = page.parent / path if path else page
        lost = (
            heading
            and target.is_file()
            and target.suffix == ".md"
            and heading not in headings(target)
        )
        if lost or not target.exists():
            wrong.append(link)
    return wrong


@pytest.mark.no_cover
@for_each("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE])
def test_every_link_of_a_page_leads_somewhere(page):
    assert broken(page) == []


@pytest.mark.no_cover
def test_every_page_can_be_reached_from_the_index():
    docs = ROOT / "docs"
    reached, new = set(), {docs / "index.md"}
    while new:
        page = new.pop()
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        found = {(page.parent / link.partition("#")[0]).resolve() for link in links}
        new |= {one for one in found if one.suffix == ".md" and one.is_file()} - reached
    assert {page.name for page in docs.rglob("*.md") if page not in reached} == set()


@pytest.mark.no_cover
def test_a_link_to_nothing_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` (c)\n\n[x](#a-b-c) [x](#a) [x](page.md#a-b-c) [x](other.md) `[x](no.md)`\n"
        "```\n# Not a heading\n[x](no.md)\n```\n[x](#not-a-heading) [x](https://example.org/no)\n"
    )
    assert broken(page) == ["#a", "other.md", "#not-a-heading"]


# Names of Python on a page are there: what its code imports, and what stands in its prose.

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^(?:>>> |\.\.\. )? *from (judgesmith[\w.]*) import ([\w, ]+)", re.MULTILINE)

# Two parts without a call may be anything, such as a tag of MLflow's.
DOTTED = re.compile(r"(?<!`)`(judgesmith(?:\.\w+){2,}|judgesmith\.\w+(?=\())(?:\(.*?\))?`(?!`)")


def lost(dotted):
    """Say whether a dotted name is neither a module nor in one."""
    found, at = None, ""
    for part in dotted.split("."):
        at = f"{at}.{part}".lstrip(".")
        try:
            found = getattr(found, part) if found else import_module(at)
        except AttributeError:
            try:
                found = import_module(at)
            except ModuleNotFoundError:
                return True
    return False


def missing(text):
    """Return the names of ours on a page that are not there."""
    prose = BLOCK.sub("", text)
    code = "".join(block.group(3) for block in BLOCK.finditer(text))
    names = [
        f"{module}.{name.split(' as ')[0].strip()}"
        for module, imported in IMPORT.findall(code)
        for name in imported.split(",")
        if name.strip()
    ]
    names += [name.removesuffix(".py") for name in DOTTED.findall(prose)]
    return sorted({name for name in names if lost(name)})


@pytest.mark.no_cover
@for_each("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE])
def test_every_name_of_ours_on_a_page_is_there(page):
    assert missing(page.read_text(encoding="utf-8")) == []


@pytest.mark.no_cover
@for_each("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE])
def test_code_that_no_session_runs_can_be_read(page):
    for indent, kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind in ("python", "py") and ">>>" not in body:
            ast.parse(dedent(body) if indent else body)


@pytest.mark.no_cover
def test_a_name_that_is_not_there_is_noticed():
    page = (
        "`judgesmith.metrics.kendal`, `judgesmith.metrics.kendall`, `judgesmith.nowhere.at_all`\n"
    )
    page += "```python\n>>> from judgesmith.programs import Judge, Juge\n```\n"
    assert missing(page) == [
        "judgesmith.metrics.kendal",
        "judgesmith.nowhere.at_all",
        "judgesmith.programs.Juge",
    ]


# The tests and figures that the page of guarantees names exist and are exact.

ROOT_GUARANTEES = Path(__file__).resolve().parents[1]
PAGE = (ROOT_GUARANTEES / "docs" / "reference" / "guarantees.md").read_text(encoding="utf-8")


def cells():
    """Return the promise and its tests, of every row."""
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    of_two = [row for row in rows if len(row) == 2]
    return [[cell.strip() for cell in row] for row in of_two if row[0].strip() != "promised"]


def test_every_promise_names_tests_that_are_there():
    for promised, held in (row for row in cells() if row[0] != "---"):
        tests = re.findall(r"`([^`]*)`", held)
        assert bool(tests) == bool(promised), promised
        for test in tests:
            assert re.fullmatch(r"tests/(\w+/)*(test|fuzz)_\w+\.py", test), test
            assert (ROOT_GUARANTEES / test).is_file(), test


def test_every_topic_it_measures_with_is_there():
    named = re.findall(r"python -m benchmarks run((?: \w+)+)`", PAGE)
    topics = {topic for names in named for topic in names.split()} - {"robustness", "serving"}
    assert topics
    for topic in topics:
        assert (ROOT_GUARANTEES / "benchmarks" / "robustness" / f"{topic}.py").is_file(), topic


def test_it_counts_what_the_tests_try():
    faults = loopback_faults
    n_faults = len(faults.PASSING) + len(faults.LASTING) + len(faults.HARMLESS)
    refusals = (ROOT_GUARANTEES / "tests" / "unit" / "cli" / "bad_inputs.yaml").read_text(
        encoding="utf-8"
    )
    assert f", {n_faults} kinds." in PAGE
    assert f"\n{len(re.findall('^- command:', refusals, re.MULTILINE))} cases over" in PAGE
    assert f"the {len(hostile.TEXTS)} of `tests/unit/support/hostile.py`" in PAGE
