import json
import shutil

import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.searching import SearchFiles, SearchLog, log_lines
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig

pytestmark = pytest.mark.no_cover

QUICK = {"optimizer": "protocol", "n_trials": 6}


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(60))


def compiled(data, *, lm=None, files=None, **settings):
    lm = lm or model(ledger=None)
    return compile_judge(data, CompileSettings(**{**QUICK, **settings}), lm=lm, files=files)


def tried(found):
    return [one for one in found.saved.history if one["stage"] == "protocol"]


@pytest.fixture(scope="module")
def usual(data):
    return compiled(data)


def test_every_configuration_that_was_tried_is_in_the_history(usual):
    assert [one["number"] for one in tried(usual)] == list(range(7))
    assert tried(usual)[0]["picked"] == {}
    assert all("variant" in one["picked"] for one in tried(usual)[1:])
    assert json.loads(json.dumps(usual.saved.model_dump(mode="json")))


def test_the_aggregation_is_learned_afterwards(usual):
    stages = [one["stage"] for one in usual.saved.history]
    assert "aggregation" in stages[7:]


def test_the_inferred_rubric_competes_within_the_space_and_is_tried_first(usual):
    stages = {one["stage"] for one in usual.saved.history}
    assert "rubric" not in stages
    first = [one["picked"] for one in tried(usual)[1:4]]
    assert [one["rubric"] for one in first] == ["inferred", "inferred", "own"]
    assert [one["demonstrations"] for one in first] == ["0", "3", "3"]


def test_a_note_says_how_many_rows_were_judged_and_what_was_taken(usual):
    said = " ".join(usual.notes)
    assert "6 of " in said
    assert "where all of them on all rows would have been" in said
    taken = usual.saved.agreement.plain["confirmation"]["taken"]
    assert ("the search keeps the judge as it was" in said) == (taken == 0)
    assert not taken or f"taken was number {taken}, " in said


@pytest.mark.no_cover
def test_compiling_twice_gives_the_same_judge(data, usual):
    assert compiled(data).saved.fingerprint == usual.saved.fingerprint


@pytest.mark.no_cover
def test_fixed_choices_are_not_made(data):
    found = compiled(data, fixed=("variant", "answers", "samples"))
    for one in tried(found)[1:]:
        assert not {"variant", "answers", "samples"} & set(one["picked"])


def test_without_rows_to_show_the_rest_is_searched(data):
    found = compiled(data, n_demonstrations=0, criteria="given")
    assert len(tried(found)) == 7
    assert not found.saved.protocol.demonstrations
    assert not any("demonstrations" in one["picked"] for one in tried(found))


@pytest.mark.no_cover
def test_several_targets_are_scored_by_all(data):
    found = compiled(data, target=("fluency", "faithfulness"))
    assert all(one["share_scored"] == 1 for one in tried(found))
    assert found.saved.protocol.variant == "fine"


@pytest.mark.no_cover
def test_a_vanilla_judge_may_become_another(data):
    found = compiled(data, protocol=ActiveCriticConfig(variant="vanilla"), n_trials=12)
    variants = {one["picked"].get("variant", "vanilla") for one in tried(found)}
    assert len(variants) > 1


@pytest.mark.no_cover
def test_an_earlier_judge_is_the_first_trial(data, usual):
    settings = CompileSettings(**QUICK)
    lm = model(ledger=None)
    more = compile_judge(read_items("sample"), settings, earlier=usual.saved, lm=lm)
    assert tried(more)[0]["picked"] == {}
    assert more.saved.settings["earlier"] == usual.saved.fingerprint


@pytest.mark.parametrize("max_calls", [150, 300])
def test_a_budget_that_ends_leaves_a_judge_and_says_so(data, max_calls, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite", max_calls=max_calls)
    found = compiled(data, lm=lm, criteria="given")
    assert not found.complete
    assert lm_client_of(lm).usage.calls <= max_calls
    said = " ".join(found.notes)
    assert "the budget ended the search" in said or len(tried(found)) == 7


def files_in(folder):
    return SearchFiles(storage=folder / "one.journal", log=folder / "one.jsonl")


@pytest.fixture(scope="module")
def written(data, tmp_path_factory):
    """A run with files, and the folder of them, which no test changes."""
    folder = tmp_path_factory.mktemp("written") / "searches"
    return compiled(data, files=files_in(folder)), folder


class TestFiles:
    @pytest.fixture
    def files(self, tmp_path):
        return files_in(tmp_path / "searches")

    @pytest.fixture
    def again(self, written, tmp_path):
        """The files of the same run, to be changed."""
        return files_in(shutil.copytree(written[1], tmp_path / "again"))

    def test_the_log_has_a_line_per_configuration(self, written, usual):
        found, files = written[0], files_in(written[1])
        assert found.saved.fingerprint == usual.saved.fingerprint
        lines = list(log_lines(files.log))
        assert sorted(line["number"] for line in lines) == list(range(7))
        by_number = {one["number"]: one for one in tried(found)}
        for line in lines:
            assert {"calls", "cost_usd"} <= set(line)
            assert all(
                line[name] == by_number[line["number"]][name] for name in ("picked", "value")
            )
            assert line["against"] is None or line["against"] < line["number"]
        calls = [line["calls"] for line in lines]
        assert calls == sorted(calls)

    @pytest.mark.no_cover
    def test_the_same_run_again_adds_nothing(self, data, again):
        before = again.log.read_bytes()
        compiled(data, files=again)
        assert again.log.read_bytes() == before

    def test_workers_write_one_line_between_them(self, tmp_path):
        path = tmp_path / "one.jsonl"
        logs = [SearchLog(path=path, lm=model("offline", ledger=None)) for _ in range(2)]
        for number in range(3):
            trial = TrialRecord(number=number, picked={}, value=1.0, n_rows=9, share_scored=1.0)
            for log in logs:
                log(trial)
        assert [line["number"] for line in log_lines(path)] == [0, 1, 2]
        assert path.stat().st_mode & 0o777 == 0o600  # it says what the journal beside it says

    @pytest.mark.no_cover
    def test_half_a_line_is_left_behind(self, data, again):
        whole = again.log.read_text().splitlines(keepends=True)
        again.log.write_text("".join(whole[:3]) + whole[3][:20])
        compiled(data, files=again)
        assert sorted(line["number"] for line in log_lines(again.log)) == list(range(7))

    @pytest.mark.no_cover
    def test_a_run_that_was_cut_short_goes_on(self, data, files, usual, tmp_path):
        ledger = tmp_path / "ledger.sqlite"
        first = model(ledger=ledger, max_calls=500)
        cut = compiled(data, lm=first, files=files)
        assert not cut.complete
        second = model(ledger=ledger)
        whole = compiled(data, lm=second, files=files)
        assert whole.saved.protocol == usual.saved.protocol
        assert whole.saved.history == usual.saved.history
        undisturbed = model(ledger=tmp_path / "other.sqlite")
        compiled(data, lm=undisturbed)
        n_made = lm_client_of(first).usage.calls + lm_client_of(second).usage.calls
        assert n_made == lm_client_of(undisturbed).usage.calls
