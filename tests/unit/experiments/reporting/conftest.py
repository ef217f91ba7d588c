"""A run whose every text would do harm in a page that is made carelessly."""

import json

import pytest

from judgesmith.data.samples import sample_path
from judgesmith.experiments.report import read_run, texts_of, write_report
from judgesmith.experiments.runs import RunFolder, run_cells
from judgesmith.experiments.runs.leaderboard import leaderboard
from judgesmith.experiments.specs import read_spec

HARM = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u202e\x00&amp;"
SPEC = """
name: "</title></script><script>alert(1)</script>"
data:
  answers: {path: rated.jsonl, targets: [overall]}
judges:
  plain: {judge: direct}
  spans: {judge: annotator}
  theirs: {recorded: theirs.jsonl, name: them}
optimizers: {none: {}}
holdout: 0.5
perspectives: [global, local]
"""


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """The folder of a specification, of what it names, and of its run."""
    place = tmp_path_factory.mktemp("reported")
    rows = [json.loads(one) for one in sample_path().read_text("utf-8").splitlines()[:48]]
    for number, row in enumerate(rows):
        row["response"] += f" {HARM} {number}"
        row["system_id"] += HARM
    scored = [
        {
            "source_id": row["source_id"],
            "system_id": row["system_id"],
            "criterion": "overall",
            "judge": "them",
            "scores": [] if number % 5 == 0 else [number % 4 + 1],
            "explanation": HARM,
        }
        for number, row in enumerate(rows)
    ]
    for name, lines in (("rated.jsonl", rows), ("theirs.jsonl", scored)):
        (place / name).write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    (place / "spec.yaml").write_text(SPEC, "utf-8")
    spec = read_spec(place / "spec.yaml")
    folder = RunFolder.of_spec(place / "run", spec, text=SPEC)
    assert run_cells(spec, folder).complete
    leaderboard(spec, folder).write(folder)
    return place


@pytest.fixture(scope="session")
def reported(study):
    """The run as it is read."""
    return read_run(study / "run")


@pytest.fixture(scope="session")
def sets(study):
    """Its texts."""
    found, why = texts_of(study / "spec.yaml")
    assert why == ""
    return found


@pytest.fixture(scope="session")
def page(study, reported, sets):
    """The file of its report."""
    place = study / "report.html"
    write_report(place, reported, sets)
    return place
