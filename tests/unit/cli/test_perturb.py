"""``perturb``: changed versions of texts, on file."""

import json

import pytest

from judgesmith.data import read_items
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.programs.perturbing import CONTROLS, TASKS
from judgesmith.signatures.perturbation import Edit, edited

SENTENCES = (
    "The old bridge in Rome was opened by Ada Lovell in 1919.",
    "It has carried three trains a day since then.",
    "People who live nearby said that everyone likes it.",
    "The city wants to build another one.",
)


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def articles(folder):
    """Eight sources with two references and two rated responses each."""
    path = folder / "articles.jsonl"
    written = [
        {
            "source_id": f"s{n}",
            "system_id": system,
            "source": f"A report on bridge {n}. " * 5,
            "response": f"Bridge {n} was opened by {system}.",
            "references": [f"Number {n} is open.", " ".join((f"Number {n} is it.", *SENTENCES))],
            "human": {"overall": [4]},
            "scale": {"overall": [1, 5]},
            "task": "summarization",
            "lang": system,
        }
        for n in range(8)
        for system in ("a", "b")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in written), encoding="utf-8")
    return path


def test_versions_stand_below_their_originals_and_are_read_back(run, folder, articles):
    done = run("perturb", articles, "-o", "out.jsonl")
    assert done.status == 0, done.err
    assert "task: summarization; seed 0" in done.out
    assert "note: The offline model knows no language" in done.out
    found = rows(folder / "out.jsonl")
    original, first = found[:2]
    assert (original["perturbation"], original["level"]) == (None, "none")
    assert original["response"].startswith("Number 0 is it. The old")
    assert original["references"] == ["Number 0 is open."]
    assert (original["system_id"], original["human"]) == ("reference", {})
    assert "lang" not in original
    assert original["task"] == "summarization"
    assert first["system_id"] == "reference+character_deletions/minor"
    told = [first[name] for name in ("perturbation", "level", "degree", "method", "lowers")]
    assert told == ["character_deletions", "character", "minor", "rule", True]
    for row in found:
        if row["perturbation"] and row["source_id"] == "s0":
            edits = [Edit(start=start, end=end, text=text) for start, end, text in row["edits"]]
            assert edited(original["response"], edits) == row["response"] != original["response"]
    read = get_perturbed(read_items(folder / "out.jsonl"))
    assert len(read.originals) == 8
    names = [kind.name for kind in read.kinds]
    assert names[: len(TASKS["summarization"])] == list(TASKS["summarization"])
    assert [kind.name for kind in read.kinds if not kind.lowers] == [way.name for way in CONTROLS]


def test_the_same_texts_and_seed_give_the_same_bytes(run, folder, articles):
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        assert run("perturb", articles, "-o", f"{name}.jsonl", "--seed", seed).status == 0
    one, two, three = ((folder / f"{name}.jsonl").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


def test_a_sample_has_the_versions_of_the_whole(run, folder, articles):
    assert run("perturb", articles, "-o", "all.jsonl", "--kinds", "all").status == 0
    assert run("perturb", articles, "-o", "some.jsonl", "--kinds", "all", "--sample", 3).status == 0
    whole = (folder / "all.jsonl").read_text(encoding="utf-8").splitlines()
    some = (folder / "some.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["source_id"] for line in some}) == 3
    assert set(some) < set(whole)


def test_responses_are_changed_with_their_ratings_kept_on_the_originals(run, folder, articles):
    options = ["--originals", "responses", "--kinds", "character_typos", "--amount"]
    done = run("perturb", articles, "-o", "out.jsonl", *options, "character_typos=3", "--json")
    assert done.status == 0, done.err
    assert done.json["texts"] == "responses"
    assert done.json["originals"] == 16
    assert done.json["kinds"]["character_typos/major"]["versions"] == 16
    found = rows(folder / "out.jsonl")
    assert {row["system_id"] for row in found if row["perturbation"] is None} == {"a", "b"}
    assert all(bool(row["human"]) is (row["perturbation"] is None) for row in found)
    assert all(len(row["edits"]) == 3 for row in found if row["perturbation"])


def test_what_is_skipped_and_left_out_is_counted(run, folder, articles):
    options = ["--kinds", "wrong_ending,repetition", "--min-chars", "0", "--json"]
    done = run("perturb", articles, "-o", "out.jsonl", *options)
    assert done.json["kinds"]["wrong_ending"]["skipped"] == {"the row has no field wrong_ending": 8}
    assert done.json["versions"] == 8
    first = rows(folder / "out.jsonl")[0]
    assert first["skipped"] == {"wrong_ending": "the row has no field wrong_ending"}
    short = run("perturb", articles, "-o", "two.jsonl", "--task", "translation", "--json")
    assert short.status == 2
    told = run("perturb", articles, "-o", "two.jsonl", "--task", "translation", "--min-chars", 30)
    assert told.status == 0, told.err
    assert "task: translation" in told.out


def test_versions_are_not_changed_again(run, folder, articles):
    assert run("perturb", articles, "-o", "one.jsonl", "--kinds", "repetition").status == 0
    done = run("perturb", "one.jsonl", "-o", "two.jsonl", "--kinds", "case_loss", "--json")
    assert done.status == 0, done.err
    assert done.json["left_out"] == {"a changed version already": 8}
    assert "note: left out: 8 × a changed version already." in done.err
    assert {row["perturbation"] for row in rows(folder / "two.jsonl")} == {None, "case_loss"}


def test_nothing_is_asked_offline_and_a_dry_run_writes_nothing(run, folder, articles):
    done = run("perturb", articles, "-o", "out.jsonl", "--dry-run", "--json")
    assert done.status == 0, done.err
    assert (done.json["calls"], done.json["max_calls"]) == (0, 0)
    assert not (folder / "out.jsonl").exists()
    plain = run("perturb", articles, "-o", "out.jsonl", "--dry-run")
    assert plain.out.startswith("0 calls, 0 at most, for 0 versions")


def test_what_discern_makes_of_it(run, articles, judge):
    assert run("perturb", articles, "-o", "out.jsonl").status == 0
    done = run("discern", judge, "out.jsonl", "--json")
    assert done.status == 0, done.err
    assert done.json["originals"] == 8
