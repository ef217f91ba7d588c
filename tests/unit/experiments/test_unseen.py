import numpy as np

from judgesmith.data import read_items
from judgesmith.data.targets import targets_of
from judgesmith.experiments.compile.split import rated_rows, set_aside, unseen_places


def sample():
    data = read_items("sample")
    return data, targets_of(data)


def test_whole_sources_are_left_out_when_one_of_their_rows_was_seen():
    data, targets = sample()
    places = unseen_places(data, targets, frozenset({data[0].key}))
    same = np.flatnonzero(data.groups == data.groups[0])
    assert len(same) > 1
    assert set(places.tolist()) == set(range(len(data))) - set(same.tolist())


def test_what_is_set_aside_shares_no_source_with_the_rest():
    data, targets = sample()
    rest, aside = set_aside(data, targets, share=0.3, seed=0)
    assert len(rest) + len(aside) == len(data)
    assert not {one.source for one in rest} & {one.source for one in aside}
    again = set_aside(data, targets, share=0.3, seed=0)
    assert (rest.digest, aside.digest) == (again[0].digest, again[1].digest)
    assert set_aside(data, targets, share=0.3, seed=1)[1].digest != aside.digest


def test_rated_rows_say_what_people_said():
    data, targets = sample()
    rows = rated_rows(data, targets, [3, 1])
    assert rows.human.tolist() == [targets.values[3], targets.values[1]]
    assert [one.key for one in rows.items] == [data[3].key, data[1].key]
