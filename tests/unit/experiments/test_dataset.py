import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgesmith
from judgesmith.data.items import DataSet, grouped
from judgesmith.data.reading import read_items
from judgesmith.programs import ActiveCritic
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)


def item(source="s", response="r", said=None, **ids):
    human = {"overall": said} if said is not None else {}
    scale = {"overall": LIKERT} if said is not None else {}
    return RatedItem(source=source, response=response, human=human, scale=scale, **ids)


def dataset(*items, **how):
    return DataSet(name="toy", items=items, **how)


def test_a_set_is_a_sequence_of_its_items():
    data = dataset(item(response="a"), item(response="b"))
    assert len(data) == 2
    assert [one.response for one in data] == ["a", "b"]
    assert data[1].response == "b"


def test_a_subset_keeps_name_notes_and_places():
    data = dataset(item(response="a"), item(response="b"), notes=("n",), places=(3, 7))
    part = data.subset(np.array([1]))
    assert [one.response for one in part] == ["b"]
    assert (part.name, part.notes, part.places) == ("toy", ("n",), (7,))
    assert dataset(item()).subset([0]).places == ()


def test_criteria_are_those_somebody_rated_and_scales_all_that_are_stated():
    rated = item(said=(4,))
    empty = RatedItem(response="r", human={"fluency": ()}, scale={"fluency": LIKERT})
    data = dataset(empty, rated)
    assert data.criteria == ("overall",)
    assert list(data.scales) == ["fluency", "overall"]
    assert data.n_unrated == 1


def test_the_digest_changes_with_texts_ratings_scales_and_order():
    base = item(said=(4, 5))
    wider = base.model_copy(update={"scale": {"overall": Scale(low=1, high=7)}})
    others = [
        dataset(item(said=(5, 4))),
        dataset(item(said=(4, 5), response="x")),
        dataset(item(said=(4, 5), system_id="m")),
        dataset(wider),
        dataset(base, item(source="t")),
        dataset(item(source="t"), base),
    ]
    digests = {data.digest for data in [dataset(base), *others]}
    assert len(digests) == 7
    assert dataset(base, notes=("other",)).digest == dataset(base).digest


def test_the_digest_changes_with_definitions_and_with_no_other_field():
    stated = [None, {"overall": "Is it good?"}, {"overall": "Is it?"}, "{}", {1: "\ud800", "a": []}]
    digests = [dataset(item(extra={"definitions": one})).digest for one in stated]
    assert len(set(digests)) == len(stated)
    assert dataset(item(extra={"other": "x"})).digest == dataset(item()).digest == digests[0]


pairs = st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("abc")), max_size=8)


@pytest.mark.no_cover
@given(pairs)
def test_groups_are_the_connected_components_of_ids_and_texts(rows):
    items = [RatedItem(source_id=i, source=s, response="r") for i, s in rows]
    label = list(range(len(rows)))
    for _ in rows:
        for a, first in enumerate(rows):
            for b, second in enumerate(rows):
                if first[0] == second[0] or first[1] == second[1]:
                    label[a] = label[b] = min(label[a], label[b])
    found = grouped(items)
    assert [[x == y for y in found] for x in found] == [[x == y for y in label] for x in label]


def test_empty_sources_join_nothing():
    items = [item(source=" ", source_id="1"), item(source=" ", source_id="2")]
    assert grouped(items).tolist() == [0, 1]
    assert grouped([item(source=""), item(source="")]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "n_groups"), [("summeval", 100), ("demetr", 999), ("pandalm", 170), ("sfres", 580)]
)
def test_real_sources_under_several_ids_are_one_group(data_folder, name, n_groups):
    data = read_items(data_folder / f"{name}.jsonl.gz")
    assert len(np.unique(data.groups)) == n_groups
    by_text = {}
    for one, group in zip(data, data.groups, strict=True):
        assert by_text.setdefault(one.source, group) == group


@pytest.mark.parametrize("name", ["compile", "infer", "evaluate"])
def test_a_path_where_data_is_expected_says_how_it_is_read(name):
    arguments = [ActiveCritic()] if name == "evaluate" else []
    options = {"rng": np.random.default_rng(0)} if name == "evaluate" else {}
    with pytest.raises(TypeError, match=r"Read it first: judgesmith.read\('sample'\)"):
        getattr(judgesmith, name)(*arguments, "sample", **options)
