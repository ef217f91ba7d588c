"""Judgements, rated items, weights and calibrations as values."""

import json
import math
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.programs.families import reference as module
from judgesmith.programs.families.reference import (
    PLACES,
    ReferenceConfig,
    weights_folder,
    weights_name,
)
from judgesmith.signatures import (
    CriterionScore,
    Demonstration,
    ErrorSpan,
    Judgement,
    RatedItem,
    Scale,
)
from judgesmith.signatures.aggregation import Abstention, Calibration, PanelWeights
from judgesmith.signatures.items import text_key
from judgesmith.signatures.judgement import Assessment
from judgesmith.signatures.scale import PERCENT

# A judgement has a score or says why not.


@pytest.mark.parametrize(
    "fields",
    [{"score": None}, {"score": 5, "problem": "it fell"}, {"score": None, "problem": None}],
)
def test_there_is_a_score_or_a_reason_and_not_both(fields):
    with pytest.raises(ValueError, match="either a score or a problem"):
        Judgement(**fields)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_score_is_a_finite_number(number):
    for build in (Judgement, CriterionScore):
        with pytest.raises(ValueError, match="finite"):
            build(score=number)


def test_an_unscored_judgement_keeps_what_is_known():
    criteria = {"fluency": CriterionScore(score=70)}
    found = Judgement.unscored("no answer", explanation="so far", criteria=criteria, calls=("ab",))
    assert (found.score, found.problem, found.criteria) == (None, "no answer", criteria)
    assert (found.explanation, found.calls) == ("so far", ("ab",))


def test_a_judgement_comes_back_from_json():
    found = Judgement(
        score=3.25,
        explanation="as\nit is",
        criteria={"b": CriterionScore(score=None), "a": CriterionScore(score=70.5)},
        errors=[{"text": "wrong", "start": 3, "end": 8}],
        calls=("00ff",),
        raw=70,
    )
    again = Judgement.model_validate_json(found.model_dump_json())
    assert again == found
    assert list(again.criteria) == ["b", "a"]


def test_an_error_says_how_it_was_located_only_where_a_judge_does():
    plain = {"text": "x", "start": 0, "end": 1, "severity": 2.0, "explanation": "why"}
    assert ErrorSpan(**plain).model_dump(mode="json") == plain
    more = {"located": "fuzzy", "ambiguous": True, "criterion": "fluency"}
    assert ErrorSpan(**plain, **more).model_dump(mode="json") == plain | more
    with pytest.raises(ValueError, match="exact"):
        ErrorSpan(text="x", located="somewhere")


class TestAssessment:
    def test_its_score_is_read_as_models_write_it(self):
        one = Assessment(criterion="a", explanation="b", score="**85/100**")
        assert one.score == 85

    def test_a_whole_score_is_shown_as_one(self):
        one = Assessment(criterion="a", explanation="b", score=85.0)
        assert json.loads(one.model_dump_json())["score"] == 85
        assert '"score":85}' in one.model_dump_json()
        assert '"score":85.5}' in one.model_copy(update={"score": 85.5}).model_dump_json()

    @for_each("score", ["good", None, True, [1], 10**400, "9" * 400])
    def test_a_score_that_is_no_number_is_refused(self, score):
        with pytest.raises(ValueError, match="expected one number"):
            Assessment(criterion="a", explanation="b", score=score)

    def test_what_else_a_model_adds_is_passed_over(self):
        one = Assessment(criterion="a", explanation="b", score=1, confidence="high")
        assert not hasattr(one, "confidence")


# A rated item is known by its texts, whatever ids it came with.

anything = st.text(st.characters(), max_size=20)  # lone surrogates included
texts = st.tuples(anything, st.none() | anything, anything)


@given(texts, texts)
def test_keys_are_equal_for_equal_texts_alone(one, other):
    assert (text_key(*one) == text_key(*other)) == (joined(one) == joined(other))


def joined(several):
    """Return texts with the two halves of a character made one."""
    return [
        text and text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        for text in several
    ]


@for_each(
    ("one", "other"),
    [
        (("a", "b", "c"), ("a", None, "bc")),
        (("ab", None, "c"), ("a", None, "bc")),
        (("a", "null", "b"), ("a", None, "b")),
        (("a", "", "b"), ("a", None, "b")),
        (("é", None, ""), ("e\u0301", None, "")),
        (("\ud800", None, ""), ("\\ud800", None, "")),
    ],
)
def test_texts_that_look_alike_have_keys_of_their_own(one, other):
    assert text_key(*one) != text_key(*other)


def test_two_halves_of_a_character_are_that_character():
    assert text_key("\ud83d\ude00", None, "") == text_key("😀", None, "")


def test_ids_and_ratings_make_no_difference():
    plain = RatedItem(source="s", response="r")
    rated = RatedItem(
        source_id="1", system_id="m", source="s", response="r", human={"overall": [5]}
    )
    assert plain.key == rated.key
    assert plain.key == Demonstration(inputs={"source": "s", "response": "r"}, outputs={}).key


def test_a_changed_copy_has_the_key_of_its_own_text():
    item = RatedItem(source="s", response="r")
    before = item.key
    assert item.model_copy(update={"response": "other"}).key == text_key("s", None, "other")
    assert item.key == before


def test_an_item_cannot_be_changed_and_takes_no_unknown_field():
    item = RatedItem(source="s", response="r")
    with pytest.raises(ValueError, match="frozen"):
        item.response = "other"
    with pytest.raises(ValueError, match="Extra inputs"):
        RatedItem(source="s", response="r", score=5)


def test_scales_are_taken_in_their_short_forms():
    item = RatedItem(response="r", scale={"overall": [1, 5], "fluency": "0..1"})
    assert item.scale == {"overall": Scale(low=1, high=5), "fluency": Scale(low=0, high=1)}


# Weights are known by what is in them, and found where the reader says that they are.


@pytest.fixture
def nothing_known(monkeypatch):
    monkeypatch.delenv(PLACES, raising=False)
    monkeypatch.setattr(module, "_found", {})


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "model")


def made(path, numbers=b"numbers"):
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(numbers)
    return path


@pytest.mark.usefixtures("nothing_known")
def test_a_name_is_of_the_files_that_a_model_is_loaded_from(folder, tmp_path):
    name = weights_name(str(folder))
    assert re.fullmatch("sha256:[0-9a-f]{64}", name)
    assert weights_name(name) == name
    assert weights_name(str(made(tmp_path / "copy"))) == name
    (folder / "README.md").write_text("of no effect")
    (folder / ".hidden.json").write_text("of no effect")
    assert weights_name(str(folder)) == name
    (folder / "vocab.txt").write_text("a")
    assert weights_name(str(folder)) != name
    assert weights_name(str(made(tmp_path / "other", b"others"))) != name


@pytest.mark.usefixtures("nothing_known")
def test_weights_are_found_where_they_were_given_and_refused_once_changed(folder):
    name = weights_name(str(folder))
    assert weights_folder(name) == folder
    (folder / "model.safetensors").write_bytes(b"other numbers")
    with pytest.raises(ValueError, match=re.escape(f"{name[:19]}… are needed, and $")):
        weights_folder(name)


@pytest.mark.usefixtures("nothing_known")
def test_another_process_finds_them_among_the_folders_that_the_variable_names(
    folder, tmp_path, monkeypatch
):
    name = weights_name(str(folder))
    module._found.clear()
    with pytest.raises(ValueError, match="WEIGHTS is not set: let it name the folder"):
        weights_folder(name)
    other = made(tmp_path / "other", b"others")
    monkeypatch.setenv(PLACES, str(other))
    with pytest.raises(ValueError, match="WEIGHTS names others"):
        weights_folder(name)
    monkeypatch.setenv(PLACES, os.pathsep.join(map(str, (other, folder))))
    assert weights_folder(name) == folder


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("roberta-large", "there is no folder roberta-large: BERTScore takes the path of weights"),
        ("org/model", "not a name on a hub, as nothing is downloaded"),
        ("", "nothing is downloaded: give weights= or let \\$JUDGESMITH_WEIGHTS name one"),
        ("sha256:12", "there is no folder sha256:12"),
        ("empty", "there is no model in empty: expected config.json"),
        ("pickled", "expected \\*.safetensors. Other forms can run code"),
        ("empty/config", "there is no folder empty/config"),
    ],
)
def test_what_is_no_folder_of_weights_is_refused_in_a_sentence(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text("{}")
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ValueError, match=said):
        ReferenceConfig(metric="bertscore", weights=given)


@pytest.mark.usefixtures("nothing_known")
def test_a_protocol_holds_no_path_and_takes_the_only_folder_that_is_named(folder, monkeypatch):
    given = ReferenceConfig(metric="bertscore", weights=str(folder), layer=2)
    plain = given.model_dump_json()
    assert str(folder.parent) not in plain
    assert ReferenceConfig.model_validate_json(plain) == given
    monkeypatch.setenv(PLACES, str(folder))
    assert ReferenceConfig(metric="bertscore").weights == given.weights


@pytest.mark.usefixtures("nothing_known")
def test_other_metrics_are_saved_as_they_were(folder, monkeypatch):
    monkeypatch.setenv(PLACES, str(folder))
    assert not {"weights", "layer"} & set(json.loads(ReferenceConfig().model_dump_json()))
    turned = ReferenceConfig(metric="bertscore").decided({"metric": "bleu"})
    assert ReferenceConfig.model_validate_json(turned.model_dump_json()) == turned


# panel weights

LIKERT = Scale(low=1, high=5)
WEIGHTS = {
    "members": ("a", "b"),
    "centers": (50, 3),
    "spreads": (20, 1),
    "weights": (3, 1),
    "slope": 1,
    "intercept": 3,
    "scale": LIKERT,
}
points = st.one_of(st.none(), st.floats(0, 100))


@pytest.mark.no_cover
@given(points, points, points)
def test_the_score_is_the_weighed_mean_of_standardised_scores_over_members_that_have_one(a, b, c):
    weights = PanelWeights(
        members=("a", "b", "c"), centers=(50, 40, 30), spreads=(10, 20, 30), weights=(1, 2, 0),
        limit=3, slope=0.5, intercept=3, scale=LIKERT,
    )  # fmt: skip
    total = used = 0.0
    for score, center, spread, weight in ((a, 50, 10, 1), (b, 40, 20, 2)):
        if score is not None:
            total += weight * max(-3, min(3, (score - center) / spread))
            used += weight
    found = weights.apply({"a": a, "b": b, "c": c})
    if not used:
        assert found is None
    else:
        assert found == pytest.approx(min(max(3 + 0.5 * total / used, 1), 5))


def test_equal_weights_average_shares_of_scales():
    weights = PanelWeights.equal({"a": PERCENT, "b": LIKERT})
    assert weights.apply({"a": 100, "b": 1}) == 50
    assert weights.scale == PERCENT


def test_one_member_alone_disagrees_with_nobody():
    weights = PanelWeights(**WEIGHTS)
    assert weights.disagreement({"a": 50, "b": None}) is None
    assert weights.disagreement({"a": 50, "b": 3}) == 0


def test_disagreement_is_in_points_of_the_panel():
    weights = PanelWeights(**{**WEIGHTS, "weights": (1, 1), "slope": 2})
    assert weights.disagreement({"a": 70, "b": 2}) == pytest.approx(2 * 1.0)


def test_members_are_asked_heaviest_first_and_not_at_all_without_weight():
    weights = PanelWeights(**{**WEIGHTS, "weights": (0.2, 0.8)})
    assert weights.asked == ("b", "a")
    assert PanelWeights(**{**WEIGHTS, "weights": (0, 1)}).asked == ("b",)


def test_it_is_the_same_after_a_way_through_json():
    weights = PanelWeights(**WEIGHTS)
    plain = json.loads(json.dumps(weights.model_dump(mode="json")))
    assert PanelWeights.model_validate(plain) == weights


@for_each(
    ("changes", "message"),
    [
        ({"weights": (1,)}, "of one length; got 2, 2, 2, 1"),
        ({"weights": (0, 0)}, "one of them above zero"),
        ({"weights": (-1, 2)}, "zero or more"),
        ({"spreads": (0, 1)}, "spreads must be above zero"),
        ({"members": ("a", "a")}, "names must not repeat"),
        ({"slope": 0}, "greater than 0"),
        ({"intercept": math.nan}, "finite"),
    ],
)
def test_refuses_numbers_that_make_no_panel(changes, message):
    with pytest.raises(ValueError, match=message):
        PanelWeights(**{**WEIGHTS, **changes})


def test_the_median_of_equal_weights_is_the_plain_one_and_is_written_only_where_it_is_meant():
    scales = dict.fromkeys("abcd", PERCENT)
    weights = PanelWeights.equal(scales, "median")
    scores = {"a": 10, "b": 90, "c": 30, "d": None}
    assert weights.apply(scores) == pytest.approx(30)
    assert weights.apply(scores | {"d": 40}) == pytest.approx(35)
    assert weights.model_dump()["middle"] == "median"
    assert "middle" not in PanelWeights.equal(scales).model_dump(mode="json")
    assert PanelWeights.model_validate(weights.model_dump(mode="json")) == weights


def test_who_is_nearest_is_the_first_of_several_and_nobody_where_there_is_no_score():
    weights = PanelWeights.equal(dict.fromkeys("abc", PERCENT))
    assert weights.nearest({"a": None, "b": 70, "c": 10}) == "b"
    assert weights.nearest({"a": 30, "b": 40, "c": 50}) == "b"
    assert weights.nearest({"c": 1}) == "c"
    assert weights.nearest({}) is None


# calibration

PLAIN = {
    "thresholds": (0, 40, 100),
    "values": (1, 3, 6),
    "scale": "1..5",
    "margin": 0.5,
    "confidence": 0.9,
    "n_map": 40,
    "n_sources_map": 20,
    "n_margin": 40,
    "n_sources_margin": 20,
}
RULE = {
    "doubt": "members",
    "keeps": "below",
    "limit": 0.5,
    "wished": 0.6,
    "coverage": 0.7,
    "confidence": 0.9,
    "n": 80,
    "n_sources": 40,
}


@given(st.floats(-50, 150))
def test_the_way_is_straight_between_corners_and_stops_at_the_ends_of_the_scale(score):
    expected = np.clip(np.interp(score, [0, 40, 100], [1, 3, 6]), 1, 5)
    assert Calibration(**PLAIN).apply(score) == pytest.approx(expected)


def test_one_corner_is_a_constant():
    flat = Calibration(**{**PLAIN, "thresholds": (50,), "values": (2.5,)})
    assert [flat.apply(score) for score in (0, 50, 100)] == [2.5, 2.5, 2.5]


def test_without_a_margin_the_interval_is_the_whole_scale():
    assert Calibration(**{**PLAIN, "margin": None}).interval(3) == (1, 5)


def test_intervals_stop_at_the_ends_of_the_scale():
    assert Calibration(**PLAIN).interval(4.8) == (4.3, 5)


def test_it_is_the_same_after_a_way_through_json_calibration():
    learned = Calibration(**PLAIN, abstention=Abstention(**RULE))
    assert Calibration.model_validate_json(json.dumps(learned.model_dump(mode="json"))) == learned


@for_each(
    "changes",
    [
        {"values": (1, 3)},
        {"thresholds": (0, 40, 40)},
        {"values": (1, 3, 2)},
        {"thresholds": (), "values": ()},
        {"margin": -1},
    ],
)
def test_refuses_corners_that_make_no_monotone_way(changes):
    with pytest.raises(ValueError):
        Calibration(**{**PLAIN, **changes})


def test_a_score_is_kept_below_the_limit_only():
    rule = Abstention(**RULE)
    assert rule.why_not(0.499) is None
    assert "not below 0.5" in rule.why_not(0.5)


def test_a_score_without_a_doubt_is_left_to_people_even_where_all_are_kept():
    rule = Abstention(**{**RULE, "keeps": "all", "limit": None})
    assert rule.why_not(100) is None
    assert "nothing says how far the members lie apart" in rule.why_not(None)


def test_where_nothing_could_be_certified_every_text_is_left_to_people():
    rule = Abstention(**{**RULE, "keeps": "none", "limit": None})
    assert "in 80 rated rows no score could be certified" in rule.why_not(0.0)


def test_a_limit_goes_with_scores_kept_below_it():
    with pytest.raises(ValueError, match="keeps=below"):
        Abstention(**{**RULE, "keeps": "all"})
