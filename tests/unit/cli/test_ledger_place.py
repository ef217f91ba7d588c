import subprocess
import sys

import pytest

SCORE = """
import sys
from judgesmith.cli import main
assert main(["score", "judge", "data.jsonl", "-o", "out.jsonl"]) == 0
assert not any(name.split(".")[0] in ("psycopg", "sqlalchemy") for name in sys.modules)
"""
NOBODY = "postgresql://me:secret@127.0.0.1:9/x"
SEARCH = ["--optimizer", "protocol", "--criteria", "general"]


def test_the_environment_names_the_ledger_and_an_option_another(
    run, judge, data, folder, monkeypatch
):
    monkeypatch.setenv("JUDGESMITH_LEDGER", "named/ledger.sqlite")
    assert run("score", judge, data, "-o", "one.jsonl").status == 0
    assert (folder / "named" / "ledger.sqlite").is_file()
    assert run("score", judge, data, "-o", "two.jsonl", "--ledger", "other.sqlite").status == 0
    stats = [
        run("ledger", "stats", "--json", *said).json for said in ([], ["--ledger", "other.sqlite"])
    ]
    assert stats[0]["answers"] == stats[1]["answers"] > 0
    assert not (folder / ".judgesmith").exists()


@pytest.mark.no_cover
def test_scoring_on_a_file_loads_no_driver_of_a_database(judge, data, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCORE], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("said", "blamed"),
    [
        (["--ledger", NOBODY], "--ledger"),
        ([*SEARCH, "--storage", NOBODY], "--storage"),
        ([*SEARCH, "--ledger", NOBODY, "--storage", "sqlite:///x"], "--ledger"),
    ],
)
def test_a_database_that_does_not_answer_is_refused_before_anything_is_asked(
    run, data, folder, said, blamed
):
    done = run("compile", data, "-o", "new", "--json", *said)
    assert (done.status, done.fault["where"]) == (2, blamed)
    assert "secret" not in done.err
    assert not (folder / ".judgesmith").exists()


@pytest.mark.no_cover
def test_a_search_in_another_database_than_postgresql_keeps_the_usual_ledger(
    run, data, folder, monkeypatch
):
    monkeypatch.setenv("JUDGESMITH_STORAGE", f"sqlite:///{folder}/studies.db")
    done = run("compile", data, "-o", "new", "--dry-run", *SEARCH)
    assert done.status == 0
    assert "answers are kept" not in done.err
