"""What pre-commit is offered: hooks that name commands there are, and a check of every file."""

import shlex
from pathlib import Path

import pytest
import yaml

from judgesmith.cli.main import COMMANDS
from judgesmith.pre_commit import main

ROOT = Path(__file__).resolve().parents[2]
HOOKS = {one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text("source,response,score\na,b,1\nc,d,5\ne,f,2\n")
    Path("bad.csv").write_text("source,response,score\na,b,many\n")


def test_every_file_is_checked_and_the_worst_status_counts(files, capsys):
    assert main(["--scale", "1..5", "--", "good.csv", "good.csv"]) == 0
    assert capsys.readouterr().out.count("good: rated texts") == 2
    assert main(["--scale", "1..5", "--", "bad.csv", "good.csv"]) == 2
    said = capsys.readouterr()
    assert "bad.csv" in said.err
    assert "good: rated texts" in said.out


def test_hooks_name_what_there_is():
    assert set(HOOKS) == {"judgesmith-check", "judgesmith-recheck"}
    assert HOOKS["judgesmith-check"]["entry"] == "python -m judgesmith.pre_commit"
    program, command = shlex.split(HOOKS["judgesmith-recheck"]["entry"])
    assert (program, command in COMMANDS) == ("judgesmith", True)
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert all(f"- id: {name}" in page for name in HOOKS)
