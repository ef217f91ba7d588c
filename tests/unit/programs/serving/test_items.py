import json

import pytest

from judgesmith.data import stream_items
from judgesmith.programs.serving.requests import Refusal, ServingLimits, item_of, items_of

LIMITS = ServingLimits(max_items=3, max_chars=20)


def json_of(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def refused(read, value, limits=LIMITS):
    with pytest.raises(Refusal) as found:
        read(json_of(value), limits)
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
    assert item_of(json_of(row), LIMITS) == same.model_copy(update=unread)


@pytest.mark.parametrize(
    ("body", "said", "where"),
    [
        ({"source": "s"}, "response is missing", "response"),
        ({"response": None}, "response: expected a text; got nothing", "response"),
        ({"response": "r", "context": 1}, "context: expected a text; got 1", "context"),
        (
            {"response": "r", "references": [1]},
            "references: expected a text, or a list of at most 100 texts; got [1]",
            None,
        ),
        (
            {"response": "r", "references": {}},
            "references: expected a text, or a list of at most 100 texts; got {}",
            None,
        ),
        ({"response": "r", "system_id": True}, "system_id: expected a text; got true", None),
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
    found = refused(item_of, body)
    assert (found.status, found.error) == (422, said)
    assert found.where == (where or said.partition(":")[0])


def test_faults_are_not_looked_for_without_end():
    found = refused(item_of, {"response": "r", "references": [1] * 101})
    assert found.error.startswith("references: expected a text, or a list of at most 100 texts")
    assert len(found.error) < 200
    assert item_of(json_of({"response": "r", "references": ["a"] * 100}), LIMITS)
    others = {f"other {n}": 1 for n in range(10_000)}
    found = refused(items_of, {**others, "items": [{"response": "r"}]})
    assert found.where == "other 0"
    assert found.error.endswith("; and 9995 more")


def test_a_field_that_only_resembles_one_that_is_there_is_passed_over():
    assert item_of(b'{"response": "r", "responses": "?"}', LIMITS).response == "r"


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
    found = refused(items_of, body)
    assert (found.status, found.where) == (status, where)


def test_a_field_with_a_long_name_is_named_by_its_beginning():
    found = refused(items_of, {"items": [], "x" * 3000: 1})
    assert found.where == "x" * 59 + "…"
    assert len(found.error) < 200


@pytest.mark.parametrize("name", ["response", "source", "context", "source_id", "system_id"])
def test_no_text_is_longer_than_allowed_and_none_is_cut(name):
    item = {"response": "r", name: "é" * 20}
    assert item_of(json_of(item), LIMITS)
    found = refused(item_of, {**item, name: "é" * 21})
    assert (found.status, found.where) == (413, name)
    assert found.error == "expected at most 20 characters; got 21."


def repeated(part, n, before=b'{"response": "r", "x": ['):
    return before + b",".join([part] * n) + b"]}"


@pytest.mark.parametrize("read", [item_of, items_of])
@pytest.mark.parametrize(
    "body",
    [
        repeated(b"[" * 100 + b"]" * 100, 2_000),
        repeated(b"{}", 150_000),
        repeated(b'"[{"', 200_001),
        b'{"a": 1' + b"".join(b', "k%d": 1' % n for n in range(110_000)) + b"}",
        b'{"items": [' + b"1," * 200_000 + b"1]}",
    ],
)
def test_what_would_keep_everybody_waiting_is_not_read(read, body):
    found = refused(read, body)
    assert (found.status, found.where) == (413, "body")
    assert found.error == "expected at most 200000 names and values at once; got more."
    assert found.hint.startswith("leave out fields that no judge reads")


@pytest.mark.parametrize(
    "extra",
    [b"[[]]", b"[" + b"0.125," * 150_000 + b"0]", json_of("[{:,\\" * 100_000 + '"]' * 9)],
    ids=["nested", "numbers", "marks in a text"],
)
def test_fields_that_no_judge_reads_are_passed_over_whatever_they_hold(extra):
    item = b'{"embedding": ' + extra + b', "response": "r", "human": ' + extra + b"}"
    if len(item) > 1_500_000:
        item = item.replace(b', "human": ' + extra, b"")
    assert item_of(item, LIMITS).response == "r"
    assert items_of(b'{"items": [' + item + b"]}", LIMITS)[0].response == "r"


def test_what_is_wrong_in_a_large_body_is_told_without_showing_it():
    found = refused(item_of, repeated(b"[1]", 50_000, before=b'{"response": ['))
    assert (found.error, found.where) == (
        "response: expected a text; got something else",
        "response",
    )


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'"\\ud800"', b"[" * 10_000, b"{'a': 1}", b'{"a": 1} {}']
)
def test_what_is_no_json_is_refused(body):
    found = refused(item_of, body)
    assert (found.status, found.where) == (422, "body")
    assert found.error.startswith("expected JSON in UTF-8; got something else: ")
