import pytest

from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.active_critic import critic_space
from judgesmith.signatures import ActiveCriticConfig, Demonstration, Rubric, Scale
from judgesmith.signatures.config import Aggregation
from judgesmith.signatures.space import WARM

pytestmark = pytest.mark.no_cover

CRITERIA = [{"name": "clear", "definition": "is clear"}]
PLAIN = Rubric.model_validate({"criteria": CRITERIA})
TASK = Rubric.model_validate({"criteria": CRITERIA, "task": "Judge it."})


def choice(space, name):
    return next(one for one in space.choices if one.name == name)


@pytest.mark.parametrize(
    "protocol",
    [
        ActiveCriticConfig(),
        ActiveCriticConfig(variant="vanilla"),
        ActiveCriticConfig(variant="coarse", explain="after"),
        ActiveCriticConfig(criteria_calls="separate", overall="mean", answers=Scale(low=1, high=7)),
        ActiveCriticConfig(samples=7, temperature=0.4, rubric=TASK),
    ],
)
def test_the_default_of_every_choice_is_the_judge_as_it_is(protocol):
    judge = ActiveCritic(protocol)
    assert judge.with_choices({}).protocol == protocol
    assert judge.with_choices(judge.space().complete({})).protocol == protocol


@pytest.mark.parametrize("rubric", [PLAIN, TASK])
def test_every_configuration_is_a_judge_of_its_own(rubric):
    judge = ActiveCritic(ActiveCriticConfig(rubric=rubric))
    space = judge.space()
    made = {judge.with_choices(one).protocol.fingerprint for one in space.configurations()}
    assert len(made) == space.size


def test_a_judge_without_criteria_can_only_be_vanilla():
    space = critic_space(ActiveCriticConfig(variant="vanilla", rubric=Rubric()))
    assert space.names == ("variant", "answers", "samples", "reduction", "weighting")
    assert choice(space, "variant").ids == ("vanilla",)


def test_rubrics_compete_with_and_without_their_task():
    other = TASK.model_copy(update={"task": "Judge that."})
    space = critic_space(ActiveCriticConfig(rubric=TASK), {"general": other})
    # Without their tasks the two are the same.
    assert choice(space, "rubric").ids == ("own", "own-without-task", "general")


def test_several_answers_are_drawn_warm_and_a_single_one_is_not():
    judge = ActiveCritic()
    assert judge.with_choices({"samples": "3"}).protocol.temperature == WARM
    warm = ActiveCritic(ActiveCriticConfig(samples=5, temperature=0.4))
    assert warm.with_choices({"samples": "3"}).protocol.temperature == 0.4
    assert warm.with_choices({"samples": "1"}).protocol.temperature == 0


def test_demonstrations_and_learned_weights_stay_only_where_nothing_changes():
    shown = Demonstration(inputs={"source": "s", "response": "r"}, outputs={"score": 50})
    own = ActiveCriticConfig(
        variant="vanilla",
        demonstrations={"grade": [shown]},
        aggregation=Aggregation(kind="overall"),
    )
    judge = ActiveCritic(own)
    assert judge.with_choices({"variant": "vanilla"}).protocol == own
    assert judge.with_choices({"answers": "1-5"}).protocol.demonstrations == {}


def test_an_unknown_option_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="explain is one of before, after, none"):
        ActiveCritic().with_choices({"explain": "loudly"})
