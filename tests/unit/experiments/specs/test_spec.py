"""The fingerprint of a specification, where its files are, and what entries take from others."""

import json
from pathlib import Path

import pytest

from judgesmith.data.samples import sample_path
from judgesmith.experiments.specs import SpecError, read_sets, read_spec, spec_of

TEXT = """
name: one
data: {answers: {path: rows.jsonl, targets: [overall]}}
judges:
  fine: {variant: fine, without: [task]}
  coarse: {from: fine, variant: coarse}
  usual: {from: coarse, variant: null}
models: {offline: {concurrency: 4}}
budget: {calls: 5}
"""


@pytest.fixture
def study(tmp_path):
    """A folder with a specification and its data."""
    rows = sample_path().read_text(encoding="utf-8").splitlines()[:6]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_an_entry_takes_anothers_settings_and_null_takes_none(study):
    judges = read_spec(study / "spec.yaml").judges
    assert judges["coarse"].without == ("task",)
    assert judges["coarse"].variant == "coarse"
    assert judges["usual"].variant == "fine"
    assert "variant" not in judges["usual"].said


@pytest.mark.parametrize(
    "change",
    [("name: one", "name: two"), ("calls: 5", "calls: 50"), ("concurrency: 4", "concurrency: 8")],
)
def test_title_budget_and_speed_decide_nothing(study, change):
    folder = str(study)
    assert spec_of(TEXT.replace(*change), folder=folder).fingerprint == (
        spec_of(TEXT, folder=folder).fingerprint
    )


@pytest.mark.parametrize(
    "change",
    [
        ("variant: coarse", "variant: vanilla"),
        ("[overall]", "[fluency]"),
        ("budget:", "seeds: [1]\nbudget:"),
        ("concurrency: 4", "model: openai/m"),
        ("coarse: {", "rough: {"),
    ],
)
def test_everything_else_changes_the_fingerprint(study, change):
    folder, text = str(study), TEXT.replace(*change).replace("from: coarse, ", "")
    before = TEXT.replace("from: coarse, ", "")
    assert spec_of(text, folder=folder).fingerprint != spec_of(before, folder=folder).fingerprint


def test_the_fingerprint_is_of_what_files_hold_wherever_they_are(
    study, tmp_path_factory, monkeypatch
):
    first = read_spec(study / "spec.yaml").fingerprint
    data = tmp_path_factory.mktemp("data")
    (study / "rows.jsonl").rename(data / "rows.jsonl")
    for refused in (read_sets, lambda spec: spec.fingerprint):
        with pytest.raises(SpecError, match=r":3: data\.answers\.path: there is no file 'rows"):
            refused(read_spec(study / "spec.yaml"))
    monkeypatch.setenv("JUDGESMITH_DATA", str(data))
    found = read_spec(study / "spec.yaml")
    assert found.fingerprint == first
    assert len(read_sets(found)["answers"]) == 6
    with (data / "rows.jsonl").open("a") as rows:
        rows.write("\n")
    assert found.fingerprint != first


def test_data_that_cannot_be_read_are_named_with_their_line(study):
    (study / "rows.jsonl").write_text(
        '{"response": 1, "overall": "x"}\n{"response": 2, "overall": "y"}\n'
    )
    with pytest.raises(
        SpecError, match=r"spec\.yaml:3: data\.answers: rows\.jsonl:1: .* more: see"
    ):
        read_sets(read_spec(study / "spec.yaml"))


def test_kinds_of_change_are_looked_for_in_the_data(study):
    text = TEXT.replace("[overall]", "[overall], kinds: [reorderin]") + "objective: d_min\n"
    spec = spec_of(text, folder=str(study))
    with pytest.raises(SpecError, match=r"data\.answers\.kinds: .*reorderin"):
        read_sets(spec)
    with pytest.raises(SpecError, match="at which no objective looks"):
        spec_of(text.replace("d_min", "q"), folder=str(study))


def test_one_recorded_judge_needs_no_name(study):
    row = {"source_id": "1", "criterion": "overall", "judge": "gpt", "scores": [1]}
    (study / "scores.jsonl").write_text(json.dumps(row))
    spec = spec_of(
        f"{TEXT}\n".replace("{variant: fine, without: [task]}", "{recorded: scores.jsonl}").replace(
            "from: fine, ", ""
        ),
        folder=str(study),
    )
    assert set(read_sets(spec)) == {"answers"}
    assert list(spec.files) == ["rows.jsonl", "scores.jsonl"]


def test_a_file_without_scores_is_no_judge_on_record(study):
    text = TEXT.replace("  usual:", "  theirs: {recorded: rows.jsonl}\n  usual:")
    spec = spec_of(text, folder=str(study))
    with pytest.raises(
        SpecError, match=r"judges\.theirs\.recorded: expected rows with score"
    ) as told:
        read_sets(spec)
    assert len(told.value.problems) == 1


@pytest.mark.data
def test_the_example_of_the_page_names_what_there_is(data_folder, monkeypatch):
    monkeypatch.setenv("JUDGESMITH_DATA", str(data_folder))
    page = Path(__file__).parents[4] / "docs" / "how-to" / "experiments.md"
    text = page.read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    assert set(read_sets(spec_of(text))) == {"topical"}
