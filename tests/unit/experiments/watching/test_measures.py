import urllib.request

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from judgesmith.experiments.scoring.watching import Pulse
from judgesmith.experiments.scoring.watching.pulse import RunMeasures
from judgesmith.programs import judge_items
from judgesmith.programs.families.modules import DirectJudge
from judgesmith.programs.lm import Usage, client_model
from judgesmith.signatures import Judgement, RatedItem, Reason

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
        judge_items(DirectJudge(), [ITEM], lm=lm)
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


def test_what_workers_elsewhere_asked_is_counted_as_they_tell():
    pulse = Pulse([client_model("offline", ledger=None)])
    pulse.counted = lambda: Usage(calls=7, cost_usd=None)
    found = numbers(generate_latest(RunMeasures("abc", pulse).registry).decode())
    assert found["judgesmith_model_calls_total", "offline"] == 7
    assert pulse.usage.calls == 7
