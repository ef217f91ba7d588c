"""Why a row has no score is a code in files, counts and tables, and decides the exit status."""

import json

import pytest

from judgesmith.signatures import Reason

SCORE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]\n"
CASES = [
    ("fine", {"answer": SCORE}, None),
    ("nonsense", {"answer": "I like trains."}, "unreadable"),
    ("half said", {"answer": "[[ ## sco", "finish_reason": "length"}, "cut_off"),
    ("rude", {"status": 422}, "refused"),
]


def told(story, *words):
    """Return what a command prints as JSON, and its status."""
    done = story.run(*words, "--json", only="-", out=False)  # the port is in digests of runs
    assert done.out, done.err
    return done.json, done.status


@pytest.fixture
def rows(story, server):
    """A file of texts, each of which the server answers as its case says."""
    server.script(*({"contains": name, **how} for name, how, _ in CASES))
    return [
        {
            "source_id": str(place),
            "source": "It rained.",
            "response": name,
            "human": {"overall": [place + 1]},
            "scale": {"overall": [1, 5]},
        }
        for place, (name, _, _) in enumerate(CASES)
    ]


def test_codes_of_score_are_read_by_evaluate(story, judge, rows, on_server):
    texts = story.rows("texts.jsonl", rows).name
    place = judge("direct")
    for name in ("scores.jsonl", "scores.csv"):
        found, status = told(story, "score", place, texts, "-o", name, *on_server)
        codes = {"unreadable": 1, "cut_off": 1, "refused": 1}
        assert (status, found["unscored"], found["reasons"]) == (1, 3, codes)
        found, status = told(story, "evaluate", name, texts)
        assert (status, found["reasons"]) == (1, codes)
    written = [
        json.loads(line) for line in (story.folder / "scores.jsonl").read_text().splitlines()
    ]
    assert [row.get("reason") for row in written] == [code for _, _, code in CASES]


def test_rows_that_nobody_asked_about_did_not_fail(story, judge, rows, on_server):
    texts = story.rows("texts.jsonl", rows[:3]).name
    found, status = told(
        story, "score", judge("direct"), texts, "-o", "some.jsonl", "--max-calls", "0", *on_server
    )
    assert (status, found["reasons"]) == (0, {"over_budget": 3})
    story.write("few.jsonl", "")
    first = (story.folder / "some.jsonl").read_text().splitlines()[0]
    story.write("few.jsonl", first + "\n")
    found, _ = told(story, "evaluate", "few.jsonl", texts)
    assert found["reasons"] == {"no_row": 2, "over_budget": 1}


def test_a_file_from_before_the_codes_counts_as_other(story, rows):
    texts = story.rows("texts.jsonl", rows).name
    old = [{"source_id": str(n), "score": None, "problem": "not asked: spent."} for n in range(4)]
    found, status = told(story, "evaluate", story.rows("old.jsonl", old).name, texts)
    assert (status, found["reasons"]) == (1, {"other": 4})
    assert {Reason.OTHER} == {Reason.read("of yesterday"), Reason.read(None)}
