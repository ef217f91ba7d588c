"""``data``: public data sets into rated texts."""

import json

import pytest

LINE = {
    "article": "It rained.",
    "summary_sentences": [
        {
            "sentence": "Rain.",
            "responses": [
                {"worker_id": n, "response": said} for n, said in enumerate(("yes", "no"))
            ],
        }
    ],
}


@pytest.fixture
def lines(folder):
    path = folder / "mturk_xsum.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE) + "\n", encoding="utf-8")
    return path


def test_what_is_converted_can_be_checked(run, folder, lines):
    done = run("data", "convert", "qags_xsum", lines, "-o", "rated.jsonl")
    assert (done.status, done.err) == (0, "")
    assert "qags-xsum: 2 texts about 2 sources by 1 system in rated.jsonl" in done.out
    assert run("check", "rated.jsonl").status == 0
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_a_file_named_as_that_of_another_set_is_refused(run, folder, lines):
    done = run("data", "convert", "qags-cnndm", lines, "-o", "rated.jsonl")
    assert done.status == 2
    assert "mturk_xsum.jsonl is a file of qags-xsum" in done.err
    assert not (folder / "rated.jsonl").exists()
    lines.rename(folder / "mine.jsonl")
    assert run("data", "convert", "qags-cnndm", "mine.jsonl", "-o", "rated.jsonl").status == 0


def test_rows_are_not_packed_and_the_refusal_says_so(run, folder, lines):
    done = run("data", "convert", "qags-xsum", lines, "-o", "rated.jsonl.gz")
    assert done.status == 2
    assert "rows are written unpacked" in done.err
    assert "name rated.jsonl" in done.err
    assert not (folder / "rated.jsonl.gz").exists()


def test_json_has_every_count(run, lines):
    done = run("data", "convert", "qags-xsum", lines, "-o", "rated.jsonl", "--json")
    assert done.json == {
        "output": "rated.jsonl",
        "name": "qags-xsum",
        "rows": 2,
        "sources": 2,
        "systems": 1,
        "ratings": {"consistency": 4},
        "left_out": {},
        "changed": {},
    }


def test_what_was_left_out_and_changed_is_said(run, folder):
    header = "dataset,system,mr,sys_ref,informativeness,naturalness,quality\n"
    (folder / "medians.csv").write_text(header + "BAGEL,A,x,y,1,1,1\nSFRES,A,x,y,1,1,1\n", "utf-8")
    done = run("data", "convert", "sfres", "medians.csv", "-o", "rated.jsonl")
    assert "left out: rows of another data set (BAGEL): 1\n" in done.out
    annotated = {
        "id": "a",
        "model_id": "M1",
        "decoded": "x",
        "references": [],
        "expert_annotations": [
            dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), 1)
        ],
    }
    (folder / "annotations.jsonl").write_text(json.dumps(annotated), "utf-8")
    done = run("data", "convert", "summeval", "annotations.jsonl", "-o", "other.jsonl")
    assert "note: rows without their article: source is empty" in done.out


def test_a_file_that_is_there_is_kept_unless_forced(run, folder, lines):
    (folder / "rated.jsonl").write_text("mine", "utf-8")
    assert run("data", "convert", "qags-xsum", lines, "-o", "rated.jsonl").status == 2
    assert (folder / "rated.jsonl").read_text("utf-8") == "mine"
    done = run("data", "convert", "qags-xsum", lines, "-o", "rated.jsonl", "--force")
    assert done.status == 0
    assert (folder / "rated.jsonl").read_text("utf-8").count("\n") == 2


def test_the_list_has_names_files_and_homes(run):
    done = run("data", "list")
    assert done.status == 0
    assert "qags-xsum" in done.out
    assert "wiki-da: simplicity_DA_ratings.csv" in done.out
    found = run("data", "list", "--json").json["sets"]
    assert {"name", "task", "files", "home"} == set(found[0])
