"""OpenMEVA, as it is published and as it is passed on."""

import pytest


def story(*systems, score=(1, 2, 3, 4, 5), **more):
    gen = {one: {"text": f"{one} went on .", "score": list(score)} for one in systems}
    return {"prompt": "once upon a time .", "gold_response": "the end .", "gen": gen, **more}


def test_an_object_of_stories_keeps_the_ratings_one_by_one(converted, published):
    stories = {"125": story("s2s", "gpt"), "7": story("s2s", score=("4", "5", "4", "4", "3"))}
    stories["7"]["gen"]["human"] = {"text": "unrated ."}
    done = converted("openmeva-roc", published("mans_roc.json", stories))
    assert done.rows[0] == {
        "dataset": "openmeva_roc",
        "task": "story",
        "source_id": "roc-125",
        "system_id": "s2s",
        "source": "once upon a time .",
        "context": None,
        "response": "s2s went on .",
        "references": ["the end ."],
        "human": {"overall": [1, 2, 3, 4, 5]},
        "scale": {"overall": [1, 5]},
        "human_detail": "individual",
    }
    assert [row["system_id"] for row in done.rows] == ["s2s", "gpt", "s2s"]
    assert done.rows[2]["human"] == {"overall": [4, 5, 4, 4, 3]}
    assert done.made.left_out == {"stories without ratings": 1}


def test_a_list_with_means_is_read_too(converted, published):
    gen = {"gpt": {"text": "and so on .", "score": {"human": 3.6, "bleu": 0.1}}}
    stories = [{"doc_id": "3", "prompt": "one day .", "reference": "it ended .", "gen": gen}]
    done = converted("openmeva-wp", published("openmeva.json.gz", stories))
    (row,) = done.rows
    assert (row["source_id"], row["references"]) == ("wp-3", ["it ended ."])
    assert (row["human"], row["human_detail"]) == ({"overall": [3.6]}, "mean")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"1": story("a", score=(1, 6))}, "row 1: gen.a.score[1]: expected a number from 1 to 5"),
        ({"1": 5}, "row 1: story: expected an object; got 5"),
        ({"1": {**story("a"), "gen": []}}, "row 1: gen: expected an object; got []"),
        ("[1", "m.json:1: file: expected one JSON document"),
        ("4", "m.json: file: expected an object of stories by id, or a list of them; got 4"),
    ],
)
def test_faults_say_where(faults, published, content, told):
    assert told in faults("openmeva-roc", published("m.json", content))[0]


@pytest.mark.data
def test_a_list_made_of_the_rows_on_hand_becomes_them(converted, published, rows_on_hand):
    known = rows_on_hand("openmeva_roc")
    stories = {}
    for row in known:
        about = {
            "doc_id": row["source_id"].removeprefix("roc-"),
            "prompt": row["source"],
            "reference": row["references"][0],
            "gen": {},
        }
        of = stories.setdefault(row["source_id"], about)
        score = {"human": row["human"]["overall"][0]}
        of["gen"][row["system_id"]] = {"text": row["response"], "score": score}
    done = converted("openmeva-roc", published("openmeva.json", list(stories.values())))
    assert done.rows == [{**row, "human_detail": "mean"} for row in known]
