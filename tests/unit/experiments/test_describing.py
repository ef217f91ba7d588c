import json
import math

import numpy as np
import pytest

from judgesmith.data.items import DataSet
from judgesmith.data.reading import read_items
from judgesmith.experiments.evaluate.describing import describe
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)


def dataset(rows, **ids):
    items = [
        RatedItem(
            source=f"source {n}",
            system_id=f"m{n % 2}",
            response="r" * (n + 1),
            human=human,
            scale=dict.fromkeys(human, LIKERT),
        )
        for n, human in enumerate(rows)
    ]
    return DataSet(name="toy", items=tuple(items), notes=("as read",))


def found(data, **how):
    return describe(data, rng=np.random.default_rng(0), **how)


def test_an_unrated_set_is_described_without_a_target():
    description = found(dataset([{}, {}]))
    assert (description.target, description.criteria) == (None, ())
    assert (description.n_items, description.n_unrated, description.n_sources) == (2, 2, 2)
    assert description.criteria_table()[1:] == []
    assert ["unrated rows", "2"] in description.overview()


def test_a_constant_target_is_a_warning_and_not_an_error():
    description = found(dataset([{"overall": (4,)}] * 3))
    assert description.target is None
    assert description.warnings[0].startswith("all 3 rated items have the same value on overall")
    assert "overall: all values are 4; nothing can agree or disagree with that." in (
        description.warnings
    )


def test_an_unknown_target_is_an_error():
    with pytest.raises(ValueError, match="nobody rated 'fluency'"):
        found(dataset([{"overall": (4,)}, {"overall": (5,)}]), target="fluency")


@pytest.mark.no_cover
def test_the_mean_has_a_row_of_its_own_below_the_criteria():
    description = found(dataset([{"a": (1, 2), "b": (2, 2)}, {"a": (5, 4), "b": (4, 4)}]))
    table = description.criteria_table()
    assert [row[0] for row in table] == ["criterion", "a", "b", "mean"]
    assert {len(row) for row in table} == {len(table[0])}
    assert found(dataset([{"a": (1,)}, {"a": (5,)}]), target="a").criteria_table()[-1][0] == "a"


def test_the_overview_tells_the_target_and_what_it_can_be_known_to():
    rows = dict(found(dataset([{"overall": (1 + n % 5,) * 2} for n in range(103)])).overview())
    assert rows["target"] == "overall on 1..5"
    assert rows["rated on it"] == "103"
    assert rows["a perfect judge's Pearson"] == "1.00 (103 items with several raters)"
    assert rows["known to at 95 %, if Pearson is 0.5"] == "±0.15; ±0.05 needs 867 independent items"


def test_longer_responses_that_are_rated_higher_are_seen():
    rising = [{"overall": (n,)} for n in (1, 2, 3, 4)]
    description = found(dataset(rising))
    assert description.length_correlation == pytest.approx(1)
    assert any("longer responses are rated higher" in one for one in description.warnings)


def test_on_a_scale_of_faults_longer_and_worse_is_a_negative_correlation():
    faults = Scale(low=0, high=9, higher_is_better=False)
    items = [
        RatedItem(source=str(n), response="r" * n, human={"f": (n,)}, scale={"f": faults})
        for n in (1, 2, 3)
    ]
    description = found(DataSet(name="toy", items=tuple(items)))
    assert description.length_correlation == pytest.approx(-1)


def test_planning_agrees_with_itself():
    description = found(dataset([{"overall": (1 + n % 5,)} for n in range(867)]))
    assert description.labels_needed == 867
    assert description.half_width == pytest.approx(0.05, abs=2e-5)
    assert math.isnan(found(dataset([{"overall": (1,)}, {"overall": (2,)}])).half_width)


def test_json_has_null_for_undefined_and_texts_for_scales():
    plain = found(dataset([{"overall": (1,)}, {"overall": (5,)}])).to_dict()
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert again == plain
    assert plain["target"]["scale"] == "1..5"
    assert plain["target"]["ceiling"] is None
    assert plain["target"]["raters"] == {"1": 2}
    assert plain["notes"] == ["as read"]


def test_the_same_generator_gives_the_same_description():
    data = dataset([{"overall": (1 + n % 5, 1 + n % 4, 2)} for n in range(30)])
    assert found(data).to_dict() == found(data).to_dict()


@pytest.mark.no_cover
def test_the_mean_over_one_criterion_is_shown_once():
    description = found(dataset([{"a": (1, 2)}, {"a": (5, 4)}]))
    assert description.target.name == "mean"
    assert [row[0] for row in description.criteria_table()] == ["criterion", "a"]


def test_measures_that_are_undefined_throughout_are_left_out():
    alone = found(dataset([{"a": (1,)}, {"a": (5,)}, {"a": (3,)}])).criteria_table()
    assert alone[0][-1] == "ties"
    several = found(dataset([{"a": (1, 2)}, {"a": (5, 4)}, {"a": (3, 3)}])).criteria_table()
    assert several[0][-3:] == ["ICC two-way", "rater vs rest", "ceiling"]


@pytest.mark.no_cover
def test_what_columns_of_ratings_are_is_said():
    rows = [{"a": (1, 2), "b": (2, 2)}, {"a": (5, 4), "b": (4, 4)}, {"a": (3, 3), "b": (1, 2)}]
    assert found(dataset(rows)).rater_notes() == [
        "a, b, mean: two-way ICC takes the n-th rating of every item for the same person's, as "
        "rows do not name their raters."
    ]
    named = [item.model_copy(update={"extra": {"raters": ["ana", "bo"]}}) for item in dataset(rows)]
    assert found(DataSet(name="toy", items=tuple(named))).rater_notes() == []
    others = [
        item.model_copy(update={"extra": {"raters": ["ana", f"r{n}"]}})
        for n, item in enumerate(dataset(rows))
    ]
    said = found(DataSet(name="toy", items=tuple(others))).rater_notes()
    assert said == ["a, b, mean: no two-way ICC, as other raters rated other items."]


# Published as one value per item and criterion, or (wiki_da) on other numbers of raters.
WITHOUT_RATERS = {
    "bagel": ["informativeness", "naturalness", "overall"],
    "mqm_ted_ende": ["mqm"],
    "mqm_ted_zhen": ["mqm"],
    "openmeva_roc": ["overall"],
    "realsumm": ["litepyramid_recall"],
    "sfres": ["informativeness", "naturalness", "overall"],
    "wiki_da": ["fluency", "meaning", "mean"],
    "wmt23_dasqm_ende": ["overall"],
    "wmt23_dasqm_zhen": ["overall"],
}
RATED = [
    *WITHOUT_RATERS,
    "newsroom",
    "opinsummeval",
    "pandalm",
    "qags_cnndm",
    "simpeval_2022",
    "simpeval_past",
    "summeval",
    "summeval_op",
    "topical_chat",
    "webnlg2020_en",
]


@pytest.mark.parametrize("name", RATED)
def test_every_real_set_has_a_ceiling_or_a_reason(data_folder, name):
    description = found(read_items(data_folder / f"{name}.jsonl.gz"))
    without = [one.name for one in description.summaries if one.no_ceiling]
    assert without == WITHOUT_RATERS.get(name, [])
    for one in description.summaries:
        if one.no_ceiling is None:
            assert one.icc_mean**0.5 == pytest.approx(one.ceiling, abs=0.06)
            assert -0.1 < one.rater_vs_rest.value < one.ceiling
            assert one.who != "none"
        else:
            assert any(one.no_ceiling in warning for warning in description.warnings)


def test_newsroom_is_warned_about_fluency(data_folder):
    description = found(read_items(data_folder / "newsroom.jsonl.gz"))
    assert (
        "fluency: ICC of one rater 0.03, of the mean 0.08; a criterion near zero cannot be a "
        "useful target."
    ) in description.warnings


def test_summeval_is_described_as_its_authors_describe_it(data_folder):
    description = found(read_items(data_folder / "summeval.jsonl.gz"))
    assert (description.n_items, description.n_sources, description.n_systems) == (1600, 100, 16)
    assert description.target.name == "mean"
    assert description.target.raters == {1: 400, 3: 1200}
    assert 0.9 < description.target.ceiling < 1
