"""SummEval, as it is published."""

import pytest

CRITERIA = ("coherence", "consistency", "fluency", "relevance")


def annotated(
    system, *, article="dm-1", experts=((5, 5, 4, 3), (4, 5, 5, 2), (1, 1, 1, 1)), **more
):
    """Return a line of the annotations."""
    said = [dict(zip(CRITERIA, points, strict=True)) for points in experts]
    return {
        "id": article,
        "decoded": f"{system} sums up {article} .",
        "expert_annotations": said,
        "turker_annotations": said[:1] * 5,
        "references": ["The first.", "Another one."],
        "model_id": system,
        "filepath": "cnndm/dailymail/stories/1.story",
        **more,
    }


def test_a_line_becomes_a_row_with_each_rater_in_order(converted, published):
    rows = [annotated("M1", text="An article."), annotated("M2", text="An article.")]
    done = converted("summeval", published("model_annotations.aligned.paired.jsonl", rows))
    assert done.rows[0] == {
        "dataset": "summeval",
        "task": "summarization",
        "source_id": "dm-1",
        "system_id": "M1",
        "source": "An article.",
        "context": None,
        "response": "M1 sums up dm-1 .",
        "references": ["The first.", "Another one."],
        "human": {
            "coherence": [5, 4, 1],
            "consistency": [5, 5, 1],
            "fluency": [4, 5, 1],
            "relevance": [3, 2, 1],
        },
        "scale": {key: [1, 5] for key in CRITERIA},
        "human_turker": {
            "coherence": [5] * 5,
            "consistency": [5] * 5,
            "fluency": [4] * 5,
            "relevance": [3] * 5,
        },
        "human_detail": "individual",
    }
    assert done.made.to_dict()["rows"] == 2
    assert (done.made.sources, done.made.systems) == ({"dm-1"}, {"M1", "M2"})
    assert done.made.ratings == dict.fromkeys(CRITERIA, 6)
    assert not done.made.left_out
    assert not done.made.changed


@pytest.mark.parametrize("first", ["annotations", "articles"])
def test_articles_come_from_paired_outputs_in_any_order(converted, published, first):
    rated = published("annotations.jsonl.gz", [annotated("M1"), annotated("M1", article="dm-2")])
    outputs = [{"id": "dm-1", "decoded": "x", "reference": "y", "text": "The article."}]
    paired = published("outputs.aligned.paired.jsonl", outputs)
    files = (rated, paired) if first == "annotations" else (paired, rated)
    done = converted("summeval", *files)
    assert [row["source"] for row in done.rows] == ["The article.", ""]
    ((kind, n),) = done.made.changed.items()
    assert kind.startswith("rows without their article: source is empty")
    assert n == 1


def test_every_fault_is_told_with_line_and_field(faults, published):
    rows = [
        annotated("M1"),
        annotated("M2", experts=((5, 5, 6, "x"),), turker_annotations=None),
        annotated("M1"),
        annotated("M3", decoded=None, references="one"),
        annotated("", expert_annotations=[]),
    ]
    assert faults("summeval", published("a.jsonl", rows)) == [
        "a.jsonl:2: expert_annotations[0].fluency: expected a number from 1 to 5; got 6",
        "a.jsonl:2: expert_annotations[0].relevance: expected a number from 1 to 5; got 'x'",
        "a.jsonl:3: item: expected each item once; got 'dm-1' of 'M1' again, after a.jsonl:1",
        "a.jsonl:4: decoded: expected a text; got nothing",
        "a.jsonl:4: references: expected a list of texts; got 'one'",
        "a.jsonl:5: model_id: expected an id; got ''",
        "a.jsonl:5: expert_annotations: expected at least one rater; got none",
    ]


def test_a_file_of_another_form_is_told_once(faults, published):
    path = published("a.jsonl", [{"article": "x", "summary": "y"}] * 3)
    assert faults("summeval", path) == [
        "a.jsonl: fields: expected id, model_id, decoded, references, expert_annotations, as in "
        "the published file; got article, summary (no id, model_id, decoded, references, "
        "expert_annotations)"
    ]


@pytest.mark.data
def test_a_file_made_of_the_rows_on_hand_says_the_same(converted, published, rows_on_hand):
    known = [row for row in rows_on_hand("summeval") if row["human_detail"] == "individual"]
    lines = [
        {
            "id": row["source_id"],
            "model_id": row["system_id"],
            "text": row["source"],
            "decoded": row["response_raw"],
            "references": row["references"],
            **{
                f"{who}_annotations": [
                    dict(zip(CRITERIA, said, strict=True))
                    for said in zip(*(row[field][name] for name in CRITERIA), strict=True)
                ]
                for who, field in (("expert", "human"), ("turker", "human_turker"))
            },
        }
        for row in known
    ]
    done = converted("summeval", published("model_annotations.aligned.paired.jsonl", lines))
    same = ("source_id", "system_id", "source", "references", "human", "scale", "human_turker")
    assert len(known) == 1200
    for row, before in zip(done.rows, known, strict=True):
        assert [row[name] for name in same] == [before[name] for name in same]
        assert row["response"] == before["response_raw"]
