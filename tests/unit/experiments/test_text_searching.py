import json
import re

import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.searching import SearchFiles, log_lines
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, ResponseCache, lm_client_of, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline import OfflineEngine
from judgesmith.signatures import ActiveCriticConfig

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
def data():
    return read_items("sample").subset(range(80))


def writing(ledger=None, **budget):
    stack = LMClient(Writing(), ledger=ledger, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={})


def compiled(data, optimizer, *, lm=None, files=None, **settings):
    given = {"optimizer": optimizer, "protocol": VANILLA, "learn_weights": False, **settings}
    return compile_judge(data, CompileSettings(**given), lm=lm or writing(), files=files)


def tried(found):
    stage = found.saved.settings["optimizer"]
    return [one for one in found.saved.history if one["stage"] == stage]


@pytest.fixture(scope="module")
def reflective(data):
    return compiled(data, "reflective", n_trials=3)


@pytest.mark.no_cover
def test_a_rewritten_instruction_is_part_of_the_judge(reflective):
    assert reflective.complete
    assert "onger is not better" in reflective.saved.protocol.instructions["grade"]
    assert "onger is not better" in reflective.saved.questions["grade"].as_text()


def test_the_history_traces_the_judge_back_to_the_edit_that_made_it(reflective):
    trials = tried(reflective)
    assert [one["number"] for one in trials] == [0, 1, 2, 3]
    made = [one for one in trials if one["text"] in reflective.saved.protocol.instructions.values()]
    assert made[0]["changed"] == "instructions:grade"
    assert made[0]["parent"] == 0
    assert json.loads(json.dumps(reflective.saved.model_dump(mode="json")))


def test_notes_say_what_came_of_the_rewrites(reflective):
    said = " ".join(reflective.notes)
    assert "3 rewrites were asked for: " in said
    assert "taken was number " in said


@pytest.mark.no_cover
def test_the_log_has_a_line_per_trial(data, tmp_path):
    files = SearchFiles(log=tmp_path / "log.jsonl")
    found = compiled(data, "reflective", n_trials=2, files=files)
    lines = list(log_lines(tmp_path / "log.jsonl"))
    assert [line["number"] for line in lines] == [0, 1, 2]
    assert [line["text"] for line in lines] == [one["text"] for one in tried(found)]


def test_the_offline_model_is_said_to_rewrite_nothing(data):
    found = compiled(data, "reflective", lm=model(ledger=None), n_trials=2)
    assert found.saved.protocol.instructions == {}
    assert any("reads no instructions and writes none" in note for note in found.notes)


@pytest.mark.no_cover
@pytest.mark.parametrize("optimizer", ["miprov2", "simba"])
def test_optimizers_of_dspy_are_run_and_told_of(data, optimizer, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite", max_calls=400)
    found = compiled(data, optimizer, lm=lm, n_demonstrations=1)
    assert tried(found)[0]["n_demonstrations"] == 0
    said = " ".join(found.notes)
    assert f"DSPy's {optimizer} offered " in said


@pytest.mark.parametrize("optimizer", ["reflective", "miprov2", "simba"])
def test_a_spent_budget_is_told_and_the_best_so_far_is_kept(data, optimizer, tmp_path):
    lm = writing(ledger=ResponseCache(tmp_path / "ledger.sqlite"), max_calls=150)
    found = compiled(data, optimizer, lm=lm)
    assert not found.complete
    assert "the budget ended" in " ".join(found.notes)


@pytest.mark.parametrize("optimizer", ["reflective", "miprov2"])
def test_no_run_makes_more_calls_than_estimated(data, optimizer, tmp_path):
    lm = ClientLM.over(LMClient(Writing(), ledger=None), "scripted", recipe={})
    if optimizer == "miprov2":
        lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(
        optimizer=optimizer, protocol=VANILLA, learn_weights=False, n_trials=2, n_demonstrations=2
    )
    bound = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    assert 0.1 * bound.calls < lm_client_of(lm).usage.calls <= bound.calls
    assert bound.expected_calls is None
