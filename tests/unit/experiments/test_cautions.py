import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.describing import describe
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)
RNG = np.random.default_rng(7)


def item(n, human, **fields):
    given = {"source": f"s{n}", "system_id": f"m{n % 3}", "response": f"{n} " + "x" * (n * 7 % 11)}
    scale = dict.fromkeys(human, LIKERT)
    return RatedItem(**(given | fields), human=human, scale=scale)


def warnings(items):
    data = DataSet(name="toy", items=tuple(items))
    return describe(data, rng=np.random.default_rng(0)).warnings


def good(n):
    """An item of a set that gives no reason to warn."""
    value = 1 + (n * 3 + n // 5) % 4
    return {"overall": (value, min(5, value + n % 2), value)}


def test_a_good_set_gives_no_reason_to_warn():
    assert warnings(item(n, good(n)) for n in range(60)) == ()


def test_raters_who_agree_by_chance_make_a_useless_target():
    said = [tuple(RNG.integers(1, 6, size=3).tolist()) for _ in range(200)]
    found = warnings(item(n, {"overall": one}) for n, one in enumerate(said))
    assert found[0].startswith("overall: ICC of one rater ")
    assert found[0].endswith("a criterion near zero cannot be a useful target.")


def test_raters_who_never_differ_are_suspicious():
    found = warnings(item(n, {"overall": (1 + n * 3 % 5,) * 3}) for n in range(60))
    assert found == (
        "overall: ICC of one rater 1.00 is unusual for people who rated independently; the "
        "human ceiling may be too high.",
    )


def test_a_trait_that_criteria_share_is_said_once():
    items = [item(n, {"a": (1 + n * 3 % 5,) * 2, "b": (1 + n % 5,) * 2}) for n in range(60)]
    assert [one.split(":")[0] for one in warnings(items)] == ["a, b, mean"]


def test_lone_ratings_among_several_may_be_means():
    items = [item(n, good(n)) for n in range(60)]
    items += [item(n, {"overall": (3,)}) for n in (60, 61)]
    assert warnings(items) == (
        "overall: 2 items with a single rating where others have several; it may be a mean "
        "already, and is left out of rater agreement.",
    )


def test_ties_at_the_top_are_told():
    # 48 items at 5, 6 at 2 and 6 at 2.5: 1158 of 1770 pairs.
    items = [item(n, {"overall": (5, 5) if n % 5 else (2 + n % 2, 2)}) for n in range(60)]
    assert (
        "overall: 65% of all pairs of items are tied, 80% of items are at the top; rank "
        "correlations rest on the others."
    ) in warnings(items)


def test_a_small_set_of_few_sources_is_told_with_its_width():
    items = [item(n, good(n), source=f"s{n % 4}") for n in range(20)]
    found = warnings(items)
    assert found[0].startswith("overall: rated on 20 items only, which tells a correlation of .5 ")
    assert "only 4 sources; intervals rest on sources and will be wide or undefined." in found


def test_three_items_tell_nothing():
    found = warnings(item(n, {"overall": (n + 1,)}) for n in range(3))
    assert "overall: rated on 3 items only, which tells nothing of a correlation." in found


def test_unknown_agreement_and_unrated_items_are_told():
    items = [item(n, {"overall": good(n)["overall"][:1]}) for n in range(60)]
    items.append(item(60, {}))
    assert warnings(items) == (
        "overall: no ceiling: each item has a single value, one rating, or a figure without the "
        "ratings behind it. How well raters agree is unknown, and so is how well a judge could do.",
        "overall: no value for 1 of 61 items, nobody rated overall.",
    )


def test_missing_systems_and_sources_are_told():
    items = [item(n, good(n), source="", system_id="") for n in range(60)]
    assert warnings(items) == (
        "no system is named; agreement on systems cannot be measured.",
        "there are no source texts; the judge sees responses alone.",
    )
    items = [item(n, good(n), system_id="m") for n in range(60)]
    assert warnings(items) == ("one system is named; agreement on systems cannot be measured.",)


def test_empty_and_repeated_texts_are_told():
    items = [item(n, good(n)) for n in range(60)]
    items[0] = item(0, good(0), source="")
    items[1] = item(1, good(1), response=" ")
    items[3] = item(3, good(3), response=items[2].response)
    items.append(items[4].model_copy(update={"human": {"overall": (5, 5, 5)}}))
    items.append(items[5].model_copy(update={"source_id": "a"}))
    items.append(items[5].model_copy(update={"source_id": "b"}))
    assert warnings(items) == (
        "1 item with an empty source.",
        "1 item with an empty response.",
        "1 item with the texts of an earlier item but other ratings.",
        "1 response given to several sources (2 items); parts without a common source can still "
        "share them.",
        "1 source text under several ids; splits keep them together.",
    )


def test_preferences_in_the_form_of_ratings_are_told():
    items = [
        item(n, {"overall": (value, value)}, source=f"s{n // 2}", source_id=f"s{n // 2}")
        for n, value in enumerate([1, 5, 5, 1, 2, 4] * 10)
    ]
    assert (
        "overall: the ratings of every source's two texts mirror each other: these are preferences "
        "between the two, and say nothing across sources."
    ) in warnings(items)
