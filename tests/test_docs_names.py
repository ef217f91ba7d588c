"""Names of Python on a page are there: what its code imports, and what stands in its prose."""

import ast
import re
from importlib import import_module
from textwrap import dedent

import pytest
from sessions import EVERY_PAGE, ROOT

pytestmark = pytest.mark.no_cover

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


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE]
)
def test_every_name_of_ours_on_a_page_is_there(page):
    assert missing(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE]
)
def test_code_that_no_session_runs_can_be_read(page):
    for indent, kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind in ("python", "py") and ">>>" not in body:
            ast.parse(dedent(body) if indent else body)


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
