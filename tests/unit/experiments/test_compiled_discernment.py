import json
import math
from dataclasses import replace

import pytest

from judgesmith.data import DataSet, read_items
from judgesmith.experiments import CompileSettings, compile_judge, evaluate_judge
from judgesmith.experiments.compile import inferring
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.settings import settings_without_labels
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.versions import unnoticed_note
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.programs import SavedJudge
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig, Criterion, Rubric

QUICK = CompileSettings(
    objective="d_avg",
    optimizer="protocol",
    n_trials=3,
    versions=2,
    kinds=("word_deletions", "punctuation_loss", "repetition", "padding"),
    holdout_kinds=("truncation",),
)


@pytest.fixture(scope="module")
def rated():
    return read_items("sample").subset(range(100))


@pytest.fixture(scope="module")
def unrated(rated):
    bare = [one.model_copy(update={"human": {}, "scale": {}}) for one in rated]
    return DataSet(name="bare", items=tuple(bare))


@pytest.fixture(scope="module")
def lm():
    return model(ledger=None)


@pytest.fixture(scope="module")
def compiled(unrated, lm):
    return compile_judge(unrated, QUICK, lm=lm)


class TestWithoutAnyRating:
    def test_there_is_no_agreement_and_there_is_discernment(self, compiled):
        assert (compiled.uncompiled, compiled.heldout, compiled.selection) == (None, None, None)
        assert compiled.discernment.seen.heldout.estimates["d_avg"].value > 0
        assert math.isnan(compiled.examples[0][1])

    def test_nothing_that_takes_ratings_is_left(self, compiled):
        assert compiled.saved.protocol.demonstrations == {}
        assert compiled.saved.protocol.aggregation.kind == "overall"
        assert compiled.saved.rows["train"] == 0
        assert not any(one["stage"] == "aggregation" for one in compiled.saved.history)

    def test_the_start_is_never_beaten_by_less_on_the_rows_chosen_by(self, compiled):
        trials = [one for one in compiled.saved.history if one["stage"] == "protocol"]
        taken = compiled.saved.agreement.plain["confirmation"]["taken"]
        assert trials[taken]["value"] >= trials[0]["value"]

    def test_kinds_it_never_saw_are_told_apart(self, compiled):
        found = compiled.saved.agreement.plain["discernment"]
        assert [one["name"] for one in found["unseen_kinds"]] == ["truncation"]
        assert list(found["unseen"]["heldout"]["kinds"]) == ["truncation"]
        assert "truncation" not in found["seen"]["heldout"]["kinds"]
        assert "truncation" not in found["selection"]["kinds"]

    def test_a_kind_that_nobody_notices_is_told_where_the_lowest_score_counts(self, compiled):
        report = compiled.discernment
        typos, padding = (
            next(one for one in report.kinds if one.lowers is lowers) for lowers in (True, False)
        )
        nothing = replace(next(iter(report.selection.kinds.values())), value=0.0)
        kinds = {**report.selection.kinds, typos.name: nothing, padding.name: nothing}
        blind = replace(report, selection=replace(report.selection, kinds=kinds))
        (said,) = unnoticed_note(blind, parse_objectives("q + .5*d_min"))
        assert said.startswith(f"D is below 0.1 for {typos.name} on the rows")
        assert unnoticed_note(blind, parse_objectives("d_avg")) == []
        assert unnoticed_note(None, parse_objectives("d_min")) == []

    def test_the_objective_is_that_of_the_kinds_it_was_chosen_by(self, compiled):
        reported = compiled.discernment.seen.heldout.estimates["d_avg"]
        assert compiled.objective.heldout == reported
        assert math.isnan(compiled.objective.optimism)

    def test_controls_are_alarms_and_no_damage(self, compiled):
        estimates = compiled.discernment.selection.estimates
        assert set(estimates) == {"d_min", "d_avg", "false_alarms"}
        padding = compiled.discernment.selection.kinds["padding"]
        assert estimates["false_alarms"].value == (padding.value >= 1)
        assert estimates["d_min"].value == min(
            one.value
            for name, one in compiled.discernment.selection.kinds.items()
            if name != "padding"
        )

    def test_it_is_saved_shown_and_loaded(self, compiled, tmp_path):
        folder = compiled.saved.save(tmp_path / "judge")
        again = SavedJudge.load(folder)
        assert again == compiled.saved
        assert json.dumps(again.agreement.plain, allow_nan=False)
        card = judge_card(again)
        assert "Made from texts that nobody rated" in card
        assert "Kept for the report: truncation." in card

    def test_it_can_be_held_against_people_later(self, compiled, rated):
        import numpy as np

        found = evaluate_judge(compiled.saved, rated, rng=np.random.default_rng(0))
        assert found.target == "overall"

    def test_no_more_is_asked_than_was_announced(self, unrated, lm, compiled):
        estimate = estimate_run(unrated, QUICK, lm)
        assert lm_client_of(lm).usage.calls <= estimate.calls

    @pytest.mark.no_cover
    def test_twice_gives_the_same_bytes(self, compiled, unrated, tmp_path):
        again = compile_judge(unrated, QUICK, lm=model(ledger=None), concurrency=3)
        first, second = (
            one.saved.save(tmp_path / name) / "judge.json"
            for one, name in ((compiled, "a"), (again, "b"))
        )
        assert first.read_bytes() == second.read_bytes()

    def test_a_reader_is_told(self, compiled):
        told = " ".join(compiled.notes)
        assert "nobody rated these texts" in told
        assert "agreed better with people" not in told
        assert "made by rules" in told

    def test_criteria_of_a_rubric_may_be_named(self, unrated):
        criteria = [Criterion(name=name, definition="as named") for name in ("tone", "length")]
        settings = QUICK.model_copy(
            update={
                "protocol": ActiveCriticConfig(rubric=Rubric(criteria=tuple(criteria))),
                "target": ("tone", "length"),
                "optimizer": "none",
            }
        )
        found = compile_judge(unrated, settings, lm=model(ledger=None))
        assert found.discernment.targets == ("tone", "length")

    def test_agreement_and_criteria_of_people_are_refused(self, unrated):
        for update, said in (
            ({"objective": "q + d_min"}, "bare has no ratings"),
            ({"criteria": "human"}, "no criteria can be inferred"),
            ({"target": ("wit",)}, "the judge gives no score on wit"),
        ):
            with pytest.raises(ValueError, match=said):
                compile_judge(unrated, QUICK.model_copy(update=update), lm=model(ledger=None))

    def test_a_budget_that_ends_early_leaves_a_judge(self, unrated, tmp_path):
        lm = model(ledger=tmp_path / "ledger.sqlite", max_calls=500)
        found = compile_judge(unrated, QUICK, lm=lm)
        assert not found.complete


class TestWithRatings:
    def test_rated_texts_stay_as_they_are(self, rated):
        assert settings_without_labels(rated, QUICK) is QUICK

    def test_both_are_reported(self, rated):
        settings = QUICK.model_copy(
            update={"objective": "q + .5*d_min", "optimizer": "random", "n_rounds": 2}
        )
        found = compile_judge(rated, settings, lm=model(ledger=None))
        assert found.heldout["dataset"]["q"].value > 0
        assert set(found.discernment.seen.gain) == {"d_min", "d_avg", "false_alarms"}
        assert found.objective.name == "q + 0.5*d_min"
        assert any(one["stage"] == "aggregation" for one in found.saved.history)

    def test_settings_of_other_objectives_do_not_name_what_they_do_not_read(self):
        plain = CompileSettings()
        assert not {"task", "kinds", "versions", "holdout_kinds"} & set(plain.model_dump())
        assert plain.model_dump() == CompileSettings(versions=5).model_dump()
        assert QUICK.model_dump()["versions"] == 2

    def test_searches_of_texts_refuse_it(self, rated):
        with pytest.raises(ValueError, match="leave discernment out"):
            compile_judge(rated, QUICK.model_copy(update={"optimizer": "reflective"}))


def test_criteria_are_inferred_from_no_source_that_is_reported_on(rated, lm, monkeypatch):
    # Versions that people rated, too, are rows of their own to an inference alone.
    changed = [
        one.model_copy(
            update={
                "response": one.response[: len(one.response) // 2],
                "system_id": f"{one.system_id} cut",
                "extra": {"perturbation": "truncation", "original": one.system_id},
            }
        )
        for one in list(rated)[30:90]
    ]
    both = DataSet(name="both", items=(*rated, *changed))
    settings = CompileSettings(objective="q + d_min", optimizer="none", criteria="inferred")
    parts = parts_of(both, chosen_targets(both, settings), settings)
    taught = set()

    class Recording(TaskInference):
        def __call__(self, *, items, **more):
            taught.update(item.key for item in items)
            return super().__call__(items=items, **more)

    monkeypatch.setattr(inferring, "TaskInference", Recording)
    compile_judge(both, settings, lm=lm)
    reported = set(both.groups[parts.heldout_places].tolist())
    sources = {group for group, one in zip(both.groups, both, strict=True) if one.key in taught}
    assert len(sources) > 5
    assert not sources & reported
