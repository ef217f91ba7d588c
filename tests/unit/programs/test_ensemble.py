"""Judge ensembles: members, merging of spans, and outliers."""

import asyncio
import json
from dataclasses import replace
from statistics import mean, median, pstdev

import dspy
import pytest
from asgi import Caller
from dspy.utils.exceptions import LMTransportError
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from optimizing import Engine, lm_of
from panelling import CAREFUL, FIVE, REPORT, Planted, error, five, judged, missing, planted, three

from judgesmith.programs import ActiveCritic, DirectJudge, score_batch
from judgesmith.programs.families.ensemble.judges import Panel, PanelJudge, Supervisor, judgement_of
from judgesmith.programs.families.ensemble.members import (
    PanelJudgement,
    PanelVerdict,
    panel_judgement,
)
from judgesmith.programs.families.ensemble.merging import (
    Annotation,
    is_invented,
    merged_by_rule,
    most_severe,
    numbered,
    outliers_of,
    read_shown,
    shown,
)
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
from judgesmith.programs.serving import app
from judgesmith.signatures import CriterionScore, ErrorSpan, Judgement, Scale
from judgesmith.signatures.aggregation import PanelRules, PanelWeights
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Note

# panel

ITEMS = [RatedItem(source=f"Question {k}?", response=f"Answer {k}.") for k in range(12)]


def vanilla(rule=None):
    judge = ActiveCritic(variant="vanilla")
    if rule is not None:
        judge.set_lm(lm_of(rule))
    return judge


def always(score):
    return lambda user, shown, system: score


def failing(fault):
    """Return a judge whose model always raises ``fault``."""

    class Failing(Engine):
        def answer(self, request):
            raise fault

    judge = ActiveCritic(variant="vanilla")
    judge.set_lm(ClientLM.over(LMClient(Failing(None), budget=Budget()), "failing", recipe={}))
    return judge


def weights(**by_member):
    n = len(by_member)
    return PanelWeights(
        members=tuple(by_member),
        centers=(0,) * n,
        spreads=(1,) * n,
        weights=tuple(by_member.values()),
        slope=1,
        intercept=0,
        scale=Scale(low=0, high=100),
    )


def test_members_with_models_of_their_own_are_averaged():
    panel = Panel({"a": vanilla(always(80)), "b": vanilla(always(40))})
    found = score_batch(panel, ITEMS)
    assert [one.score for one in found] == pytest.approx([60] * len(ITEMS))
    assert found[0].members == {"a": 80, "b": 40}
    assert found[0].disagreement == pytest.approx(20)


def test_a_call_and_many_items_give_the_same_judgements():
    panel = Panel({"a": ActiveCritic(), "b": vanilla()}, weights(a=1, b=2))
    item = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
    (many,) = score_batch(panel, [item])
    texts = {"source": item.source, "response": item.response}
    once = panel(**texts)
    awaited = asyncio.run(panel.acall(**texts))
    assert judgement_of(once) == judgement_of(awaited) == many
    assert once.protocol == panel.fingerprint
    assert isinstance(many, PanelJudgement)


def test_members_without_weight_are_not_asked():
    asked = []
    idle = vanilla(lambda user, shown, system: asked.append(user) or 1)
    panel = Panel({"a": vanilla(always(30)), "b": idle}, weights(a=1, b=0))
    assert score_batch(panel, ITEMS)[0].score == 30
    assert asked == []
    assert panel.calls_per_item == 1


def test_criteria_and_explanation_are_those_of_the_heaviest_member_with_a_score():
    panel = Panel({"a": ActiveCritic(), "b": ActiveCritic()}, weights(a=1, b=3))
    said = {
        "a": Judgement(score=10, explanation="a says", criteria={"x": CriterionScore(score=1)}),
        "b": Judgement(score=50, explanation="b says", criteria={"y": CriterionScore(score=5)}),
    }
    found = panel.combined(said)
    assert (found.score, found.voice, found.explanation, list(found.criteria)) == (
        40,
        "b",
        "b says",
        ["y"],
    )
    found = panel.combined({**said, "b": Judgement.unscored("cut off")})
    assert (found.score, found.voice, list(found.criteria)) == (10, "a", ["x"])


def test_without_any_score_the_panel_says_why_each_member_has_none():
    panel = Panel({"a": vanilla(), "b": vanilla()})
    found = panel.combined(
        {"a": Judgement.unscored("cut off"), "b": Judgement.unscored("filtered")}
    )
    assert found.score is None
    assert found.problem == "no member of the panel gave a score: a: cut off; b: filtered"


class Away:
    """The engine of a model of others that is away."""

    def complete(self, request):
        raise LMTransportError("no connection")


class AsyncAway(Away):
    """The same without blocking."""

    async def complete(self, request):
        raise LMTransportError("no connection")


@pytest.mark.parametrize("away", ["ours", "theirs"])
def test_a_member_that_cannot_be_reached_leaves_every_way_to_ask_the_same_judgement(away):
    if away == "ours":
        dead = failing(TransientModelError("busy", status=503))
    else:
        dead = vanilla()
        dead.set_lm(
            dspy.LM("theirs/m", engine=Away(), async_engine=AsyncAway(), cache=False, num_retries=0)
        )
    panel = Panel({"a": vanilla(always(80)), "b": dead})
    item = ITEMS[0]
    texts = {"source": item.source, "response": item.response}
    (many,) = score_batch(panel, [item])
    assert (many.score, many.members, many.problem) == (80, {"a": 80, "b": None}, None)
    assert judgement_of(panel(**texts)) == many
    assert judgement_of(asyncio.run(panel.acall(**texts))) == many
    with Caller(app({"panel": panel})) as served:
        row = served.post("/v1/judges/panel/judge", texts).json
    assert (row["score"], row["members"]) == (80, {"a": 80, "b": None})


@pytest.mark.parametrize(
    "fault", [TransientModelError("busy"), ModelError("wrong key", status=401)]
)
def test_a_call_of_which_no_member_can_be_asked_raises_as_that_of_one_judge_does(fault):
    texts = {"source": "s", "response": "r"}
    panel = Panel({"a": failing(fault), "b": failing(fault)})
    for judge in (panel, failing(fault)):
        with pytest.raises(ModelError, match=str(fault)):
            judge(**texts)
        with pytest.raises(ModelError, match=str(fault)):
            asyncio.run(judge.acall(**texts))


def test_a_wrong_key_ends_the_run_as_it_does_for_one_judge():
    panel = Panel({"a": vanilla(always(80)), "b": failing(ModelError("wrong key", status=401))})
    with pytest.raises(ModelError, match="wrong key"):
        score_batch(panel, ITEMS[:2])
    texts = {"source": ITEMS[0].source, "response": ITEMS[0].response}
    with pytest.raises(ModelError, match="wrong key"):
        panel(**texts)
    with pytest.raises(ModelError, match="wrong key"):
        asyncio.run(panel.acall(**texts))


def test_state_goes_out_and_in():
    panel = Panel({"a": ActiveCritic(), "b": vanilla()}, weights(a=1, b=3))
    other = Panel({"a": ActiveCritic(), "b": vanilla()})
    other.load_state(panel.dump_state())
    assert other.weights == panel.weights
    assert other.fingerprint == panel.fingerprint
    with pytest.raises(ValueError, match="the state has the members a, b; this judge has c"):
        Panel({"c": vanilla()}).load_state(panel.dump_state())


def test_members_on_scales_of_their_own_count_as_shares_of_them():
    learned = PanelWeights.equal({"a": Scale(low=1, high=5), "b": Scale(low=0, high=100)})
    assert learned.apply({"a": 5, "b": 0}) == 50


def test_refuses_what_is_no_judge_and_weights_of_others():
    with pytest.raises(TypeError, match="a must be a judge; got Predict"):
        Panel({"a": dspy.Predict("source -> score")})
    with pytest.raises(ValueError, match="needs at least one member"):
        Panel({})
    with pytest.raises(ValueError, match="the weights are of a; the panel has b"):
        Panel({"b": vanilla()}, weights(a=1))


def test_a_panel_says_how_its_members_scores_came_about():
    how = {"overall": {"mode": "stated", "stated": 50, "reason": "the endpoint gave none"}}
    weights = PanelWeights.equal(dict.fromkeys("ab", Scale(low=0, high=100)))
    said = {"a": Judgement(score=50, weighting=how), "b": Judgement(score=60)}
    found = panel_judgement(said, weights)
    assert found.weighting["a/overall"].reason == "the endpoint gave none"
    assert len(found.weighting) == 1


def test_members_have_names():
    with pytest.raises(
        TypeError, match=r"members must be a dict of judges by name, .* got list\. Give every"
    ):
        Panel([vanilla()])


# panel judge

ITEM = RatedItem(source="s", response=REPORT)


class EnginePanelJudge:
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
    engine = EnginePanelJudge(said)
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


def test_a_call_and_many_items_give_the_same_judgements_panel_judge():
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
        Supervisor().steps(RatedItem(response="r"))


# panel merging


def merged(**errors):
    return merged_by_rule(numbered(errors, REPORT), REPORT)


def texts_panel_merging(found):
    return [(one.error.text, one.error.severity, one.members) for one in found]


def test_overlapping_errors_of_two_are_one_that_covers_both_and_is_as_bad_as_the_worse():
    found = merged(a=[error("left at ten", 2, "One.")], b=[error("at ten. Its", 4, "Two.")])
    assert texts_panel_merging(found) == [("left at ten. Its", 4, ("a", "b"))]
    assert found[0].error.explanation == "One. Two."


def test_two_issues_of_one_annotator_at_one_place_stay_two():
    found = merged(a=[error("ten", 2, "Early."), error("ten", 5, "Late.")], b=[error("ten", 3)])
    assert [(one.error.severity, one.members) for one in found] == [(3, ("a", "b")), (5, ("a",))]


def test_what_hardly_overlaps_stays_apart_and_no_chain_swallows_the_text():
    found = merged(a=[error("The ferry left at")], b=[error("at ten. Its captain,")])
    assert len(found) == 2


def test_what_is_missing_is_merged_where_two_say_the_same():
    found = merged(a=[missing("No date.", 2)], b=[missing("no  date.", 4), missing("No name.")])
    assert [(one.error.severity, one.members) for one in found] == [(4, ("a", "b")), (3, ("b",))]
    assert all(one.error.located == "missing" and one.error.start is None for one in found)


def test_the_most_severe_are_kept_in_their_order_of_equals_what_more_found():
    found = merged(a=[error("ferry", 1), error("ten", 3), error("sang", 3)], b=[error("sang", 3)])
    assert [one.error.text for one in most_severe(found, 1)] == ["sang"]
    assert [one.error.text for one in most_severe(found, 2)] == ["ten", "sang"]
    assert most_severe(found, 8) == found


def test_judges_that_grade_nothing_give_errors_without_severity():
    assert merged(a=[error("ten", None)], b=[error("ten", None)])[0].error.severity is None


@for_each(
    ("given_error", "invented"),
    [
        (ErrorSpan(text="moon", located="unresolved"), True),
        (ErrorSpan(text="moon"), True),
        (ErrorSpan(text=" "), False),
        (ErrorSpan(text="none", located="missing"), False),
        (ErrorSpan(text="ten", start=0, end=3), False),
        (ErrorSpan(text="ten", start=70, end=300), True),
        (ErrorSpan(text="ten", start=-3, end=3), True),
    ],
)
def test_an_error_is_invented_where_it_quotes_what_is_not_there(given_error, invented):
    assert is_invented(given_error, REPORT) is invented
    assert len(numbered({"a": [given_error]}, REPORT)) == (not invented)


hostile = st.text(st.sampled_from('ab"\\{}\n\r\x85\u2028[]#:1 😀'), max_size=20)


@given(hostile, hostile)
def test_what_is_shown_is_read_back_whatever_stands_in_it(response, why):
    response = f"{response}x"
    whole = ErrorSpan(text=response, start=0, end=len(response), severity=2.5, explanation=why)
    given_errors = [
        Annotation(number=n, member=name, error=whole) for n, name in ((1, "A"), (2, "B"))
    ]
    lines = shown(given_errors, response)
    text = unix_lines(response)
    update = {"text": text, "end": len(text), "explanation": unix_lines(why)}
    read = whole.model_copy(update=update)
    assert list(read_shown(lines)) == [replace(one, error=read) for one in given_errors]
    assert lines.count("\n") == 1


def test_lines_that_are_no_annotations_are_passed_over():
    assert list(read_shown("[" * 9999 + '\nnull\n{"n": 1}\n3\n' + json.dumps({"at": 3}))) == []


def test_a_panel_larger_than_the_alphabet_has_letters_for_all():
    crowd = {f"m{n}": [error("ten")] for n in range(28)}
    lines = shown(numbered(crowd, REPORT), REPORT).split("\n")
    assert [json.loads(line)["annotator"] for line in lines][25:] == ["Z", "AA", "BB"]


# panel outliers

LEVELS = st.lists(st.integers(1, 5), min_size=1, max_size=9)


def shares(levels):
    return {str(place): (one - 1) / 4 for place, one in enumerate(levels)}


def apart(levels, rule):
    return outliers_of(shares(levels), rule, level=0.25)


@given(LEVELS)
def test_deviation_is_two_standard_deviations_and_one_level_from_the_mean(levels):
    spread, middle = pstdev(levels), mean(levels)
    expected = [
        str(place)
        for place, one in enumerate(levels)
        if abs(one - middle) >= 2 * spread - 1e-9 and abs(one - middle) >= 1 - 1e-9
    ]
    assert list(apart(levels, "deviation")) == (expected if len(levels) > 2 else [])


@for_each(
    ("levels", "expected"),
    [
        ([4, 4, 4, 4, 2], ("4",)),
        ([4, 4, 4, 4, 3], ()),  # two deviations, and less than a level
        ([4, 4, 4, 5, 1], ()),  # four that do not quite agree
        ([4, 4, 4, 1], ()),  # four scores never reach two deviations
        ([4, 4, 4, 4, 5, 1], ("5",)),
    ],
)
def test_by_deviation_five_tell_an_outlier_only_where_four_agree(levels, expected):
    assert apart(levels, "deviation") == expected


@for_each(
    ("levels", "expected"),
    [
        ([4, 4, 2], ("2",)),
        ([4, 4, 3], ()),
        ([5, 5, 1], ("2",)),  # which draws the median of the others two levels down
        ([4, 5, 5, 2], ("3",)),
        ([4, 4, 4, 5, 1], ("4",)),
        ([1, 4, 4, 4, 1], ("0", "4")),
        ([5, 5, 4, 2, 1], ("3", "4")),
        ([1, 1, 2, 3, 4], ("4",)),  # 3 is but a level and a half from the others' median
        ([1, 1, 1, 3, 5], ("3", "4")),
        ([1, 3, 5], ()),  # both ends stand apart: from whom?
        ([1, 1, 5, 5], ()),
        ([1, 5], ()),
        ([3], ()),
        ([], ()),
    ],
)
def test_a_small_panel_goes_by_the_median_of_the_others(levels, expected):
    assert apart(levels, "median") == apart(levels, "auto") == expected


@given(LEVELS)
def test_by_median_most_stay_and_who_leaves_is_two_levels_from_those_who_do(levels):
    found = apart(levels, "median")
    stay = [one for place, one in enumerate(levels) if str(place) not in found]
    assert len(found) == 0 or 2 * len(found) < len(levels)
    assert all(abs(levels[int(name)] - median(stay)) >= 1.5 for name in found)
    for place in map(int, found):
        assert abs(levels[place] - median(levels[:place] + levels[place + 1 :])) >= 2 - 1e-9


def test_from_six_scores_on_it_goes_by_deviation():
    levels = [1, 1, 1, 1, 2, 3]
    assert apart(levels, "median") != apart(levels, "deviation")
    assert apart(levels, "auto") == apart(levels, "deviation")


def test_nobody_stands_apart_where_no_rule_is_wanted():
    assert apart([5, 5, 5, 5, 5, 1], "none") == ()
