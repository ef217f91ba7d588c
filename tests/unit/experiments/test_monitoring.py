"""Progress and logs of a run, drift of scores, and rechecks of a judge."""

import errno
import json
import logging
import math
import os
import re
import urllib.request

import numpy as np
import pytest
from looping import for_each
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from working import wait_for

from judgesmith.data import DataError, read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.monitor import drifting as gathering
from judgesmith.experiments.monitor.drifting import (
    drift_between,
    load_scores,
    read_snapshot,
    reference_distribution,
)
from judgesmith.experiments.monitor.rechecking import RecheckError, recheck_judge
from judgesmith.experiments.monitor.snapshot import (
    SnapshotRow,
    labels_of,
    numbers_of,
    script_of,
    snapshot_of,
)
from judgesmith.experiments.scoring import watching as log_file
from judgesmith.experiments.scoring.watching import LogFile, Pulse, RunLog, RunMeasures, Watches
from judgesmith.programs import DirectJudge, SavedJudge, score_batch
from judgesmith.programs.artifacts.record import content_hash
from judgesmith.programs.artifacts.saved import GoldenItem, SavedJudgeError
from judgesmith.programs.lm import (
    ModelAnswer,
    ResponseCache,
    client_model,
    lm_client_of,
    model,
)
from judgesmith.programs.lm.limits import Stopped
from judgesmith.signatures import Judgement, RatedItem, Reason, Scale

# log file


def record(event, **details):
    return logging.makeLogRecord({"event": event, "details": details, "levelname": "INFO"})


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def said():
    return []


@pytest.fixture
def file(tmp_path, said):
    handler = LogFile(tmp_path / "log.jsonl", complain=said.append)
    yield handler
    handler.close()


def test_every_record_is_one_line_and_earlier_lines_stay(tmp_path, file):
    file.handle(record("started", models=["m\n\u2028é"]))
    second = LogFile(tmp_path / "log.jsonl", complain=print)
    second.handle(record("finished"))
    second.close()
    first, last = lines_of(tmp_path / "log.jsonl")
    assert (first["event"], first["level"], first["models"]) == ("started", "info", ["m\n\u2028é"])
    assert first["time"].endswith("Z")
    assert last["event"] == "finished"


def test_records_of_others_are_kept_without_keys(tmp_path, file):
    file.handle(logging.makeLogRecord({"msg": "key %s", "args": ("sk-abcdef0123456789",)}))
    (line,) = lines_of(tmp_path / "log.jsonl")
    assert (line["event"], line["message"]) == ("message", "key [key]")


def test_a_full_disk_is_said_once_and_the_log_goes_on_later(tmp_path, file, said, monkeypatch):
    real = os.write

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    file.handle(record("one"))
    monkeypatch.setattr(log_file.os, "write", full)
    file.handle(record("two"))
    file.handle(record("three"))
    monkeypatch.setattr(log_file.os, "write", lambda handle, said: real(handle, said[:5]))
    file.handle(record("torn"))
    monkeypatch.setattr(log_file.os, "write", real)
    file.handle(record("four"))
    file.handle(record("five"))
    assert len(said) == 1
    assert "No space left on device; the run continues without its log." in said[0]
    first, torn, fourth, fifth = (tmp_path / "log.jsonl").read_text().splitlines()
    assert len(torn) == 5
    assert json.loads(first)["event"] == "one"
    assert json.loads(fourth)["lost_records"] == 3
    assert "lost_records" not in json.loads(fifth)


# measures

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


def numbers(text):
    return {
        (one.name, *sorted(one.labels.values())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


@pytest.fixture
def measured(tmp_path):
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite", max_calls=5)
    pulse = Pulse([lm], n_expected=4)
    measures = RunMeasures("abc", pulse)
    with measures.heard():
        score_batch(DirectJudge(), [ITEM], lm=lm)
    pulse.judged("r", 1, ITEM, Judgement(score=1.0))
    pulse.judged("r", 2, ITEM, Judgement.unscored("no", reason=Reason.UNREACHABLE))
    pulse.kept(1)
    yield measures
    lm.client.ledger.close()


def test_rows_calls_and_what_is_left_are_counted(measured):
    found = numbers(generate_latest(measured.registry).decode())
    assert found["judgesmith_rows_total", "abc"] == 2
    assert found["judgesmith_rows_kept_total", "abc"] == 1
    assert found["judgesmith_rows_expected", "abc"] == 4
    assert found["judgesmith_unscored_rows_total", "abc", "unreachable"] == 1
    assert found["judgesmith_model_calls_total", "offline"] == 1
    assert found["judgesmith_model_seconds_count", "offline"] == 1
    assert found["judgesmith_budget_left", "calls"] == 4


def test_they_are_served_on_this_machine_while_the_run_lasts(measured):
    with measured.served(0) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
            assert numbers(reply.read().decode())["judgesmith_rows_total", "abc"] == 2
        with pytest.raises(OSError), measured.served(port):
            pass
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")


def test_a_file_of_them_is_replaced_in_one_step(measured, tmp_path):
    place = tmp_path / "run.prom"
    measured.write(place)
    measured.write(place)
    assert numbers(place.read_text())["judgesmith_rows_total", "abc"] == 2
    assert [one.name for one in tmp_path.glob("run.prom*")] == ["run.prom"]


# pulse

ITEM_PULSE = RatedItem(response="r")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_rate_is_that_of_the_last_seconds():
    clock = Clock()
    pulse = Pulse([], n_expected=1000, clock=clock)
    pulse.kept(100)
    for second in range(100):
        clock.now = float(second)
        for _ in range(2 if second < 60 else 4):
            pulse.judged("r", 1, ITEM_PULSE, Judgement(score=1.0))
    assert 3.5 < pulse.rate < 4.5
    assert pulse.n_rows == 100 + 120 + 160
    assert 620 / 4.5 < pulse.seconds_left < 620 / 3.5
    clock.now += 1000
    assert pulse.rate < 0.01


# run log

ITEM_RUN_LOG = RatedItem(
    source_id="a1", system_id="north", source="The ferry leaves at nine sharp.", response="At nine."
)


@pytest.fixture
def events(caplog):
    caplog.set_level(logging.INFO, logger="judgesmith")

    def found(name=None):
        records = [one for one in caplog.records if one.name == "judgesmith"]
        return [one.details for one in records if name in (None, one.event)]

    return found


def test_a_run_tells_its_beginning_its_progress_and_its_end(events):
    lm = client_model("offline", ledger=None)
    pulse = Pulse([lm], n_expected=2)
    log = RunLog(pulse, {"concurrency": 8})
    both = Watches(pulse, log)
    with log.told():
        both.judged("rows.jsonl", 1, ITEM_RUN_LOG, Judgement(score=1.0))
        log.progressed()
        both.judged("rows.jsonl", 2, ITEM_RUN_LOG, Judgement.unscored("the texts are longer"))
    (began,) = events("started")
    assert began == {
        "rows": 2,
        "concurrency": 8,
        "models": [{"model": "offline", "endpoint": "offline"}],
    }
    (progress,) = events("progress")
    assert (progress["rows"], progress["unscored"]) == (1, {})
    (ended,) = events("finished")
    assert (ended["rows"], ended["unscored"], ended["calls"]) == (2, {"other": 1}, 0)


def test_a_row_without_a_score_is_named_and_not_quoted(events):
    problem = "the model refused the request: HTTP 400: bad text 'The ferry leaves at nine sharp.'"
    key = "sk-abcdef0123456789"
    refused = Judgement.unscored(f"{problem} for {key}", reason=Reason.REFUSED)
    RunLog(Pulse([])).judged("r.csv", 7, ITEM_RUN_LOG, refused)
    (said,) = events("unscored")
    assert said == {
        "file": "r.csv",
        "row": 7,
        "source_id": "a1",
        "system_id": "north",
        "kind": "refused",
        "reason": "the model refused the request: HTTP 400: bad text '[…]' for [key]",
    }


def test_rows_that_a_budget_does_not_reach_are_told_once(events):
    log = RunLog(Pulse([]))
    for row in range(5):
        spent = Judgement.unscored("2 calls are spent.", reason=Reason.OVER_BUDGET)
        log.judged("r.csv", row, ITEM_RUN_LOG, spent)
    assert [(one["row"], one["kind"]) for one in events("unscored")] == [(0, "over_budget")]


@pytest.mark.parametrize(
    ("fault", "event"),
    [(KeyboardInterrupt(), "stopped"), (Stopped("now"), "stopped"), (OSError("secret"), "failed")],
)
def test_a_run_that_ends_early_says_how(events, fault, event):
    with pytest.raises(type(fault)), RunLog(Pulse([])).told():
        raise fault
    (ended,) = events(event)
    assert "secret" not in str(ended)


def test_a_heartbeat_tells_of_progress_while_nothing_comes(events):
    with RunLog(Pulse([])).told(every=0.01):
        wait_for(lambda: events("progress"))


# drifting


@pytest.fixture(scope="module")
def judge():
    return compile_judge(
        read_items("sample"), CompileSettings(criteria="given", n_rounds=1, texts=False)
    ).saved


def snapshot(scores, *, sources=None, labels=None, unscored=0):
    rows = [
        SnapshotRow(
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


def test_only_shifts_beyond_chance_and_a_trifle_are_drift():
    assert names(drift_between(snapshot(drawn(300)), snapshot(drawn(300, 0.6, 1)))) == ["score"]
    found = drift_between(snapshot(drawn(20000)), snapshot(drawn(20000, 0.1, 1)))
    score = next(one for one in found.shifts if one.what == "score")
    assert score.p_value < 0.001
    assert not found.drifted
    found = drift_between(snapshot(drawn(8)), snapshot(drawn(9, seed=1)))
    score = next(one for one in found.shifts if one.what == "score")
    assert score.effect > 0.1
    assert not found.drifted
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


def test_no_shift_is_rarely_called_one():
    n_false = sum(
        bool(drift_between(snapshot(drawn(60, seed=s)), snapshot(drawn(90, seed=9999 + s))).drifted)
        for s in range(200)
    )
    assert n_false <= 14  # of 10 at most on average


def test_a_judge_keeps_what_it_was_made_with_as_numbers_alone(judge, tmp_path):
    found = reference_distribution(SavedJudge.load(judge.save(tmp_path / "judge")))
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
    assert reference_distribution(older) is None
    with pytest.raises(SavedJudgeError, match="--against"):
        reference_distribution(judge.model_copy(update={"reference": {"rows": "many"}}))


def test_a_calibrated_judge_knows_its_scores_on_the_scale_of_people(judge):
    from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedPanel
    from judgesmith.signatures.aggregation import Calibration, PanelWeights

    facts = {"target": judge.target, "human_scale": judge.human_scale}
    learned = Calibration(
        thresholds=(0, 100), values=(1, 5), scale="1..5", confidence=0.9, n_map=40,
        n_sources_map=20, n_margin=40, n_sources_margin=20,
    )  # fmt: skip
    calibrated = SavedCalibrated(members={"judge": judge}, calibration=learned, **facts)
    before, own = reference_distribution(calibrated), reference_distribution(judge)
    assert before.numbers["score"].points == tuple(map(learned.apply, own.numbers["score"].points))
    panel = SavedPanel(
        members={"a": judge}, weights=PanelWeights.equal({"a": judge.scale}), **facts
    )
    assert reference_distribution(panel) == own.without_scores()
    assert not any("score" in name for name in reference_distribution(panel).numbers)


def scored(path, scores, **fields):
    rows = [
        {"source_id": str(place), "score": one, "judge": "j", "problem": None} | fields
        for place, one in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def look(path, **options):
    return load_scores(path, judge="j", seed=0, **options)


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


@for_each(
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


@for_each("text", ["", "\x00", "😀" * 9, "\u202eabc", "a" * 300_000, "<b>[[ ## "])
def test_any_text_is_measured_as_finite_numbers(text):
    found = numbers_of(RatedItem(source=text, context=text, response=text))
    assert found["response characters"] == len(text)
    json.dumps(found, allow_nan=False)
    labels_of(RatedItem(source=text, response=text))


# A planted change of the model is found in each of 20 rechecks, and sampling noise in none.

N_RUNS = 20
ITEMS = [
    RatedItem(source="Which?", response=f"An answer of quality {quality}.")
    for quality in np.linspace(10, 90, 20).round().astype(int)
]
POINTS = 100


class Noisy:
    """Scores a text by the quality it names, with noise, after some change."""

    endpoint = "noisy"

    def __init__(self, rng, change=lambda points: points, noise=4.0):
        self.rng, self.change, self.noise = rng, change, noise
        self.n_asked = 0

    def answer(self, request):
        self.n_asked += 1
        quality = int(re.findall(r"of quality (\d+)", request.user)[-1])
        points = self.change(quality + self.rng.normal(0, self.noise))
        said = "I'd rather not." if points is None else round(min(max(points, 0), POINTS))
        text = f"[[ ## score ## ]]\n{said}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def asked(engine, ledger=None):
    lm = model("offline", ledger=ledger)
    stack = lm_client_of(lm)
    stack.engine = stack._sender._engine = engine
    return lm


def made(rng, **parts):
    """Return a judge whose golden items are what the unchanged model said once."""
    judge = DirectJudge()
    judgements = score_batch(judge, ITEMS, lm=asked(Noisy(rng)))
    given = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
        "golden": tuple(map(GoldenItem.of, ITEMS, judgements)),
    }
    return SavedJudge(**{**given, **parts})


def rechecks(change, **noise):
    """Return 20 rechecks of 20 judges."""
    found = []
    for run in range(N_RUNS):
        rng = np.random.default_rng([run, 5])
        engine = Noisy(rng, change, **noise)
        found.append(recheck_judge(made(rng), lm=asked(engine)))
        assert engine.n_asked >= 3 * len(ITEMS)
    return found


@pytest.mark.no_cover
def test_sampling_noise_is_no_drift_in_20_runs():
    found = rechecks(lambda points: points)
    assert sum(one.drifted for one in found) == 0
    assert np.mean([one.noise for one in found]) == pytest.approx(0.04, abs=0.005)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("change", "by"),
    [
        (lambda points: points - 15, {"shift", "moves"}),
        (lambda points: 50 + 0.3 * (points - 50), {"moves"}),
        (lambda points: None, {"unscored"}),
    ],
    ids=["lower", "near the middle", "no answer"],
)
def test_a_planted_change_is_found_in_20_of_20_runs(change, by):
    found = rechecks(change)
    assert sum(one.drifted for one in found) == N_RUNS
    for one in found:
        assert {check.name for check in one.checks if check.drifted} >= by


def test_everything_is_asked_anew_whatever_is_on_record(tmp_path):
    rng = np.random.default_rng(0)
    judge, engine = made(rng), Noisy(rng)
    lm = asked(engine, ResponseCache(tmp_path / "ledger.sqlite"))
    for n_asked in (60, 120):
        recheck_judge(judge, lm=lm)
        assert engine.n_asked == n_asked
    for _ in range(2):
        recheck_judge(judge, lm=lm, first_round=1)
        assert engine.n_asked == 180


def test_what_moved_is_said_in_points_and_shares():
    rng = np.random.default_rng(0)
    found = recheck_judge(made(rng), lm=asked(Noisy(rng, lambda points: points - 20)))
    (first, *_) = found.largest(3)
    assert first.change == pytest.approx((np.mean(first.now) - first.before) / POINTS)
    assert abs(first.change) >= max(abs(one.change) for one in found.items)
    told = found.to_dict()
    assert told["drifted"] is True
    assert told["shift"]["high"] < -0.05
    assert [one["drifted"] for one in told["checks"]] == [True, True, False, False]


def test_missing_scores_are_no_zeros():
    rng = np.random.default_rng(0)
    engine = Noisy(rng, lambda points: None if points > 50 else points)
    found = recheck_judge(made(rng), lm=asked(engine))
    assert found.unscored.value == pytest.approx(0.5, abs=0.1)
    assert abs(found.shift.value) < 0.05
    gone = found.largest(1)[0]
    assert math.isnan(gone.change)
    assert "could not be read" in gone.problem


def test_a_budget_that_ends_too_early_is_no_verdict():
    lm = model("offline", ledger=None, max_calls=30)
    with pytest.raises(RecheckError, match=r"not asked: .*larger budget"):
        recheck_judge(made(np.random.default_rng(0)), lm=lm)


@pytest.mark.parametrize("n", [0, 2])
def test_a_judge_with_too_few_golden_items_is_refused(n):
    golden = (GoldenItem(source="s", response="r", judgement=Judgement(score=1)),) * n
    with pytest.raises(RecheckError, match="at least 3 with a score are needed"):
        recheck_judge(made(np.random.default_rng(0), golden=golden))
