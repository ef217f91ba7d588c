import pytest

from judgesmith.data.items import DataSet
from judgesmith.data.reading import read_items
from judgesmith.experiments.compile.human_criteria import human_rubric, known_criterion
from judgesmith.signatures import Criterion, RatedItem, Rubric, Scale

LIKERT = Scale(low=1, high=5)
FAULTS = Scale(low=0, high=10, higher_is_better=False)


def dataset(*names, stated=None, **scales):
    item = RatedItem(
        source="s",
        response="r",
        human=dict.fromkeys(names, (4,)),
        scale=dict.fromkeys(names, LIKERT) | scales,
        extra={} if stated is None else {"definitions": stated},
    )
    return DataSet(name="toy", items=(item,))


def test_all_criteria_but_overall_in_the_order_of_the_data():
    found = human_rubric(dataset("fluency", "overall", "coherence", "adequacy"))
    assert found.rubric.names == ("fluency", "coherence", "adequacy")
    assert (found.rubric.task, found.rubric.task_type) == ("", "")


def test_only_those_that_are_named_and_overall_too():
    data = dataset("fluency", "overall", "coherence", "fact_check")
    found = human_rubric(data, names=["Fact check", "overall", "fluency"])
    assert found.rubric.names == ("fluency", "overall", "fact_check")


def test_the_rubric_comes_before_the_data_and_the_data_before_general_words():
    mine = Rubric(
        task="Judge it.",
        task_type="dialogue",
        criteria=(Criterion(name="Tone", definition="Mine?", worst="rude", best="kind"),),
    )
    stated = {"tone": "Theirs?", "fluency": "Is it fluent?"}
    data = dataset("fluency", "tone", "coherence", "zing", stated=stated)
    rubric = human_rubric(data, rubric=mine).rubric
    assert rubric.provenance == {
        "criteria": {"fluency": "data", "tone": "given", "coherence": "general", "zing": "general"}
    }
    fluency, tone, coherence, zing = rubric.criteria
    assert fluency == Criterion(name="fluency", definition="Is it fluent?")
    assert tone == Criterion(name="tone", definition="Mine?", worst="rude", best="kind")
    assert coherence == known_criterion("coherence")
    assert "zing" in zing.definition
    assert (rubric.task, rubric.task_type) == ("Judge it.", "dialogue")


def test_notes_say_what_nobody_defined_and_how_to():
    notes = human_rubric(dataset("fluency", "coherence", "zing", stated={"b": "?"})).notes
    assert notes == (
        "'definitions' defines 'b', which nobody rated.",
        "neither a rubric nor the data defines fluency and coherence: general words stand in; "
        "--rubric gives your own.",
        "nobody defined zing, and there are no general words for that: judged by the name alone; "
        "--rubric gives your own.",
    )


def test_nothing_is_noted_where_everything_is_defined():
    mine = Rubric(criteria={"a": "Is it A?"})
    assert human_rubric(dataset("a", "b", stated={"b": "Is it B?"}), rubric=mine).notes == ()


def test_definitions_in_the_data_that_are_not_used_may_be_anything():
    mine = Rubric(criteria={"a": "Is it A?"})
    found = human_rubric(dataset("a", stated={"a": "[[ ## score ## ]]"}), rubric=mine)
    assert found.rubric.criteria[0].definition == "Is it A?"
    with pytest.raises(ValueError, match="row 1: the definition of 'a' would be part of every"):
        human_rubric(dataset("a", stated={"a": "[[ ## score ## ]]"}))


def test_criteria_that_nobody_rated_are_left_out_and_named():
    mine = Rubric(criteria={"a": "Is it A?", "b": "Is it B?", "c": "Is it C?"})
    found = human_rubric(dataset("a", "b"), names=["a"], rubric=mine)
    assert found.rubric.names == ("a",)
    assert found.notes == ("the rubric also defines c, which nobody rated; left out.",)


def test_what_is_known_of_a_given_rubric_stays():
    learned = {"batches": [{"batch": 1, "rows": {"5f": "row 1"}}], "criteria": {"a": {}}}
    mine = Rubric(criteria={"a": "Is it A?"}, provenance=learned)
    found = human_rubric(dataset("a"), rubric=mine).rubric.provenance
    assert found == {"batches": learned["batches"], "criteria": {"a": "given"}}


def test_counted_faults_are_asked_for_by_their_absence():
    found = human_rubric(dataset("typos", "fluency", typos=FAULTS, fluency=FAULTS))
    typos, fluency = found.rubric.criteria
    assert typos.name == "typos"
    assert typos.definition.startswith("Is the response free of typos")
    assert fluency == known_criterion("fluency")
    assert "people counted faults on typos and fluency" in found.notes[-1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a:b", "expected a few words on one line, without a colon; got 'a:b'."),
        ("a\nb", r"it holds '\n', which cannot be printed."),
        ("a\u2028b", r"it holds '\u2028', which cannot be printed."),
        ("\x1b[2J", r"it holds '\x1b', which cannot be printed."),
        ("", "String should have at least 1 character."),
        ("***", "expected a few words on one line, without a colon; got '***'."),
        (" a", "it begins or ends with a blank."),
        ("x" * 101, "it has 101 characters, and 100 are the most."),
        ("a [[ ## b", "'[[ ##' is a marker of the prompt layout; write it another way."),
    ],
)
def test_names_that_a_rubric_cannot_hold_are_refused_and_the_way_out_is_named(name, said):
    with pytest.raises(ValueError) as caught:
        human_rubric(dataset("fluency", name))
    assert str(caught.value).endswith(
        f"cannot stand in a rubric: {said[:-1]}; give its column another name "
        "(--map NAME=COLUMN), or rename it under 'human'."
    )
    assert human_rubric(dataset("fluency", name), names=["fluency"]).rubric.names == ("fluency",)


def test_names_of_other_scripts_are_names():
    names = ("می‌شود", "流暢さ", "Köhärenz & Stil", "प्रवाह")
    assert human_rubric(dataset(*names)).rubric.names == names


def test_names_that_differ_in_case_alone_are_refused():
    with pytest.raises(ValueError, match="'tone' cannot stand in a rubric: it is the same as 'Ton"):
        human_rubric(dataset("Tone", "tone"))


@pytest.mark.parametrize(
    ("names", "given", "said"),
    [
        (("overall",), None, "only overall is rated in toy, so there are no criteria of people"),
        ((), None, r"nothing is rated in toy.*--map fluency=COLUMN.*--rubric"),
        (("fluency",), ["fluensy"], r"nobody rated 'fluensy' in toy; there is fluency; did you"),
        (("fluency",), ["Fluency", "fluency"], "fluency is named more than once"),
        (("fluency",), [], "no criteria are named; there is fluency."),
    ],
)
def test_without_such_criteria_there_is_one_clear_error(names, given, said):
    with pytest.raises(ValueError, match=said):
        human_rubric(dataset(*names), names=given)


@pytest.mark.parametrize(
    ("name", "criteria"),
    [
        ("summeval", ("coherence", "consistency", "fluency", "relevance")),
        ("wiki_da", ("simplicity", "fluency", "meaning")),
        (
            "webnlg2020_en",
            ("correctness", "data_coverage", "fluency", "relevance", "text_structure"),
        ),
    ],
)
def test_criteria_of_real_sets_are_known(data_folder, name, criteria):
    found = human_rubric(read_items(data_folder / f"{name}.jsonl.gz"))
    assert found.rubric.names == criteria
    assert [note for note in found.notes if "by the name alone" in note] == []
    assert Rubric.from_yaml(found.rubric.to_yaml()) == found.rubric
