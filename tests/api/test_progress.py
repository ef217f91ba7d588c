"""Progress in the public API: one event, a bar in terminals and notebooks, silence when asked."""

import io
import re
import sys
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

import judgesmith
from judgesmith.optimizers import rated_example

SWITCH = "JUDGESMITH_PROGRESS"
SCALE = judgesmith.Scale(low=1, high=5)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(terminal):
    """Return the bars as they are at the end, one a line."""
    lines = (line.split("\r")[-1] for line in terminal.getvalue().split("\n"))
    plain = (re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", line).strip() for line in lines)
    return [line for line in plain if line]


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@pytest.fixture
def notebook(terminal, monkeypatch):
    """Stand in for IPython in a kernel; what it displays, state by state."""
    states = []
    handle = SimpleNamespace(update=lambda html: states.append(html))
    shown = SimpleNamespace(HTML=str, display=lambda html, display_id: handle)
    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return states


def evaluated(terminal, **how):
    with redirect_stderr(terminal):
        judgesmith.evaluate(judgesmith.ActiveCritic(), judgesmith.read("sample"), **how)


def test_a_terminal_shows_one_bar_for_all_that_a_function_does(terminal):
    evaluated(terminal)
    (line,) = shown(terminal)
    assert line.startswith("rows")
    assert "160/160" in line


@pytest.mark.parametrize("how", [{"progress": False}, {"on_progress": lambda event: None}])
def test_nothing_is_shown_when_told_so_or_where_somebody_listens(terminal, how):
    evaluated(terminal, **how)
    assert shown(terminal) == []


def test_no_bar_is_shown_without_a_terminal_or_where_it_is_switched_off(terminal, monkeypatch):
    monkeypatch.setenv(SWITCH, "off")
    evaluated(terminal)
    assert shown(terminal) == []
    monkeypatch.delenv(SWITCH)
    plain = io.StringIO()
    evaluated(plain)
    assert plain.getvalue() == ""


def test_a_listener_is_told_stages_and_counts(terminal):
    told = []
    evaluated(terminal, on_progress=told.append)
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert (told[-1].stage, told[-1].done, told[-1].total) == ("rows", 160, 160)
    assert sum(one.n for one in told) == 160
    assert {type(one) for one in told} == {judgesmith.ProgressEvent}


def test_an_optimizer_shows_one_bar_for_all_candidates_and_tells_its_listener(terminal):
    data = judgesmith.read("sample")
    rows = [
        rated_example(one, one.human["overall"][0], SCALE, group=one.source_id)
        for one in data.items[:24]
    ]

    def compiled(**how):
        search = judgesmith.RandomDemonstrationSearch(n_trials=2, **how)
        with redirect_stderr(terminal):
            search.compile(judgesmith.ActiveCritic(variant="vanilla"), trainset=rows)

    compiled()
    assert [line.split()[0] for line in shown(terminal)] == ["rows"]
    compiled(progress=False)
    told = []
    compiled(on_progress=told.append)
    assert len(shown(terminal)) == 1
    assert told[-1].done == sum(one.n for one in told) > len(rows) / 2


def test_a_notebook_shows_bars_in_one_output_that_ends_complete(notebook, terminal):
    evaluated(terminal)
    assert shown(terminal) == []
    assert notebook[-1].count("<progress") == 1
    assert 'value="160" max="160"' in notebook[-1]
    assert len(notebook[-1]) < 500
