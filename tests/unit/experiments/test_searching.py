"""Searches within a compilation: estimates, notes and progress."""

import json
import re
import shutil

import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.estimate import estimate_run, screened_texts, search_calls
from judgesmith.experiments.compile.searching import (
    SearchFiles,
    SearchLog,
    SearchProgress,
    confirmation_of,
    log_lines,
    search_notes,
    weights_note,
    weights_record,
)
from judgesmith.optimizers import ProtocolSearch, parse_objective
from judgesmith.optimizers.trials import ConfirmationResult, TrialRecord
from judgesmith.programs.families.exemplar import ExemplarConfig
from judgesmith.programs.families.pointwise import DirectConfig
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, ResponseCache, lm_client_of, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline import OfflineEngine
from judgesmith.signatures import ActiveCriticConfig

# searching

QUICK = {"optimizer": "protocol", "n_trials": 6}


@pytest.fixture(scope="module")
def data_searching():
    return read_items("sample").subset(range(60))


def compiled(data, *, lm=None, files=None, **settings):
    lm = lm or model(ledger=None)
    return compile_judge(data, CompileSettings(**{**QUICK, **settings}), lm=lm, files=files)


def tried(found):
    return [one for one in found.saved.history if one["stage"] == "protocol"]


@pytest.fixture(scope="module")
def usual(written):
    return written[0]


@pytest.mark.no_cover
def test_a_search_tells_every_configuration_and_what_was_taken(usual):
    assert [one["number"] for one in tried(usual)] == list(range(7))
    assert tried(usual)[0]["picked"] == {}
    assert all("variant" in one["picked"] for one in tried(usual)[1:])
    assert json.loads(json.dumps(usual.saved.model_dump(mode="json")))
    stages = [one["stage"] for one in usual.saved.history]
    assert "aggregation" in stages[7:]
    stages = {one["stage"] for one in usual.saved.history}
    assert "rubric" not in stages
    first = [one["picked"] for one in tried(usual)[1:4]]
    assert [one["rubric"] for one in first] == ["inferred", "inferred", "own"]
    assert [one["demonstrations"] for one in first] == ["0", "3", "3"]
    said = " ".join(usual.notes)
    assert "6 of " in said
    assert "rows scored in place of" in said
    taken = usual.saved.agreement.plain["confirmation"]["taken"]
    assert ("kept the baseline" in said) == (taken == 0)
    assert not taken or f"selected candidate {taken}, " in said


def files_in(folder):
    return SearchFiles(storage=folder / "one.journal", log=folder / "one.jsonl")


@pytest.fixture(scope="module")
def written(data_searching, tmp_path_factory):
    """A run with files, and the folder of them, which no test changes."""
    folder = tmp_path_factory.mktemp("written") / "searches"
    return compiled(data_searching, files=files_in(folder)), folder


@pytest.mark.no_cover
class TestFiles:
    @pytest.fixture
    def files(self, tmp_path):
        return files_in(tmp_path / "searches")

    @pytest.fixture
    def again(self, written, tmp_path):
        """The files of the same run, to be changed."""
        return files_in(shutil.copytree(written[1], tmp_path / "again"))

    @pytest.mark.no_cover
    def test_half_a_line_is_left_behind(self, data_searching, again):
        whole = again.log.read_text().splitlines(keepends=True)
        again.log.write_text("".join(whole[:3]) + whole[3][:20])
        compiled(data_searching, files=again)
        assert sorted(line["number"] for line in log_lines(again.log)) == list(range(7))

    def test_the_log_has_a_line_per_configuration(self, written):
        found, files = written[0], files_in(written[1])
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
    def test_the_same_run_again_adds_nothing(self, data_searching, again):
        before = again.log.read_bytes()
        compiled(data_searching, files=again)
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


# search estimate


@pytest.fixture(scope="module")
def data_search_estimate():
    return read_items("sample").subset(range(60))


def calls(**settings):
    given = CompileSettings(
        **{"optimizer": "protocol", "criteria": "given", "fixed": (), **settings}
    )
    return search_calls(given, n_pool=10, n_selection=100, n_heldout=50, competing=False)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "settings",
    [
        {"target": ("fluency", "faithfulness"), "n_trials": 3},
        {"screen": True, "judge": "pairs", "criteria": "given"},
    ],
    ids=str,
)
def test_no_run_makes_more_calls_than_estimated(data_search_estimate, settings, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(**{"optimizer": "protocol", "n_trials": 6, **settings})
    bound = estimate_run(data_search_estimate, settings, lm)
    compile_judge(data_search_estimate, settings, lm=lm)
    made = lm_client_of(lm).usage.calls
    assert made <= bound.calls
    assert 0.3 < made / bound.expected_calls < 3


@pytest.mark.no_cover
def test_separate_questions_and_five_samples_make_the_bound():
    few = calls(fixed=("criteria_calls",))
    many = calls()
    n_criteria = len(ActiveCriticConfig().rubric.criteria)
    assert many.most > 2 * few.most
    assert calls(n_trials=1).most == 2 * 150 + (n_criteria + 1) * 5 * (110 + 60) + 2 * 10


def test_a_start_whose_criteria_are_inferred_may_have_as_many_as_are_inferred():
    separate = {"protocol": ActiveCriticConfig(criteria_calls="separate"), "n_demonstrations": 0}
    fixed = ("variant", "criteria_calls", "overall", "samples", "explain")
    found = calls(**separate, fixed=fixed, criteria="inferred", n_trials=1)
    most = CompileSettings().inference.most + 1
    assert found.most == most * (150 + 110 + 60 + 10)
    assert found.expected < found.most


def test_most_that_are_screened_are_counted_on_few_rows_alone():
    fixed = ("variant", "criteria_calls", "overall", "samples")
    found = calls(fixed=fixed, n_demonstrations=0, screen=True, n_trials=40)
    # 28 on 10 rows, 10 of the 12 others on 20, and 2 on all 100; all judge the rows to show.
    tried = 28 * 10 + 10 * 20 + 2 * 100 + 40 * 10
    assert found.most == 2 * 150 + 2 * tried + 2 * 60 + 2 * 10
    whole = calls(fixed=fixed, n_demonstrations=0, n_trials=40)
    assert found.expected < found.most < 0.3 * whole.most


# search notes


def trial(number, value, *, n_rows=100):
    picked = {"answers": "1-5"} if number else {}
    return TrialRecord(number=number, picked=picked, value=value, n_rows=n_rows, share_scored=1.0)


def confirmation(number, *, passed, **given):
    values = {"chosen": 1.4, "chosen_before": 1.0, "p_value": 0.012, "standard_error": 0.05}
    return ConfirmationResult(
        number=number, n_rows=100, n_compared=5, passed=passed, **{**values, **given}
    )


def ended(*trials, found=None, taken=0, complete=True):
    search = ProtocolSearch(n_trials=5)
    search.trials_, search.confirmation_, search.taken_ = trials, found, taken
    search.complete_ = complete
    search.space_ = type("Space", (), {"size": 12})()
    search.study_ = None
    return search


@pytest.fixture
def _without_importances(monkeypatch):
    monkeypatch.setattr("judgesmith.experiments.compile.searching.importances", lambda study: {})


def told(search):
    return " ".join(search_notes(search))


@pytest.mark.usefixtures("_without_importances")
def test_under_conditions_a_value_is_not_told_as_that_of_the_aim():
    found = confirmation(2, passed=False, chosen=-3.6, chosen_before=-3.7)
    one = ended(trial(0, -3.7), trial(2, -3.6), found=found)
    one.objective = parse_objective("q; kappa >= .9")
    assert "with q; kappa >= 0.9, less what the conditions lack, -3.600 on" in told(one)


@pytest.mark.usefixtures("_without_importances")
def test_a_leader_that_may_be_lucky_is_told_and_the_judge_stays():
    found = confirmation(2, passed=False, p_value=0.31)
    said = told(ended(trial(0, 1.0), trial(2, 1.4), found=found))
    assert "kept the baseline: the best was candidate 2, answers 1-5" in said
    assert "p 0.310 over 5 compared), which may be chance" in said
    assert "common with few rows" in said
    assert "selected" not in said


@pytest.mark.usefixtures("_without_importances")
def test_what_is_undefined_is_called_so():
    nan = float("nan")
    found = confirmation(2, passed=True, chosen_before=nan, p_value=nan, standard_error=nan)
    said = told(ended(trial(0, nan), trial(2, 1.4), found=found, taken=2))
    assert "undefined" in said
    assert "untested among 5 compared" in said
    assert " nan" not in said


@pytest.mark.usefixtures("_without_importances")
def test_nothing_is_told_of_a_choice_where_a_front_was_searched():
    one = ended(trial(0, 1.0), trial(1, 1.5), taken=None)
    assert confirmation_of(one) is None
    assert len(search_notes(one)) == 1


@pytest.mark.usefixtures("_without_importances")
class TestTheArtifact:
    @pytest.mark.no_cover
    def test_says_whether_better_was_found_and_how_the_best_was_tested(self):
        data = read_items("sample").subset(range(40, 100))
        settings = CompileSettings(optimizer="random", n_rounds=4, criteria="given")
        found = compile_judge(data, settings, lm=model(ledger=None))
        said = json.loads(json.dumps(found.saved.agreement.plain["confirmation"]))
        assert said["better"] == (said["taken"] != 0)
        values = [one["value"] for one in found.saved.history if one["stage"] == "demonstrations"]
        (leader,) = said["leaders"]
        assert leader["chosen"] == values[leader["number"]]
        assert leader["n_rows"] == said["chosen_on"]
        assert leader["n_compared"] <= len(values) - 1
        assert 0 < leader["p_value"] <= 1
        assert leader["passed"] == said["better"]
        for gone in ("value", "before", "crossed", "optimism"):
            assert leader[gone] is None
        assert {"gain", "standard_error"} <= set(leader)


# search progress


def trial_search_progress(number, value, n_rows=88):
    return TrialRecord(number=number, picked={}, value=value, n_rows=n_rows, share_scored=1.0)


def said_of(*trials, **budget):
    said = []
    progress = SearchProgress(
        lm=model("offline", ledger=None, **budget), n_trials=9, objective="q", told=said.append
    )
    for one in trials:
        progress(one)
    return said[-1]


def test_the_best_is_among_those_that_were_judged_on_all_rows():
    said = said_of(
        trial_search_progress(0, 0.5),
        trial_search_progress(1, 0.9, n_rows=20),
        trial_search_progress(2, 0.6),
    )
    assert said.startswith("2 of 9 tried, best q 0.600 (0.500 baseline), 0 calls")


@pytest.mark.parametrize(
    ("optimizer", "tried"), [("protocol", "1 of 3 tried"), ("effects", "1 tried")]
)
def test_a_compilation_tells_whoever_wants_words(data_searching, optimizer, tried):
    told, lm = [], model("offline", ledger=None)
    settings = CompileSettings(optimizer=optimizer, n_trials=3, protocol=VANILLA)
    compile_judge(data_searching, settings, lm=lm, on_progress=told.append)
    words = [(one.stage, one.text) for one in told if one.text]
    assert {stage for stage, _ in words} == {optimizer}
    assert any(text.startswith(tried) and "q " in text for _, text in words)


# text searching

VANILLA = ActiveCriticConfig(variant="vanilla")


class Writing(OfflineEngine):
    """Judges as the offline model does, and by its length where the instruction wants that."""

    endpoint = "scripted"

    def answer(self, request):
        system = "".join(m.text for m in request.prefix.messages if m.role == "system")
        names = re.findall(r"\[\[ ## (\w+) ## \]\]", request.user.rpartition("Respond with")[2])
        if names[:-1] == ["score"]:
            found = super().answer(request)
            if "longer" in system:
                return found
            score = len(request.user) * 37 % 101
            return ModelAnswer(text=re.sub(r"\d+", str(score), found.text, count=1))
        said = f"Longer is not better, nor is it longer ({request.sample})."
        text = "".join(f"[[ ## {name} ## ]]\n{said}\n\n" for name in names[:-1])
        return ModelAnswer(text=f"{text}[[ ## completed ## ]]", input_tokens=1, output_tokens=1)


@pytest.fixture(scope="module")
def data_text_searching():
    return read_items("sample").subset(range(80))


def writing(ledger=None, **budget):
    stack = LMClient(Writing(), ledger=ledger, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={})


def compiled_text_searching(data, optimizer, *, lm=None, files=None, **settings):
    given = {"optimizer": optimizer, "protocol": VANILLA, "learn_weights": False, **settings}
    return compile_judge(data, CompileSettings(**given), lm=lm or writing(), files=files)


@pytest.fixture(scope="module")
def reflective(data_text_searching):
    return compiled_text_searching(data_text_searching, "reflective", n_trials=3)


@pytest.mark.parametrize("optimizer", ["reflective", "simba"])
def test_a_spent_budget_is_told_and_the_best_so_far_is_kept(
    data_text_searching, optimizer, tmp_path
):
    lm = writing(ledger=ResponseCache(tmp_path / "ledger.sqlite"), max_calls=150)
    found = compiled_text_searching(data_text_searching, optimizer, lm=lm)
    assert not found.complete
    assert "the budget ended" in " ".join(found.notes)


# ``--optimizer balanced`` within a compilation: estimated, run, and told of.


@pytest.fixture(scope="module")
def settings():
    protocol = DirectConfig(answers="1..5")
    return CompileSettings(
        judge="direct",
        protocol=protocol,
        optimizer="balanced",
        n_demonstrations=0,
        criteria="given",
    )


@pytest.fixture(scope="module")
def lm():
    return model("offline", ledger=None)


@pytest.fixture(scope="module")
def found(settings, lm):
    return compile_judge(read_items("sample"), settings, lm=lm)


def test_balanced_wordings_are_tried_told_and_no_dearer_than_estimated(found, settings, lm):
    told = " ".join(found.notes)
    assert "wordings of instructions were tried on" in told
    assert "made by rules: the offline model writes none" in told
    tried = [one for one in found.saved.history if one["stage"] == "balanced"]
    assert tried[0]["value"] < 0
    assert tried[1]["changed"] == "instructions:whole"
    bound = estimate_run(read_items("sample"), settings, lm)
    assert 0.3 * bound.calls < lm_client_of(lm).usage.calls <= bound.calls


def test_a_judge_with_many_answers_is_refused():
    many = CompileSettings(judge="direct", optimizer="balanced", criteria="given")
    with pytest.raises(ValueError, match="no even spread"):
        compile_judge(read_items("sample"), many)


# screened estimate


def test_changed_versions_count_as_if_the_first_rows_had_the_most():
    by_row = [1] * 50 + [3] * 10
    assert screened_texts(20, by_row) == (20 - 12) * 30 + 10 * (30 + 2) + 2 * 80


# estimating


@pytest.fixture(scope="module")
def data_estimating():
    return read_items("sample").subset(range(40))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "settings",
    [
        {"n_rounds": 3, "protocol": ActiveCriticConfig(samples=2)},
        {"optimizer": "none", "protocol": ActiveCriticConfig(samples=3)},
    ],
    ids=["two samples", "no search"],
)
def test_no_run_makes_more_calls_than_estimated_estimating(data_estimating, settings, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(**settings)
    bound = estimate_run(data_estimating, settings, lm)
    compile_judge(data_estimating, settings, lm=lm)
    made = lm_client_of(lm).usage
    assert made.calls <= bound.calls <= bound.max_calls
    assert made.calls >= 0.5 * bound.calls
    assert 0.4 < made.input_tokens / bound.input_tokens < 1.6


@pytest.mark.parametrize(
    ("family", "criteria"),
    [("g-eval", "given"), ("g-eval", "inferred"), ("checklist", "human")],
)
def test_what_is_written_once_per_criterion_is_counted(data_estimating, family, criteria, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    own = family_of(family).protocol()
    settings = CompileSettings(optimizer="none", criteria=criteria, protocol=own)
    bound = estimate_run(data_estimating, settings, lm)
    compile_judge(data_estimating, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= bound.calls
    if family == "g-eval":
        general = settings.model_copy(
            update={"protocol": own.model_copy(update={"plan": "general"})}
        )
        n_written = {"given": 6, "human": 2, "inferred": 6 + settings.inference.most}
        assert bound.calls - estimate_run(data_estimating, general, lm).calls == n_written[criteria]


def test_a_model_without_a_price_has_no_estimate_of_cost(data_estimating):
    import dspy

    settings = CompileSettings(optimizer="none")
    lm = dspy.LM("openai/unheard-of", cache=False)
    assert estimate_run(data_estimating, settings, lm).cost_usd is None


@pytest.mark.parametrize(("family", "objective"), [("exemplar", "q"), ("pairs", "q@sample")])
def test_judges_that_show_several_texts_are_told_as_they_are(
    data_estimating, family, objective, tmp_path
):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(
        judge=family, optimizer="none", criteria="given", n_demonstrations=0, objective=objective
    )
    told = estimate_run(data_estimating, settings, lm)
    compile_judge(data_estimating, settings, lm=lm)
    made = lm_client_of(lm).usage
    assert made.calls <= told.expected_calls * 1.2 <= told.calls * 1.2
    assert told.expected_calls < told.calls <= told.max_calls
    assert made.input_tokens <= told.input_tokens
    per_call = made.input_tokens / made.calls
    assert 0.7 < (told.input_tokens / told.calls) / per_call < 1.1


def test_samples_of_comparisons_without_probabilities_are_within_the_bound(data_estimating):
    settings = CompileSettings(
        protocol=ExemplarConfig(asks="overall"),
        optimizer="none",
        criteria="given",
        n_demonstrations=0,
    )
    told = estimate_run(data_estimating, settings, model(ledger=None))
    # five exemplars and five comparisons of each text, each of these drawn five times more
    assert told.calls == 40 * 10
    assert told.calls_without_probabilities == 40 * (5 + 5 * 6)
    assert told.max_calls == 2 * told.calls_without_probabilities
    drawn = settings.protocol.model_copy(update={"verdicts": "samples"})
    told = estimate_run(
        data_estimating, settings.model_copy(update={"protocol": drawn}), model(ledger=None)
    )
    assert (told.calls, told.calls_without_probabilities) == (40 * (5 + 5 * 5), None)


def test_a_search_of_judges_that_rank_is_bounded_by_the_pairs_there_are(data_estimating, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(
        judge="pairs",
        optimizer="protocol",
        criteria="given",
        n_demonstrations=0,
        n_trials=2,
        objective="q@sample",
        learn_weights=False,
    )
    told = estimate_run(data_estimating, settings, lm)
    compile_judge(data_estimating, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= told.calls <= told.max_calls


@pytest.mark.parametrize(
    ("gain", "error", "amount", "said"),
    [
        (0.2, 0.1, 0.75, "75% of the step from overall to criteria"),
        (0.1, 0.1, 0.0, "kept the aggregation overall: the best other one (criteria)"),
        (0.1, float("nan"), 0.0, "standard error undefined, which may be chance"),
        (float("inf"), float("nan"), 1.0, None),
    ],
)
def test_how_far_weights_moved_is_told_and_kept(gain, error, amount, said):
    trials = [
        TrialRecord(name="overall", behind=gain, standard_error=error),
        TrialRecord(name="criteria", behind=0.0, standard_error=0.0),
        TrialRecord(name="lexical", behind=-0.5, standard_error=0.1, allowed=False),
    ]
    notes = weights_note(trials, amount, "q")
    assert [said in note for note in notes] == ([True] if said else [])
    kept = weights_record(trials, amount)
    assert (kept["best"], kept["amount"]) == ("criteria", amount)
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
