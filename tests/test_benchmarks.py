"""Every benchmark runs, in a moment, and the guides show what their results say."""

import ast
import json
import re
from itertools import groupby

import pytest
from looping import for_each

from benchmarks.__main__ import MARK, known, main, with_tables
from benchmarks.harness import RESULTS, ROOT, NotRun, lines, write_result

pytestmark = pytest.mark.no_cover

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NUMBER = int | float | None


def names():
    """Return the names of all benchmarks, from their source."""
    found = []
    for path in sorted((ROOT / "benchmarks").glob("*/*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            decorated = [ast.unparse(one) for one in getattr(node, "decorator_list", [])]
            found += [node.name for one in decorated if one.startswith("benchmark(")]
    return found


def is_cell(cell):
    if isinstance(cell, list):
        return len(cell) == 3 and all(isinstance(one, NUMBER) for one in cell)
    return isinstance(cell, str | NUMBER)


def check(document):
    """Hold that a file of results is what the harness writes."""
    assert list(document) == ["benchmark", "commit", "machine", "arguments", "rows"]
    assert re.fullmatch(r"[0-9a-f]{12}(, changed)?", document["commit"])
    assert re.fullmatch(r"\d+ cores, \w+, Python 3\.\d+", document["machine"])
    assert document["rows"]
    for row in document["rows"]:
        assert row
        assert all(is_cell(cell) for cell in row.values()), row


@pytest.mark.parametrize("name", names())
def test_it_runs_in_a_moment_and_its_rows_are_kept(name, tmp_path, monkeypatch):
    one = known()[name]
    if isinstance(one.quick, str):
        pytest.skip(f"not run: {one.quick}")
    settings = vars(one.parser().parse_args([])) | one.quick
    monkeypatch.chdir(ROOT)
    try:
        rows = list(one.run(settings))
    except NotRun as reason:
        pytest.skip(f"not run: {reason}")
    place = write_result(one, settings, rows, tmp_path)
    document = json.loads(place.read_text(encoding="utf-8"))
    check(document)
    assert document["rows"] == json.loads(json.dumps(rows))
    n_tables = sum(1 for _ in groupby(rows, key=tuple))
    assert len(list(lines(rows, one.formats))) == len(rows) + 3 * n_tables - 1
    assert not any(row.get("held") is False for row in rows), rows


def test_a_name_is_that_of_one_benchmark():
    assert sorted(names()) == sorted(known())


@for_each("place", sorted(RESULTS.glob("*.json")))
def test_results_are_what_a_benchmark_wrote(place):
    document = json.loads(place.read_text(encoding="utf-8"))
    check(document)
    assert document["benchmark"] == place.stem
    options = vars(known()[place.stem].parser().parse_args([]))
    assert list(document["arguments"]) == list(options)


@for_each("page", PAGES)
def test_a_page_shows_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- benchmark: ") == len(MARK.findall(text))
    if "<!-- benchmark: " in text:
        assert text == with_tables(text, known()), "python -m benchmarks docs"


def test_the_command_line_lists_and_refuses(capsys):
    assert main(["list"]) == 0
    assert re.search(r"\n  growth +Whether time grows as it should", capsys.readouterr().out)
    assert main(["run", "faster"]) == 2
    assert main(["run", "growth", "rechecking", "--", "--runs", "2"]) == 2


def test_a_benchmark_is_run_with_its_own_settings(capsys, tmp_path):
    run = ["run", "rechecking", "--quick", "-o", str(tmp_path), "--", "--items", "5"]
    assert main(run) == 0
    assert "| noise | none |" in capsys.readouterr().out
    found = json.loads((tmp_path / "rechecking.json").read_text(encoding="utf-8"))
    assert found["arguments"] == {"runs": 2, "items": 5, "samples": 3}
