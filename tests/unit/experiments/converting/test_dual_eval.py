"""NLG-DualEval, in the form that its own program reads."""

import json

import pytest


def text(target, aspect="Coherence", *, task="Summarization", source="An article.", **more):
    return {
        "task": task,
        "aspect": aspect,
        "aspect_des": f"What {aspect} is.",
        "source_des": "Article",
        "source": source,
        "target_des": "Summary",
        "target": target,
        **more,
    }


def test_texts_of_the_global_perspective_have_their_rating(converted, published):
    document = {
        "Coherence": [text("a", rating=5), text("b", rating=1), text("c", source="X.", rating=3)],
        "Knowledge Use": [
            text("d", "Knowledge Use", task="Dialogue", addition="A fact.", rating=2),
            text("d", "Knowledge Use", task="Dialogue", addition="Another.", rating=1),
        ],
    }
    done = converted("nlg-dualeval", published("SummEval_global.json", document))
    assert done.rows[1] == {
        "dataset": "nlg_dualeval",
        "task": "summarization",
        "source_id": "1",
        "system_id": "coherence-1",
        "source": "An article.",
        "context": None,
        "response": "b",
        "references": [],
        "human": {"coherence": [1]},
        "scale": {"coherence": [1, 5]},
        "definitions": {"coherence": "What Coherence is."},
        "provenance": {"criterion": "coherence", "perspective": "global"},
    }
    assert [row["source_id"] for row in done.rows] == ["1", "1", "2", "3", "4"]
    assert done.rows[3]["scale"] == {"knowledge_use": [1, 2]}
    assert (done.rows[3]["context"], done.rows[3]["task"]) == ("A fact.", "dialogue")


def test_texts_of_the_local_perspective_are_rated_by_their_step(converted, published):
    short = [text("a"), text("b")]
    long = [text(one, source="X.") for one in "cde"]
    document = {"Coherence": {"0": short, "1": long}}
    done = converted("nlg-dualeval", published("SummEval_Local.json", document))
    assert [row["human"]["coherence"] for row in done.rows] == [[2], [1], [2], [1], [0]]
    assert {json.dumps(row["scale"]) for row in done.rows} == {'{"coherence": [0, 2]}'}
    assert done.rows[4]["provenance"] == {
        "criterion": "coherence",
        "perspective": "local",
        "step": 2,
        "n_errors": 2,
    }
    assert done.rows[4]["system_id"] == "coherence-2"


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"a": {"s": [text("a")]}, "b": [text("b", rating=3)]}, "row 2: file: expected one persp"),
        ({"a": [text("a", rating=6)]}, "row 1: rating: expected a number from 1 to 5; got 6"),
        ({"a": [text("a")]}, "row 1: rating: expected a number from 1 to 5; got no such field"),
        ({"a": [text("a", rating=1), 3]}, "row 2: text: expected an object; got 3"),
        ({"a": {"s": 3}}, "file: expected an object of aspects, each with a list of texts"),
        ({"a": 3}, "file: expected an object of aspects, each with a list of texts"),
        ([], "file: expected an object of aspects, each with a list of texts"),
        ({"a": []}, "file: expected at least one row; got none"),
    ],
)
def test_faults_say_where(faults, published, document, told):
    assert told in faults("nlg-dualeval", published("a.json", document))[0]
