import pytest

SPEC = """
name: two
data: {answers: {path: data.jsonl, targets: [overall]}}
judges: {plain: {judge: direct}, again: {from: plain}}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture
def ran(run, folder, data):
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    assert run("experiment", "spec.yaml", "-o", "run").status == 0
    return "run"


def test_a_run_becomes_a_page(run, ran, folder, monkeypatch):
    done = run("report", ran, "--spec", "spec.yaml", "--no-figures")
    assert (done.status, done.err) == (0, "")
    assert done.out == "2 cells and 40 rows in report.html\n"
    page = (folder / "report.html").read_text("utf-8")
    assert "What it answers" in page
    refused = run("report", ran)
    assert refused.status == 2
    assert "report.html is there already" in refused.err
    done = run("report", ran, "--force", "--no-figures", "--json")
    assert done.status == 0
    assert (done.json["cells"], done.json["rows"], done.json["rows_in_all"]) == (2, 40, 40)
    assert done.json["bytes"] == (folder / "report.html").stat().st_size
    # The specification in RUN names the file where it is not.
    assert done.json["notes"][0].startswith("texts are not shown: ")
    assert "give --spec" in done.json["notes"][1]
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    refused = run("report", ran, "-o", "drawn.html")
    assert refused.status == 2
    assert "pip install 'judgesmith[report]'" in refused.err
    assert "--no-figures" in refused.err
    assert not (folder / "drawn.html").exists()
