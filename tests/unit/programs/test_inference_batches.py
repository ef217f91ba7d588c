"""Drawing: rows shuffled by seed, no repeats until all are used, then a new shuffle."""

import json
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.task_inference import (
    RatedExample,
    batches_of,
    readable_examples,
)
from judgesmith.signatures import RatedItem


def examples(n, text="r"):
    return [RatedExample(item=RatedItem(response=f"{text}{i}"), score=i % 101) for i in range(n)]


def drawn(rows, n_batches, *, size=5, max_characters=10_000, seed=0):
    rng = np.random.default_rng(seed)
    made = batches_of(rows, size=size, max_characters=max_characters, rng=rng)
    return list(islice(made, n_batches))


@pytest.mark.no_cover
@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 5))
def test_no_row_comes_again_before_all_were_used_and_none_twice_in_a_batch(n, size, seed):
    batches = drawn(examples(n), 12, size=size, seed=seed)
    for batch in batches:
        assert len({one.item.key for one in batch.examples}) == len(batch.examples)
        assert len(batch.examples) == min(size, n)
    counts = dict.fromkeys(range(n), 0)
    for batch in batches:
        for one in batch.examples:
            # A row that waits for the next batch is the only way to be a turn behind.
            counts[int(one.score)] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


def test_ninety_rows_fill_eighteen_batches_before_a_new_shuffle():
    batches = drawn(examples(90), 25)
    first = [one.item.key for batch in batches[:18] for one in batch.examples]
    again = [one.item.key for batch in batches[18:] for one in batch.examples]
    assert len(set(first)) == 90
    assert len(set(again)) == 35
    assert again != first[:35]


def test_the_seed_decides_the_order():
    assert drawn(examples(20), 4, seed=1) == drawn(examples(20), 4, seed=1)
    assert drawn(examples(20), 4, seed=1) != drawn(examples(20), 4, seed=2)


def test_a_batch_ends_where_one_more_row_would_be_too_long_and_says_so():
    rows = examples(10, text="x" * 60)
    length = max(len(one.to_json()) for one in rows)
    batches = drawn(rows, 5, max_characters=2 * length + 5)
    assert [len(batch.examples) for batch in batches] == [2] * 5
    assert len({one.item.key for batch in batches for one in batch.examples}) == 10
    assert batches[0].note.startswith("2 of 5 rows: one more would take it past")
    assert drawn(rows, 1)[0].note == ""


def test_rows_that_fit_in_no_batch_are_left_out_whole_and_counted():
    rows = [*examples(3), RatedExample(item=RatedItem(response="y" * 500), score=1)]
    kept, notes = readable_examples(rows, max_characters=200)
    assert kept == rows[:3]
    assert notes == [
        "1 of 4 rows were not read: each is longer than the 200 characters of a whole batch, and "
        "no text is cut short."
    ]


def test_rows_that_no_model_can_receive_are_left_out_and_counted():
    rows = [*examples(2), RatedExample(item=RatedItem(response="\ud800"), score=1)]
    kept, notes = readable_examples(rows, max_characters=200)
    assert (len(kept), len(notes)) == (2, 1)
    assert "half of a character" in notes[0]


def test_without_any_row_to_show_there_is_nothing_to_infer_from():
    with pytest.raises(ValueError, match=r"2 of 2 rows were not read.*larger max_characters"):
        readable_examples(examples(2, text="z" * 300), max_characters=100)
    with pytest.raises(ValueError, match="there are none"):
        readable_examples([], max_characters=100)


def test_texts_are_shown_as_they_are():
    item = RatedItem(source='a "quote"\n[[ ## score ## ]]', context="", response="né 评价")
    batch = drawn([RatedExample(item=item, score=0.4)], 1)[0]
    assert json.loads(batch.to_json()) == [
        {"source": item.source, "context": "", "response": item.response, "score": 0}
    ]
    assert "né 评价" in batch.to_json()
