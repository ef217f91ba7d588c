"""What an annotator is told: texts, neighbours, rules and grades, as its protocol says."""

import pytest

from judgesmith.programs.families.annotator import AnnotatorConfig
from judgesmith.programs.families.forms.annotators import POINTS
from judgesmith.signatures import Criterion, Rubric, Scale

RUBRIC = Rubric(criteria={"fluency": "Is it well written?", "faithfulness": "Is it true?"})
FLUENCY, FAITHFULNESS = RUBRIC.criteria


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        *((name, "response") for name in ("Fluency", "grammaticality", "Spelling and style")),
        *((name, "source+context") for name in ("coherence", "naturalness", "influence", "wit")),
    ],
)
def test_what_is_about_language_alone_is_judged_without_the_source(name, shown):
    criterion = Criterion(name=name, definition="Is it?")
    assert AnnotatorConfig().shown_for(criterion) == shown


def test_what_is_shown_can_be_set_for_all_and_for_one():
    own = AnnotatorConfig(shown="source", shows={"faithfulness": "source+context"})
    assert own.shown_for(FLUENCY) == "source"
    assert own.shown_for(FAITHFULNESS) == "source+context"
    assert AnnotatorConfig().shown_for(None) == "source+context"


def test_neighbours_are_the_other_criteria_unless_they_are_named():
    own = AnnotatorConfig(rubric=RUBRIC)
    assert "Leave these to others, however bad they are: faithfulness." in own.rules_for(FLUENCY)
    named = AnnotatorConfig(rubric=RUBRIC, ignores={"fluency": ("tone", "length")})
    assert "however bad they are: tone, length." in named.rules_for(FLUENCY)
    assert "fluency." in named.rules_for(FAITHFULNESS)
    assert "Leave these" not in own.rules_for(None)
    none = AnnotatorConfig(rubric=RUBRIC, ignores={"fluency": ()})
    assert "Leave these" not in none.rules_for(FLUENCY)


def test_rules_name_the_best_score_as_it_is_asked_for_and_can_be_left_out():
    assert "Excellent" in AnnotatorConfig().rules_for(None)
    assert "give 5." in AnnotatorConfig(answers=POINTS).rules_for(None)
    assert AnnotatorConfig(rules="off").rules_for(FLUENCY) == ""


def test_a_criterion_says_what_the_lowest_and_the_highest_score_mean():
    said = AnnotatorConfig().meaning_of(Criterion(name="wit", definition="Funny?", best="I laugh."))
    assert said.startswith("wit: Funny? Unacceptable means: it fails")
    assert said.endswith("Excellent means: I laugh.")


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (
            {"answers": "0..100"},
            "an annotator answers on Unacceptable, Poor, Fair, Good, Excellent",
        ),
        ({"answers": Scale.categorical("a", "b")}, "or on 1..5; got a, b"),
        ({"weighting": "probabilities"}, "weighting must be none"),
        ({"demonstrations": {"annotate": [{"inputs": {}, "outputs": {}}]}}, "demonstrations"),
        ({"severity": "letters"}, "points"),
        ({"shows": {"wit": "everything"}}, "source"),
    ],
)
def test_what_no_annotator_can_be_is_refused(choices, said):
    with pytest.raises(ValueError, match=said):
        AnnotatorConfig(**choices)
