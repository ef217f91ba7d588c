"""The README and the pages say what is so: their sessions and Python blocks run as shown."""

import doctest
import re

import pytest
from sessions import ROOT, blocks, run_session

from judgesmith.cli import main
from judgesmith.data.formats import opening
from judgesmith.programs.judging import registry

pytestmark = pytest.mark.no_cover

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLLOWED = "your-csv.md"  # to its end, by test_tutorial.py


def pages_with(kind, mark):
    return [pytest.param(page, id=page.name) for page in PAGES if mark in blocks(page, kind)]


@pytest.mark.parametrize(
    "page", [one for one in pages_with("console", "$ judgesmith") if one.id != FOLLOWED]
)
def test_a_session_prints_the_lines_it_shows_in_this_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_session(page, tmp_path) == []


@pytest.mark.parametrize("page", pages_with("python", ">>>"))
def test_python_blocks_run_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A family or a format that a page makes is known on that page alone.
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
    monkeypatch.setattr(opening, "_FORMATS", dict(opening._FORMATS))
    test = doctest.DocTestParser().get_doctest(blocks(page, "python"), {}, page.name, None, 0)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert said == []


def test_the_readme_shows_a_session_and_python():
    assert "$ judgesmith compile sample -o judge\n" in blocks(PAGES[0], "console")
    assert ">>> import judgesmith\n" in blocks(PAGES[0], "python")


def test_the_rubric_shown_on_the_walk_through_is_the_file_that_its_commands_read():
    page = ROOT / "docs" / "tutorials" / "spreadsheet.md"
    edited, provenance, _ = blocks(page, "yaml").partition("provenance:\n")
    file = (ROOT / "examples" / "rubrica.yaml").read_text(encoding="utf-8")
    assert file.startswith(edited + provenance)


def test_every_command_and_option_is_on_the_page_about_them(capsys):
    from judgesmith.cli.main import COMMANDS

    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for name in set(COMMANDS) - {"ledger"}:  # an old name of cache
        assert f"## {name}\n" in page
        main([name, "--help"])
        options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", capsys.readouterr().out, re.MULTILINE)
        assert [option for option in options if option not in page] == []
