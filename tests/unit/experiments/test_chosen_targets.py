import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.signatures import ActiveCriticConfig, RatedItem, Rubric, Scale

LIKERT = Scale(low=1, high=5)


def rated(**criteria):
    """Return a set with the given ratings, one list per criterion, None for unrated items."""
    n = max(len(values) for values in criteria.values())
    items = [
        RatedItem(
            source=f"s{i}",
            response=f"r{i}",
            source_id=str(i),
            human={name: (v[i],) for name, v in criteria.items() if v[i] is not None},
            scale=dict.fromkeys(criteria, LIKERT),
        )
        for i in range(n)
    ]
    return DataSet(name="toy", items=tuple(items))


DATA = rated(overall=[1, 2, 3], clear=[1, 3, 5], kind=[5, 5, None], flat=[4, 4, 4])


def chosen(*target, **settings):
    return chosen_targets(DATA, CompileSettings(target=target, **settings))


def test_one_target_is_held_against_the_judges_own_score():
    found = chosen("clear")
    assert (found.whole.name, found.compared, found.names) == ("clear", ("score",), None)
    assert chosen().whole.name == "overall"


def test_of_several_the_whole_is_the_mean_of_the_criteria():
    found = chosen("kind", "Clear")
    assert found.whole.name == "kind+clear"
    assert found.compared == found.names == ("kind", "clear")
    assert np.array_equal(found.whole.values, [3.0, 4.0, np.nan], equal_nan=True)


def test_of_several_overall_is_held_against_the_judges_own_score():
    found = chosen("clear", "overall")
    assert found.whole.name == "overall"
    assert (found.compared, found.names) == (("clear", "score"), ("clear",))


def test_human_criteria_without_a_target_are_all_targets():
    found = chosen_targets(
        rated(overall=[1, 2, 3], clear=[1, 3, 5], kind=[5, 4, 3]), CompileSettings(criteria="human")
    )
    assert found.whole.name == "mean"
    assert found.compared == ("clear", "kind")
    one = chosen_targets(DATA, CompileSettings(criteria="human", target="overall"))
    assert (one.whole.name, one.compared) == ("overall", ("score",))


def test_what_people_said_of_criteria_is_shown_on_a_hundred():
    found = chosen()
    assert found.criteria["clear"].tolist() == [0.0, 50.0, 100.0]
    assert "flat" not in found.criteria  # a constant is nothing to agree with
    assert chosen(percent_of_max=True).criteria["clear"].tolist() == [20.0, 60.0, 100.0]


def test_scales_that_no_model_can_be_shown_as_percent_of_the_highest_leave_their_criterion_out():
    items = [
        item.model_copy(update={"scale": {**item.scale, "clear": Scale(low=-5, high=5)}})
        for item in DATA
    ]
    data = DataSet(name="toy", items=tuple(items))
    assert "clear" not in chosen_targets(data, CompileSettings(percent_of_max=True)).criteria


@pytest.mark.parametrize(
    ("target", "settings", "said"),
    [
        (("clear", "zing"), {}, "nobody rated 'zing' in toy"),
        (("overall", "mean"), {}, "each is named once, and one of overall and mean"),
        (("clear", "Clear"), {}, "each is named once"),
        (("clear", "kind+overall"), {}, "each is overall, mean, or a single criterion"),
        (
            ("clear", "kind"),
            {"protocol": ActiveCriticConfig(variant="coarse")},
            "the coarse variant gives",
        ),
        (
            ("clear", "kind"),
            {"protocol": ActiveCriticConfig(variant="vanilla")},
            "the vanilla variant gives",
        ),
        (("clear", "kind"), {"criteria": "inferred"}, "would score other criteria than clear, ki"),
        (("clear", "kind"), {"criteria": "given"}, "would score other criteria than clear, kind"),
    ],
)
def test_targets_that_one_judge_cannot_be_held_against_are_refused(target, settings, said):
    with pytest.raises(ValueError, match=said):
        chosen(*target, **settings)


def test_a_given_rubric_that_has_the_targets_will_do():
    rubric = Rubric(criteria={"Clear": "Is it clear?", "kind": "Is it kind?", "new": "Is it new?"})
    found = chosen("clear", "kind", criteria="given", protocol=ActiveCriticConfig(rubric=rubric))
    assert found.compared == ("clear", "kind")


def test_the_bundled_sample_can_be_judged_by_its_criteria():
    found = chosen_targets(read_items("sample"), CompileSettings(criteria="human"))
    assert found.names == ("faithfulness", "fluency")
