import json
import math

import numpy as np
import pytest
from discerning import ENTITIES, ORDER, PADDING, TYPOS, planted, scored, texts

from judgesmith.data import DataSet, read_scores, stream_items
from judgesmith.experiments.robustness.discerning import discern
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.experiments.robustness.perturbed_scores import recorded_versions
from judgesmith.experiments.robustness.version_weights import VersionWeights


def found_in(scores, given, **more):
    more.setdefault("n_resamples", 50)
    return discern(scores, given, rng=np.random.default_rng(0), **more)


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


def test_two_metrics_make_the_harmonic_mean_with_and_without_weights():
    given = texts(5, TYPOS)
    originals = np.full((5, 2), 5.0)
    losses = np.array([0.2, 0.6, 0.4, 0.5, 0.3])
    versions = originals - np.column_stack([losses, 0 * losses])
    scores = scored(originals, [versions], ("fluency", "accuracy"))
    weights = VersionWeights(by_name={TYPOS.name: {"fluency": 0.25, "accuracy": 0.75}})
    (typos,) = found_in(scores, given, weights=weights).kinds
    plain, expert = 1 / (0.5 * 32 + 0.5 * 1), 1 / (0.25 * 32 + 0.75 * 1)
    assert typos.found.score.value == pytest.approx(math.log(plain) / math.log(0.05))
    assert typos.found.expert_score.value == pytest.approx(math.log(expert) / math.log(0.05))


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


@pytest.mark.no_cover
def test_noise_has_a_median_of_log_a_half():
    rng = np.random.default_rng(1)
    kinds = [TYPOS.model_copy(update={"kind": f"kind_{i}"}) for i in range(200)]
    given = texts(20, *kinds)
    originals = rng.normal(size=(20, 1))
    # One set of originals is what judges have; differences must not share its noise.
    versions = rng.normal(size=(200, 20, 1)) + originals
    scores = scored(originals, versions)
    found = found_in(scores, given, n_resamples=20)
    middle = np.median([one.found.score.value for one in found.kinds])
    assert middle == pytest.approx(math.log(0.5) / math.log(0.05), abs=0.06)


def test_a_judge_of_known_sensitivities_is_ranked_rightly():
    given = texts(60, TYPOS, ENTITIES, ORDER)
    losses = {TYPOS.name: 8.0, ENTITIES.name: 0.0, ORDER.name: 3.0}
    found = found_in(planted(given, losses), given)
    by_name = {one.kind.name: one.found.score.value for one in found.kinds}
    assert sorted(by_name, key=by_name.get) == [ENTITIES.name, ORDER.name, TYPOS.name]
    assert found.weakest[0].perturbation == ENTITIES.name


def test_of_two_judges_the_more_sensitive_one_is_ahead():
    given = texts(60, TYPOS, ENTITIES)
    weak, strong = (
        found_in(planted(given, {TYPOS.name: loss, ENTITIES.name: loss}), given)
        for loss in (1.0, 4.0)
    )
    assert strong.damage.average.value > weak.damage.average.value
    assert strong.lowest > weak.lowest


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


def test_controls_are_no_part_of_the_lowest_and_the_average():
    given = texts(40, TYPOS, PADDING)
    with_control = found_in(planted(given, {TYPOS.name: 5.0, PADDING.name: 0.0}), given)
    alone = texts(40, TYPOS)
    without = found_in(scored_like(with_control, given, alone), alone)
    assert with_control.lowest == without.lowest
    assert with_control.damage.average == without.damage.average


def scored_like(found, given, alone):
    scores = planted(given, {TYPOS.name: 5.0, PADDING.name: 0.0})
    return scored(scores.originals, scores.versions[: len(alone.kinds)])


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


def test_a_kind_that_changed_too_few_texts_is_told_and_no_part_of_the_lowest():
    given = texts(6, TYPOS, ORDER, without={(ORDER.name, i) for i in range(6)})
    rows = [[[50.0 - i]] for i in range(6)]
    found = found_in(
        scored(np.full((6, 1), 60.0), [np.array(rows).reshape(6, 1), [None] * 6]), given
    )
    assert math.isnan(found.kinds[1].found.score.value)
    assert found.untested == (ORDER.name,)
    assert found.lowest == found.kinds[0].found.score.value


def test_nothing_to_compare_is_refused():
    given = texts(0, TYPOS)
    with pytest.raises(ValueError, match="need an original and a change"):
        found_in(scored([], [[]]), given)


def test_the_same_scores_give_the_same_report():
    given = texts(25, TYPOS, ORDER)
    losses = {TYPOS.name: 2.0, ORDER.name: 1.0}
    first, second = (found_in(planted(given, losses), given).to_dict() for _ in range(2))
    assert first == second


def test_recorded_metrics_notice_the_published_percentages_of_errors(data_folder):
    published = {
        check["id"].removeprefix("bump/"): check["published"]
        for check in json.loads((data_folder / "checks.json").read_text())["checks"]
        if check["id"].startswith("bump/") and check["id"] != "bump/error_types"
    }
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
    assert len(shares) == 12
    assert shares == published


def test_the_levels_of_demetr_are_read_and_its_reference_is_a_control(data_folder):
    rows = [
        one for one in stream_items(data_folder / "demetr.jsonl.gz") if int(one.source_id) <= 40
    ]
    given = get_perturbed(DataSet(name="demetr", items=tuple(rows)))
    assert len(given.originals) == 40
    scores = planted(given, dict.fromkeys([one.name for one in given.kinds], 3.0))
    found = found_in(scores, given, n_resamples=20)
    assert len(found.damaging) >= 33
    assert len(found.controls) == len(found.false_alarms) == 1


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
