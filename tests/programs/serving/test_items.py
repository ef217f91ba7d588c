import json

import pytest

from judgesmith.experiments import stream_items
from judgesmith.programs.serving.items import item_of, items_of, parsed
from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.refusals import Refusal

LIMITS = ServingLimits(max_items=3, max_chars=20)


def refused(read, *arguments):
    with pytest.raises(Refusal) as found:
        read(*arguments)
    return found.value


@pytest.mark.parametrize(
    "row",
    [
        {"response": "r"},
        {"response": "r", "source": "s", "context": "", "references": "one"},
        {"response": "", "source": None, "context": None, "references": None},
        {"response": "r", "source_id": 7, "system_id": 3.0, "references": ["a", "", None, "b"]},
        {
            "response": "r",
            "source_id": 2.5,
            "human": {"overall": [3]},
            "scale": {"overall": [1, 5]},
        },
        {"response": "r", "else": [1, {"deep": None}], "source_id": ""},
    ],
)
def test_an_item_is_what_score_reads_in_a_row(row, tmp_path):
    place = tmp_path / "rows.jsonl"
    place.write_text(json.dumps(row) + "\n")
    (same,) = stream_items(place)
    unread = {"extra": {}, "human": {}, "scale": {}}
    assert item_of(row, LIMITS) == same.model_copy(update=unread)


@pytest.mark.parametrize(
    ("body", "said", "where"),
    [
        ({"source": "s"}, "response is missing", "response"),
        ({"response": None}, "response: expected a text; got nothing", "response"),
        ({"response": "r", "context": 1}, "context: expected a text; got 1", "context"),
        ({"response": "r", "references": [1]}, "references[0]: expected a text; got 1", None),
        ({"response": "r", "references": {}}, "references: expected a list; got {}", None),
        ({"response": "r", "source_id": [1]}, "source_id: expected a text; got [1]", None),
        ([], "expected fields by name; got []", "body"),
        (None, "expected fields by name; got nothing", "body"),
        (
            {"responce": "r"},
            "there is no field 'responce'; did you mean 'response'?",
            "body",
        ),
    ],
)
def test_what_is_no_item_is_refused_with_its_place(body, said, where):
    found = refused(item_of, body, LIMITS)
    assert (found.status, found.error) == (422, said)
    assert found.where == (where or said.partition(":")[0])


def test_faults_are_not_looked_for_without_end():
    found = refused(item_of, {"response": "r", "references": [1] * 101}, LIMITS)
    assert found.error == "references: expected at most 100 texts; got 101"
    assert item_of({"response": "r", "references": ["a"] * 100}, LIMITS)
    others = {f"other {n}": 1 for n in range(10_000)}
    found = refused(items_of, {**others, "items": [{"response": "r"}]}, LIMITS)
    assert found.where == "other 0"
    assert found.error.endswith("; and 15 more")


def test_a_field_that_only_resembles_one_that_is_there_is_passed_over():
    assert item_of({"response": "r", "responses": "?"}, LIMITS).response == "r"


def test_every_fault_of_a_batch_is_told_up_to_five():
    limits = ServingLimits(max_items=50)
    found = refused(items_of, {"items": [{}, {"response": "r"}] * 8}, limits)
    assert found.error.startswith("items[0].response is missing; items[2].response is missing; ")
    assert found.error.endswith("items[8].response is missing; and 3 more")
    assert found.where == "items[0].response"


@pytest.mark.parametrize(
    ("body", "status", "where"),
    [
        ({"items": [{"response": "r"}] * 4}, 413, "items"),
        ({"items": []}, 422, "items"),
        ({"items": {"response": "r"}}, 422, "items"),
        ({"item": []}, 422, "items"),
        ({"items": [{"response": "r"}], "judge": "x"}, 422, "judge"),
        ([], 422, "body"),
        ({"items": [{"response": "r"}, {"response": "r" * 21}]}, 413, "items[1].response"),
        (
            {"items": [{"response": "r", "references": ["", "r" * 21]}]},
            413,
            "items[0].references[0]",
        ),
    ],
)
def test_batches_that_are_none_or_too_large_are_refused(body, status, where):
    found = refused(items_of, body, LIMITS)
    assert (found.status, found.where) == (status, where)


def test_a_field_with_a_long_name_is_named_by_its_beginning():
    found = refused(items_of, {"items": [], "x" * 3000: 1}, LIMITS)
    assert found.where == "x" * 59 + "…"
    assert len(found.error) < 200


@pytest.mark.parametrize("name", ["response", "source", "context", "source_id", "system_id"])
def test_no_text_is_longer_than_allowed_and_none_is_cut(name):
    item = {"response": "r", name: "é" * 20}
    assert item_of(item, LIMITS)
    found = refused(item_of, {**item, name: "é" * 21}, LIMITS)
    assert (found.status, found.where) == (413, name)
    assert found.error == "expected at most 20 characters; got 21."


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'"\\ud800"', b"[" * 10_000, b"{'a': 1}", b'{"a": 1} {}']
)
def test_what_is_no_json_is_refused(body):
    found = refused(parsed, body)
    assert (found.status, found.where) == (422, "body")
    assert found.error.startswith("expected JSON in UTF-8; got something else: ")
