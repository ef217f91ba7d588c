import dataclasses
import json
from itertools import islice

import marking
import numpy as np
import pytest

from judgesmith.data import DataSet, stream_items
from judgesmith.experiments.evaluate.errors.evaluation import (
    SpanSettings,
    evaluate_spans,
    new_errors,
)
from judgesmith.experiments.evaluate.errors.found import FoundErrors, TextErrors
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.perturbation import Edit, Perturbed

SETTINGS = SpanSettings(n_resamples=20)
FIRST = (0, 11)  # the name at the start of every original


@pytest.fixture(scope="module")
def data():
    return marking.changed_set()


@pytest.fixture(scope="module")
def places(data):
    return marking.places_in(data)


def found_in(data, mark):
    """Return what a judge found that marks in each item the places that ``mark`` returns."""
    texts = []
    for item in data:
        where = mark(item)
        errors = where and marking.marked(item.response, *where)
        texts.append(
            TextErrors(
                item=item,
                errors=None
                if where is None
                else tuple(ErrorSpan.model_validate(one) for one in errors),
            )
        )
    return FoundErrors(label="planted", texts=tuple(texts), n_unused=0)


def evaluated(data, mark, **changes):
    settings = dataclasses.replace(SETTINGS, **changes)
    found = found_in(data, mark)
    return evaluate_spans(found, data, settings=settings, rng=np.random.default_rng(0))


def test_a_judge_that_marks_what_was_changed_is_right_about_every_kind(data, places):
    found = evaluated(data, lambda item: places.get((item.source_id, item.system_id), ()))
    assert found.gold == "edits"
    by_name = {kind.kind.name: kind for kind in found.kinds}
    assert list(by_name) == list(marking.KINDS)
    taken_out = by_name.pop("word_deletions/minor").places.pairs
    assert np.isnan(taken_out.f1.value)
    assert taken_out.n_unlocated_gold == 6
    for kind in by_name.values():
        assert kind.places.characters.recall.value == kind.places.pairs.f1.value == 1.0
    assert found.places.pairs.f1.value == found.new.characters.f1.value == 1.0
    assert json.dumps(found.to_dict())


def test_controls_are_told_but_are_no_part_of_the_whole(data, places):
    pads = {key: one for key, one in places.items() if key[1] == "m+padding"}
    found = evaluated(data, lambda item: pads.get((item.source_id, item.system_id), ()))
    assert found.places.characters.f1.value == 0.0
    assert {k.kind.name: k.places.characters.recall.value for k in found.kinds}["padding"] == 1.0


def test_a_judge_that_marks_nothing_misses_all_and_one_that_cannot_be_read_is_left_out(data):
    nothing = evaluated(data, lambda item: ())
    assert nothing.places.characters.recall.value == 0.0
    assert np.isnan(nothing.places.characters.precision.value)
    unread = evaluated(data, lambda item: None if item.source_id == "0" else ())
    assert {kind.places.pairs.n_unscored for kind in unread.kinds} == {1}


def test_what_is_marked_in_the_original_too_is_charged_to_it_and_not_to_the_change(data, places):
    def mark(item):
        return FIRST, *places.get((item.source_id, item.system_id), ())

    found = evaluated(data, mark)
    assert found.places.pairs.precision.value < 1.0
    negation = next(kind for kind in found.kinds if kind.kind.name == "negation")
    assert negation.new.pairs.precision.value == 1.0


def test_errors_move_with_the_text_and_those_that_touch_a_change_are_new():
    made = Perturbed(
        text="So a day in May was cold.",
        edits=(Edit(start=0, end=0, text="So "), Edit(start=12, end=16, text="was ")),
    )
    before = TextErrors(
        item=RatedItem(response="a day in Mayhot cold."),
        errors=(ErrorSpan(text="day", start=2, end=5),),
    )

    def kept(*where, overlap=0.5):
        errors = tuple(ErrorSpan(text="", start=start, end=end) for start, end in where)
        version = TextErrors(item=RatedItem(response=made.text), errors=errors)
        return [
            (one.start, one.end)
            for one in new_errors(version, before, made, overlap=overlap).errors
        ]

    assert kept((5, 8), (2, 8), (9, 11), (None, None), (4, 4)) == [
        (2, 8),
        (9, 11),
        (None, None),
        (4, 4),
    ]
    assert kept((5, 7), overlap=0.9) == [(5, 7)]
    assert kept((5, 7), overlap=0.5) == []


def annotated(errors, **fields):
    return tuple(
        RatedItem(source_id=str(n), response="one two three", extra={"errors": one, **fields})
        for n, one in enumerate(errors)
    )


def test_errors_without_a_place_are_compared_by_number_and_severity():
    items = annotated([[], [{"severity": "Minor"}], [{"severity": "Major"}] * 2, [], None])
    data = DataSet(name="toy", items=items)
    marks = {"1": ((0, 3),), "2": ((0, 3), (4, 7)), "3": ((0, 3),)}
    found = evaluated(data, lambda item: marks.get(item.source_id, ()))
    assert (found.gold, found.places, found.severities, found.n_unmarked) == (
        "errors",
        None,
        None,
        1,
    )
    counts = found.counts
    assert (counts.found, counts.known, counts.known_major, counts.n_texts) == (4, 3, 2, 4)
    assert (counts.any_error.precision.value, counts.any_error.recall.value) == (2 / 3, 1.0)
    assert counts.any_major.precision.value == 1 / 3
    assert 0.6 < counts.number.value < 1
    assert "not their places" in found.notes[0]


def test_a_wrong_severity_is_worth_half_where_people_placed_and_graded_errors():
    items = annotated([[{"severity": "Minor", "start": 0, "end": 3}]] * 2)
    data = DataSet(name="toy", items=items)
    found = evaluated(data, lambda item: ((0, 3),))
    assert found.places.characters.f1.value == 1.0
    assert found.severities.characters.f1.value == found.severities.pairs.f1.value == 0.5
    assert evaluated(data, lambda item: ((0, 3),), major=5).severities.pairs.f1.value == 1.0


def test_a_place_that_is_marked_on_several_criteria_counts_once_at_its_worst():
    items = annotated([[{"severity": "Major", "start": 0, "end": 3}]] * 2)
    data = DataSet(name="toy", items=items)
    errors = [
        ErrorSpan(text="one", start=0, end=3, severity=points, criterion=name)
        for name, points in (("a", 2), ("b", 5), ("c", 1))
    ]
    texts = [TextErrors(item=item, errors=(*errors, ErrorSpan(text="?"))) for item in items]
    found = FoundErrors(label="it", texts=tuple(texts), n_unused=0)
    result = evaluate_spans(found, data, settings=SETTINGS, rng=np.random.default_rng(0))
    assert (result.places.pairs.predicted, result.places.pairs.precision.value) == (2, 1.0)
    assert result.severities.pairs.f1.value == 1.0
    assert result.places.pairs.n_unlocated_predicted == 2


@pytest.mark.parametrize("gold", [None, "edits", "errors"])
def test_texts_without_known_errors_are_refused(gold):
    data = DataSet(name="toy", items=(RatedItem(source_id="1", response="a"),))
    with pytest.raises(ValueError, match="toy"):
        evaluate_spans(
            found_in(data, lambda item: ()), data, gold=gold, rng=np.random.default_rng(0)
        )


def test_versions_without_their_originals_are_refused_for_that_reason(data):
    alone = DataSet(name="alone", items=tuple(one for one in data if one.extra.get("edits")))
    with pytest.raises(ValueError, match=r"original is not in the data; give originals"):
        evaluated(alone, lambda item: ())


@pytest.mark.parametrize("name", ["mqm_ted_ende", "mqm_ted_zhen"])
def test_errors_in_talks_are_read_as_their_raters_weighed_them(data_folder, name):
    items = tuple(islice(stream_items(data_folder / f"{name}.jsonl.gz"), 600))
    data = DataSet(name=name, items=items)
    texts = []
    for item in items:
        stated = [one["severity"] for one in item.extra["errors"]]
        errors = [ErrorSpan(text="?", severity=5 if one == "Major" else 1) for one in stated]
        # An annotator may say the same of two places; these have none to tell them apart.
        errors = [one.model_copy(update={"text": str(n)}) for n, one in enumerate(errors)]
        texts.append(TextErrors(item=item, errors=tuple(errors)))
    found = FoundErrors(label="themselves", texts=tuple(texts), n_unused=0)
    result = evaluate_spans(found, data, settings=SETTINGS, rng=np.random.default_rng(0))
    assert (result.gold, result.places) == ("errors", None)
    counts = result.counts
    assert counts.found == counts.known > 100
    assert counts.found_major == counts.known_major > 30
    assert counts.any_error.f1.value == counts.any_major.f1.value == 1.0
    assert counts.number.value == counts.cost.value == pytest.approx(1.0)
