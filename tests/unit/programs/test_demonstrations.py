"""Demonstrations: nearest rows, expected answers and collected traces."""

import asyncio
import gc

import dspy
import pytest
from exporting import saved_judge, saved_of
from looping import for_each

import judgesmith
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.artifacts.differences import Expectation, told
from judgesmith.programs.artifacts.saved import SavedJudge, SavedJudgeError
from judgesmith.programs.judging.prompts import Nearest
from judgesmith.programs.judging.runner import COLLECTING, YOUNG, Collecting, iter_scores
from judgesmith.programs.lm import Prefix
from judgesmith.signatures import ActiveCriticConfig, Demonstration, Judgement, RatedItem
from judgesmith.signatures.judgement import ErrorSpan

# Each text is shown the graded examples that are most like it, by every way to a model.

TEXTS = {
    "cat": ("A cat sat on the mat.", "The cat sat."),
    "rain": ("It rained all day in Rome.", "Rain fell on Rome."),
    "train": ("The train left at nine.", "At nine the train left."),
    "cats": ("A cat sat on the mat.", "A cat was sitting on a mat."),
    "snow": ("Snow fell in the night.", "It snowed."),
}


def texts(name):
    source, response = TEXTS[name]
    return {"source": source, "context": None, "response": response}


def pool(*names):
    return tuple(
        Demonstration(inputs=texts(name), outputs={"score": 10 * place})
        for place, name in enumerate(names or TEXTS)
    )


def judge(n=2, shown=None, **choices):
    shown = {"grade": pool()} if shown is None else shown
    given = {"variant": "vanilla", "nearest": n, "demonstrations": shown, **choices}
    return ActiveCritic(**given)


def asked(made, item, scripted, good):
    """Return the messages of the one question, which both ways ask alike."""
    lm, engine = scripted(good)
    score_batch(made, [item], lm=lm)
    if hasattr(made, "forward"):
        made.use_context()
        with dspy.context(lm=lm):
            made(source=item.source, response=item.response)
            asyncio.run(made.acall(source=item.source, response=item.response))
        first, *others = [(*one.prefix.messages, one.user) for one in engine.requests]
        assert all(one == first for one in others)
        assert len(others) == 2
    return engine.requests[0].prefix.messages


def responses(messages):
    return [
        next(name for name, (_, response) in TEXTS.items() if response in message.text)
        for message in messages
        if message.role == "user"
    ]


class TestLikeness:
    def test_the_most_alike_comes_last(self):
        nearest = Nearest([texts(name) for name in TEXTS], 3)
        item = {"source": "A cat sat on the mat.", "response": "A cat was on a mat."}
        assert nearest.places(item)[-1] == list(TEXTS).index("cats")
        assert nearest.places(item)[-2] == list(TEXTS).index("cat")

    def test_a_text_is_never_its_own(self):
        nearest = Nearest([texts(name) for name in TEXTS], 9)
        for place, name in enumerate(TEXTS):
            found = nearest.places(texts(name))
            assert place not in found
            assert len(found) == len(TEXTS) - 1

    def test_of_those_equally_alike_the_earlier_are_taken(self):
        alike = [{"source": "s", "response": "same"}] * 4
        assert Nearest(alike, 2).places({"source": "s", "response": "other"}) == (1, 0)
        assert Nearest(alike, 2).places({"source": "", "response": ""}) == (1, 0)

    def test_rare_words_count_for_more(self):
        shown = [{"source": "", "response": f"the of {word}"} for word in ("ferry", "the", "of")]
        assert Nearest(shown, 1).places({"source": "", "response": "the ferry of x y z"}) == (0,)

    def test_scripts_without_spaces_are_read_too(self):
        shown = [{"source": "", "response": text} for text in ("猫在垫子上", "今天下雨了")]
        assert Nearest(shown, 1).places({"source": "", "response": "下雨的一天"}) == (1,)

    def test_odd_texts_do_no_harm(self, hostile):
        shown = [{"source": hostile, "response": "r"}, {"source": "s", "response": hostile}]
        found = Nearest(shown, 2).places({"source": hostile, "response": hostile})
        assert sorted(found) == [0, 1]

    def test_it_remembers_boundedly(self):
        nearest = Nearest([texts(name) for name in TEXTS], 1)
        for n in range(600):
            nearest.places({"source": f"{n}", "response": "r"})
        assert len(nearest._remembered) <= 256


class TestAsking:
    def test_every_text_has_its_own(self, scripted, good):
        for response, last in (("A cat on a mat", "cats"), ("Snowed it", "snow")):
            item = RatedItem(source=TEXTS[last][0], response=response)
            messages = asked(judge(), item, scripted, good)
            assert [one.role for one in messages] == ["system", *["user", "assistant"] * 2]
            assert responses(messages)[-1] == last

    def test_without_a_number_all_are_shown(self, scripted, good):
        item = RatedItem(source="s", response="r")
        messages = asked(judge(None), item, scripted, good)
        assert responses(messages) == list(TEXTS)

    def test_each_question_looks_among_its_own(self, scripted, judge_of, rubric, good):
        made = judge_of(shown="Ann left.")
        made = made.with_protocol(made.protocol.model_copy(update={"nearest": 1}))
        lm, engine = scripted(good)
        score_batch(made, [RatedItem(source="s", response="r")], lm=lm)
        assert [len(one.prefix.messages) for one in engine.requests] == [3, 3]

    def test_one_that_shows_no_answer_is_none(self, scripted, good):
        empty = Demonstration(inputs=texts("cats"), outputs={})
        shown = {"grade": (empty, *pool("rain", "cat"))}
        item = RatedItem(source=TEXTS["cats"][0], response="A cat was sitting")
        assert responses(asked(judge(1, shown), item, scripted, good)) == ["cat"]

    def test_prefixes_of_samples_are_made_once(self, scripted, good):
        lm, engine = scripted(good)
        made = judge(samples=3, temperature=0.7)
        score_batch(made, [RatedItem(source="s", response="r")], lm=lm)
        assert len({id(one.prefix) for one in engine.requests}) == 1
        assert isinstance(engine.requests[0].prefix, Prefix)

    def test_demonstrations_that_an_optimizer_changes_are_looked_among(self, scripted, good):
        made = judge(1)
        lm, engine = scripted(good)
        item = {"source": TEXTS["snow"][0], "response": "Snow fell"}
        with dspy.context(lm=lm):
            made(**item)
            made.grade.demos = made.grade.demos[:2]
            made.deepcopy()(**item)
            made(**item)
        found = [responses(one.prefix.messages) for one in engine.requests]
        assert found[0] == ["snow"]
        assert found[1] == found[2] != ["snow"]


class TestSaved:
    @pytest.mark.no_cover
    def test_it_asks_the_same_as_the_program(self, tmp_path, scripted, good):
        made = judge()
        folder = saved_judge(made).save(tmp_path / "judge")
        loaded = SavedJudge.load(folder)
        assert loaded.protocol == made.protocol
        assert judgesmith.load(folder).protocol == made.protocol
        for source, response in TEXTS.values():
            item = RatedItem(source=source, response=f"{response} Or not.")
            found = [asked(one, item, scripted, good) for one in (made, loaded, loaded.program())]
            assert found[0] == found[1] == found[2]
        assert "the 2 nearest of 5" in (folder / "README.md").read_text()

    def test_questions_that_lack_some_are_refused(self):
        made = judge()
        question = made.templates()["grade"]
        short = question.model_copy(update={"turns": question.turns[:-2]})
        with pytest.raises(ValueError, match="each of its 5 demonstrations as a pair"):
            saved_judge(made, questions={"grade": short})

    def test_a_number_below_one_is_refused(self):
        with pytest.raises(ValueError, match="greater than or equal to 1"):
            judge(0)
        assert issubclass(SavedJudgeError, ValueError)


# What DSPy's own optimizers put into predictors is shown, and read back as values.


def test_labelled_demonstrations_of_dspys_optimizer_are_shown(judge_of, scripted, good):
    trainset = [
        dspy.Example(source=f"s{n}", context=None, response=f"r{n}", score=10 * n).with_inputs(
            "source", "context", "response"
        )
        for n in range(4)
    ]
    student = judge_of()
    compiled = dspy.LabeledFewShot(k=2).compile(student, trainset=trainset)
    assert student.protocol.demonstrations == {}
    shown = compiled.protocol.demonstrations["overall"]
    assert [set(one.outputs) for one in shown] == [{"score"}, {"score"}]
    assert len(compiled.templates()["overall"].turns) == 5
    # The criteria question was given examples without an answer to it: none is shown.
    assert len(compiled.templates()["assess"].turns) == 1


def test_dspys_bootstrapping_shows_runs_that_the_metric_likes(judge_of, scripted, good):
    lm, _ = scripted(good)
    trainset = [
        dspy.Example(source=f"s{n}", context=None, response="r").with_inputs(
            "source", "context", "response"
        )
        for n in range(3)
    ]
    optimizer = dspy.BootstrapFewShot(
        metric=lambda example, verdict, trace=None: verdict.score == 70,
        max_bootstrapped_demos=2,
        max_labeled_demos=0,
    )
    with dspy.context(lm=lm):
        compiled = optimizer.compile(judge_of(), trainset=trainset)
    shown = compiled.protocol.demonstrations
    assert [one.kind for one in shown["overall"]] == ["bootstrapped"] * 2
    assert dict(shown["overall"][0].outputs) == {"explanation": "It is fine.", "score": 70}
    assert shown["assess"][0].outputs["assessments"][0]["score"] == 60
    answer = compiled.templates()["assess"].turns[2].text
    assert '"score": 60}' in answer
    assert ActiveCriticConfig.model_validate_json(compiled.protocol.model_dump_json()) == (
        compiled.protocol
    )


# collecting


@pytest.fixture
def as_before():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("as_before")
def test_garbage_is_looked_for_seldom_until_the_last_of_several_runs_ends():
    gc.set_threshold(700, 11, 12)
    collecting = Collecting()
    first, second = collecting.seldom(), collecting.seldom()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == (YOUNG, 11, 12)
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (YOUNG, 11, 12)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("own", [(0, 10, 10), (10 * YOUNG, 10, 10)], ids=["never", "more seldom"])
def test_what_somebody_set_on_purpose_is_left_alone(own):
    gc.set_threshold(*own)
    with Collecting().seldom():
        assert gc.get_threshold() == own
    with Collecting().seldom():
        gc.set_threshold(5, 5, 5)
    assert gc.get_threshold() == (5, 5, 5)


@pytest.mark.usefixtures("as_before")
def test_a_run_that_is_given_up_leaves_things_as_they_were():
    gc.set_threshold(700, 10, 10)
    items = (RatedItem(source="The ferry leaves at nine.", response=str(n)) for n in range(9))
    run = iter_scores(ActiveCritic(), items)
    next(run)
    assert gc.get_threshold()[0] == YOUNG
    run.close()
    assert gc.get_threshold() == (700, 10, 10)
    with COLLECTING.seldom():
        assert gc.get_threshold()[0] == YOUNG


# What is expected of a judgement, in the words of a failed test.

ERROR = ErrorSpan(text="1998", severity=4, explanation="The source says 1989.")


@for_each(
    ("wanted", "judgement", "said"),
    [
        ({"at_least": 50}, Judgement(score=50), []),
        ({"at_most": 50}, Judgement(score=51), ["the score is 51, expected 50 or less"]),
        ({"no_errors": True}, Judgement(score=1), []),
        (
            {"no_errors": True},
            Judgement(score=1, errors=(ERROR,)),
            ["the judge points at 1 error: '1998' (The source says 1989.)"],
        ),
        (
            {"criteria": {"wit": 50}},
            Judgement(score=1, criteria={"wit": {"score": 40, "explanation": "Dull."}}),
            ["wit is 40, expected 50 or more (Dull.)"],
        ),
        (
            {"criteria": {"wit": 50}},
            Judgement(score=1, criteria={"wit": {"score": None}}),
            ["wit has no score, expected 50 or more"],
        ),
        (
            {"criteria": {"wit": 50}},
            Judgement(score=1, criteria={"form": {"score": 1}}),
            ["there is no criterion 'wit'; the judge scores: form"],
        ),
        ({"unscored": True, "at_least": 9}, Judgement.unscored("refused"), []),
        ({"at_least": 9}, Judgement.unscored("refused"), ["there is no score: refused"]),
    ],
)
def test_what_falls_short_is_said(wanted, judgement, said):
    assert Expectation(**wanted).shortcomings(judgement) == said


@for_each(
    ("wanted", "message"),
    [
        ({"at_least": -1}, r"at_least is in points from 0 to 100 here; got -1\."),
        ({"criteria": {"wit": 101}}, r"criteria\['wit'\] is in points from 0 to 100"),
        ({"at_least": "4"}, "at_least is a number; got '4'."),
        ({"at_most": True}, "at_most is a number; got True."),
        ({"at_least": float("nan")}, "here; got nan"),
        ({"at_least": 5, "at_most": 4}, "no score is 5 or more and 4 or less"),
        ({"no_errors": True}, "needs a judge that looks for errors"),
    ],
)
def test_what_no_judgement_could_fulfil_is_refused(wanted, message):
    with pytest.raises(ValueError, match=message):
        Expectation(**wanted).check_against(saved_of("direct", texts=()))


def test_judges_that_look_for_errors_can_be_asked_for_none():
    Expectation(no_errors=True).check_against(saved_of("annotator", texts=()))


def test_long_texts_are_cut_in_messages():
    lines = told("word " * 200, Judgement(score=1, explanation="why " * 200), ["it fell"])
    assert max(map(len, lines.splitlines())) < 330
