import numpy as np
import pytest

from judgesmith.data import DataSet, read_items
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.versions import chosen_versions
from judgesmith.signatures import RatedItem, Scale

LIKERT = Scale(low=1, high=5)


def settings(**given):
    return CompileSettings(**{"objective": "q + .5*d_min", **given})


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


def parts(data, **given):
    chosen = settings(**given)
    return parts_of(data, chosen_targets(data, chosen), chosen)


def names(kinds):
    return [kind.name for kind in kinds]


def test_objectives_without_discernment_need_none(data):
    assert chosen_versions(data, settings(objective="q")) is None
    assert parts(data, objective="q").selection.kinds == ()


def test_kinds_are_those_of_the_task_or_general_ones(data):
    story = chosen_versions(data, settings(task="story_completion"))
    assert "wrong_ending" in names(story.seen)
    assert "wrong_ending" not in names(chosen_versions(data, settings()).seen)


def test_controls_are_judged_where_the_objective_minds_them(data):
    assert all(kind.lowers for kind in chosen_versions(data, settings()).seen)
    found = chosen_versions(data, settings(objective="d_min; false_alarms <= 0"))
    assert "padding" in names(found.seen)


def test_a_name_stands_for_all_degrees_that_the_task_has(data):
    found = chosen_versions(data, settings(kinds=("reordering", "word_deletions/minor")))
    assert names(found.seen) == ["reordering/minor", "reordering/major", "word_deletions/minor"]
    story = settings(task="story_completion", kinds=("character_typos",))
    assert names(chosen_versions(data, story).seen) == ["character_typos"]


def test_kinds_held_out_are_in_the_rows_held_out_alone(data):
    found = parts(data, kinds=("negation", "truncation"), holdout_kinds=("truncation",))
    assert names(found.selection.kinds) == ["negation"]
    assert names(found.heldout.kinds) == ["negation", "truncation"]
    others = parts(data, kinds=("negation",), holdout_kinds=("repetition",))
    assert names(others.heldout.kinds) == ["negation", "repetition"]


def test_kinds_take_turns(data):
    found = parts(data, kinds=("case_loss", "punctuation_loss", "truncation"))
    counts = found.selection.versioned.sum(axis=0)
    assert np.ptp(counts) <= 1
    assert found.selection.versioned.sum(axis=1).max() == 1
    assert parts(data, versions=2).selection.versioned.sum(axis=1).max() == 2


def test_all_versions_differ_from_their_original_and_tell_nothing(data):
    rows = parts(data, versions=0).selection
    for item, several in zip(rows.items, rows.versions, strict=True):
        for one in several:
            if one is not None:
                assert one.response != item.response
                assert (one.source, one.context) == (item.source, item.context)
                assert (one.extra, one.human) == ({}, {})
                assert "+" not in one.system_id


def test_rows_to_show_have_none(data):
    assert parts(data).pool.kinds == ()


def test_the_same_settings_make_the_same_versions(data):
    one, again, other = (parts(data, seed=seed) for seed in (3, 3, 4))
    assert one.selection.versions == again.selection.versions
    assert one.selection.versions != other.selection.versions


def test_kinds_with_too_few_versions_are_left_out(data):
    found = parts(data)
    assert "reordering/major" in names(found.versions.seen)
    assert "reordering/major" not in names(found.selection.kinds)
    assert found.selection.versioned.sum(axis=0).min() >= 5


def test_where_all_kinds_have_too_few_they_stay(data):
    found = parts(data.subset(range(40)), kinds=("case_loss", "truncation", "negation"))
    assert len(found.selection.kinds) >= 1


def test_a_search_by_versions_alone_needs_some_kind_in_rows_enough(data):
    few = data.subset(range(12))
    kinds = ("case_loss", "truncation", "negation")
    with pytest.raises(ValueError, match="have a version of one kind of change, and below 5"):
        parts(few, objective="d_min", kinds=kinds, n_demonstrations=0)
    taken = parts(few, objective="d_min", kinds=kinds, n_demonstrations=0, optimizer="none")
    assert len(taken.selection.kinds) == 3


class TestDataWithVersions:
    @pytest.fixture
    def data(self):
        items = []
        for n in range(12):
            source = f"Source {n}."
            own = {"source_id": f"s{n}", "source": source}
            items += [
                RatedItem(
                    **own,
                    system_id="m",
                    response=f"Text {n}. It is whole.",
                    human={"overall": (float(1 + n % 5),)},
                    scale={"overall": LIKERT},
                ),
                RatedItem(
                    **own,
                    system_id="m+swap",
                    response=f"It is whole. Text {n}.",
                    extra={"perturbation": "swap", "level": "sentence", "original": "m"},
                ),
            ]
        return DataSet(name="versions", items=tuple(items))

    def test_they_are_taken_as_they_are(self, data):
        found = parts(data)
        assert not found.versions.made
        assert names(found.selection.kinds) == ["swap"]
        first = found.selection.versions[0][0]
        assert first.response.startswith("It is whole.")

    def test_kinds_that_it_lacks_are_told(self, data):
        with pytest.raises(ValueError, match="was changed by negation; name some of swap"):
            chosen_versions(data, settings(kinds=("negation",)))

    def test_controls_are_judged_where_the_objective_minds_them(self, data):
        same = [
            RatedItem(
                source_id=item.source_id,
                source=item.source,
                system_id="m+same",
                response=f"{item.response} ",
                extra={"perturbation": "same", "lowers": False, "original": "m"},
            )
            for item in data
            if item.human
        ]
        whole = DataSet(name="versions", items=(*data, *same))
        assert names(chosen_versions(whole, settings()).seen) == ["swap"]
        minding = settings(objective="d_min; false_alarms <= 0")
        assert names(chosen_versions(whole, minding).seen) == ["swap", "same"]
        named = settings(kinds=("swap", "controls"))
        assert names(chosen_versions(whole, named).seen) == ["swap", "same"]

    def test_no_text_takes_the_version_of_another_of_its_name(self, data):
        first = data[0]
        twin = first.model_copy(update={"response": "Another text altogether."})
        whole = DataSet(name="versions", items=(*data, twin))
        found = chosen_versions(whole, settings())
        own, of_twin = found.of([0, len(data)])
        assert own[0][1] is not None
        assert of_twin[0][1] is None

    def test_they_are_no_rows_themselves(self, data):
        found = parts(data)
        assert found.counts(chosen_targets(data, settings()))["unrated"] == 0
        rows = [found.pool, found.selection, found.heldout]
        assert sum(map(len, rows)) == 12

    def test_without_ratings_neither(self, data):
        bare = [one.model_copy(update={"human": {}, "scale": {}}) for one in data]
        unrated = DataSet(name="bare", items=tuple(bare))
        found = parts(unrated, objective="d_min", n_demonstrations=0)
        assert found.pool is None
        assert len(found.selection) + len(found.heldout) == 12


def test_texts_that_cannot_be_changed_are_refused():
    items = [
        RatedItem(
            source=f"{n}", response="b", human={"overall": (n % 5 + 1,)}, scale={"overall": LIKERT}
        )
        for n in range(9)
    ]
    data = DataSet(name="short", items=tuple(items))
    with pytest.raises(ValueError, match="could be changed by number_swap; name other kinds"):
        parts(data, kinds=("number_swap",))


def test_a_kind_that_is_misspelt_is_told(data):
    with pytest.raises(
        ValueError, match="no perturbation is called 'negatoin'; did you mean negation"
    ):
        chosen_versions(data, settings(kinds=("negatoin",)))
