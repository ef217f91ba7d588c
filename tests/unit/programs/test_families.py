"""Families of judges are found by name, and anybody may register one."""

import json
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from judgesmith.programs import DirectJudge
from judgesmith.programs.artifacts.saved import SavedJudge, SavedJudgeError, content_hash
from judgesmith.programs.judging import registry
from judgesmith.programs.judging.registry import (
    JudgeFamily,
    family_of,
    known_families,
    register_family,
)
from judgesmith.signatures import Rubric

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "judge-families.md"


@pytest.fixture(params=[one.name for one in known_families()])
def family(request):
    return family_of(request.param)


@pytest.fixture
def registered(monkeypatch):
    """Register families for one test."""
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
    return register_family


def own_family(**changes):
    """Return a family that was written elsewhere."""
    direct = family_of("direct")
    parts = {name: getattr(direct, name) for name in JudgeFamily.__slots__}
    return JudgeFamily(**{**parts, "name": "blunt", **changes})


class TestEveryFamily:
    def test_starts_from_a_rubric(self, family):
        rubric = Rubric(criteria={"brevity": "Is it short?"})
        judge = family.start(rubric)
        assert judge.protocol.rubric == rubric
        assert judge.protocol.judge == family.name
        assert isinstance(judge.protocol, family.protocol_class)

    def test_asks_the_questions_that_it_has_forms_for(self, family):
        judge = family.start()
        assert list(family.forms_of(judge.protocol)) == list(judge.templates())

    @pytest.mark.no_cover
    def test_can_be_saved_and_loaded(self, family, tmp_path):
        judge = family.start()
        saved = SavedJudge(
            protocol=judge.protocol,
            questions=judge.templates(),
            model="offline",
            target="overall",
            human_scale="1..5",
        )
        saved.save(tmp_path / "judge")
        again = SavedJudge.load(tmp_path / "judge")
        assert again == saved
        assert type(again.program()) is type(judge)

    def test_is_what_its_space_says_first(self, family):
        judge = family.start()
        assert judge.with_choices({}).protocol == judge.protocol

    def test_says_what_it_does_in_a_few_words(self, family):
        assert family.about
        assert not family.about.endswith(".")
        assert f"| `{family.name}` | " in PAGE.read_text(encoding="utf-8")


def test_a_name_that_nobody_has_is_refused_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"no judge is called 'dirct': there are .*; did you mean direct"
    ):
        family_of("dirct")


def test_a_name_like_no_other_is_told_all_there_are():
    with pytest.raises(ValueError, match="there are active-critic, direct"):
        family_of("?")


def test_a_family_of_ones_own_is_found_once_it_is_registered(registered):
    registered(own_family())
    registered(own_family())  # the same again is no other
    assert family_of("blunt").judge_of(DirectJudge().protocol).protocol.judge == "direct"
    with pytest.raises(ValueError, match="choose another name"):
        registered(own_family(about="something else"))


def test_how_many_calls_a_text_takes_can_be_the_familys_own_count():
    counted = own_family(calls="judgesmith.programs.families.direct:direct_forms")
    assert family_of("direct").calls_of(DirectJudge(samples=3).protocol) == 3
    assert len(counted.calls_of(DirectJudge(samples=3).protocol)) == 1


def test_a_saved_judge_of_an_unknown_family_is_refused(tmp_path):
    judge = DirectJudge()
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    content = saved.model_dump(mode="json")
    content["protocol"]["judge"] = "blunt"
    document = {"schema": 1, "made_by": "x", "content_hash": content_hash(content), **content}
    place = tmp_path / "judge.json"
    place.write_text(json.dumps(document))
    with pytest.raises(SavedJudgeError, match="no judge is called 'blunt'"):
        SavedJudge.load(place)


@pytest.mark.parametrize(
    ("family", "choices", "said"),
    [
        ("pairs", {"beam": "many"}, "beam: expected a whole number; got 'many'"),
        ("direct", {"ask": "overall"}, "ask: there is no such field"),
        ("exemplar", {"levels": 1}, "levels: expected greater than or equal to 2; got 1"),
        (
            "checklist",
            {"questions": {"fluencey": ["Is it?"]}},
            "questions for 'fluencey', which is not a criterion; did you mean fluency?",
        ),
        (
            "g-eval",
            {"steps": {"fluencey": ["Read."]}},
            "steps for 'fluencey', which is not a criterion; did you mean fluency?",
        ),
    ],
)
def test_what_makes_no_judge_is_said_in_one_sentence(family, choices, said):
    with pytest.raises(ValueError) as fault:
        family_of(family).start(**choices)
    assert str(fault.value) == said


class TestInstalledFamilies:
    """Families that packages name by an entry point."""

    @pytest.fixture
    def installed(self, monkeypatch):
        """Pretend that a package names some object as a family."""

        def install(value, name="strict"):
            point = EntryPoint(name=name, value=value, group=registry.ENTRY_POINTS)
            monkeypatch.setattr(registry, "entry_points", lambda group: [point])

        monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
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
            ("judgesmith.programs.judging.registry:ACTIVE_CRITIC", "is to be a Family of judges"),
        ],
    )
    def test_that_are_none_are_named(self, installed, value, said):
        installed(value)
        assert family_of("direct").name == "direct"
        with pytest.raises(ValueError, match=said):
            family_of("strict")


def test_a_saved_judge_of_a_family_that_is_not_there_says_what_is_lacking(tmp_path):
    judge = family_of("direct").start()
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    saved.save(tmp_path / "judge")
    place = tmp_path / "judge" / "judge.json"
    plain = json.loads(place.read_text(encoding="utf-8"))
    plain["protocol"]["judge"] = "strict"
    outside = ("schema", "made_by", "content_hash")
    plain["content_hash"] = content_hash({k: v for k, v in plain.items() if k not in outside})
    place.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(SavedJudgeError, match=r"\w; install the package that brings this"):
        SavedJudge.load(tmp_path / "judge")
