import json

import pytest


@pytest.fixture
def built(folder, sample_rows):
    """A benchmark of sequences that lose words, as it stands on disk."""
    rows = []
    for place, row in enumerate(sample_rows[::4]):
        words = row["source"].split()[:20]
        for step in range(3):
            rows.append(
                {
                    "source_id": f"s{place}",
                    "system_id": f"faithfulness-{step}",
                    "source": row["source"],
                    "context": None,
                    "response": f"{place}: {' '.join(words[: 20 - 6 * step])}",
                    "references": [],
                    "human": {"faithfulness": [2 - step]},
                    "scale": {"faithfulness": [0, 2]},
                    "provenance": {
                        "perspective": "local",
                        "n_errors": step,
                        "built_by": {"injector": "offline"},
                    },
                }
            )
    path = folder / "built.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_judge_on_a_benchmark_is_seen_from_both_sides(run, judge, built):
    wide = run("evaluate", judge.name, built.name, "--perspective", "global")
    assert "Linear-weighted kappa: 10 sources, 95% intervals over sources" in wide.out
    assert "faithfulness: what the judge gave, texts and shares" in wide.out
    assert "faithfulness: 30 rated by how they were made" in wide.out
    near = run("evaluate", judge.name, built.name, "--perspective", "local")
    assert "Pairs by how many errors more one text has" in near.out
    assert "I(1)" in near.out
    for done in (wide, near):
        assert done.status == 0
        assert "note: offline judges texts that it built itself (injector)" in done.out
        assert max(map(len, done.out.split("note:")[0].splitlines())) <= 80


def test_json_holds_one_object_and_notes_go_beside_it(run, judge, built):
    done = run("evaluate", judge, built, "--perspective", "local", "--samples", 2, "--json")
    found = done.json["criteria"]["faithfulness"]
    assert (done.json["perspective"], found["samples"]) == ("local", [2, 2])
    assert found["errors_apart"]["1"]["n"] == found["accuracy"]["n"] == 20
    assert found["by_errors"]["errors"] == [0, 1, 2]
    assert "built itself" in done.err
    wide = run("evaluate", judge, built, "--perspective", "global", "--json").json
    assert wide["criteria"]["faithfulness"]["confusion"]["levels"] == [0, 1, 2]
    assert wide["mean"]["value"] == wide["criteria"]["faithfulness"]["kappa"]["value"]


def test_scores_on_file_are_seen_from_both_sides(run, data, sample_rows, folder):
    rows = [
        {name: row[name] for name in ("source_id", "system_id")}
        | {"criterion": name, "judge": "j", "scores": [row["human"][name][0]] * 3}
        for row in sample_rows
        for name in ("fluency", "overall")
    ]
    (folder / "j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    glob = ["evaluate", "j.jsonl", data, "--perspective", "global", "--json"]
    refused = run(*glob)
    assert refused.status == 2
    assert "Say what its answers are points of with --answers" in str(refused.fault)
    wide = run(*glob, "--answers", "1..5").json
    assert list(wide["criteria"]) == ["overall", "fluency"]
    assert wide["mean"]["value"] == pytest.approx(1)
    one = run("evaluate", "j.jsonl:j", data, "--perspective", "local", "--target", "fluency")
    assert "fluency" in one.out
    assert "overall" not in one.out
    crossed = ["--criterion", "fluency", "--target", "overall"]
    other = run("evaluate", "j.jsonl", data, "--perspective", "local", *crossed, "--json").json
    assert list(other["criteria"]) == ["overall"]
    assert other["mean"]["value"] < 1


def test_other_aggregations_keep_disputed_texts(run, judge, data):
    call = ["evaluate", judge, data, "--perspective", "global", "--target", "overall", "--json"]
    undisputed = run(*call).json["criteria"]["overall"]
    every = run(*call, "--aggregate", "mode").json["criteria"]["overall"]
    assert undisputed["kappa"]["n"] < every["kappa"]["n"] == 12
    assert every["kept"] is None
    assert undisputed["kept"]["n_too_few"] == 0


@pytest.fixture
def comparer(folder, run, data):
    """A judge that compares."""
    wanted = ["--judge", "pairs", "--optimizer", "none", "--criteria", "human", "--holdout", "0"]
    assert run("compile", data, "-o", "comparer", *wanted, "--target", "faithfulness").status == 0
    return folder / "comparer"


def test_a_judge_that_compares_is_asked_which_text_has_fewer_errors(run, comparer, built, data):
    call = ["evaluate", comparer.name, built.name, "--perspective", "local", "--samples", 2]
    done = run(*call)
    assert "comparer on built: local perspective, two texts compared directly" in done.out
    assert "2 answers in each order" in done.out
    found = run(*call, "--json").json["compared"]["faithfulness"]
    assert {k: one["n"] for k, one in found["errors_apart"].items()} == {"1": 20, "2": 10}
    assert (found["pairs"], found["samples"]) == (30, 2)
    assert found["order"]["consistent"]["n"] == 30
    ranked = run("evaluate", comparer, data, "--perspective", "local", "--json").json
    assert list(ranked["criteria"]) == ["faithfulness"]
    for asked in (["global"], ["local", "--samples", "2"], ["local", "--answers", "1..5"]):
        refused = run("evaluate", comparer, data, "--perspective", *asked, "--json")
        assert (refused.status, "compares" in refused.fault["error"]) == (2, True)
