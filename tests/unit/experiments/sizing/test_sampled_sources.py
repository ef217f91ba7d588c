from judgesmith.experiments.scoring.sizing.row_effort import SampledSources
from judgesmith.signatures import RatedItem


def rows(n, *, to_a_source=1):
    return [
        RatedItem(source_id=str(place // to_a_source), source="s", response=str(place))
        for place in range(n)
    ]


def test_few_rows_are_all_kept():
    found = SampledSources.of(rows(7))
    assert (found.n_rows, len(found.items)) == (7, 7)


def test_sources_are_kept_whole_and_in_any_order_the_same():
    given = rows(300, to_a_source=3)
    first, second = SampledSources(most=50), SampledSources(most=50)
    for one in given:
        first.add(one)
    for one in given[::-1]:
        second.add(one)
    sizes = {
        name: len([1 for one in first.items if one.source_id == name])
        for name in {one.source_id for one in first.items}
    }
    assert set(sizes.values()) == {3}
    assert 0 < len(first.items) <= 50
    assert {one.response for one in first.items} == {one.response for one in second.items}


def test_one_source_larger_than_the_sample_is_cut():
    found = SampledSources(most=5)
    for one in rows(40, to_a_source=40):
        found.add(one)
    assert [one.response for one in found.items] == ["0", "1", "2", "3", "4"]
    assert found.n_rows == 40


def test_ids_that_are_no_unicode_are_ids_all_the_same():
    found = SampledSources.of([RatedItem(source_id="\ud800", source="s", response="r")])
    assert len(found.items) == 1
