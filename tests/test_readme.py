"""The README and the pages say what is so: their sessions and Python blocks run as shown."""

import doctest
import re
import shutil
from pathlib import Path

import pytest

from judgesmith.cli import main
from judgesmith.programs import families

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def blocks(page, kind):
    """Return the blocks of one kind on a page, one after another."""
    text = page.read_text(encoding="utf-8")
    return "".join(block.group(2) for block in BLOCK.finditer(text) if block.group(1) == kind)


def pages_with(kind, mark):
    return [pytest.param(page, id=page.name) for page in PAGES if mark in blocks(page, kind)]


def commands(session):
    """Return each command of a session, on one line, with the lines shown under it."""
    parts = re.split(r"^\$ ", session.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    return [(part.splitlines()[0], part.splitlines()[1:]) for part in parts]


def pattern(line):
    """Return a pattern for a line of output in which ``...`` stands for anything."""
    return ".*".join(map(re.escape, line.split("...")))


@pytest.mark.parametrize("page", pages_with("console", "$ judgesmith"))
def test_a_session_prints_the_lines_it_shows_in_this_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for file in (*ROOT.glob("examples/*.csv"), *ROOT.glob("examples/*.yaml")):
        shutil.copy(file, tmp_path)
    for command, shown in commands(blocks(page, "console")):
        name, *arguments = command.split()
        assert name == "judgesmith"
        assert main(arguments) == 0, capsys.readouterr().err
        out = iter(capsys.readouterr().out.splitlines())
        for line in shown:
            if line != "...":
                assert any(re.fullmatch(pattern(line), one) for one in out), (command, line)


@pytest.mark.parametrize("page", pages_with("python", ">>>"))
def test_python_blocks_run_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A family that a page makes is known on that page alone.
    monkeypatch.setattr(families, "_FAMILIES", dict(families._FAMILIES))
    test = doctest.DocTestParser().get_doctest(blocks(page, "python"), {}, page.name, None, 0)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert said == []


def test_the_readme_shows_a_session_and_python():
    assert "$ judgesmith compile sample -o judge\n" in blocks(PAGES[0], "console")
    assert ">>> import judgesmith\n" in blocks(PAGES[0], "python")


@pytest.mark.parametrize(
    ("page", "name"), [("walkthrough.md", "rubrica.yaml"), ("tutorial.md", "support_rubric.yaml")]
)
def test_the_rubric_shown_on_a_page_is_the_file_that_its_commands_read(page, name):
    edited, provenance, _ = blocks(ROOT / "docs" / page, "yaml").partition("provenance:\n")
    file = (ROOT / "examples" / name).read_text(encoding="utf-8")
    assert file.startswith(edited + provenance)


def test_the_experiment_shown_in_the_tutorial_is_the_file_that_its_commands_read():
    shown = blocks(ROOT / "docs" / "tutorial.md", "yaml")
    assert shown.endswith((ROOT / "examples" / "support_experiment.yaml").read_text("utf-8"))


def test_every_command_and_option_is_on_the_page_about_them(capsys):
    from judgesmith.cli.main import COMMANDS

    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"## {name}\n" in page
        main([name, "--help"])
        options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", capsys.readouterr().out, re.MULTILINE)
        assert [option for option in options if option not in page] == []
