"""Discernment of a judge: perturbed texts, results and folders."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from discerning import ENTITIES, ORDER, PADDING, TYPOS, planted, scored, texts
from looping import for_each

from judgesmith.data import DataSet, read_items, read_scores, stream_items
from judgesmith.experiments import CompileSettings, compile_judge, discern
from judgesmith.experiments.compile import inferring
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.versions import unnoticed_note
from judgesmith.experiments.robustness.discerning import first_difference, weak_pairs
from judgesmith.experiments.robustness.discernment_folder import (
    check_discerned,
    conclusions,
    kind_header,
    kind_rows,
    matrix_rows,
    save_discerned,
)
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.experiments.robustness.perturbed_scores import recorded_versions
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.experiments.robustness.version_weights import VersionWeights
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.programs import SavedJudge
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.lm import lm_client_of, model

# discerning


def found_in(scores, given, **more):
    more.setdefault("n_resamples", 50)
    return discern(scores, given, seed=0, **more)


def test_small_tables_come_out_as_by_hand():
    # Five of five lose, by different amounts: p = 2**-5. Four of five lose, and the one that
    # gains does so by least: only the two sign patterns with all or all but the smallest.
    given = texts(5, TYPOS, ORDER)
    originals = np.full((5, 1), 5.0)
    losses = np.array([0.2, 0.6, 0.4, 0.5, 0.3])
    versions = [originals - losses[:, None], originals - (losses * [-1, 1, 1, 1, 1])[:, None]]
    found = found_in(scored(originals, versions), given)
    typos, order = found.kinds
    assert typos.found.score.value == pytest.approx(math.log(1 / 32) / math.log(0.05))
    assert order.found.score.value == pytest.approx(math.log(2 / 32) / math.log(0.05))
    assert found.lowest == order.found.score.value
    assert found.damage.average.value == pytest.approx(
        (typos.found.score.value + order.found.score.value) / 2
    )
    assert (typos.lower["fluency"], order.lower["fluency"]) == (1.0, 0.8)


def test_evidence_beyond_what_a_float_holds_is_a_finite_score():
    given = texts(3000, TYPOS)
    rng = np.random.default_rng(0)
    originals = rng.normal(50, 1, (3000, 1))
    versions = [originals - rng.uniform(1, 2, (3000, 1))]
    (typos,) = found_in(scored(originals, versions), given, n_resamples=20).kinds
    assert typos.found.tests[0].log_p < math.log(1e-300)
    assert 230 < typos.found.score.value < math.inf


def test_a_judge_that_always_says_the_same_discerns_nothing():
    given = texts(30, TYPOS, ORDER, PADDING)
    constant = np.full((30, 1), 70.0)
    found = found_in(scored(constant, [constant] * 3), given)
    assert [one.found.score.value for one in found.kinds] == [0.0, 0.0, 0.0]
    assert (found.lowest, found.preferred, found.false_alarms) == (0.0, (), ())


def test_a_judge_of_known_sensitivities_is_ranked_rightly():
    given = texts(60, TYPOS, ENTITIES, ORDER)
    losses = {TYPOS.name: 8.0, ENTITIES.name: 0.0, ORDER.name: 3.0}
    found = found_in(planted(given, losses), given)
    by_name = {one.kind.name: one.found.score.value for one in found.kinds}
    assert sorted(by_name, key=by_name.get) == [ENTITIES.name, ORDER.name, TYPOS.name]
    assert found.weakest[0].perturbation == ENTITIES.name


def test_a_judge_that_prefers_damage_is_told_and_so_is_one_that_punishes_controls():
    given = texts(40, TYPOS, ORDER, PADDING)
    losses = {TYPOS.name: -6.0, ORDER.name: 6.0, PADDING.name: 6.0}
    found = found_in(planted(given, losses), given)
    assert found.preferred == (TYPOS.name,)
    assert found.false_alarms == (PADDING.name,)
    plain = found.to_dict()
    assert plain["prefers_damage"] == [TYPOS.name]
    assert plain["false_alarms"] == {"n": 1, "share": 1.0, "names": [PADDING.name]}
    punished = [pair for pair in found.weakest if pair.perturbation == PADDING.name]
    assert punished
    assert all(pair.after < pair.before for pair in punished)


def test_damage_that_some_metrics_prefer_is_mixed():
    given = texts(40, TYPOS)
    rng = np.random.default_rng(0)
    originals = rng.normal(50, 5, (40, 2))
    losses = np.column_stack([rng.uniform(1, 9, 40), rng.uniform(-9, -1, 40)])
    found = found_in(scored(originals, [originals - losses], ("facts", "fluency")), given)
    assert found.preferred == ()
    assert found.to_dict()["mixed"] == {TYPOS.name: ["fluency"]}


def test_controls_that_raise_scores_are_told():
    given = texts(40, PADDING)
    found = found_in(planted(given, {PADDING.name: -6.0}), given)
    assert found.favoured == (PADDING.name,)
    assert found.damage is None
    assert math.isnan(found.lowest)
    assert found.to_dict()["lowest"] is None


def test_damage_noticed_under_the_wrong_metric_is_misunderstood():
    given = texts(40, TYPOS)
    rng = np.random.default_rng(0)
    originals = rng.normal(50, 5, (40, 2))
    versions = [originals - np.column_stack([np.zeros(40), rng.uniform(1, 9, 40)])]
    weights = VersionWeights(by_name={TYPOS.name: {"fluency": 1.0, "relevance": 0.0}}, said="x")
    scores = scored(originals, versions, ("fluency", "relevance"))
    found = found_in(scores, given, weights=weights)
    assert found.misunderstood == (TYPOS.name,)
    assert found.damage.expert_lowest.value < 1 < found.damage.lowest.value


def test_unscored_pairs_and_missing_versions_are_counted_apart():
    given = texts(20, TYPOS, without={(TYPOS.name, 3), (TYPOS.name, 4)})
    scores = planted(given, {TYPOS.name: 5.0})
    originals, versions = scores.originals.copy(), scores.versions.copy()
    originals[0] = np.nan
    versions[0, 1] = np.nan
    rows = [None if one is None else row for one, row in zip(given.versions[0], versions[0])]  # noqa: B905
    (typos,) = found_in(scored(originals, [rows]), given).kinds
    assert (typos.n_versions, typos.n_unscored) == (18, 2)
    test = typos.found.tests[0]
    assert (test.n_pairs, test.n_dropped) == (16, 4)


def test_recorded_metrics_notice_the_published_percentages_of_errors(data_folder):
    published = {
        check["id"].removeprefix("bump/"): check["published"]
        for check in json.loads((data_folder / "checks.json").read_text())["checks"]
        if check["id"].startswith("bump/") and check["id"] != "bump/error_types"
    }
    assert len(published) == 12
    published = {name: published[name] for name in sorted(published)[:4]}
    rows = tuple(stream_items(data_folder / "bump.jsonl.gz"))
    dataset = DataSet(name="bump", items=rows)
    given = get_perturbed(dataset)
    recorded = data_folder / "recorded" / "bump_metrics.jsonl.gz"
    shares = {}
    for name in published:
        scores = read_scores(recorded, dataset, judge=f"metric:{name}")
        found = found_in(recorded_versions(scores, dataset, given), given, n_resamples=20)
        shares[name] = round(100 * found.lower["consistency"], 1)
        assert sum(one.n_versions for one in found.kinds) == 693
        assert not any(one.n_unscored for one in found.kinds)
    assert shares == published


def test_four_pairs_are_too_few_and_five_are_tested():
    given = texts(6, TYPOS, ORDER, without={(TYPOS.name, 5), (ORDER.name, 4), (ORDER.name, 5)})
    losses = {TYPOS.name: 9.0, ORDER.name: 9.0}
    scores = planted(given, losses)
    versions = scores.versions.copy()
    versions[0, 5:] = versions[1, 4:] = np.nan
    found = found_in(scored(scores.originals, versions), given)
    assert found.untested == (ORDER.name,)
    assert [one.name for one in found.damage.perturbations] == [TYPOS.name]
    nothing = texts(4, TYPOS)
    alone = found_in(planted(nothing, losses), nothing)
    assert (alone.damage, alone.untested) == (None, (TYPOS.name,))
    assert math.isnan(alone.lowest)


# compiled discernment

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
    return read_items("sample").subset(range(60))


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
    def test_discernment_takes_the_place_of_agreement_and_nothing_needs_ratings(self, compiled):
        assert (compiled.uncompiled, compiled.heldout, compiled.selection) == (None, None, None)
        assert compiled.discernment.seen.heldout.estimates["d_avg"].value > 0
        assert math.isnan(compiled.examples[0][1])
        assert compiled.saved.protocol.demonstrations == {}
        assert compiled.saved.protocol.aggregation.kind == "overall"
        assert compiled.saved.rows["train"] == 0
        assert not any(one["stage"] == "aggregation" for one in compiled.saved.history)
        reported = compiled.discernment.seen.heldout.estimates["d_avg"]
        assert compiled.objective.heldout == reported
        assert math.isnan(compiled.objective.optimism)

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
        assert said.startswith(f"D is below 0.1 for {typos.name} on the validation rows")
        assert unnoticed_note(blind, parse_objectives("d_avg")) == []
        assert unnoticed_note(None, parse_objectives("d_min")) == []

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
        assert "Compiled without ratings" in card
        assert "Kept for the report: truncation." in card

    def test_no_more_is_asked_than_was_announced(self, unrated, lm, compiled):
        estimate = estimate_run(unrated, QUICK, lm)
        assert lm_client_of(lm).usage.calls <= estimate.calls

    def test_a_reader_is_told(self, compiled):
        told = " ".join(compiled.notes)
        assert "the data has no ratings" in told
        assert "agreed better" not in told
        assert "made by rules" in told

    def test_agreement_and_criteria_of_people_are_refused(self, unrated):
        for update, said in (
            ({"objective": "q + d_min"}, "bare has no ratings"),
            ({"criteria": "human"}, "criteria cannot be inferred"),
            ({"target": ("wit",)}, "the judge gives no score on wit"),
        ):
            with pytest.raises(ValueError, match=said):
                compile_judge(unrated, QUICK.model_copy(update=update), lm=model(ledger=None))


class TestWithRatings:
    def test_settings_of_other_objectives_do_not_name_what_they_do_not_read(self):
        plain = CompileSettings()
        assert not {"task", "kinds", "versions", "holdout_kinds"} & set(plain.model_dump())
        assert plain.model_dump() == CompileSettings(versions=5).model_dump()
        assert QUICK.model_dump()["versions"] == 2


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


# discernment folder


def saved(folder, given, run="r"):
    n = len(given.originals)
    rows = [[None if one is None else [40.0 - i] for i, one in enumerate(given.versions[0])]]
    scores = scored(np.full((n, 1), 50.0), rows)
    found = discern(scores, given, seed=0, n_resamples=20)
    save_discerned(folder, found, scores, given, marks={"run": run, "judge": "j"})
    return found


def test_what_is_saved_is_read_as_scores_of_versions(tmp_path):
    folder = tmp_path / "out"
    given = texts(6, TYPOS, without={(TYPOS.name, 2)})
    found = saved(folder, given)
    assert json.loads((folder / "report.json").read_text())["run"] == "r"
    rows = tuple(stream_items(folder / "versions.jsonl"))
    assert len(get_perturbed(DataSet(name="v", items=rows)).originals) == 6
    scores = read_scores(folder / "scores.jsonl", DataSet(name="v", items=rows))
    assert scores.values.tolist()[:2] == [50.0, 40.0]
    assert len(rows) == 6 + found.kinds[0].n_versions


@pytest.mark.parametrize("text", ["\ud800", "\u2028", "\x00", "\u202e", "😀" * 99, ""])
def test_any_text_can_be_saved(tmp_path, text):
    given = texts(5, TYPOS)
    originals = tuple(one.model_copy(update={"response": text}) for one in given.originals)
    odd = PerturbedSet(name="odd", originals=originals, kinds=given.kinds, versions=given.versions)
    saved(tmp_path / "out", odd)
    for name in ("versions.jsonl", "scores.jsonl"):
        for line in (tmp_path / "out" / name).read_text(encoding="utf-8").split("\n")[:-1]:
            json.loads(line)


def test_another_runs_test_is_replaced_by_force_alone(tmp_path):
    folder = tmp_path / "out"
    saved(folder, texts(5, TYPOS))
    check_discerned(folder, "r", force=False)
    check_discerned(folder, "other", force=True)
    with pytest.raises(FileExistsError, match="of another run"):
        check_discerned(folder, "other", force=False)


# discernment text


def found_in_discernment_text(scores, given, **more):
    return discern(scores, given, seed=0, n_resamples=50, **more)


def test_kinds_stand_under_their_levels_and_say_whether_they_were_noticed():
    given = texts(40, TYPOS, ENTITIES, PADDING)
    found = found_in_discernment_text(
        planted(given, {TYPOS.name: 9, ENTITIES.name: 0, PADDING.name: 9}), given
    )
    rows = kind_rows(found.kinds, experts=False)
    assert [row[0] for row in rows] == [
        "characters",
        TYPOS.name,
        PADDING.name,
        "words",
        ENTITIES.name,
    ]
    verdicts = {row[0]: row[1] for row in rows if len(row) > 1}
    assert verdicts[TYPOS.name] == "detected"
    assert verdicts[ENTITIES.name] == "missed"
    assert verdicts[PADDING.name] == "false alarm"
    assert all(len(row) in (1, len(kind_header(experts=False))) for row in rows)


def test_the_matrix_has_a_score_and_a_share_by_metric():
    given = texts(5, TYPOS)
    originals = np.full((5, 2), 5.0)
    losses = np.array([0.2, 0.6, 0.4, 0.5, 0.3])
    versions = [originals - np.column_stack([losses, np.full(5, np.nan)])]
    found = found_in_discernment_text(scored(originals, versions, ("a", "b")), given)
    assert matrix_rows(found) == [
        ["all damage", "100%", "undefined"],
        [TYPOS.name, "1.16 100%", "undefined"],
    ]


def test_conclusions_name_what_was_not_noticed_preferred_and_punished():
    given = texts(40, TYPOS, ENTITIES, PADDING)
    losses = {TYPOS.name: -9, ENTITIES.name: 0, PADDING.name: 9}
    said = conclusions(found_in_discernment_text(planted(given, losses), given))
    assert said == [
        "the judge prefers damage: character_typos/minor scores higher than the originals.",
        "missed (D below 1 on these 40 originals): fictional_entities/minor.",
        "false alarms: padding lowers scores, and harms no text.",
    ]


# weak spots


def pairs_of(scores, given, **more):
    more.setdefault("lowers", True)
    return weak_pairs(scores, 0, given.kinds[0].name, given.originals, given.versions[0], **more)


def test_the_worst_pairs_come_first_and_noticed_damage_is_no_weak_spot():
    given = texts(5, TYPOS)
    originals = np.full((5, 1), 50.0)
    versions = [originals - np.array([[5], [-9], [0], [-2], [7]])]
    found = pairs_of(scored(originals, versions), given, n=5)
    assert [pair.source_id for pair in found] == ["1", "3", "2"]
    assert (found[0].before, found[0].after) == (50.0, 59.0)
    assert (found[0].said_of_original, found[0].said_of_version) == (
        "fluency is 50",
        "fluency is 59",
    )


def test_only_metrics_that_should_notice_count():
    given = texts(2, TYPOS)
    originals = np.full((2, 2), 50.0)
    versions = [np.array([[40.0, 90.0], [51.0, 10.0]])]
    scores = scored(originals, versions, ("fluency", "relevance"))
    found = pairs_of(scores, given, weights={"fluency": 1.0, "relevance": 0.0})
    assert [(pair.source_id, pair.metric) for pair in found] == [("1", "fluency")]


@for_each("change", ["", "b", "a" * 500 + "b", "\ud800", "\u202e"])
def test_texts_are_cut_around_their_first_difference(change):
    first, second = first_difference("a" * 500 + "c" * 500, "a" * 500 + change)
    assert max(len(first), len(second)) <= 122
    assert first.startswith("…")
