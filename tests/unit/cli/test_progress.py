import io
import sys
from types import SimpleNamespace

import pytest

from judgesmith.cli.shared import progress
from judgesmith.cli.shared.progress import SWITCH, stage_progress
from judgesmith.cli.shared.stopping import spent_text


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_can_be_switched_off(quiet, monkeypatch):
    if not quiet:
        monkeypatch.setenv(SWITCH, "off")
    with stage_progress(quiet=quiet) as told:
        assert told is None


def test_without_a_terminal_there_is_a_line_every_ten_seconds(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with stage_progress(quiet=False) as tell:
        tell("search", 1, 30)
        tell.describe("search", "best q 0.5")
        for second in (4, 8, 12, 16, 20, 24):
            clock[0] = second
            tell("search", 1, 30)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "search: 4/30, best q 0.5, 78 s left",
        "search: 7/30, best q 0.5, 79 s left",
    ]


def test_what_was_spent_is_told_in_calls_dollars_and_retries():
    def client(calls, cost, retries=0):
        return SimpleNamespace(usage=SimpleNamespace(calls=calls, cost_usd=cost, retries=retries))

    assert spent_text([client(0, 0.0)]) == ""
    assert spent_text([client(1, 0.0)]) == "1 call"
    assert spent_text([client(2, 0.1), client(3, 0.02, 1)]) == "5 calls, $0.12, 1 retry"
    assert spent_text([client(2, None)]) == "2 calls, unknown cost"


def test_progress_goes_to_standard_error(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with stage_progress(quiet=False) as tell:
        tell("rows", 3, 6)
        tell("rows", 3, 6)
        tell.describe("search", "best [b] so far")
    out, err = capsys.readouterr()
    assert out == ""
    assert "rows" in err
    assert "6/6" in err
    assert "search: best [b] so far" in " ".join(err.split())


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_every_bar_ends_at_its_total(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with stage_progress(quiet=False) as progress:
        progress("search", 30, 80)
        progress("rows", 25, 20)
    last = shown.getvalue()
    assert "30/30" in last
    assert "25/25" in last
