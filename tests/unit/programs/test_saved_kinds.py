"""Panels and calibrated judges are saved and loaded like any other judge."""

import json

import pytest
from pydantic import ValidationError

from judgesmith.programs import (
    ActiveCritic,
    Calibrated,
    DirectJudge,
    Panel,
    SavedCalibrated,
    SavedJudge,
    SavedJudgeError,
    SavedPanel,
    load_judge,
    load_saved,
    score_batch,
)
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.record import GoldenItem, content_hash
from judgesmith.programs.families.ensemble.members import CalibratedJudgement, PanelJudgement
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.aggregation import Calibration, PanelWeights

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
PEOPLES = Scale(low=1, high=5)
LEARNED = Calibration(
    thresholds=(0, 100),
    values=(1, 5),
    scale=PEOPLES,
    margin=0.5,
    confidence=0.9,
    n_map=40,
    n_sources_map=20,
    n_margin=40,
    n_sources_margin=20,
)
WEIGHTS = PanelWeights(
    members=("critic", "direct"),
    centers=(50, 50),
    spreads=(20, 20),
    weights=(2, 1),
    slope=1,
    intercept=3,
    scale=PEOPLES,
)


def saved_judge(judge, **update):
    parts = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": PEOPLES,
        "seen": {"train": ("key-of-" + judge.protocol.judge,)},
    }
    return SavedJudge(**{**parts, **update})


def saved_panel(**update):
    parts = {
        "members": {"critic": saved_judge(ActiveCritic()), "direct": saved_judge(DirectJudge())},
        "weights": WEIGHTS,
        "target": "overall",
        "human_scale": PEOPLES,
        "seen": {"select": ("own-key",)},
    }
    return SavedPanel(**{**parts, **update})


def saved_calibrated(judge=None, **update):
    parts = {
        "members": {"judge": judge or saved_judge(DirectJudge())},
        "calibration": LEARNED,
        "target": "overall",
        "human_scale": PEOPLES,
    }
    return SavedCalibrated(**{**parts, **update})


SAVED = {
    "panel": saved_panel,
    "calibrated": saved_calibrated,
    "calibrated panel": lambda **update: saved_calibrated(saved_panel(), **update),
    "panel of calibrated": lambda **update: saved_panel(
        members={"critic": saved_calibrated(), "direct": saved_judge(DirectJudge())}, **update
    ),
}


@pytest.fixture(params=SAVED, ids=str)
def make(request):
    return SAVED[request.param]


@pytest.fixture
def saved(make):
    return make()


def test_what_is_saved_is_loaded(saved, tmp_path):
    saved.save(tmp_path / "judge")
    again = load_saved(tmp_path / "judge")
    assert again == saved
    assert again.fingerprint == saved.fingerprint
    assert type(again) is type(saved).load(tmp_path / "judge").__class__


@pytest.mark.no_cover
def test_a_loaded_one_judges_as_its_program_does(saved, tmp_path):
    saved.save(tmp_path / "judge")
    (fast,) = score_batch(load_saved(tmp_path / "judge"), [ITEM])
    program = load_judge(tmp_path / "judge")
    (slow,) = score_batch(program, [ITEM])
    assert fast == slow
    assert fast.problem is None
    assert program(source=ITEM.source, response=ITEM.response, context=None).score == fast.score
    assert load_saved(tmp_path / "judge").calls_per_item == program.calls_per_item


def test_the_program_is_of_its_kind():
    assert isinstance(saved_panel().program(), Panel)
    assert isinstance(saved_calibrated().program(), Calibrated)


def test_it_has_seen_what_its_members_have():
    panel = saved_panel()
    assert panel.seen_keys == {"own-key", "key-of-active-critic", "key-of-direct"}
    assert saved_calibrated(panel).seen_keys == panel.seen_keys


def test_every_members_questions_stand_in_the_folder(tmp_path):
    saved_calibrated(saved_panel()).save(tmp_path / "judge")
    prompts = tmp_path / "judge" / "prompts"
    names = {str(one.relative_to(prompts)) for one in prompts.rglob("*.txt")}
    assert names == {
        "judge/critic/assess.txt",
        "judge/critic/overall.txt",
        "judge/direct/whole.txt",
    }


def test_golden_items_keep_what_their_kind_of_judgement_adds(make, tmp_path):
    (found,) = score_batch(make(), [ITEM])
    golden = GoldenItem(source=ITEM.source, response=ITEM.response, judgement=found)
    make(golden=(golden,)).save(tmp_path / "judge")
    (again,) = load_saved(tmp_path / "judge").golden
    assert again.judgement == found
    assert isinstance(again.judgement, PanelJudgement | CalibratedJudgement)


def test_a_changed_file_is_refused(saved, tmp_path):
    saved.save(tmp_path / "judge")
    place = tmp_path / "judge" / "judge.json"
    place.write_text(place.read_text().replace("offline", "online"))
    with pytest.raises(SavedJudgeError, match="does not match its hash"):
        load_saved(place)


def rehashed(saved, change):
    """Return a saved judge as a file whose hash matches what was changed."""
    content = json.loads(json.dumps(saved.model_dump(mode="json")))
    change(content)
    return json.dumps(
        {"schema": 1, "made_by": "x", "content_hash": content_hash(content)} | content
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one["weights"].update(members=["a", "b"]), "the weights are of a, b"),
        (lambda one: one["weights"].update(slope=-1), "slope"),
        (lambda one: one.update(kind="jury"), "expected panel or calibrated"),
        (lambda one: one.update(kind=["panel"]), "expected panel or calibrated"),
        (lambda one: one["members"]["direct"].update(questions={}), "the protocol asks whole"),
        (lambda one: one["members"]["direct"].update(kind="jury"), "expected panel or calibrated"),
        (lambda one: one["members"]["direct"]["protocol"].update(judge="?"), "no judge is called"),
        (lambda one: one["members"].update({"../up": one["members"]["direct"]}), "up"),
        (lambda one: one["members"].update(direct=7), "members"),
        (lambda one: one.update(agreement={"heldout": 7}), "heldout: expected fields by name"),
    ],
    ids=range(10),
)
def test_a_hostile_file_is_refused(change, said, tmp_path):
    place = tmp_path / "judge.json"
    place.write_text(rehashed(saved_panel(), change))
    with pytest.raises(SavedJudgeError, match=said):
        load_saved(place)


def test_one_judge_is_calibrated():
    with pytest.raises(ValidationError, match="one judge is calibrated"):
        saved_calibrated(members=saved_panel().members)


def test_where_one_judge_is_expected_others_are_refused(saved, tmp_path):
    saved.save(tmp_path / "judge")
    said = (
        "expected one judge by itself; got a (panel of judges|calibrated judge)[.] Name the folder"
    )
    with pytest.raises(SavedJudgeError, match=said):
        SavedJudge.load(tmp_path / "judge")


def test_where_a_panel_is_expected_one_judge_is_refused(tmp_path):
    saved_panel().members["direct"].save(tmp_path / "judge")
    with pytest.raises(
        SavedJudgeError, match="expected a panel of judges; got one judge by itself"
    ):
        SavedPanel.load(tmp_path / "judge")


def test_its_card_tells_of_weights_calibration_and_members():
    card = judge_card(saved_calibrated(saved_panel()))
    assert "# A calibrated judge" in card
    assert "- interval: 0.5 points to either side" in card
    assert "- judge: direct" in card
    card = judge_card(saved_panel())
    assert "| critic | 0.667 | 0..100 | offline |" in card
    assert "## direct" in card


def test_what_differs_is_told_by_member():
    other = saved_panel(
        members={
            "critic": saved_judge(ActiveCritic(explain="none")),
            "direct": saved_judge(DirectJudge()),
        },
        weights=WEIGHTS.model_copy(update={"weights": (1, 1)}),
    )
    assert difference(saved_panel(), other) == [
        "weights.weights: [2.0, 1.0] → [1.0, 1.0]",
        'members.critic.protocol.explain: "before" → "none"',
    ]
    assert difference(saved_panel(), saved_panel()) == []
    assert 'kind: "panel" → (absent)' in difference(saved_panel(), saved_judge(DirectJudge()))


def test_members_ask_the_models_they_were_made_with():
    other = saved_judge(DirectJudge(), model="openai/m")
    panel = saved_panel(members={"critic": saved_judge(ActiveCritic()), "direct": other})
    assert panel.models == ("offline", "openai/m")
    first, second = (model(ledger=None) for _ in range(2))
    bound = panel.with_models({"offline": first, "openai/m": second})
    score_batch(bound, [ITEM], lm=first)
    assert [lm_client_of(one).usage.calls for one in (first, second)] == [2, 1]
    assert bound.fingerprint == panel.fingerprint
