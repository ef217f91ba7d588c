"""The reference in docs/api is what the docstrings say: every public name, each link right."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "api"


@pytest.fixture(scope="module")
def make():
    sys.path.insert(0, str(FOLDER))
    spec = importlib.util.spec_from_file_location("judgesmith_reference", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def reference(make):
    return make.Reference()


@pytest.fixture(scope="module")
def pages(make):
    return make.pages()


def entry(pages, page, name):
    """Return what a page says of one name."""
    return re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", pages[page], re.MULTILINE | re.DOTALL)[1]


def test_the_pages_are_those_that_the_script_writes(pages):
    stale = [
        name
        for name, text in pages.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `python docs/api/make.py`, and commit what it writes"
    assert {path.name for path in FOLDER.glob("*.md")} == set(pages)


def test_every_public_name_has_one_entry_and_is_listed_on_the_page_of_its_room(
    make, reference, pages
):
    entries = [
        name for text in pages.values() for name in re.findall(r"^## (\w+)$", text, re.MULTILINE)
    ]
    assert len(entries) == len(set(entries))
    for room, door in reference.doors.items():
        listed = re.findall(r"^\| \[`(\w+)`\]", pages[make.file_of(room)], re.MULTILINE)
        assert sorted(listed) == sorted(door.__all__)


def test_every_function_says_what_it_takes_returns_and_is_for(make, reference, pages):
    lacking = []
    for name, room in reference.told.items():
        thing = getattr(reference.doors[room], name)
        if not callable(thing) or isinstance(thing, type) or not hasattr(thing, "__code__"):
            continue
        home, own = reference.homes[id(thing)]
        text = entry(pages, make.file_of(home), own)
        wanted = ["**Returns**" if "**Yields**" not in text else "**Yields**"]
        wanted += ["| parameter | type |"] * (
            thing.__code__.co_argcount + thing.__code__.co_kwonlyargcount > 0
        )
        lacking += [(name, one) for one in wanted if one not in text]
    assert lacking == []


def test_a_docstring_becomes_tables_lists_and_blocks_of_code(make):
    class Thing:
        """Return a `thing`, as *none* has it, 2**3 <times>.

        =====  ====================
        which  what, at most
               two lines
        =====  ====================
        `a`    the first | of both
        =====  ====================

        Parameters
        ----------
        low, high : float or Scale, in ``points``
            The ends; see :func:`~judgesmith.metrics.known`.

            A second paragraph.
        rng
            As ever.

        Raises
        ------
        ValueError
            If ``low`` is not
            below ``high``.
        TypeError

        Examples
        --------
        >>> 1 + 1
        2

        Or so:

        >>> 2 + 2
        4
        """

    def link(code):
        return "[`x`](#x)" if code in ("Scale", "judgesmith.metrics.known") else f"`{code}`"

    said = make.read(Thing)
    assert said.summary == "Return a `thing`, as *none* has it, 2**3 <times>."
    assert make.prose(said.prose, link).splitlines() == [
        "Return a `thing`, as *none* has it, 2\\*\\*3 \\<times>.",
        "",
        "| which | what, at most two lines |",
        "| --- | --- |",
        "| `a` | the first \\| of both |",
    ]
    assert make.section("Parameters", said.sections["Parameters"], link).splitlines()[2:] == [
        "| `low`, `high` | float or [`x`](#x), in `points` | "
        "The ends; see [`x`](#x).<br>A second paragraph. |",
        "| `rng` |  | As ever. |",
    ]
    assert make.section("Raises", said.sections["Raises"], link).splitlines() == [
        "**Raises**",
        "",
        "- `ValueError`: If `low` is not below `high`.",
        "- `TypeError`.",
    ]
    assert make.section("Examples", said.sections["Examples"], link).splitlines() == [
        *("**Example**", "", "```python", ">>> 1 + 1", "2", "```", "", "Or so:", ""),
        *("```python", ">>> 2 + 2", "4", "```"),
    ]
