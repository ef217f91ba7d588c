import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.ablate.rows import without
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.inferring import InferenceRun, infer_rubric, rubric_for
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig, Rubric
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

OWN = Rubric(task="Judge a note.", criteria={"Fluency": "Ours?", "wit": "Is it funny?"})


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(60))


def found(data, settings, lm=None):
    targets = chosen_targets(data, settings)
    return rubric_for(data, targets, settings, lm=lm or model(ledger=None))


@pytest.mark.no_cover
def test_it_is_inferred_where_nothing_else_is_said(data):
    rubric = found(data, CompileSettings()).rubric
    assert rubric.task_type == "summarization"
    assert rubric.names != DEFAULT_RUBRIC.names
    assert rubric.provenance["target"] == "overall"


@pytest.mark.no_cover
def test_compiling_infers_what_the_command_infers_and_pays_once(data, tmp_path):
    ledger = tmp_path / "ledger.sqlite"
    run = InferenceRun(settings=InferenceSettings(seed=4))
    alone = infer_rubric(data, run, lm=model(ledger=ledger)).rubric
    lm = model(ledger=ledger)
    again = found(data, CompileSettings(seed=4), lm).rubric
    assert (again.task, again.criteria) == (alone.task, alone.criteria)
    assert again.provenance["batches"] == alone.provenance["batches"]
    assert lm_client_of(lm).usage.calls == 0


@pytest.mark.parametrize(
    "settings",
    [
        CompileSettings(optimizer="none"),
        CompileSettings(criteria="given"),
        CompileSettings(protocol=ActiveCriticConfig(variant="vanilla")),
        CompileSettings(protocol=ActiveCriticConfig(rubric=OWN)),
    ],
    ids=["as it is", "given", "vanilla", "own"],
)
def test_a_judge_that_has_its_rubric_asks_nothing(data, settings):
    lm = model(ledger=None)
    assert found(data, settings, lm).rubric == settings.protocol.rubric
    assert lm_client_of(lm).usage.calls == 0


def test_human_criteria_have_an_inferred_task_and_definitions_of_the_rubric(data):
    rubric = found(data, CompileSettings(criteria="human")).rubric
    assert rubric.names == ("faithfulness", "fluency")
    assert rubric.task.startswith("The task is summarization")
    assert rubric.provenance["criteria"] == {"faithfulness": "general", "fluency": "general"}
    own = CompileSettings(criteria="human", protocol=ActiveCriticConfig(rubric=OWN))
    lm = model(ledger=None)
    chosen = found(data, own, lm)
    assert chosen.rubric.task == "Judge a note."
    assert chosen.rubric.criteria[1].definition == "Ours?"
    assert any("wit" in note for note in chosen.notes)
    assert lm_client_of(lm).usage.calls == 0


def test_several_targets_are_the_criteria(data):
    assert found(data, CompileSettings(target=("fluency", "overall"))).rubric.names == ("fluency",)


@pytest.mark.parametrize(
    "settings",
    [
        CompileSettings(),
        CompileSettings(criteria="human"),
        CompileSettings(criteria="given"),
        CompileSettings(protocol=ActiveCriticConfig(rubric=OWN)),
    ],
)
def test_without_a_task_no_rubric_has_one(data, settings):
    rubric = found(data, without(settings, ["task"])).rubric
    assert (rubric.task, rubric.task_type) == ("", "")
    assert rubric.criteria
