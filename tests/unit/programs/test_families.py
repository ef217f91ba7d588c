"""What every family of judges promises, from one table of judges and one of refusals."""

import asyncio
import json
from dataclasses import replace
from importlib.metadata import EntryPoint
from itertools import product
from pathlib import Path

import dspy
import pytest
from exporting import saved_judge
from looping import for_each

from judgesmith.errors import InputError
from judgesmith.programs import DirectJudge, SavedJudge, load_judge, score_batch
from judgesmith.programs.artifacts.saved import SavedJudgeError, content_hash
from judgesmith.programs.extras import library
from judgesmith.programs.families.forms.annotators import POINTS
from judgesmith.programs.families.pointwise import DirectConfig
from judgesmith.programs.judging import registry
from judgesmith.programs.judging.judge import (
    chosen,
    decided_by_names,
    own_protocol,
    own_settings,
    without_untold,
)
from judgesmith.programs.judging.registry import (
    JudgeFamily,
    family_of,
    known_families,
    register_family,
)
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig, Aggregation, RatedItem, Rubric
from judgesmith.signatures.questions.exemplar import WriteEnd
from judgesmith.signatures.questions.pointwise import ScoreOne

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "judge-families.md"
FAMILIES = [one.name for one in known_families()]
TWO = Rubric(task="Judge a notice.", criteria={"brevity": "Is it short?", "wit": "Is it funny?"})
WITHOUT_TASK = TWO.model_copy(update={"task": ""})
NOTHING, ONLY_TASK = Rubric(), Rubric(task="Judge a notice.")
TEXTS = {
    "source": "The bridge opened on Monday.",
    "response": "It opened on Monday.",
    "context": None,
    "references": ("The bridge opened.",),
}
ITEM = RatedItem(**TEXTS)
LINEAR = {"kind": "linear", "centers": (0.0,), "spreads": (1.0,), "weights": (1.0,)}


def start(family, **choices):
    return family_of(family).start(**{"rubric": TWO, **choices})


# A judge gives one judgement by every way: saved or not, through DSPy or not, waiting or not.

WHOLE_OR_CRITERIA = ("overall", "criteria")
JUDGES = [
    *(
        ("direct", {"asks": asks, "rubric": rubric, "answers": "1..5"})
        for asks, rubric in product(WHOLE_OR_CRITERIA, (TWO, WITHOUT_TASK))
    ),
    *(
        ("explain-eval", {"asks": asks, "explain": explain, "weighting": "probabilities"})
        for asks, explain in product(WHOLE_OR_CRITERIA, ("before", "after", "none"))
    ),
    *(
        ("g-eval", {"asks": asks, "rubric": rubric})
        for asks, rubric in product(WHOLE_OR_CRITERIA, (TWO, WITHOUT_TASK))
    ),
    *(
        (family, {"asks": "overall", "rubric": rubric})
        for family in ("direct", "explain-eval", "g-eval")
        for rubric in (NOTHING, ONLY_TASK)
    ),
    *(
        ("active-critic", choices)
        for choices in (
            {"variant": "vanilla"},
            {"variant": "coarse"},
            {"overall": "mean"},
            {"criteria_calls": "separate", "weighting": "probabilities"},
        )
    ),
    *(("gptscore", {"asks": asks}) for asks in WHOLE_OR_CRITERIA),
    ("checklist", {}),
    ("reference", {"metric": "chrf"}),
    ("verdict", {}),
    ("verdict", {"asks": "checks", "combine": "mean", "explain": "after"}),
    ("verdict", {"answers": "bad|so-so|good", "explain": "none"}),
    ("verdict", {"answers": "wrong|right", "samples": 3, "temperature": 1.0}),
    ("exemplar", {}),
    ("exemplar", {"levels": 2, "form": "yes-no", "order": "both"}),
    ("exemplar", {"asks": "criteria", "normalisation": "level", "mirrored": True}),
    ("exemplar", {"verdicts": "samples", "n_sampled": 2, "levels": 3}),
    ("annotator", {"severity": "words"}),
    ("annotator", {"answers": POINTS, "shows": {"wit": "source"}}),
    *(
        (family, {"asks": asks})
        for family in ("prometheus", "themis", "auto-j", "distilled")
        for asks in WHOLE_OR_CRITERIA
    ),
]


@pytest.mark.parametrize(("family", "choices"), JUDGES)
def test_every_way_to_ask_gives_the_same_judgement(family, choices, tmp_path):
    judge, problems = start(family, **choices).prepared()
    saved = saved_judge(judge)
    saved.save(tmp_path / "judge")
    again, program = SavedJudge.load(tmp_path / "judge"), load_judge(tmp_path / "judge")
    assert (problems, again, type(program)) == ((), saved, type(judge))
    assert program.templates() == judge.templates()
    (fast,) = score_batch(judge, [ITEM])
    assert fast.problem is None
    assert score_batch(again, [ITEM]) == [fast]
    assert len(fast.calls) == family_of(family).calls(judge.protocol)
    with dspy.context(lm=model("offline", ledger=None)):
        slow, waiting = program(**TEXTS), asyncio.run(judge.acall(**TEXTS))
    for one in (slow, waiting):
        assert (one.score, one.calls, one.weighting, one.errors) == (
            fast.score,
            fast.calls,
            dict(fast.weighting),
            fast.errors,
        )


@pytest.mark.parametrize(
    ("family", "choices", "lines"),
    [
        (
            "direct",
            {"asks": "criteria"},
            ("judge: direct, which asks for a score", "asks: criteria", "score: the mean of the"),
        ),
        (
            "exemplar",
            {"asks": "criteria", "form": "yes-no"},
            ("judge: exemplar, which compares", "levels: 5", "criteria, each by comparisons"),
        ),
    ],
)
def test_the_card_says_what_its_family_does(family, choices, lines, tmp_path):
    card = saved_judge(start(family, **choices)).save(tmp_path / "judge") / "README.md"
    assert [line for line in lines if line not in card.read_text()] == []


@pytest.mark.parametrize("family", FAMILIES)
class TestEveryFamily:
    def test_starts_from_a_rubric_and_asks_the_questions_it_has_forms_for(self, family):
        own, rubric = family_of(family), Rubric(criteria={"brevity": "Is it short?"})
        judge = own.start(rubric)
        assert (judge.protocol.rubric, judge.protocol.judge) == (rubric, family)
        assert isinstance(judge.protocol, own.protocol)
        assert list(own.forms(judge.protocol)) == list(judge.templates())

    @pytest.mark.no_cover
    def test_makes_a_judge_of_every_configuration_of_its_space(self, family):
        judge = family_of(family).start(Rubric(criteria={"wit": "Is it funny?"}))
        assert judge.with_choices({}).protocol == judge.protocol
        space = judge.space()
        found = {judge.with_choices(one).protocol.fingerprint for one in space.configurations()}
        assert len(found) == space.size

    def test_decides_every_choice_by_name_as_the_judge_itself_does(self, family):
        judge = family_of(family).start()
        for choice in judge.space().choices:
            for option in choice.ids:
                picked = {choice.name: option}
                decided = decided_by_names(family_of(family).start(), picked).protocol
                assert decided == judge.with_choices(picked).protocol

    def test_says_what_it_does_in_a_few_words(self, family):
        about = family_of(family).about
        assert about
        assert not about.endswith(".")
        assert f"| `{family}` | " in PAGE.read_text(encoding="utf-8")


# What makes no judge is refused where it is made, in one sentence.

NO_CRITERIA = "{} judge that asks for criteria needs some; the rubric has none; give it at least "
ONE_DEMONSTRATION = {"whole": ({"inputs": {}, "outputs": {"x": 1}},)}
REFUSED = [
    ("direct", {"ask": "overall"}, "ask: there is no such field"),
    ("direct", {"variant": "fine"}, "variant"),
    ("direct", {"demonstrations": ONE_DEMONSTRATION}, "asks for score"),
    ("explain-eval", {"explain": "first"}, "explain"),
    ("g-eval", {"plan": "mine"}, "plan"),
    (
        "g-eval",
        {"steps": {"brevty": ["Read."]}},
        "steps for 'brevty', which is not a criterion; did you mean brevity?",
    ),
    ("gptscore", {"samples": 3}, "samples"),
    ("gptscore", {"instructions": {"likely": "Write."}}, "instructions for likely"),
    ("verdict", {"answers": "1..5"}, "must be labels; got 1..5; write them worst first"),
    ("verdict", {"answers": "a|b|c", "asks": "checks"}, "checks decide between two labels"),
    ("verdict", {"answers": "a|b|c", "reduction": "mode"}, "of 3 labels only the mean of"),
    ("verdict", {"rubric": NOTHING, "asks": "checks"}, NO_CRITERIA.format("a verdict")),
    ("checklist", {"answers": "1..5"}, "must be no and yes; got 1..5"),
    ("checklist", {"questions": {"wit": ["Laugh!"]}}, "question mark; got 'Laugh!'"),
    ("checklist", {"questions": {"wit": []}}, "expected 1 to 12"),
    ("checklist", {"questions": {"wti": ["Is it?"]}}, "'wti', which is not a criterion; did"),
    ("checklist", {"questions": {"🙂": ["Is it?"]}}, "there are brevity, wit"),
    ("checklist", {"questions": {"wit": ["[[ ## score ## ]] yes?"]}}, "without markers"),
    ("checklist", {"rubric": NOTHING}, "a checklist judge needs criteria to ask about; the rub"),
    ("exemplar", {"levels": 1}, "levels: expected greater than or equal to 2; got 1"),
    ("exemplar", {"samples": 3}, "leave samples and weighting as they are"),
    ("exemplar", {"weighting": "probabilities"}, "leave samples and weighting as they are"),
    ("exemplar", {"manner": "[[ ## verdict ## ]]"}, "a marker of the prompt layout"),
    ("reference", {"metric": "rouge3"}, "rouge3"),
    ("reference", {"samples": 3}, "asks no model: samples must be 1; got 3"),
    ("reference", {"weighting": "probabilities"}, "asks no model: weighting must be none"),
    ("pairs", {"beam": "many"}, "beam: expected a whole number; got 'many'"),
    ("pairs", {"answers": "1..5"}, "answered with A, tie, B"),
    ("pairs", {"beam": 0}, "beam"),
    ("pairs", {"doubt": 0.6}, "doubt"),
    ("pairs", {"aggregation": {**LINEAR, "terms": ["overall"]}}, "cannot be weighed"),
    ("prometheus", {"answers": "1..10"}, "answers on 1..5, the scale of its training"),
    ("prometheus", {"weighting": "probabilities"}, "weighting must be none"),
    ("prometheus", {"demonstrations": ONE_DEMONSTRATION}, "has no demonstrations"),
    ("distilled", {"answers": "1..5"}, "a distilled model answers on 0..100"),
    ("annotator", {"shows": {"wti": "source"}}, "shows for 'wti'"),
    ("annotator", {"ignores": {"wti": ("tone",)}}, "ignores for 'wti'"),
    *(
        (family, {"asks": "criteria", "rubric": ONLY_TASK}, NO_CRITERIA.format(article))
        for family, article in (
            *((name, f"a {name}") for name in ("direct", "prometheus", "g-eval", "gptscore")),
            *((name, f"an {name}") for name in ("exemplar", "explain-eval")),
        )
    ),
]


@for_each(("family", "choices", "said"), REFUSED)
def test_what_makes_no_judge_is_refused(family, choices, said):
    with pytest.raises(ValueError) as fault:
        start(family, **choices)
    assert said in str(fault.value)


@for_each("family", [one for one in FAMILIES if one != "active-critic"])
def test_a_configuration_of_another_family_is_refused_by_name(family):
    judge = type(family_of(family).start())
    with pytest.raises(ValueError, match=r"^expected .*; got one of active-critic\.$"):
        judge(ActiveCriticConfig())
    with pytest.raises(ValueError, match=r"of the kind active-critic|the state is of"):
        family_of(family).start().load_state(family_of("active-critic").start().dump_state())


def test_features_that_nobody_counts_are_refused():
    weights = Aggregation(**LINEAR, terms=("lexical:nonsense",))
    with pytest.raises(ValueError, match="does not count: nonsense"):
        chosen(DirectConfig(), {"aggregation": weights}, kind=DirectConfig)


def test_choices_go_before_what_was_given_which_stays_as_it_was():
    given = DirectConfig(samples=3, temperature=0.5)
    own = own_protocol(DirectConfig, given, {"samples": 5})
    assert (own.samples, own.temperature, given.samples) == (5, 0.5, 3)
    assert own_protocol(DirectConfig, None, {}) == DirectConfig()


def test_fields_that_are_told_with_each_item_stay():
    fields = list(without_untold(ScoreOne, {"criterion": "wit: Funny?"}).input_fields)
    assert fields == ["criterion", "source", "context", "response"]
    assert "level" in without_untold(WriteEnd, {"criterion": "wit: Funny?"}).input_fields


# What a family has of its own is decided by name: choices by option, settings by value.


def decided(family, **picked):
    return decided_by_names(family_of(family).start(), picked).protocol


@pytest.mark.parametrize(
    ("family", "picked", "own"),
    [
        (
            "pairs",
            {"ranking": "beam", "beam": "4", "doubt": ".2", "weighting": "none"},
            {"ranking": "beam", "beam": 4, "doubt": 0.2, "weighting": "none"},
        ),
        (
            "exemplar",
            {"verdicts": "samples", "n_sampled": "100", "manner": "a haiku", "form": "yes-no"},
            {"verdicts": "samples", "n_sampled": 100, "manner": "a haiku", "form": "yes-no"},
        ),
        ("exemplar", {"levels": "7"}, {"levels": 7}),  # not among those that are searched
    ],
)
def test_settings_are_set_beside_choices(family, picked, own):
    found = decided(family, **picked)
    assert {name: getattr(found, name) for name in own} == own


@pytest.mark.parametrize(
    ("family", "picked", "said"),
    [
        ("pairs", {"baem": "4"}, "no choice baem; .* beam, doubt can be set"),
        ("pairs", {"beam": "0"}, "greater than or equal to 1"),
        ("pairs", {"doubt": "nan"}, "finite"),
        ("pairs", {"ranking": "4"}, "ranking is one of beam, all; got '4'"),
        ("exemplar", {"levels": "1"}, "greater than or equal to 2"),
        ("exemplar", {"levels": "some"}, "levels: expected a whole number; got 'some'"),
        ("exemplar", {"mirrored": "true"}, "mirrored is one of no, yes; got 'true'"),
        ("exemplar", {"manner": "[[ ## verdict ## ]]"}, "a marker of the prompt layout"),
        ("reference", {"metric": "rouge"}, "metric is one of rougeL, .*; got 'rouge'"),
        ("reference", {"metric": "meteor", "synonyms": "wordnet"}, "METEOR .* needs WordNet"),
        ("direct", {"judge": "pairs"}, "there is no choice judge"),
        ("g-eval", {"steps": "Look."}, "there is no choice steps"),
    ],
)
def test_what_cannot_be_decided_is_refused(family, picked, said, monkeypatch):
    monkeypatch.setattr(library("nltk.data"), "path", [])
    with pytest.raises(ValueError, match=said):
        decided(family, **picked)


def test_settings_are_plain_values_of_the_family_alone():
    assert own_settings(family_of("g-eval").start().protocol) == ("asks", "plan")


def test_a_choice_keeps_the_models_of_single_questions():
    judge = family_of("exemplar").start(levels=2)
    writer = model("offline", ledger=None)
    judge.end.lm = judge.between.lm = writer
    other = judge.with_choices({"levels": "9", "form": "yes-no"})
    assert (other.end.lm, other.between.lm, other.compare.lm) == (writer, writer, None)


# Families of judges are found by name, and anybody may register one.


def own_family(**changes):
    """Return a family that was written elsewhere."""
    direct = family_of("direct")
    parts = {name: getattr(direct, name) for name in JudgeFamily.__slots__}
    return JudgeFamily(**{**parts, "name": "blunt", **changes})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dirct", r"no judge is called 'dirct': there are .*; did you mean direct"),
        ("?", "there are active-critic, direct"),
    ],
)
def test_a_name_that_nobody_has_is_refused_with_the_nearest(name, said):
    with pytest.raises(ValueError, match=said):
        family_of(name)


@pytest.mark.usefixtures("own_families")
def test_a_family_of_ones_own_is_found_once_it_is_registered():
    register_family(own_family())
    register_family(own_family())  # the same again is no other
    assert family_of("blunt").judge_of(DirectJudge().protocol).protocol.judge == "direct"
    with pytest.raises(ValueError, match="choose another name"):
        register_family(own_family(about="something else"))


def test_how_many_calls_a_text_takes_can_be_the_familys_own_count():
    counted = own_family(calls=lambda protocol: 7)
    assert family_of("direct").calls(DirectJudge(samples=3).protocol) == 3
    assert counted.calls(DirectJudge(samples=3).protocol) == 7


class TestInstalledFamilies:
    """Families that packages name by an entry point."""

    @pytest.fixture
    def installed(self, monkeypatch, own_families):
        """Pretend that a package names some object as a family."""

        def install(value):
            point = EntryPoint(name="strict", value=value, group=registry.ENTRY_POINTS)
            monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point])

        registry._register_installed.cache_clear()
        yield install
        registry._register_installed.cache_clear()

    def test_are_found_by_name(self, installed, monkeypatch):
        own = replace(family_of("direct"), name="strict")
        monkeypatch.setattr(registry, "STRICT", own, raising=False)
        installed("judgesmith.programs.judging.registry:STRICT")
        assert family_of("strict") is own

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ("no.such.module:FAMILY", "strict cannot be imported from no.such.module:FAMILY"),
            ("judgesmith.programs.judging.registry:ACTIVE_CRITIC", "is to be a JudgeFamily"),
        ],
    )
    def test_that_are_none_are_named(self, installed, value, said):
        installed(value)
        assert family_of("direct").name == "direct"
        with pytest.raises(ValueError, match=said):
            family_of("strict")


@for_each("place", ["no.such.module:Judge", "json:NoJudge", ":Judge", ""])
@for_each("part", ["judge", "questions"])
def test_a_part_that_cannot_be_imported_is_named(part, place):
    broken = replace(family_of("direct"), name="broken", **{part: place})
    said = (
        rf"the {part} of the judge family broken cannot be imported from {place!r}: .*module:name"
    )
    with pytest.raises(InputError, match=said):
        registry.family_part(broken, part)


def test_a_saved_judge_of_a_family_that_is_not_there_says_what_is_lacking(tmp_path):
    place = saved_judge(DirectJudge()).save(tmp_path / "judge") / "judge.json"
    plain = json.loads(place.read_text(encoding="utf-8"))
    plain["protocol"]["judge"] = "strict"
    outside = ("schema", "made_by", "content_hash")
    plain["content_hash"] = content_hash({k: v for k, v in plain.items() if k not in outside})
    place.write_text(json.dumps(plain), encoding="utf-8")
    said = r"no judge is called 'strict'.*; install the package that brings this"
    with pytest.raises(SavedJudgeError, match=said):
        SavedJudge.load(tmp_path / "judge")
