"""Compile on labels such as pass and fail: the judge gives labels, by a threshold that holds."""

import json

import numpy as np
import pytest

import judgesmith


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """The bundled sample, where what people rated 3.5 or more passes."""
    rows = []
    for item in judgesmith.read("sample"):
        verdict = "pass" if np.mean(item.human["overall"]) >= 3.5 else "fail"
        texts = {name: getattr(item, name) for name in ("source", "response", "source_id")}
        rows.append({**texts, "system_id": item.system_id, "human": {"overall": [verdict]}})
    return rows


@pytest.fixture(scope="module")
def read_rows(tmp_path_factory):
    """Read rows as a file of them is read."""

    def read(rows):
        path = tmp_path_factory.mktemp("rows") / "labelled.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return judgesmith.read(path)

    return read


@pytest.fixture(scope="module")
def data(labelled, read_rows):
    return read_rows(labelled)


@pytest.fixture(scope="module")
def compiled(data):
    return judgesmith.compile(data, judgesmith.CompileSettings(criteria="given"))


def test_it_says_first_what_it_stops_and_passes_and_the_baseline_beside_it(compiled):
    found = compiled.verdicts
    assert compiled.notes[0] == found.headline
    assert found.headline.startswith(f"The judge stops {found.heldout['tnr'].value:.0%} [")
    assert "with a threshold learned on the same rows" in found.headline
    assert found.n == {"pass": 15, "fail": 33}
    assert found.heldout["tnr"].n == 33
    assert found.gain.value > 0.1
    assert compiled.objective.name == "balanced_accuracy"
    assert compiled.objective.heldout.value == found.heldout["balanced_accuracy"].value


def test_its_report_is_kept_with_the_judge(compiled, tmp_path):
    compiled.saved.save(tmp_path / "judge")
    kept = judgesmith.SavedJudge.load(tmp_path / "judge").agreement.plain["verdicts"]
    assert kept["n"] == {"pass": 15, "fail": 33}
    assert kept["heldout"]["tnr"]["value"] == compiled.verdicts.heldout["tnr"].value
    rising = [one["tnr"] for one in kept["trade_off"]]
    assert rising == sorted(rising)


def test_the_saved_judge_gives_the_labels_that_were_reported(compiled, data):
    found = compiled.saved
    assert found.protocol.judge == "verdict"
    assert found.protocol.aggregation.decision.why == "balanced_accuracy"
    heldout = data.subset(compiled.heldout_places)
    said = judgesmith.score_batch(found, heldout)
    people = compiled.targets.values[compiled.heldout_places]
    labels = np.array([one.label for one in said])
    assert (labels[people == 0] == "fail").mean() == compiled.verdicts.heldout["tnr"].value
    assert (labels[people == 1] == "pass").mean() == compiled.verdicts.heldout["tpr"].value
    least = found.protocol.aggregation.decision.threshold
    assert all((one.probability["pass"] >= least) == (one.label == "pass") for one in said)


def test_a_run_that_starts_from_it_chooses_a_threshold_anew(compiled, data):
    again = judgesmith.CompileSettings(cost="fail=9", optimizer="none")
    found = judgesmith.compile(data, again, earlier=compiled.saved)
    before, after = (one.saved.protocol.aggregation.decision for one in (compiled, found))
    assert after.why == "cost(fail=9)"
    assert after.threshold > before.threshold


def test_costs_move_the_threshold(data):
    def threshold(cost):
        settings = judgesmith.CompileSettings(judge="direct", optimizer="none", cost=cost)
        found = judgesmith.compile(data, settings)
        assert found.objective.name.startswith("-cost(fail=")
        return found.saved.protocol.aggregation.decision.threshold

    assert threshold("fail=5,pass=1") > threshold("fail=1,pass=5")


def test_a_floor_is_kept_or_refused_with_how_many_labels_it_takes(data, labelled, read_rows):
    floored = judgesmith.CompileSettings(objective="tpr; tnr >= .9", optimizer="none")
    found = judgesmith.compile(data, floored)
    assert found.saved.protocol.aggregation.decision.why == "tpr; tnr >= 0.9"
    assert found.verdicts.heldout["tnr"].high > 0.9
    assert found.objective.constraints["tnr >= 0.9"][1].value == found.verdicts.heldout["tnr"].value
    fails = [row for row in labelled if row["human"]["overall"] == ["fail"]]
    few = [row for row in labelled if row not in fails] + fails[::6]
    with pytest.raises(judgesmith.InputError, match=r"tnr >= 0\.9 takes 22 rows") as said:
        judgesmith.compile(read_rows(few), floored)
    assert "label about" in said.value.hint


def test_abstention_leaves_doubtful_rows_to_people_or_says_that_it_cannot(data, labelled):
    settings = {"judge": "direct", "optimizer": "none"}
    strict = judgesmith.compile(data, judgesmith.CompileSettings(**settings, abstain=0.05))
    assert strict.saved.protocol.aggregation.decision.abstain is None
    assert any("saved without abstention" in note for note in strict.notes)
    lax = judgesmith.compile(data, judgesmith.CompileSettings(**settings, abstain=0.35))
    band = lax.saved.protocol.aggregation.decision.abstain
    left = [one for one in lax.heldout_judgements if one.score is None]
    assert band is None or all(one.reason == "left_to_people" for one in left)


def test_a_judge_that_decides_nothing_is_called_useless(data):
    settings = judgesmith.CompileSettings(judge="direct", optimizer="none", cost="fail=99")
    found = judgesmith.compile(data, settings)
    assert found.verdicts.heldout["tpr"].value == 0
    assert "such a judge is useless" in found.notes[0]


def test_without_bad_answers_nothing_is_compiled(labelled, read_rows):
    good = [row for row in labelled if row["human"]["overall"] == ["pass"]]
    rows = read_rows([*good, {**good[0], "response": "Wrong.", "human": {"overall": ["fail"]}}])
    with pytest.raises(judgesmith.InputError, match=r"takes 3 rows .* 'fail'"):
        judgesmith.compile(rows)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"cost": "fail=5"}, "cost is for two labels"),
        ({"abstain": 0.1}, "abstain is for two labels"),
        ({"objective": "balanced_accuracy"}, "these are ratings"),
    ],
)
def test_ratings_have_no_verdicts(settings, why):
    with pytest.raises(judgesmith.InputError, match=why):
        judgesmith.compile(judgesmith.read("sample"), judgesmith.CompileSettings(**settings))


def test_costs_that_cannot_be_read_are_refused():
    with pytest.raises(judgesmith.InputError, match="costs are numbers above 0"):
        judgesmith.CompileSettings(cost="fail")


def test_labels_in_an_order_have_the_nearest(labelled, read_rows):
    rows = [dict(row) for row in labelled]
    order = ["bad", "fair", "good"]
    for place, item in enumerate(judgesmith.read("sample")):
        mean = np.mean(item.human["overall"])
        label = order[int(mean >= 2.5) + int(mean >= 3.5)]
        told = {"labels": {"overall": order}, "ordered": True}
        rows[place] = {**rows[place], "human": {"overall": [label]}, **told}
    settings = judgesmith.CompileSettings(judge="direct", optimizer="none")
    found = judgesmith.compile(read_rows(rows), settings)
    assert found.objective.name == "q"
    assert {one.label for one in found.heldout_judgements} <= set(order)
