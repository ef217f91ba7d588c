import pytest
from optimizing import examples, lm_of

from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.space.candidates import check_fixed
from judgesmith.optimizers.space.demonstrations import CHOSEN, NAMES, ORDER, RUNS, N
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.direct import DirectConfig
from judgesmith.signatures import ActiveCriticConfig

OWN = ("variant", "answers", "samples", "weighting", "reduction", "rubric")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sampels", "did you mean samples?"),
        ("demonstration.order", "did you mean demonstrations.order?"),
        ("???", "give some of variant, rubric, "),
        ("x" * 5000, "give some of variant, rubric, "),
    ],
)
def test_a_name_that_no_choice_has_is_refused_with_the_nearest(name, meant):
    with pytest.raises(ValueError, match="fixed names choices of the search") as refused:
        check_fixed([name], ActiveCriticConfig())
    assert meant in str(refused.value)
    assert len(str(refused.value)) < 500


def test_usual_names_are_good_for_every_family_and_those_of_a_given_space_are():
    check_fixed(["samples", "variant", "asks", "model", *NAMES], DirectConfig())
    check_fixed(["tone"], ActiveCriticConfig(), ["tone"])


def searched(*fixed):
    search = ProtocolSearch(
        n_trials=4,
        batch=4,
        n_demonstrations=2,
        confirm=None,
        fixed=(*OWN, *fixed),
        first=({N: "2"},),
        lm=lm_of(lambda user, shown, system: 50 + len(user) % 7 * (1 + len(shown))),
    )
    search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))
    return search


def test_a_search_refuses_a_wrong_name_before_it_asks():
    with pytest.raises(ValueError, match="did you mean samples"):
        searched("sampels")


def test_demonstrations_that_are_fixed_are_not_searched():
    search = searched("demonstrations", "explain")
    assert search.space_.names == ()
    assert [one.picked for one in search.trials_] == [{}]


def test_how_they_are_drawn_may_be_fixed_alone():
    search = searched(CHOSEN, ORDER, "demonstrations.draw", RUNS)
    assert search.space_.names == (N,)
    assert {N: "2"} in [one.picked for one in search.trials_]


def test_a_rule_to_confirm_by_is_a_record():
    with pytest.raises(TypeError, match=r"such as ImprovementTest\(level=0.05\).* got 3"):
        ProtocolSearch(confirm=3)
