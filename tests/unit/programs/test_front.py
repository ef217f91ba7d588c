import json

import pytest

from judgesmith.programs import ActiveCritic, SavedJudge
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.record import SavedEstimate
from judgesmith.programs.artifacts.saved import FrontMember, taken
from judgesmith.signatures import Scale


def estimate(value):
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 40}


def member(number, judge, *, model="openai/m", calls=1.0, q=1.0, knee=False, **picked):
    return FrontMember(
        number=number,
        picked=picked,
        model=model,
        calls=calls,
        values={"q": estimate(q), "-calls": {"value": -calls, "low": None, "high": None}},
        knee=knee,
        agreement={"selection": {"dataset": {"q": estimate(q)}}},
        protocol=judge.protocol,
        questions=judge.templates(),
    )


@pytest.fixture
def saved():
    fine, vanilla = ActiveCritic(), ActiveCritic(variant="vanilla")
    return SavedJudge(
        protocol=fine.protocol,
        questions=fine.templates(),
        model="openai/m",
        target="overall",
        human_scale=Scale(low=1, high=5),
        agreement={"heldout": {"dataset": {"q": estimate(1.2)}}, "gain": None},
        rows={"train": 3},
        seen={"train": ("ab",)},
        settings={"run": "0123456789ab", "complete": True},
        front=(
            member(0, vanilla, model="openai/small", q=0.5),
            member(7, fine, calls=2.0, q=1.2, knee=True, variant="fine"),
        ),
    )


def test_a_front_comes_back_from_its_folder_and_is_on_the_card(saved, tmp_path):
    folder = saved.save(tmp_path / "judge")
    again = SavedJudge.load(folder)
    assert again == saved
    assert again.fingerprint == saved.fingerprint
    card = (folder / "README.md").read_text()
    assert "| 0 | 0.500 [0.400, 0.600] | -1.000 | 1 | openai/small | as it was |" in card
    assert "| 7 (the knee, this judge) | 1.200 [1.100, 1.300] | -2.000 | 2 |" in card


def test_dollars_far_below_one_can_be_told_apart(saved):
    estimate = SavedEstimate(value=-0.000381, low=-0.00039, high=-0.00037, n=40)
    dollars = {"-usd": estimate}
    members = [one.model_copy(update={"values": dollars}) for one in saved.front]
    card = judge_card(saved.model_copy(update={"front": tuple(members)}))
    assert "| -0.000381 [-0.00039, -0.00037] |" in card


def test_a_judge_without_a_front_is_written_as_before(saved):
    alone = saved.model_copy(update={"front": ()})
    assert "front" not in alone.model_dump(mode="json")
    assert "Front" not in judge_card(alone)


def test_another_one_is_taken_whole_and_knows_no_agreement_on_rows_held_out(saved, tmp_path):
    other = taken(saved, 0)
    folder = other.save(tmp_path / "other")
    again = SavedJudge.load(folder)
    assert again.protocol.variant == "vanilla"
    assert (again.model, again.seen, again.rows) == ("openai/small", saved.seen, saved.rows)
    assert again.agreement.plain["heldout"] is None
    assert again.agreement.plain["selection"]["dataset"]["q"]["value"] == 0.5
    assert again.program().templates() == ActiveCritic(variant="vanilla").templates()
    assert "0 (this judge)" in judge_card(again)
    assert any(line.startswith("protocol.variant") for line in difference(saved, again))


def test_a_run_is_not_mistaken_for_that_of_a_judge_taken_from_it(saved):
    assert taken(saved, 0).settings["run"] == "0123456789ab, number 0"
    back = taken(taken(saved, 0), 7)
    assert back.settings["run"] == "0123456789ab, number 7"
    assert back.protocol == saved.protocol
    assert back.agreement.plain["heldout"] is None


def test_the_judge_itself_is_taken_as_it_is(saved):
    assert taken(saved, 7) is saved
    assert taken(taken(saved, 0), 0).settings["run"] == "0123456789ab, number 0"


def test_what_is_not_on_the_front_is_refused(saved):
    with pytest.raises(ValueError, match="the front holds number 0, 7; got 3"):
        taken(saved, 3)
    with pytest.raises(ValueError, match="has no front to take from"):
        taken(saved.model_copy(update={"front": ()}), 0)


def test_a_front_that_asks_what_it_cannot_read_is_refused(saved):
    whole = json.loads(json.dumps(saved.model_dump(mode="json")))
    whole["front"][0]["questions"] = whole["front"][1]["questions"]
    with pytest.raises(ValueError, match="the protocol asks grade"):
        SavedJudge.model_validate(whole)
    whole = json.loads(json.dumps(saved.model_dump(mode="json")))
    whole["front"][0]["values"] = {"q": "much"}
    with pytest.raises(ValueError, match="valid dictionary or instance of SavedEstimate"):
        SavedJudge.model_validate(whole)


def test_what_a_configuration_is_called_cannot_leave_its_line(saved):
    one = saved.front[0].model_copy(update={"picked": {"variant": "a|b\n# c\x1b[2J"}})
    card = judge_card(saved.model_copy(update={"front": (one,)}))
    assert "variant a/b\\n# c\\x1b[2J |" in card
