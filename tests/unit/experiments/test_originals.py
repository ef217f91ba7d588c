import numpy as np

from judgesmith.data import DataSet
from judgesmith.experiments.robustness.perturbing import get_originals
from judgesmith.signatures.items import RatedItem


def data(*items):
    return DataSet(name="toy", items=items)


def item(source, response="R.", references=(), system="m", **extra):
    return RatedItem(
        source_id=source,
        system_id=system,
        source=f"text of {source}",
        response=response,
        references=references,
        human={"overall": (3.0,)},
        extra=extra,
    )


def test_the_reference_with_most_sentences_then_the_longest_then_the_first_is_taken():
    rows = [
        item("1", references=("A very long single sentence it is.", "One. Two.", "Six. Ten.")),
        item("2", references=("One. Two.", "One. Three.", "Six. Three.")),
    ]
    found = get_originals(data(*rows))
    assert [one.response for one in found.items] == ["One. Two.", "One. Three."]
    assert found.items[0].references == ("A very long single sentence it is.", "Six. Ten.")
    assert all(one.human == {} and one.system_id == "reference" for one in found.items)


def test_a_source_has_one_reference_whatever_its_systems_and_fields_they_share():
    rows = [
        item("1", references=("A b.",), system=system, task="t", seconds=system) for system in "ab"
    ]
    (found,) = get_originals(data(*rows)).items
    assert found.extra == {"task": "t"}


def test_sources_without_a_reference_are_counted():
    found = get_originals(data(item("1", references=("A b.",)), item("2"), item("2", system="x")))
    assert dict(found.left_out) == {"a source without a reference": 1}


def test_responses_are_taken_where_nothing_has_a_reference_and_keep_ratings_and_names():
    found = get_originals(data(item("1"), item("1"), item("1", system=""), item("2", system="")))
    assert found.which == "responses"
    assert [one.system_id for one in found.items] == ["m", "m#2", "response", "response"]
    assert all(one.human for one in found.items)


def test_empty_and_short_texts_and_versions_are_left_out_and_counted():
    rows = [
        item("1", " "),
        item("2", "Short."),
        item("3", "Long enough."),
        item("3", "Changed.", perturbation="swap", original="m"),
    ]
    found = get_originals(data(*rows), "responses", min_characters=7)
    assert [one.response for one in found.items] == ["Long enough."]
    assert dict(found.left_out) == {
        "a changed version already": 1,
        "an empty text": 1,
        "fewer than 7 characters": 1,
    }


def test_fields_of_an_earlier_change_do_not_stay():
    row = item("1", perturbation=None, level="none", skipped={"x": "y"}, task="t")
    assert get_originals(data(row)).items[0].extra == {"task": "t"}


def test_a_sample_is_in_order_and_that_of_its_seed():
    whole = get_originals(data(*(item(str(n)) for n in range(30))))
    one, again = (whole.sample(5, rng=np.random.default_rng(2)) for _ in range(2))
    places = [int(item.source_id) for item in one.items]
    assert one == again
    assert len(places) == 5
    assert places == sorted(places)
    assert whole.sample(99, rng=np.random.default_rng(2)) is whole
