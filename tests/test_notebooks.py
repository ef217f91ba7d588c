"""The notebooks of examples run from top to bottom and print what they show.

``JUDGESMITH_RECORD=1`` writes what they print into them.
"""

import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.ipynb"))
LARGEST = 20_000


def printed(cell, names):
    """Run a cell and return what it prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("place", NOTEBOOKS, ids=lambda place: place.stem)
def test_a_notebook_prints_what_it_shows(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(place.read_text(encoding="utf-8"))
    names = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown = ["".join("".join(out["text"]) for out in cell["outputs"]) for cell in cells]
    found = [printed(cell, names) for cell in cells]
    if os.environ.get("JUDGESMITH_RECORD"):
        for number, (cell, text) in enumerate(zip(cells, found, strict=True), 1):
            stream = {
                "name": "stdout",
                "output_type": "stream",
                "text": text.splitlines(keepends=True),
            }
            cell["execution_count"], cell["outputs"] = number, [stream] if text else []
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        place.write_text(text, encoding="utf-8")
        shown = found
    assert found == shown
    assert any(found)
    assert place.stat().st_size < LARGEST


def test_there_are_four_notebooks():
    names = ["own_program", "quick_start", "reading_a_report", "results"]
    assert [place.stem for place in NOTEBOOKS] == names


@pytest.mark.notebooks
@pytest.mark.filterwarnings("ignore")
def test_a_kernel_shows_progress_and_pictures(tmp_path, monkeypatch):
    client = pytest.importorskip("nbclient")
    monkeypatch.delenv("JUDGESMITH_PROGRESS", raising=False)
    notebook = pytest.importorskip("nbformat").read(NOTEBOOKS[-1], as_version=4)
    client.NotebookClient(notebook, timeout=300).execute(cwd=str(tmp_path))
    shown = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    pages = "".join(out.get("data", {}).get("text/html", "") for out in shown)
    assert "<progress" in pages
    assert pages.count("<svg") == 2
    assert {out["output_type"] for out in shown} <= {"display_data", "execute_result", "stream"}
    assert len(json.dumps(shown)) < LARGEST
