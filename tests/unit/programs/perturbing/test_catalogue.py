import pytest

from judgesmith.data import read_items
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS
from judgesmith.programs.perturbing import (
    ADDITIONS,
    CONTROLS,
    PERTURBATIONS,
    TASKS,
    Donors,
    Every,
    amount_of,
    perturb,
    perturbations_for,
)
from judgesmith.programs.perturbing.catalogue import named_amounts, perturbations_named


@pytest.mark.parametrize(
    ("task", "n"),
    [
        ("summarization", 12),
        ("story_completion", 6),
        ("question_answering", 9),
        ("translation", 10),
    ],
)
def test_each_task_has_the_perturbations_of_the_benchmark(task, n):
    found = perturbations_for(task)
    assert len(found) == n
    assert all(way.lowers for way in found)
    assert {way.kind for way in found} == set(EXPERT_WEIGHTS[task])


def test_minor_and_major_are_as_in_the_benchmark():
    amounts = {task: {name: str(much) for name, much in own.items()} for task, own in TASKS.items()}
    assert amounts["summarization"]["grammatical_errors/minor"] == "2"
    assert amounts["summarization"]["grammatical_errors/major"] == "all, at least 4"
    assert amounts["question_answering"]["grammatical_errors/major"] == "all, at least 3"
    assert amounts["translation"]["word_deletions/major"] == "25"
    assert amounts["story_completion"]["character_typos"] == "5"
    assert amounts["summarization"]["rewriting/major"] == "every 2nd, at least 2"


def test_levels_of_tasks():
    levels = {task: {way.level for way in perturbations_for(task)} for task in TASKS}
    assert levels["translation"] == {"character", "word"}
    assert levels["summarization"] == {"character", "word", "sentence"}


def test_names_tell_all_apart_and_controls_lower_nothing():
    assert all(way.name == name for name, way in PERTURBATIONS.items())
    assert not any(way.lowers for way in CONTROLS)
    assert all(way.lowers for way in ADDITIONS)


def test_any_other_task_has_rules_alone_each_with_an_amount():
    found = perturbations_for("dialogue")
    assert found == perturbations_for(None)
    assert all(way.method == "rule" for way in found)
    assert all(amount_of(way) for way in PERTURBATIONS.values())
    assert amount_of(PERTURBATIONS["negation"]) == 1
    assert amount_of(PERTURBATIONS["padding"]) == Every()


def test_names_stand_for_degrees_of_the_task_and_groups_for_several():
    def names(*given, task=None):
        return [way.name for way in perturbations_named(given, task)]

    assert names("character_typos") == ["character_typos/minor", "character_typos/major"]
    assert names("character_typos", task="story_completion") == ["character_typos"]
    assert names("character_typos/major", task="story_completion") == ["character_typos/major"]
    assert names("controls", "padding") == [way.name for way in CONTROLS]
    assert names("all") == list(PERTURBATIONS)
    assert names("task", task="translation") == list(TASKS["translation"])
    assert names("fictional_entities") == [
        *("fictional_entities", "fictional_entities/minor", "fictional_entities/major")
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["tipos"], "did you mean character_typos?"),
        (["reorder"], "did you mean reordering?"),
        (["entities"], "did you mean fictional_entities?"),
        (["sneezing"], "name one of character_deletions, "),
        ([], "no change is named"),
    ],
)
def test_an_unknown_name_is_refused_with_a_close_one(given, says):
    with pytest.raises(ValueError) as caught:
        perturbations_named(given)
    assert says in str(caught.value)


def test_amounts_are_read_by_name():
    assert named_amounts(["word_deletions=3"], "translation") == {
        "word_deletions/minor": 3,
        "word_deletions/major": 3,
    }
    for wrong in (["word_deletions"], ["word_deletions=0"], ["word_deletions=x"], ["=3"]):
        with pytest.raises(ValueError):
            named_amounts(wrong)
    with pytest.raises(ValueError, match="given twice"):
        named_amounts(["negation=1", "negation=2"])


def test_amounts_that_would_change_nothing_are_refused():
    with pytest.raises(ValueError, match="case_loss is made in one way only; leave its amount"):
        named_amounts(["case_loss=5"])
    with pytest.raises(ValueError, match="the amount of reordering/minor is 2 or more; got 1"):
        named_amounts(["reordering/minor=1"])
    assert named_amounts(["reordering/minor=2"]) == {"reordering/minor": 2}


@pytest.mark.parametrize("way", PERTURBATIONS.values(), ids=lambda way: way.name)
def test_whoever_takes_an_amount_heeds_it(way):
    items = read_items("sample").subset(range(12)).items
    text = " ".join(item.response for item in items)
    longer = [
        item.model_copy(update={"response": f"{text} It was {place} in 1999, 2004 and 2010."})
        for place, item in enumerate(items)
    ]
    made = [
        [perturb(one, way, amount=amount, donors=Donors(longer), seed=0) for one in longer]
        for amount in (2, 4)
    ]
    try:
        named_amounts([f"{way.name}=2"])
    except ValueError:
        assert made[0] == made[1]
    else:
        assert made[0] != made[1]
