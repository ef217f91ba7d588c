import pytest

from judgesmith.data.items import grouped
from judgesmith.experiments.distil.sampling import DistilSettings, KnownInputs, sample
from judgesmith.signatures import RatedItem

CRITERIA = ("truth", "wit", "tact", "brevity")


def rows(n_sources=6, systems="abcdef"):
    return [
        RatedItem(source_id=f"{n}", system_id=one, source=f"Text {n}.", response=f"{one} of {n}.")
        for n in range(n_sources)
        for one in systems
    ]


def drawn(items, criteria=CRITERIA, known=None, **settings):
    return sample(items, grouped(items), criteria, DistilSettings(**settings), known=known)


def test_of_every_source_so_many_outputs_are_drawn_on_so_many_criteria():
    found = drawn(rows())
    assert found.n_sources == 6
    by_source = {}
    for one in found.outputs:
        by_source.setdefault(one.source, []).append(one)
    assert [len(several) for several in by_source.values()] == [4] * 6
    assert {len(one.criteria) for one in found.outputs} == {3}
    assert len({one.criteria for one in found.outputs}) > 1
    order = [CRITERIA.index(name) for name in found.outputs[0].criteria]
    assert order == sorted(order)


def test_fewer_are_all_taken_and_none_twice():
    items = [*rows(2, "ab"), *rows(2, "ab")]
    found = drawn(items, ("truth",))
    assert len(found.outputs) == 4
    assert len({one.item.key for one in found.outputs}) == 4
    assert {one.criteria for one in found.outputs} == {("truth",)}


def test_outputs_are_of_different_systems_where_there_are():
    items = [
        RatedItem(source="s", source_id="1", system_id=system, response=f"{system} {n}")
        for system in "ab"
        for n in range(9)
    ]
    found = drawn(items, outputs=2)
    assert {one.item.system_id for one in found.outputs} == {"a", "b"}
    assert len(drawn(items, outputs=5).outputs) == 5


def test_empty_outputs_are_not_annotated():
    items = [RatedItem(source="s", response=text) for text in ("", " \n", "It is.")]
    assert [one.item.response for one in drawn(items).outputs] == ["It is."]


def test_a_source_is_in_training_or_in_validation_never_in_both():
    found = drawn(rows(20), validation=0.2)
    splits = {}
    for one in found.outputs:
        splits.setdefault(one.split, set()).add(one.source)
    assert not splits["train"] & splits["validation"]
    assert len(splits["validation"]) == 4


@pytest.mark.parametrize(
    ("n_sources", "share", "n_held"), [(1, 0.5, 0), (2, 0.1, 1), (3, 0.99, 2), (5, 0.0, 0)]
)
def test_training_always_has_a_source_and_validation_one_if_it_can(n_sources, share, n_held):
    found = drawn(rows(n_sources), validation=share)
    held = {one.source for one in found.outputs if one.split == "validation"}
    assert len(held) == n_held


def test_the_seed_decides_and_further_sources_change_nothing():
    def picked(items, **settings):
        return [(one.item.key, one.criteria) for one in drawn(items, **settings).outputs]

    few, many = rows(5), rows(9)
    assert picked(few) == picked(few)
    assert picked(few) != picked(few, seed=1)
    assert picked(many)[: len(picked(few))] == picked(few)


def test_excluded_inputs_take_all_of_their_outputs_with_them():
    items = [*rows(3), RatedItem(source_id="0", source="Another text.", response="x")]
    found = drawn(items, known=KnownInputs(["another  TEXT"]))
    assert (found.n_sources, found.n_shared) == (2, 1)
    assert {one.item.source_id for one in found.outputs} == {"1", "2"}


def test_without_criteria_the_whole_is_annotated():
    assert {one.criteria for one in drawn(rows(1), ()).outputs} == {("",)}
