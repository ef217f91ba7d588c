"""A whole compilation, and scoring after it, over HTTP with a model that answers messily."""

import json

import chatty
import pytest

from judgesmith.programs.artifacts.saved import SavedJudge

pytestmark = pytest.mark.no_cover

KINDS = {
    "fine": [],
    "separate": ["--criteria-calls", "separate"],
    "mean": ["--without", "os"],
    "coarse": ["--variant", "coarse"],
    "vanilla": ["--variant", "vanilla"],
}
N_SOURCES = 14


def rated_rows():
    return [
        {
            "source_id": f"s{source}",
            "system_id": f"m{system}",
            "source": f"Article {source} is about the number {source}.",
            "response": f"Summary {source}-{system} of quality {17 * (source + 3 * system) % 101}.",
            "human": {"overall": [1 + 4 * (17 * (source + 3 * system) % 101) / 100]},
            "scale": {"overall": [1, 5]},
        }
        for source in range(N_SOURCES)
        for system in range(4)
    ]


def unrated_rows():
    return [
        {"source": f"Article {n}.", "response": f"Fresh summary {n} of quality {n + 20}."}
        for n in range(40)
    ]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_every_row_is_accounted_for_and_no_question_is_asked_three_times(
    options, run, server, folder
):
    server.script({"chatty": True})
    data = written(folder / "rated.jsonl", rated_rows())
    ask = ["--model", "openai/m", "--api-base", server.url, "--max-unscored", "1", "--json"]
    left_out = ["--without", "weights"] if "--without" not in options else []
    options = [one if one != "os" else "os,weights" for one in options] + left_out
    command = ["compile", data, "-o", "judge", *options, "--rounds", "4", *ask]
    done = run(*command)
    assert done.status == 0, done.err
    counts = server.counts()
    assert done.json["calls"] == counts["requests"] == counts["answered"]
    assert set(counts["times_asked"]) == {"1", "2"}

    rows = done.json["rows"]
    assert rows["train"] + rows["select"] + rows["heldout"] == 4 * N_SOURCES
    n_scored = sum(done.json[part]["dataset"]["q"]["n"] for part in ("selection", "heldout"))
    assert rows["unscored"] > 0
    assert n_scored + rows["unscored"] == rows["select"] + rows["heldout"]
    assert "without a score count in no agreement" in done.err

    again = run(*command)
    assert again.json == done.json | {"calls": 0}
    assert server.counts()["requests"] == counts["requests"]

    check_scores(run, server, folder, ask)


def check_scores(run, server, folder, ask):
    """Score new texts, twice, and hold every row against the rules."""
    protocol = SavedJudge.load("judge").protocol
    fresh = written(folder / "fresh.jsonl", unrated_rows())
    before = server.counts()["requests"]
    command = ["score", "judge", fresh, "-o", folder / "scores.jsonl", *ask]
    done = run(*command)
    assert done.status == 0, done.err
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    n_asked = 0
    for given, row in zip(unrated_rows(), rows, strict=True):
        score, criteria, n, why = chatty.judgement_by_rule(protocol, given["response"])
        assert row["score"] == pytest.approx(score), given["response"]
        assert {name: one["score"] for name, one in row["criteria"].items()} == criteria
        assert why in (row["problem"] or "") if score is None else row["problem"] is None
        n_asked += n
    n_unscored = sum(row["score"] is None for row in rows)
    assert (done.json["rows"], done.json["unscored"]) == (len(rows), n_unscored)
    assert 0 < n_unscored < len(rows)
    assert done.json["calls"] == n_asked == server.counts()["requests"] - before
    # Of a finished run only what could not be read is asked anew.
    again = run(*command, "--force")
    assert 0 < again.json["calls"] < n_asked
    assert again.json["unscored"] <= n_unscored
    assert server.counts()["requests"] == before + n_asked + again.json["calls"]
