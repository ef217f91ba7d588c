"""Drift of scores is measured."""

import json

import numpy as np
import pytest

from judgesmith.data import DataError, read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.monitor import drifting as gathering
from judgesmith.experiments.monitor.drifting import (
    drift_between,
    gathered,
    known_before,
    read_snapshot,
)
from judgesmith.experiments.monitor.snapshot import (
    N_POINTS,
    Numbers,
    Row,
    labels_of,
    numbers_of,
    script_of,
    snapshot_of,
)
from judgesmith.programs.artifacts.record import content_hash
from judgesmith.programs.artifacts.saved import SavedJudge, SavedJudgeError
from judgesmith.signatures import RatedItem

# drifting


@pytest.fixture(scope="module")
def judge():
    return compile_judge(
        read_items("sample"), CompileSettings(criteria="given", n_rounds=1, texts=False)
    ).saved


def snapshot(scores, *, sources=None, labels=None, unscored=0):
    rows = [
        Row(
            source=str(place if sources is None else sources[place]),
            numbers={} if place < unscored else {"score": float(score)},
            labels={"scored": "no" if place < unscored else "yes"}
            | ({} if labels is None else {"response language": labels[place]}),
        )
        for place, score in enumerate(scores)
    ]
    return snapshot_of(rows, n_rows=len(rows), n_unscored=unscored)


def names(drift):
    return [one.what for one in drift.drifted]


def drawn(n, shift=0.0, seed=0):
    return np.random.default_rng(seed).normal(shift, size=n)


def test_scores_that_moved_by_half_a_spread_have_drifted():
    assert names(drift_between(snapshot(drawn(300)), snapshot(drawn(300, 0.6, 1)))) == ["score"]


def test_a_trifle_is_no_drift_however_many_rows_there_are():
    found = drift_between(snapshot(drawn(20000)), snapshot(drawn(20000, 0.1, 1)))
    score = next(one for one in found.shifts if one.what == "score")
    assert score.p_value < 0.001
    assert not found.drifted


def test_a_chance_difference_of_few_rows_is_no_drift():
    found = drift_between(snapshot(drawn(8)), snapshot(drawn(9, seed=1)))
    score = next(one for one in found.shifts if one.what == "score")
    assert score.effect > 0.1
    assert not found.drifted


def test_rows_of_one_source_count_as_few():
    before, now = np.repeat(drawn(6), 50), np.repeat(drawn(6, 0.8, 3), 50)
    sources = np.repeat(np.arange(6), 50)
    assert drift_between(snapshot(before), snapshot(now)).drifted
    alike = drift_between(snapshot(before, sources=sources), snapshot(now, sources=sources))
    assert not alike.drifted


def test_more_rows_without_a_score_are_drift():
    found = drift_between(snapshot(drawn(80)), snapshot(drawn(100, seed=1), unscored=12))
    assert names(found) == ["without a score"]
    assert (found.drifted[0].before, found.drifted[0].now) == (0, 0.12)


def test_a_language_that_was_not_there_is_new():
    before = snapshot(drawn(100), labels=["English"] * 100)
    now = snapshot(drawn(100, seed=1), labels=["English"] * 80 + ["German"] * 20)
    (one,) = drift_between(before, now).drifted
    assert (one.what, one.new, one.now) == ("response language German", True, 0.2)


def test_what_is_known_of_one_side_alone_is_named():
    before = snapshot(drawn(50), labels=["English"] * 50)
    assert drift_between(before, snapshot(drawn(50))).unknown == ("response language",)


def test_no_shift_is_rarely_called_one():
    n_false = sum(
        bool(drift_between(snapshot(drawn(60, seed=s)), snapshot(drawn(90, seed=9999 + s))).drifted)
        for s in range(200)
    )
    assert n_false <= 14  # of 10 at most on average


def test_many_numbers_are_kept_as_quantiles():
    values = drawn(5000)
    found = Numbers.of(values.tolist(), range(5000))
    assert (found.n, len(found.points)) == (5000, N_POINTS)
    assert found.points[50] == pytest.approx(np.median(values), abs=1e-3)


def test_a_judge_keeps_what_it_was_made_with_as_numbers_alone(judge, tmp_path):
    found = known_before(SavedJudge.load(judge.save(tmp_path / "judge")))
    assert found == read_snapshot(judge.reference)
    assert found.rows == judge.rows["select"] + judge.rows["heldout"]
    assert {"score", "response characters", "source characters"} <= set(found.numbers)
    text = (tmp_path / "judge" / "judge.json").read_text()
    assert not any(item.response in text for item in read_items("sample"))


def test_judges_of_before_say_nothing_and_have_the_fingerprint_they_had(judge):
    older = judge.model_copy(update={"reference": {}})
    plain = older.model_dump(mode="json")
    assert "reference" not in plain
    assert older.fingerprint == content_hash(plain)[:12]
    assert known_before(older) is None
    with pytest.raises(SavedJudgeError, match="--against"):
        known_before(judge.model_copy(update={"reference": {"rows": "many"}}))


def test_a_calibrated_judge_knows_its_scores_on_the_scale_of_people(judge):
    from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedPanel
    from judgesmith.signatures.aggregation import Calibration, PanelWeights

    facts = {"target": judge.target, "human_scale": judge.human_scale}
    learned = Calibration(
        thresholds=(0, 100), values=(1, 5), scale="1..5", confidence=0.9, n_map=40,
        n_sources_map=20, n_margin=40, n_sources_margin=20,
    )  # fmt: skip
    calibrated = SavedCalibrated(members={"judge": judge}, calibration=learned, **facts)
    before, own = known_before(calibrated), known_before(judge)
    assert before.numbers["score"].points == tuple(map(learned.apply, own.numbers["score"].points))
    panel = SavedPanel(
        members={"a": judge}, weights=PanelWeights.equal({"a": judge.scale}), **facts
    )
    assert known_before(panel) == own.without_scores()
    assert not any("score" in name for name in known_before(panel).numbers)


def scored(path, scores, **fields):
    rows = [
        {"source_id": str(place), "score": one, "judge": "j", "problem": None} | fields
        for place, one in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def look(path, **options):
    return gathered(path, judge="j", rng=np.random.default_rng(0), **options)


def test_a_file_is_looked_at_in_flat_memory_and_counted_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "SAMPLE", 50)
    path = scored(tmp_path / "s.jsonl", [None if k % 4 == 0 else k for k in range(1000)])
    found = look(path)
    assert (found.snapshot.rows, found.snapshot.unscored) == (1000, 250)
    assert found.snapshot.labels["scored"].n == 50
    assert 25 <= found.snapshot.numbers["score"].n <= 45
    assert 300 <= np.mean(found.snapshot.numbers["score"].points) <= 700
    assert "50 rows were looked at, drawn at random from 1000." in found.notes
    assert look(path) == found


def test_scores_of_another_judge_are_refused(tmp_path):
    path = scored(tmp_path / "s.jsonl", [1, 2], judge="other")
    with pytest.raises(DataError, match=r"s\.jsonl:1: judge: expected scores of the judge j"):
        look(path)


def test_scores_that_name_no_judge_are_said_to_be_anybodys(tmp_path):
    found = look(scored(tmp_path / "s.jsonl", [1, 2], judge=None))
    assert found.notes == ("2 of 2 rows do not say which judge scored them.",)


@pytest.mark.parametrize(
    ("texts", "came"),
    [
        (["a", "c"], "a score of other texts"),
        (["a"], "a row more than there are texts"),
        (["a", "b", "c"], "texts without a score after it"),
    ],
)
def test_other_texts_than_were_scored_are_refused(tmp_path, texts, came):
    from judgesmith.signatures import RatedItem

    path, inputs = tmp_path / "s.jsonl", tmp_path / "d.jsonl"
    keys = [RatedItem(source_id="1", source="s", response=one).key for one in "ab"]
    path.write_text("".join(json.dumps({"score": 1, "judge": "j", "key": k}) + "\n" for k in keys))
    inputs.write_text("".join(json.dumps({"source": "s", "response": one}) + "\n" for one in texts))
    with pytest.raises(DataError, match=came):
        look(path, inputs=inputs)


# measured


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("El puente está cerrado", "Latin"),
        ("Мост закрыт, ok", "Cyrillic"),
        ("Η γέφυρα", "Greek"),
        ("다리가 닫혔다", "Hangul"),
        ("ブリッジ", "Kana"),
        ("橋已關閉", "Han"),
        ("पुल बंद है", "Devanagari"),
        ("🙂🙂 12", ""),
        ("", ""),
    ],
)
def test_the_script_is_that_of_most_letters(text, script):
    assert script_of(text) == script


def test_languages_are_told_by_common_words_or_not_at_all():
    german = RatedItem(response="Der Weg ist nicht gesperrt, und die Brücke ist es auch nicht.")
    assert labels_of(german)["response language"] == "German"
    assert labels_of(RatedItem(response="abracadabra"))["response language"] == "not told"


@pytest.mark.parametrize("text", ["", "\x00", "😀" * 9, "\u202eabc", "a" * 300_000, "<b>[[ ## "])
def test_any_text_is_measured_as_finite_numbers(text):
    found = numbers_of(RatedItem(source=text, context=text, response=text))
    assert found["response characters"] == len(text)
    json.dumps(found, allow_nan=False)
    labels_of(RatedItem(source=text, response=text))
