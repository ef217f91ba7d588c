"""Each text is shown the graded examples that are most like it, by every way to a model."""

import asyncio

import dspy
import pytest

import judgesmith
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.artifacts.saved import SavedJudge, SavedJudgeError
from judgesmith.programs.judging.prompts import Nearest
from judgesmith.programs.lm import Prefix
from judgesmith.signatures import Demonstration, RatedItem, Scale

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

    def test_the_system_message_stays_first_and_the_same(self, scripted, good):
        items = [RatedItem(source=s, response=f"{r}!") for s, r in TEXTS.values()]
        lm, engine = scripted(good)
        score_batch(judge(), items, lm=lm)
        assert len({one.prefix.messages[0] for one in engine.requests}) == 1
        assert len({one.prefix for one in engine.requests}) > 2

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


def saved(made):
    return SavedJudge(
        protocol=made.protocol,
        questions=made.templates(),
        model="offline",
        target="overall",
        human_scale=Scale.parse("1..5"),
    )


class TestSaved:
    @pytest.mark.no_cover
    def test_it_asks_the_same_as_the_program(self, tmp_path, scripted, good):
        made = judge()
        folder = saved(made).save(tmp_path / "judge")
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
            SavedJudge(
                protocol=made.protocol,
                questions={"grade": short},
                model="offline",
                target="overall",
                human_scale=Scale.parse("1..5"),
            )

    def test_a_number_below_one_is_refused(self):
        with pytest.raises(ValueError, match="greater than or equal to 1"):
            judge(0)
        assert issubclass(SavedJudgeError, ValueError)


def test_the_offline_model_learns_from_them():
    items = [RatedItem(source=s, response=f"{r}!") for s, r in TEXTS.values()]
    found = [
        [one.score for one in score_batch(made, items)]
        for made in (judge(1), judge(2), judge(None), judge(None, {}))
    ]
    assert len({tuple(one) for one in found}) == 4
