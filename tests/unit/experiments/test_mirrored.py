import pytest

from judgesmith.data.items import DataSet
from judgesmith.data.reading import read_items
from judgesmith.experiments.evaluate.describing import mirrored_criteria
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale


def pairs(said, scale=(0, 1)):
    """Two texts of a source for each pair of ratings."""
    form = {"preferred": Scale(low=scale[0], high=scale[1])}
    items = [
        RatedItem(source_id=f"s{n}", response=f"{n} {k}", human={"preferred": one}, scale=form)
        for n, pair in enumerate(said)
        for k, one in enumerate(pair)
    ]
    return DataSet(name="toy", items=tuple(items))


WON, LOST, TIED = (1, 0.5), (0, 0.5), (0.5, 0.5)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ([(WON, LOST)] * 9 + [(TIED, TIED)], ("preferred",)),
        ([(WON, LOST)] * 9, ()),
        ([(WON, LOST)] * 10 + [(WON, WON)], ()),
        ([(WON, LOST)] * 10 + [(WON,)], ()),
        ([(WON, LOST)] * 10 + [(WON, LOST, TIED)], ()),
        ([(WON, LOST)] * 10 + [((1,), (0, 0.5))], ()),
    ],
)
def test_every_source_has_two_texts_that_share_what_there_is_to_give(said, found):
    assert mirrored_criteria(pairs(said)) == found


def test_the_ends_of_the_scale_count():
    assert mirrored_criteria(pairs([((1,), (5,)), ((2,), (4,))] * 5, scale=(1, 5)))
    assert not mirrored_criteria(pairs([((1,), (5,)), ((2,), (4,))] * 5, scale=(0, 5)))


def test_pandalm_holds_preferences_and_summeval_ratings(data_folder):
    found = {
        name: mirrored_criteria(read_items(data_folder / f"{name}.jsonl.gz"))
        for name in ("pandalm", "bagel", "summeval")
    }
    assert found == {"pandalm": ("preferred",), "bagel": (), "summeval": ()}
