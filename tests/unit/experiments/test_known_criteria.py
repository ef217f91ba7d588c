import pytest

from judgesmith.experiments.compile import human_criteria as known_criteria
from judgesmith.experiments.compile.human_criteria import known_criterion, named_criterion
from judgesmith.programs.features.qualities import quality_of
from judgesmith.programs.offline.inferring import ASPECTS
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

USUAL = (
    *("coherence", "consistency", "fluency", "relevance", "informativeness", "engagingness"),
    *("naturalness", "groundedness", "understandability", "grammar", "adequacy", "simplicity"),
    *("meaning preservation", "accuracy", "faithfulness", "coverage", "readability"),
    *("helpfulness", "correctness", "completeness", "conciseness", "overall", "clarity"),
)


@pytest.mark.parametrize("name", [*USUAL, "Data_Coverage", "Meaning", "Non-Redundancy"])
def test_usual_names_have_a_question_that_speaks_of_the_response(name):
    one = known_criterion(name)
    assert one.name == name
    assert "response" in one.definition
    assert one.definition.endswith("?")
    assert "{" not in one.definition


def test_words_of_the_default_rubric_are_taken_with_both_ends():
    assert known_criterion("fluency") == DEFAULT_RUBRIC.criteria[3]
    assert known_criterion("Fluency").best == DEFAULT_RUBRIC.criteria[3].best


def test_words_of_the_offline_model_are_taken():
    expected = ASPECTS["naturalness"].format(response="response")
    assert known_criterion("naturalness").definition == expected


def test_other_names_for_a_quality_lead_to_words_that_exist():
    for meant in known_criteria._SAME.values():
        assert known_criterion(meant) is not None


def test_nothing_is_defined_twice():
    theirs = {*ASPECTS, *(one.name for one in DEFAULT_RUBRIC.criteria)}
    # These say something else here than in one type of task; see the comment there.
    other = {"consistency", "coverage", "engagingness", "helpfulness"}
    assert theirs & set(known_criteria._OWN) == other
    assert not set(known_criteria._SAME) & (theirs | set(known_criteria._OWN))


@pytest.mark.parametrize("name", ["toxicity", "hallucinations", "mqm", "preferred", "zing"])
def test_faults_and_unknown_names_have_no_general_words(name):
    assert known_criterion(name) is None


@pytest.mark.parametrize("counts_faults", [False, True])
def test_a_criterion_by_its_name_alone_is_judged_by_that_name(counts_faults):
    def family(name):
        one = named_criterion(name, counts_faults=counts_faults)
        return quality_of(one.name, one.definition).name

    assert family("zing") == "general"
    assert family("flüssigkeit") == "fluency"
    assert "fact check" in named_criterion("fact_check").definition
