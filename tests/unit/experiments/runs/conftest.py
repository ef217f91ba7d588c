"""A small specification on the bundled sample, and its run."""

import pytest

from judgesmith.experiments.runs import RunFolder, run_cells
from judgesmith.experiments.specs import spec_of

SMALL = """
name: small
data:
  answers: {path: rated.jsonl, targets: [overall]}
judges:
  plain: {judge: direct}
  coarse: {variant: coarse}
  theirs: {recorded: theirs.jsonl, name: them}
  both: {panel: [plain, coarse]}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """The folder of a specification and of what it names."""
    import json

    from judgesmith.data.samples import sample_path

    place = tmp_path_factory.mktemp("study")
    rows = sample_path().read_text(encoding="utf-8").splitlines()[:48]
    (place / "rated.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    told = [json.loads(row) for row in rows]
    scored = [
        {
            "source_id": row["source_id"],
            "system_id": row["system_id"],
            "criterion": "overall",
            "judge": "them",
            "scores": [] if place % 5 == 0 else [place % 4 + 1],
        }
        for place, row in enumerate(told)
    ]
    text = "".join(json.dumps(row) + "\n" for row in scored)
    (place / "theirs.jsonl").write_text(text, encoding="utf-8")
    return place


@pytest.fixture(scope="session")
def spec(study):
    """A judge in each way there is to make one."""
    return spec_of(SMALL, folder=str(study))


@pytest.fixture(scope="session")
def done(spec, tmp_path_factory):
    """The folder of its run, which no test changes."""
    folder = RunFolder.of_spec(tmp_path_factory.mktemp("runs") / "run", spec, text=SMALL)
    assert run_cells(spec, folder).complete
    return folder
