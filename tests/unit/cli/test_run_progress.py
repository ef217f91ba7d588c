import io
import sys

import pytest

from judgesmith.cli.use.watch_options import run_line, run_progress
from judgesmith.experiments.scoring.watching import Pulse
from judgesmith.signatures import Judgement, RatedItem


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def pulse():
    clock = Clock()
    found = Pulse([], n_expected=4000, clock=clock)
    for n in range(500):
        clock.now = n / 50
        judgement = Judgement(score=1.0) if n else Judgement.unscored("cut off")
        found.judged("r", n, RatedItem(response="r"), judgement)
    return found


def test_rate_and_time_to_come_stand_beside_the_rows(pulse):
    line = run_line(pulse, 100)
    assert line.startswith("500/4,000 rows ━")
    assert line.endswith("1:10 left · 50/s · 1 unscored")
    assert len(line) <= 100


@pytest.mark.parametrize("room", [5, 14, 20, 30, 40, 60, 200])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_line_is_longer_than_the_terminal(pulse, room, ascii_only):
    line = run_line(pulse, room, ascii_only=ascii_only)
    assert len(line) <= room
    assert line.isascii() or not ascii_only


def test_what_matters_least_is_left_out_first(pulse):
    assert run_line(pulse, 30) == "500/4,000 rows · 1:10 left"
    assert run_line(pulse, 15) == "500/4,000 rows"


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_where_nobody_looks(capsys, pulse, quiet):
    with run_progress(pulse, quiet=quiet) as tell:
        tell("sending", 0, None)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("columns", [30, 100])
def test_a_terminal_gets_one_line_that_fits(monkeypatch, pulse, columns):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    with run_progress(pulse, quiet=False) as tell:
        tell("waiting for 1 batch", 0, None)
        pulse.kept(1)
    said = sys.stderr.getvalue()
    assert "501/4,000 rows" in said  # the last word is of the end
    assert "500/4,000 rows" in said
    assert "waiting for 1 batch" in said
    assert ("50/s" in said) == (columns == 100)
