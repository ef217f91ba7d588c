import io
import sys

from judgesmith.cli.shared.progress import stage_progress


def test_there_is_no_progress_where_nobody_looks(capsys):
    with stage_progress(quiet=False) as told:
        assert told is None
    assert capsys.readouterr() == ("", "")


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
