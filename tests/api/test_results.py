"""What every result shows of itself: a line, a report, a notebook's picture, a table, plots."""

import subprocess
import sys

import pytest
from tags import Tags

import judgesmith
from judgesmith import experiments as e

HOSTILE = "<script>alert('x')</script>\n\x1b[2J" + "long " * 400
MOST = 2000


@pytest.fixture(scope="module")
def data():
    return judgesmith.read("sample").subset(range(80))


@pytest.fixture(scope="module")
def results(data):
    critic = judgesmith.ActiveCritic(variant="vanilla")
    compiled = judgesmith.compile(data, judgesmith.CompileSettings(n_rounds=2))
    none = judgesmith.CompileSettings(optimizer="none", protocol=critic.protocol)
    other = judgesmith.compile(data, none)
    evaluation = judgesmith.evaluate(critic, data)
    labelled = judgesmith.evaluate(critic, judgesmith.read("sample-verdicts"))
    changes = e.PerturbationConfig(kinds=("character_typos", "case_loss"))
    versions = e.perturb_texts(data.items[:12], changes, name="answers")
    scores = e.score_perturbed(critic, versions)
    pool = [one.model_copy(update={"human": {}}) for one in data]
    pool = judgesmith.DataSet(name="pool", items=tuple(pool))
    return {
        "compiled": compiled,
        "evaluation": evaluation,
        "labels": labelled.labels,
        "labelled": labelled,
        "comparison": judgesmith.compare(critic, judgesmith.ActiveCritic(), data),
        "description": e.describe(data, seed=0),
        "inferred": judgesmith.infer(data),
        "data": data,
        "rows": evaluation.rows,
        "estimate": evaluation.unseen["dataset"]["pearson"],
        "diagnostics": evaluation.besides.length,
        "panel": e.learn_panel({"a": compiled.saved, "b": other.saved}, judgesmith.read("sample")),
        "perturbed": versions,
        "discerned": e.discern(scores, versions, seed=0, n_resamples=100),
        "recheck": e.recheck_judge(compiled.saved),
        "suggested": e.suggest(compiled.saved, pool, n=4, n_random=2),
        "ablation": e.ablation(
            data, judgesmith.CompileSettings(holdout=0.5, n_rounds=1), rows=["coarse"]
        ),
    }


def test_lists_and_arrays_are_one_line_too(results, data):
    scored = judgesmith.score_batch(judgesmith.ActiveCritic(), data.items[:12])
    assert repr(scored) == "Judgements(12 rows, 12 with a score)"
    assert repr(results["compiled"].targets) == "Targets(overall, 1..5, 80 of 80 rated)"
    assert "<script" not in scored._repr_html_()
    assert list(type(scored)().to_pandas()) == list(scored.to_pandas())


NAMES = ("compiled", "evaluation", "labels", "labelled", "comparison", "description", "inferred")
NAMES += ("data", "rows", "estimate", "diagnostics", "panel")
NAMES += ("perturbed", "discerned", "recheck", "suggested", "ablation")


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_one_line_a_report_a_table_and_a_small_page(results, name):
    found = results[name]
    line = repr(found)
    assert line.startswith(type(found).__name__)
    assert line.isprintable()
    assert len(line) <= 300
    page = found._repr_html_()
    assert len(page.encode()) <= MOST
    assert {"div", "b", "table"} <= Tags(page).seen
    assert ("svg" in Tags(page).seen) == bool(found.charts())
    frame = found.to_pandas()
    assert len(frame)
    assert len(frame.columns) > 1


def test_a_judges_card_is_one_page_and_that_of_its_folder(results, tmp_path):
    page = results["compiled"].to_html()
    assert e.card_html(results["compiled"].save(tmp_path / "judge")) == page
    assert all(f"<{tag}" in page for tag in ("table", "figure", "svg"))
    assert "How far to trust it" in page


def test_the_line_is_the_answer_of_the_report(results):
    printed = " ".join(str(results["compiled"]).split())
    line = repr(results["compiled"]).removeprefix("CompileResult(").removesuffix(")")
    assert line in printed
    assert "human ratings on 24 test rows" in line
    assert "Agreement on test rows" in printed
    assert line in results["compiled"]._repr_html_()


def test_the_table_has_every_estimate_with_its_interval(results):
    frame = results["evaluation"].to_pandas().set_index("name")
    known = results["evaluation"].unseen["dataset"]["pearson"]
    row = frame.loc["unseen.dataset.pearson"]
    assert (row["value"], row["low"], row["high"]) == (known.value, known.low, known.high)
    assert frame.loc["unseen.dataset.pearson", "n"] == 80


@pytest.mark.parametrize("name", ["compiled", "evaluation", "comparison", "data"])
def test_no_part_of_a_result_is_shown_on_more_than_two_thousand_characters(results, name):
    for found in (results[name], getattr(results[name], "saved", None)):
        names = getattr(type(found), "model_fields", None) or vars(found or type("", (), {})())
        long = [one for one in names if len(repr(getattr(found, one))) > MOST]
        assert long == []


def test_values_and_judges_have_short_lines_too(results, data):
    saved = results["compiled"].saved
    several = [saved, saved.program(), data[0], judgesmith.CompileSettings(), saved.protocol]
    several += judgesmith.score_batch(judgesmith.ActiveCritic(), data.items[:1])
    for one in several:
        assert len(repr(one)) <= 300
        assert repr(one).startswith(type(one).__name__)


def test_texts_of_others_are_escaped_and_cut(data):
    rows = [one.model_copy(update={"response": HOSTILE, "source_id": HOSTILE}) for one in data]
    found = type(data)(name=HOSTILE, items=tuple(rows))
    page = found._repr_html_()
    assert Tags(page).seen.isdisjoint({"script"})
    assert "\x1b" not in page
    assert len(page.encode()) <= MOST
    assert len(repr(found)) <= 300
    assert repr(found).isprintable()


def test_each_result_says_which_plots_it_has(results):
    charts = {name: list(found.charts()) for name, found in results.items()}
    assert charts["compiled"] == ["forest", "scatter", "reliability", "history"]
    assert charts["labelled"] == ["forest", "scatter", "reliability", "confusion"]
    scored = results["compiled"].charts()["scatter"]().points
    assert len(scored) == len(results["compiled"].heldout_judgements)
    with pytest.raises(judgesmith.InputError, match="forest, scatter, reliability, history; got"):
        results["compiled"].plot("pie")


def test_a_search_of_two_objectives_has_its_pareto_chart(data):
    settings = judgesmith.CompileSettings(
        optimizer="protocol", n_trials=2, objective="q, -calls", holdout=0.2
    )
    found = judgesmith.compile(data.subset(range(40)), settings)
    chart = found.charts()["pareto"]()
    assert len(chart.points) > 1
    assert (chart.x_label, chart.y_label) == tuple(found.saved.history[0]["values"])


def test_without_matplotlib_its_extra_is_named(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(judgesmith.MissingExtraError, match=r"judgesmith\[plot\]"):
        results["evaluation"].plot()


@pytest.mark.no_cover
def test_the_doors_stay_light():
    program = (
        "import judgesmith.results.base, sys; print({'pandas', 'numpy', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
