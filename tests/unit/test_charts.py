"""Charts as markup and as Matplotlib draws them, and bars in a notebook: texts are escaped."""

import sys
from types import SimpleNamespace

import pytest
from tags import Tags

from judgesmith.results.charts import confusion, forest, history, pareto, reliability, scatter
from judgesmith.results.progress import SWITCH, ProgressEvent, default_bars

HOSTILE = "<script>alert('x')</script>\n\x1b[2J" + "long " * 400


CHARTS = {
    "confusion": confusion([HOSTILE, "good"], [[3, 1], [0, 4]], title=HOSTILE),
    "forest": forest({}, title=HOSTILE),
    "history": history([0.2, None, 0.5, 0.4], title=HOSTILE),
    "pareto": pareto([(1, 2), (2, 1), (0, 0)], title="x", x_label=HOSTILE, y_label=HOSTILE),
    "reliability": reliability([1, 2, float("nan")], [3, 9, 2], title=HOSTILE),
    "scatter": scatter([], [], title=HOSTILE),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_markup_without_anybodys_tags_and_is_drawn(name):
    seen = Tags(str(CHARTS[name].svg())).seen
    assert seen <= {"svg", "title", "path", "g", "text"}
    assert "nan" not in CHARTS[name].svg()
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert CHARTS[name].draw(axes) is axes
    axes.figure.canvas.draw()


def test_what_charts_show_is_what_was_computed():
    found = history([0.2, None, 0.5, 0.4], title="x")
    assert found.points == [(0, 0.2), (2, 0.5), (3, 0.4)]
    assert found.lines[0][-1] == (3, 0.5)
    assert pareto([(1, 2), (2, 1), (0, 0), (1, 1)], title="", x_label="", y_label="").lines == [
        [(2, 1), (1, 2)]
    ]
    bins = reliability([1, 1, 5, 5], [10, 20, 30, 40], title="x")
    assert bins.points == [(10, 1), (20, 1), (30, 5), (40, 5)]
    assert bins.guides == [[(10, 1), (40, 5)]]
    cells = confusion(["bad", "good"], [[3, 1], [0, 4]], title="x").cells
    assert cells[0, 0] == (0.75, "3")
    assert cells[1, 0] == (0, "0")


def test_a_stage_that_is_named_by_data_is_escaped_in_a_notebook(monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    states = []
    handle = SimpleNamespace(update=states.append)
    shown = SimpleNamespace(HTML=str, display=lambda html, display_id: handle)
    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    with default_bars() as show:
        show(ProgressEvent(stage="<script>alert(1)</script>", text="<b>"))
    assert "<script" not in states[-1]
    assert "&lt;b&gt;" in states[-1]
