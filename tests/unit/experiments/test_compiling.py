import json

import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.errors import InputError
from judgesmith.experiments import CompileSettings, compile_judge, evaluate_judge
from judgesmith.experiments.compile.notes import NothingScoredError
from judgesmith.experiments.evaluate.agreement import agreement_report, plain
from judgesmith.programs import SavedJudge, score_batch
from judgesmith.programs.lm import ModelError, lm_client_of, model
from judgesmith.signatures import Rubric

QUICK = CompileSettings(n_rounds=3)
GIVEN = QUICK.model_copy(update={"criteria": "given"})


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(60))


@pytest.fixture(scope="module")
def compiled(data):
    return compile_judge(data, QUICK, lm=model(ledger=None))


@pytest.mark.no_cover
def test_compiling_twice_gives_the_same_bytes(data, compiled, tmp_path):
    again = compile_judge(data, QUICK, lm=model(ledger=None), concurrency=3)
    first = compiled.saved.save(tmp_path / "first") / "judge.json"
    second = again.saved.save(tmp_path / "second") / "judge.json"
    assert first.read_bytes() == second.read_bytes()


def test_rows_seen_are_those_it_was_made_from(data, compiled):
    seen = compiled.saved.seen
    keys = [key for several in seen.values() for key in several]
    assert (
        len(keys) == len(set(keys)) == compiled.saved.rows["train"] + compiled.saved.rows["select"]
    )
    assert len(data) - len(keys) == compiled.saved.rows["heldout"]


def test_demonstrations_come_from_the_pool_alone(compiled):
    shown = {one.key for many in compiled.saved.protocol.demonstrations.values() for one in many}
    assert shown <= set(compiled.saved.seen["train"])


@pytest.mark.no_cover
def test_the_report_is_what_the_saved_judge_scores(data, compiled):
    found = evaluate_judge(compiled.saved, data, rng=np.random.default_rng(0))
    for level, statistics in compiled.heldout.items():
        for name, estimate in statistics.items():
            value = found.unseen[level][name].value
            assert value == pytest.approx(estimate.value, nan_ok=True)


def test_golden_items_score_as_they_did(compiled):
    golden = compiled.saved.golden
    assert 2 <= len(golden) <= 20
    for one in golden:
        found = compiled.saved.program()(source=one.source, response=one.response)
        assert found.score == pytest.approx(one.judgement.score)


def test_examples_are_the_best_and_the_worst(compiled):
    (_, _, best), (_, _, worst) = compiled.examples
    assert best.score > worst.score


@pytest.mark.no_cover
def test_texts_are_left_out_on_request(data):
    settings = CompileSettings(optimizer="none", texts=False)
    assert compile_judge(data, settings, lm=model(ledger=None)).saved.golden == ()


def test_the_history_says_what_was_tried(compiled):
    stages = [trial["stage"] for trial in compiled.saved.history]
    assert stages.count("demonstrations") == QUICK.n_rounds
    assert "aggregation" in stages
    json.dumps(compiled.saved.model_dump(mode="json"), allow_nan=False)


@pytest.mark.no_cover
def test_another_target_is_another_judge(data):
    found = compile_judge(
        data, CompileSettings(target="fluency", n_rounds=2), lm=model(ledger=None)
    )
    assert found.saved.target == "fluency"


@pytest.mark.no_cover
def test_without_a_search_the_judge_is_as_it_was(data):
    found = compile_judge(data, CompileSettings(optimizer="none"), lm=model(ledger=None))
    assert found.saved.protocol == CompileSettings().protocol
    assert found.gain["dataset"]["q"].value == 0.0
    assert "nothing was searched: this is the judge as it was." in found.notes


@pytest.mark.no_cover
def test_progress_adds_up_to_what_was_announced(data):
    told = {}

    def progress(stage, n, total):
        done, _ = told.get(stage, (0, total))
        told[stage] = (done + n, total)

    compile_judge(data, QUICK, lm=model(ledger=None), progress=progress)
    n_asked, total = told.pop("task inference")
    assert n_asked > 5
    assert total is None
    assert set(told) >= {"demonstrations", "aggregation", "selection rows", "held-out rows"}
    for stage, (done, total) in told.items():
        assert total - 12 <= done <= total, stage


@pytest.mark.no_cover
@pytest.mark.parametrize("budget", [40, 150, 10_000])
def test_a_budget_is_never_passed_and_its_end_is_told(data, budget, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite", max_calls=budget)
    found = compile_judge(data, GIVEN, lm=lm, concurrency=1)
    assert lm_client_of(lm).usage.calls <= budget
    assert found.complete == found.saved.settings["complete"] == (budget == 10_000)
    assert any("budget" in note for note in found.notes) != found.complete
    assert (found.saved.rows["unscored"] > 0) != found.complete


def test_where_nothing_is_judged_there_is_no_judge(data):
    with pytest.raises(NothingScoredError, match="not asked: the budget of 0 calls") as caught:
        compile_judge(data, GIVEN, lm=model(ledger=None, max_calls=0))
    assert caught.value.spent
    assert (
        caught.value.rows["unscored"] == caught.value.rows["select"] + caught.value.rows["heldout"]
    )


class Scripted:
    """An engine that answers what a function of the request says."""

    endpoint = route = "scripted"

    def __init__(self, text_of):
        self.text_of = text_of

    def answer(self, request):
        from judgesmith.programs.lm import ModelAnswer

        return ModelAnswer(text=self.text_of(request), input_tokens=1, output_tokens=1)


@pytest.fixture
def scripted(monkeypatch):
    """Make models of a function from request to answer."""
    from judgesmith.programs.lm import factory as faces

    def make(text_of, *, ledger=None, **options):
        monkeypatch.setattr(faces, "engine_for", lambda *_, **__: Scripted(text_of))
        return model("scripted/m", ledger=ledger, **options)

    return make


VANILLA = CompileSettings(n_rounds=3, protocol={"variant": "vanilla"})


def test_answers_that_nobody_can_read_end_it_early(scripted):
    lm = scripted(lambda _: "fine, thanks")
    with pytest.raises(ModelError, match="nothing that the model answered could be read"):
        compile_judge(read_items("sample"), GIVEN, lm=lm, concurrency=4)
    assert lm_client_of(lm).usage.calls <= 2 * (20 + 4)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_budget_spent_on_answers_that_nobody_can_read_is_a_fault(
    data, scripted, with_ledger, tmp_path
):
    options = {"ledger": tmp_path / "ledger.sqlite"} if with_ledger else {}
    lm = scripted(lambda _: "fine, thanks", max_calls=30, **options)
    with pytest.raises(NothingScoredError) as caught:
        compile_judge(data, GIVEN, lm=lm)
    said = str(caught.value)
    assert not caught.value.spent
    assert "could be read, for example: the criteria have no scores" in said
    if with_ledger:
        assert said.index("of the rows to show") < said.index("of the rows to choose by")
        assert said.index("× the criteria have no scores") < said.index("× not asked")


def test_more_demonstrations_than_may_be_shown_are_told(data):
    settings = GIVEN.model_copy(update={"n_demonstrations": 500, "n_rounds": 2})
    found = compile_judge(data, settings, lm=model(ledger=None))
    n = found.saved.rows["train"]
    assert any(
        f"{n} rated rows may be shown, so no prompt shows the 500" in note for note in found.notes
    )


@pytest.mark.parametrize("budget", [0, 3])
def test_a_budget_that_ends_during_inference_leaves_no_judge_and_is_no_fault(data, budget):
    with pytest.raises(NothingScoredError, match="before task and criteria were inf") as caught:
        compile_judge(data, QUICK, lm=model(ledger=None, max_calls=budget))
    assert caught.value.spent


def test_a_model_that_can_teach_nothing_is_told_from_the_data(data, scripted):
    with pytest.raises(ValueError, match=r"nothing could be inferred .* Take another model"):
        compile_judge(data, QUICK, lm=scripted(lambda _: "fine, thanks"))


def test_what_is_inferred_is_learned_from_rows_that_are_not_held_out(data):
    settings = QUICK.model_copy(update={"criteria": "inferred"})
    compiled = compile_judge(data, settings, lm=model(ledger=None))
    rubric = compiled.saved.protocol.rubric
    assert rubric.task_type == "summarization"
    batches = rubric.provenance["batches"]
    taught = {key for batch in batches for key in batch["rows"]}
    seen = compiled.saved.seen
    assert taught
    assert taught <= {*seen["train"], *seen["select"]}


@pytest.mark.no_cover
def test_equal_judgements_have_equal_intervals(data):
    settings = CompileSettings(optimizer="none", holdout=0.5)
    found = compile_judge(data, settings, lm=model(ledger=None))
    assert plain(found.uncompiled) == plain(found.heldout)
    assert found.gain["dataset"]["pearson"].high == 0.0


@pytest.mark.parametrize("objective", ["q", "kappa"])
def test_the_gain_is_compiled_minus_uncompiled_where_their_unscored_rows_differ(
    data, scripted, objective
):
    def text_of(request):
        shows = len(request.prefix.messages) > 1
        place, item = next(
            (place, one) for place, one in enumerate(data) if one.response in request.user
        )
        points = 20 * item.human["overall"][0] if shows else 37 * place % 100
        score = "none" if place % 5 == shows else str(points)
        return f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]"

    update = {"objective": objective, "holdout": 0.5, "confirm": None}  # of few sources
    found = compile_judge(data, VANILLA.model_copy(update=update), lm=scripted(text_of))
    assert found.saved.protocol.demonstrations
    n_held = found.saved.rows["heldout"]
    for level, row in found.gain.items():
        for name, gain in row.items():
            before, after = found.uncompiled[level][name], found.heldout[level][name]
            assert gain.n == before.n == after.n < n_held
            assert gain.value == pytest.approx(after.value - before.value, nan_ok=True)
    one = found.objective
    assert one.gain.value == pytest.approx(one.heldout.value - one.uncompiled.value)
    assert one.gain.n == one.uncompiled.n == one.heldout.n


def inferred_from(keys):
    rows = dict.fromkeys(keys, "row")
    batches = [{"batch": 1, "rows": rows}, {"batch": 2, "rows": None}, "not a batch"]
    return Rubric(criteria={"fluency": "Is it fluent?"}, provenance={"batches": batches})


def test_held_out_rows_that_taught_the_rubric_are_told_and_count_as_seen(data, compiled):
    held = [item.key for item in data if item.key not in compiled.saved.seen_keys]
    settings = CompileSettings(
        optimizer="none", protocol={"rubric": inferred_from([*held[:3], "elsewhere"])}
    )
    found = compile_judge(data, settings, lm=model(ledger=None))
    (note,) = [note for note in found.notes if "rubric was inferred" in note]
    assert f"inferred from 3 of the {len(held)} rows held out" in note
    assert set(found.saved.seen["rubric"]) == {*held[:3], "elsewhere"}
    again = evaluate_judge(found.saved, data, rng=np.random.default_rng(0))
    assert again.n_unseen == len(held) - 3


@pytest.mark.no_cover
def test_a_rubric_that_was_taught_by_other_rows_needs_no_word(data, compiled):
    settings = CompileSettings(
        optimizer="none", protocol={"rubric": inferred_from(compiled.saved.seen["select"])}
    )
    found = compile_judge(data, settings, lm=model(ledger=None))
    assert not any("rubric" in note for note in found.notes)


@pytest.mark.no_cover
def test_a_model_that_cannot_tell_texts_apart_gives_the_judge_back_as_it_was(data, scripted):
    lm = scripted(lambda _: "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]")
    found = compile_judge(data, VANILLA, lm=lm)
    assert found.saved.protocol == VANILLA.protocol
    assert np.isnan(found.heldout["dataset"]["q"].value)
    assert any("this is the judge as it was" in note for note in found.notes)


def test_rows_that_cannot_be_judged_are_counted_and_left_out(data, scripted):
    def text_of(request):
        n_words = len(request.user.split())
        score = "none" if n_words % 7 == 0 else str(n_words % 100)
        return f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]"

    lm = scripted(text_of)
    found = compile_judge(data, VANILLA, lm=lm)
    rows = found.saved.rows
    assert 0 < rows["unscored"] < rows["select"] + rows["heldout"]
    n_scored = found.heldout["dataset"]["pearson"].n + found.selection["dataset"]["pearson"].n
    assert n_scored == rows["select"] + rows["heldout"] - rows["unscored"]
    assert "rows without a score count in no agreement." in found.notes


def test_uncompiled_agreement_is_that_of_the_judge_it_started_from(data, compiled):
    from judgesmith.optimizers.predictions import prediction_table
    from judgesmith.programs import ActiveCritic

    held = [i for i, item in enumerate(data) if item.key not in compiled.saved.seen_keys]
    items = [data[i] for i in held]
    table = prediction_table(
        score_batch(ActiveCritic(), items, lm=model(ledger=None)),
        np.asarray([np.mean(item.human["overall"]) for item in items]),
        sources=data.groups[held],
        systems=np.asarray([item.system_id for item in items]),
    )
    direct = agreement_report(table, rng=np.random.default_rng(0))
    for name, estimate in compiled.uncompiled["dataset"].items():
        assert estimate.value == pytest.approx(direct["dataset"][name].value)


def test_a_saved_judge_comes_back_as_it_was(compiled, tmp_path):
    assert SavedJudge.load(compiled.saved.save(tmp_path / "judge")) == compiled.saved


def near(example, prediction, trace=None):
    return 1 - abs(example.score - 1 - prediction.score / 25) / 4


def correlating(table):
    return float(np.corrcoef(table.predicted, table.human)[0, 1])


class TestObjectivesThatAreFunctions:
    @pytest.mark.parametrize("optimizer", ["random", "protocol"])
    def test_are_made_as_large_as_those_that_are_named(self, data, optimizer):
        found = {}
        for objective in (correlating, "pearson"):
            settings = GIVEN.model_copy(
                update={"objective": objective, "optimizer": optimizer, "n_trials": 3}
            )
            found[objective] = compile_judge(data, settings, lm=model(ledger=None))
        own, named = found.values()
        assert own.saved.protocol == named.saved.protocol
        assert own.objective.name == "correlating"
        assert own.objective.heldout.value == pytest.approx(named.objective.heldout.value)
        assert own.objective.heldout.low < own.objective.heldout.value

    def test_may_be_metrics_of_one_row(self, data):
        settings = CompileSettings(objective=near, n_rounds=2, criteria="given")
        found = compile_judge(data, settings, lm=model(ledger=None))
        assert 0 < found.objective.heldout.value <= 1
        assert found.saved.settings["objective"].startswith("near ")

    def test_are_told_apart_by_what_they_do(self, data):
        first, again, other = (
            CompileSettings(objective=eval(f"lambda table: {n}")) for n in (1.0, 1.0, 2.0)
        )
        runs = [one.fingerprint(data, "offline") for one in (first, again, other)]
        assert runs[0] == runs[1] != runs[2]
        assert runs[0] != CompileSettings().fingerprint(data, "offline")

    def test_are_refused_before_a_call_where_they_cannot_be_used(self, data):
        with pytest.raises(InputError, match="takes other arguments"):
            CompileSettings(objective=lambda: 1)
        with pytest.raises(InputError, match="an objective is a text such as 'q'"):
            CompileSettings(objective=3)
        lm = model(ledger=None)
        wrong = CompileSettings(objective=lambda table: "good", criteria="given")
        with pytest.raises(InputError, match="must return a finite number"):
            compile_judge(data, wrong, lm=lm)
        assert lm_client_of(lm).usage.calls == 0
