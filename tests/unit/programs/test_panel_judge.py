import asyncio

import pytest
from optimizing import lm_of
from panelling import CAREFUL, FIVE, REPORT, Planted, error, five, judged, planted, three

from judgesmith.programs import ActiveCritic, DirectJudge, score_batch
from judgesmith.programs.families.ensemble.judges import Panel, PanelJudge, Supervisor, judgement_of
from judgesmith.programs.families.ensemble.members import PanelVerdict
from judgesmith.programs.lm import (
    Budget,
    LMClient,
    ModelAnswer,
    ModelError,
    TransientModelError,
    lm_client_of,
    model,
)
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import CriterionScore, Judgement
from judgesmith.signatures.aggregation import PanelRules, PanelWeights
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Note

ITEM = RatedItem(source="s", response=REPORT)


class Engine:
    """Answers every question with one text, or a fault."""

    endpoint = "scripted"

    def __init__(self, said):
        self.said = said
        self.asked = []

    def answer(self, request):
        """Answer, and remember what was asked."""
        self.asked.append(request.user)
        if isinstance(self.said, Exception):
            raise self.said
        text = f"[[ ## merged ## ]]\n{self.said}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def supervised(members, said, **settings):
    """Return a panel whose supervisor's model says one thing, and that model."""
    engine = Engine(said)
    panel = PanelJudge(members, supervisor=Supervisor(), **settings)
    panel.supervisor.set_lm(ClientLM.over(LMClient(engine, budget=Budget()), "one", recipe={}))
    return panel, engine


def said_of(panel, item=ITEM):
    (found,) = score_batch(panel, [item])
    return found


def texts(judgement):
    return [(one.text, one.severity) for one in judgement.errors]


@pytest.mark.parametrize(("members", "score"), [(five(), 60), (three(), 50)])
@pytest.mark.parametrize("supervisor", [None, Supervisor()])
def test_who_invents_errors_leaves_the_list_and_stays_in_the_mean(members, score, supervisor):
    found = said_of(PanelJudge(members, supervisor=supervisor))
    assert found.score == pytest.approx(score)
    assert found.outliers == {"overall": ("eve",)}
    assert texts(found) == [("ten", 4), ("Oslo", 2)]
    assert all("eve" not in members for members in found.support)
    assert found.voice == "ada"
    assert [(note.kind, note.about) for note in found.notes] == [("left out", "eve/overall")]
    assert [one.located for one in found.annotations["eve"]] == ["unresolved", "exact"]
    assert found.merged_by == ("rule" if supervisor is None else "supervisor")


def test_who_invents_errors_and_scores_like_the_others_is_flagged_all_the_same():
    members = planted(
        ada=judged(4, *CAREFUL), eve=judged(4, error("a red balloon"), error("Ms Ito", 5))
    )
    found = said_of(PanelJudge(members, supervisor=Supervisor()))
    assert texts(found) == [("ten", 4), ("Ms Ito", 5), ("Oslo", 2)]
    assert found.support == (("ada",), ("eve",), ("ada",))
    (note,) = found.notes
    assert note.about == "eve/overall"
    assert "1 error was not merged: the response has no such words" in note.text


def test_a_call_and_many_items_give_the_same_judgements():
    panel = PanelJudge(three(), supervisor=Supervisor())
    texts_of_it = {"source": "s", "response": REPORT}
    once, many = panel(**texts_of_it), said_of(panel)
    awaited = asyncio.run(panel.acall(**texts_of_it))
    assert judgement_of(once) == judgement_of(awaited) == many
    assert isinstance(many, PanelVerdict)
    assert once.protocol == panel.fingerprint


def test_without_errors_the_supervisor_is_not_asked():
    panel, engine = supervised(planted(a=judged(5), b=judged(4)), "No errors.")
    found = said_of(panel)
    assert (found.score, found.merged_by, engine.asked) == (pytest.approx(87.5), "nobody", [])


def test_errors_of_outliers_alone_are_not_worth_a_call():
    members = planted(a=judged(5), b=judged(5), eve=judged(1, *CAREFUL))
    panel, engine = supervised(members, "No errors.")
    assert (said_of(panel).errors, engine.asked) == ((), [])


def test_what_the_supervisor_makes_up_is_dropped_and_counted():
    panel, engine = supervised(
        three(), "Annotations: 1\nLocation: ten\n\nAnnotations: 2\nLocation: Its captain"
    )
    found = said_of(panel)
    assert (texts(found), found.n_dropped, len(engine.asked)) == ([("ten", 4)], 1, 1)
    assert [note.about for note in found.notes] == ["eve/overall", *["supervisor/overall"] * 2]
    assert [note.text for note in found.notes[1:]] == [
        "1 entry was dropped: in no place that an annotator points at.",
        "3 annotations are in no entry of the list.",
    ]
    assert '"annotator": "C"' not in engine.asked[0]
    assert "balloon" not in engine.asked[0]
    assert len(found.calls) == 1


@pytest.mark.parametrize(
    "said", ["I see no list.", TransientModelError("busy"), ModelError("too odd", status=422)]
)
def test_where_the_supervisor_says_nothing_errors_are_merged_by_rule_and_a_note_says_why(said):
    panel, engine = supervised(three(), said)
    found = said_of(panel)
    assert texts(found) == [("ten", 4), ("Oslo", 2)]
    assert (found.merged_by, found.problem) == ("rule", None)
    assert found.notes[-1].kind == "unread"
    assert engine.asked
    texts_of_it = {"source": ITEM.source, "response": ITEM.response}
    assert judgement_of(panel(**texts_of_it)) == found
    assert judgement_of(asyncio.run(panel.acall(**texts_of_it))) == found


def test_a_supervisor_with_a_wrong_key_ends_the_run():
    panel, _ = supervised(three(), ModelError("wrong key", status=401))
    with pytest.raises(ModelError, match="wrong key"):
        said_of(panel)


def test_a_budget_that_does_not_reach_the_supervisor_leaves_the_item_unasked():
    lm = model("offline", ledger=None, max_calls=1)
    panel = PanelJudge(three(), supervisor=Supervisor())
    found = score_batch(panel, [ITEM, ITEM.model_copy(update={"response": REPORT + " "})], lm=lm)
    assert [one.score is None for one in found] == [False, True]
    assert "not asked" in found[1].problem


def test_at_most_so_many_errors_the_most_severe_are_kept():
    found = said_of(PanelJudge(three(), rules=PanelRules(most=1)))
    assert (texts(found), found.support) == ([("ten", 4)], (("ada", "ben"),))


def test_errors_of_different_criteria_are_lists_of_their_own():
    def says(score, *errors):
        criteria = {"style": CriterionScore(score=score), "facts": CriterionScore(score=75)}
        return judged(4, *errors, criteria=criteria)

    style = error("ten", 2, criterion="style")
    members = planted(
        ada=says(100, error("ten", 4, criterion="facts")),
        ben=says(75, style),
        eve=says(0, error("Oslo", 5, criterion="style"), error("ten", 1, criterion="facts")),
    )
    found = said_of(PanelJudge(members, supervisor=Supervisor()))
    assert [(one.text, one.severity, one.criterion) for one in found.errors] == [
        ("ten", 4, "facts"),
        ("ten", 2, "style"),
    ]
    assert found.outliers == {"criterion:style": ("eve",)}
    assert found.criteria["style"].score == pytest.approx(175 / 3)
    assert len(found.calls) == 2


def test_the_explanation_is_of_who_is_nearest_to_the_score_of_equals_the_first():
    members = {
        name: judged(score, explanation=name)
        for name, score in (("a", 2), ("b", 4), ("c", 3), ("d", 3))
    }
    assert said_of(PanelJudge(planted(**members))).explanation == "c"
    of_two = {name: members[name] for name in ("b", "a")}
    assert said_of(PanelJudge(planted(**of_two))).explanation == "b"


def test_the_score_may_be_the_median_or_weighed():
    members = planted(a=judged(1), b=judged(4), c=judged(5))
    assert said_of(PanelJudge(members, score="median")).score == 75
    weights = PanelWeights.equal(dict.fromkeys(members, FIVE))
    heavy = weights.model_copy(update={"weights": (0, 0, 1)})
    assert said_of(PanelJudge(members, heavy)).score == 100
    with pytest.raises(ValueError, match=r"drop score='median'"):
        PanelJudge(members, weights, score="median")


def test_with_less_than_half_of_the_scores_there_is_none():
    cut = Judgement.unscored("cut off")
    found = said_of(PanelJudge(planted(a=judged(4, *CAREFUL), b=cut, c=cut)))
    assert found.score is None
    assert found.problem == (
        "1 of 3 members gave a score, and 50% of them are needed: b: cut off; c: cut off"
    )
    assert (found.errors, found.members) == ((), {"a": 4, "b": None, "c": None})
    found = said_of(PanelJudge(planted(a=judged(4, *CAREFUL), b=cut)))
    assert (found.score, len(found.errors)) == (75, 2)
    found = said_of(PanelJudge(planted(a=cut, b=cut)))
    assert found.problem.startswith("no member of the panel gave a score")


def test_a_panel_without_a_score_asks_no_supervisor():
    cut = Judgement.unscored("cut off")
    panel, engine = supervised(planted(a=judged(4, *CAREFUL), b=cut, c=cut), "No errors.")
    found = said_of(panel)
    assert (found.score, found.errors, found.calls, engine.asked) == (None, (), (), [])


def test_a_criterion_that_too_few_scored_has_no_score_and_says_why():
    none = CriterionScore(score=None, explanation="cut off")
    members = {
        name: judged(4, criteria={"style": one})
        for name, one in (("a", CriterionScore(score=50)), ("b", none), ("c", none))
    }
    found = said_of(PanelJudge(planted(**members)))
    assert found.criteria["style"].score is None
    assert found.criteria["style"].explanation == "b: cut off; c: cut off"


def test_notes_of_members_say_whose_they_are_in_any_panel():
    note = Note(kind="contradiction", about="overall", text="Excellent, with an error.")
    members = planted(a=judged(5, notes=(note,)), b=judged(5))
    for panel in (Panel(members), PanelJudge(members)):
        assert [one.about for one in said_of(panel).notes] == ["a/overall"]


def test_all_members_are_asked_at_once():
    waiting = []

    class Slow(Planted):
        def bound_to(self, lm):
            executor = super().bound_to(lm)

            async def judge(item):
                waiting.append(1)
                while len(waiting) < 3:
                    await asyncio.sleep(0)
                return self.says(item.response)

            executor.judge = judge
            return executor

    panel = PanelJudge({name: Slow(lambda text: judged(3)) for name in "abc"})
    assert said_of(panel).score == 50


def test_it_counts_the_supervisor_among_its_calls():
    members = {"a": ActiveCritic(), "b": DirectJudge(asks="overall")}
    n_criteria = len(ActiveCritic().protocol.rubric.criteria)
    plain = PanelJudge(members).calls_per_item
    assert PanelJudge(members, supervisor=Supervisor()).calls_per_item == plain + n_criteria
    assert PanelJudge({"b": members["b"]}, supervisor=Supervisor()).calls_per_item == 2


def test_state_goes_out_and_in_with_what_a_supervisor_learned():
    def fresh():
        return PanelJudge({"a": ActiveCritic(), "b": DirectJudge()}, supervisor=Supervisor())

    panel, other = fresh(), fresh()
    panel.supervisor.merge.signature = panel.supervisor.merge.signature.with_instructions("Merge.")
    panel.rules = PanelRules(most=3)
    assert panel.fingerprint != other.fingerprint
    assert "supervisor.merge" in dict(panel.named_predictors())
    other.load_state(panel.dump_state())
    assert other.fingerprint == panel.fingerprint
    without = PanelJudge({"a": ActiveCritic(), "b": DirectJudge()})
    with pytest.raises(ValueError, match="no supervisor"):
        without.load_state(panel.dump_state())


def test_other_weights_keep_rules_and_supervisor():
    panel = PanelJudge(
        {"a": DirectJudge(), "b": DirectJudge()}, supervisor=Supervisor(), rules=PanelRules(most=2)
    )
    panel.supervisor.set_lm(lm_of(lambda *_: 1))
    other = panel.with_weights(panel.weights.model_copy(update={"middle": "median"}))
    assert (other.rules.most, other.weights.middle) == (2, "median")
    assert other.supervisor is not panel.supervisor
    assert lm_client_of(other.supervisor.merge.lm) is lm_client_of(panel.supervisor.merge.lm)


def test_a_supervisor_judges_nothing_by_itself():
    with pytest.raises(TypeError, match="judges nothing"):
        Supervisor().steps(source="s", response="r")
