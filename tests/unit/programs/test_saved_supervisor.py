"""Panels with a supervisor are saved and loaded like any other, and ask what they asked."""

import json

import pytest
from optimizing import lm_of
from panelling import CAREFUL, REPORT, judged

from judgesmith.programs import (
    DirectJudge,
    PanelJudge,
    SavedJudge,
    SavedPanel,
    Supervisor,
    load_judge,
    load_saved,
    score_batch,
)
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.record import GoldenItem, SavedJudgeError
from judgesmith.programs.artifacts.saved_ensembles import SavedSupervisor, saved_panels
from judgesmith.programs.families.ensemble.members import PanelVerdict
from judgesmith.programs.families.modules import AnnotatorJudge
from judgesmith.programs.judging.prompts import Slot
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.aggregation import PanelRules, PanelWeights
from judgesmith.signatures.scale import PERCENT

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
SUPERVISOR = SavedSupervisor.of(Supervisor(), "offline")
FACTS = {"target": "overall", "human_scale": Scale(low=1, high=5)}


def saved_judge(judge):
    return SavedJudge(
        protocol=judge.protocol, questions=judge.templates(), model="offline", **FACTS
    )


def saved_panel(**update):
    members = {"a": saved_judge(DirectJudge()), "b": saved_judge(DirectJudge(asks="overall"))}
    parts = {
        "members": members,
        "weights": PanelWeights.equal(dict.fromkeys(members, PERCENT), "median"),
        "rules": PanelRules(most=5),
        "supervisor": SUPERVISOR,
        **FACTS,
    }
    return SavedPanel(**{**parts, **update})


def test_what_is_saved_is_loaded_and_becomes_the_same_program(tmp_path):
    saved = saved_panel(supervisor=SUPERVISOR.model_copy(update={"model": "openai/m"}))
    saved.save(tmp_path / "panel")
    again = load_saved(tmp_path / "panel")
    assert again == saved
    assert again.models == ("offline", "openai/m")
    assert (tmp_path / "panel" / "prompts" / "supervisor.txt").is_file()
    program = load_judge(tmp_path / "panel")
    assert isinstance(program, PanelJudge)
    assert (program.rules.most, program.weights.middle) == (5, "median")
    assert program.supervisor.templates() == {"merge": SUPERVISOR.question}
    assert program.calls_per_item == saved.calls_per_item


def test_saved_and_program_judge_alike():
    for update in ({}, {"supervisor": None}):
        saved = saved_panel(**update)
        (found,), (other,) = score_batch(saved, [ITEM]), score_batch(saved.program(), [ITEM])
        assert found == other
        assert isinstance(found, PanelVerdict)


def test_the_supervisor_asks_its_own_model():
    asked = []

    def rule(user, shown, system):
        asked.append(user)
        return 1

    own = lm_of(rule)
    saved = saved_panel(supervisor=SUPERVISOR.model_copy(update={"model": "openai/m"}))
    bound = saved.with_models({"openai/m": own}).bound_to(model("offline", ledger=None))
    assert bound._supervisor._bound["merge"].client is lm_client_of(own)
    other = saved.with_parts({"supervisor": own})
    assert (other.fingerprint, other.models) == (saved.fingerprint, saved.models)
    bound = other.bound_to(model("offline", ledger=None))
    assert bound._supervisor._bound["merge"].client is lm_client_of(own)


def test_without_rules_and_supervisor_nothing_of_them_is_written():
    plain = saved_panel(rules=None, supervisor=None)
    assert not {"rules", "supervisor"} & set(plain.model_dump(mode="json"))
    assert "supervisor" not in saved_panel(supervisor=None).model_dump(mode="json")
    with pytest.raises(ValueError, match="has rules; got none"):
        saved_panel(rules=None)


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"question": (Slot(name="response", fenced=True),)}, "shows annotations and response"),
        (
            {
                "question": (
                    Slot(name="response", fenced=True),
                    Slot(name="annotations", fenced=False),
                )
            },
            "between fences",
        ),
        ({"outputs": {"merged": "points"}}, "one list"),
        ({"outputs": {"merged": "text", "score": "points"}}, "one list"),
        ({"predictor": "other"}, "is called merge"),
        ({"turns": ()}, "tells what to do"),
    ],
)
def test_a_question_that_is_none_of_a_supervisor_is_refused(update, said):
    question = SUPERVISOR.question.model_copy(update=update)
    with pytest.raises(ValueError, match=said):
        SavedSupervisor(question=question.model_dump(), model="offline")


def test_a_question_in_other_words_is_asked_but_makes_no_program():
    (system,) = SUPERVISOR.question.turns
    other = system.model_copy(update={"text": system.text + " Take care."})
    question = SUPERVISOR.question.model_copy(update={"turns": (other,)})
    saved = saved_panel(supervisor=SavedSupervisor(question=question, model="offline"))
    assert score_batch(saved, [ITEM])[0].score is not None
    with pytest.raises(SavedJudgeError, match="words the supervisor's question differently"):
        saved.program()
    with pytest.raises(TypeError, match="merges what others found"):
        saved.supervisor.steps(source="s", response="r")


def test_the_card_says_how_errors_become_one_list():
    card = judge_card(saved_panel())
    assert "## Errors" in card
    assert "- merged by the supervisor, `offline`" in card
    assert "weighted median" in card
    assert "merged by rule" in judge_card(saved_panel(supervisor=None))


def test_judged_texts_keep_what_a_verdict_adds():
    verdict = PanelVerdict(**judged(4, *CAREFUL).model_dump(), merged_by="rule", support=(("a",),))
    plain = GoldenItem(source="s", response=REPORT, judgement=verdict).model_dump(mode="json")
    again = GoldenItem.model_validate(json.loads(json.dumps(plain)))
    assert again.judgement == verdict


def test_panels_are_found_however_deep_they_are_held():
    inner = saved_panel()
    outer = saved_panel(
        members={"in": inner}, weights=PanelWeights.equal({"in": PERCENT}), supervisor=None
    )
    assert [one.rules is not None for one in saved_panels(outer)] == [True, True]
    assert list(saved_panels(saved_judge(DirectJudge()))) == []


def test_annotators_in_a_saved_panel_become_one_row_with_one_list():
    rubric = {"criteria": {"faithfulness": "Is all of it in the source?"}}
    members = {
        severity: saved_judge(AnnotatorJudge(rubric=rubric, severity=severity))
        for severity in ("points", "words")
    }
    saved = saved_panel(
        members=members, weights=PanelWeights.equal(dict.fromkeys(members, PERCENT))
    )
    item = RatedItem(source="The bridge opened in May.", response="The bridge in Paris opened.")
    (found,) = score_batch(saved, [item])
    row = json.loads(json.dumps(score_row(item, found)))
    (error,) = row["errors"]
    assert (error["text"], error["start"], error["end"]) == ("Paris", 14, 19)
    assert (error["criterion"], row["support"]) == ("faithfulness", [["points", "words"]])
    assert (row["merged_by"], len(found.calls)) == ("supervisor", 3)
    assert {name: len(errors) for name, errors in row["annotations"].items()} == {
        "points": 1,
        "words": 1,
    }
