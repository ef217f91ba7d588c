"""One model writes and another judges: roles have models of their own."""

import pytest

from judgesmith.errors import InputError
from judgesmith.experiments.scoring import score_file
from judgesmith.programs import DirectJudge, SavedJudge, SavedPanel, score_batch
from judgesmith.programs.families.modules import ExemplarJudge
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.registry import with_roles
from judgesmith.programs.lm import LMClient, ModelAnswer, lm_client_of, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem
from judgesmith.signatures.aggregation import PanelWeights

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


class Writing:
    """Writes a text that nobody else would, and is never asked to judge."""

    endpoint = "writing"

    def __init__(self):
        self.asked = []

    def answer(self, request):
        self.asked.append(request)
        return ModelAnswer(text=f"[[ ## exemplar ## ]]\nThe bridge {len(self.asked)}.")


def writer():
    engine = Writing()
    return ClientLM.over(LMClient(engine), "writing/w", recipe={}, temperature=0.0), engine


def saved_judge(judge, **more):
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
        **more,
    )


def test_exemplars_are_written_by_the_one_and_compared_by_the_other():
    lm, engine = writer()
    judge = ExemplarJudge(levels=3)
    both = with_roles(judge, {"writer": lm})
    offline = model("offline", ledger=None)
    (judgement,) = score_batch(both, [ITEM], lm=offline)
    assert judgement.weighting["overall"].mode == "probabilities"
    assert len(engine.asked) == 3
    assert lm_client_of(offline).usage.calls == 3
    assert judge.own_models() == {}
    assert type(Executor.of(both, offline)).__name__ == "ClientExecutor"


def test_dspy_asks_the_same_models():
    (fast,) = score_batch(with_roles(ExemplarJudge(), {"writer": writer()[0]}), [ITEM])
    slow = with_roles(ExemplarJudge(), {"writer": writer()[0]})(
        source=ITEM.source, response=ITEM.response, context=None
    )
    assert (fast.score, fast.calls) == (slow.score, slow.calls)


def test_the_writer_decides_the_calls_behind_exemplars():
    (own,) = score_batch(ExemplarJudge(levels=2), [ITEM])
    (other,) = score_batch(with_roles(ExemplarJudge(levels=2), {"writer": writer()[0]}), [ITEM])
    assert not set(own.calls) & set(other.calls)


class TestSaved:
    def test_names_are_kept_and_told(self, tmp_path):
        judge = ExemplarJudge(levels=3)
        saved = saved_judge(judge, roles={"writer": "writing/w"})
        saved.save(tmp_path / "judge")
        again = SavedJudge.load(tmp_path / "judge")
        assert (again, again.models) == (saved, ("offline", "writing/w"))
        card = (tmp_path / "judge" / "README.md").read_text()
        assert "Compiled with the models `offline`, `writing/w`." in card
        assert "- writer: `writing/w`" in card
        plain = saved_judge(judge)
        assert "roles" not in plain.model_dump(mode="json")
        assert plain.fingerprint != saved.fingerprint

    def test_it_judges_as_the_module_does(self):
        saved = saved_judge(ExemplarJudge(levels=3), roles={"writer": "writing/w"})
        found = score_batch(saved.with_models({"writing/w": writer()[0]}), [ITEM])
        program = saved.with_models({"writing/w": writer()[0]}).program()
        assert found == score_batch(program, [ITEM])
        judge = with_roles(ExemplarJudge(levels=3), {"writer": writer()[0]})
        assert found == score_batch(judge, [ITEM])

    def test_a_model_that_is_not_given_is_not_replaced_in_silence(self):
        saved = saved_judge(ExemplarJudge(), roles={"writer": "writing/w"})
        with pytest.raises(InputError, match="did not name: writing/w at litellm:writing"):
            score_batch(saved, [ITEM])

    def test_a_panel_hands_its_models_on(self):
        saved = saved_judge(ExemplarJudge(levels=2), roles={"writer": "writing/w"})
        weights = {"members": ["a"], "weights": [1.0], "centers": [50.0], "spreads": [20.0]}
        weights |= {"slope": 1.0, "intercept": 3.0, "scale": "1..5"}
        panel = SavedPanel(
            members={"a": saved}, weights=weights, target="overall", human_scale="1..5"
        )
        assert panel.models == ("offline", "writing/w")
        lm, engine = writer()
        offline = model("offline", ledger=None)
        bound = panel.with_models({"offline": offline, "writing/w": lm})
        (judgement,) = score_batch(bound, [ITEM], lm=offline)
        assert judgement.problem is None
        assert len(engine.asked) == 2

    def test_members_of_one_name_ask_models_of_their_own(self):
        lms = {name: writer() for name in ("a", "b", "c")}
        saved = saved_judge(ExemplarJudge(levels=2)).model_copy(update={"model": "writing/w"})
        panel = SavedPanel(
            members={"a": saved, "b": saved, "c": saved},
            weights=PanelWeights.equal(dict.fromkeys("abc", saved.scale)),
            target="overall",
            human_scale="1..5",
        )
        own = {name: lms[name][0] for name in ("a", "b")}
        bound = panel.with_models({"writing/w": lms["c"][0]}).with_parts(own)
        score_batch(bound, [ITEM])
        counts = [len(engine.asked) for _, engine in lms.values()]
        assert counts[0] == counts[1] == counts[2] > 0
        assert [bound.models_beside(one) for one in ((), "ab", "abc")] == [
            ("writing/w",),
            ("writing/w",),
            (),
        ]
        score_batch(bound.program(), [ITEM])
        assert [len(engine.asked) for _, engine in lms.values()] == [2 * n for n in counts]
        assert SavedPanel.model_validate(bound.model_dump()).parts == {}
        with pytest.raises(InputError, match="no part 'd'; it has a, b, c"):
            panel.with_parts({"d": lms["a"][0]})

    def test_a_role_that_the_family_lacks_is_refused(self):
        with pytest.raises(ValueError, match="family direct has no role 'writer'; it has none"):
            saved_judge(DirectJudge(), roles={"writer": "writing/w"})

    def test_scores_of_another_writer_are_another_run(self, tmp_path):
        out = tmp_path / "scores.jsonl"
        one = saved_judge(ExemplarJudge(levels=2), roles={"writer": "writing/w"})
        bound = one.with_models({"writing/w": writer()[0]})
        score_file(bound, iter([ITEM]), out)
        score_file(one.with_models({"writing/w": writer()[0]}), iter([ITEM]), out)
        other = one.with_models({"writing/w": model("offline", ledger=None)})
        with pytest.raises(FileExistsError, match="another input or model"):
            score_file(other, iter([ITEM]), out)
