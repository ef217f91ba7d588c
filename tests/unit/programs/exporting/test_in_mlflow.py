"""MLflow itself loads, logs and evaluates with an exported judge, and gives its scores."""

import importlib.util
import os

import loopback
import pandas as pd
import pytest
import yaml
from exporting import TEXTS, saved_of

from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.mlflow_loading import MISSING
from judgesmith.programs.exporting.mlflow_scorer import UNSCORED, mlflow_scorer

# What MLflow and what it imports warn of is not ours.
pytestmark = [pytest.mark.mlflow, pytest.mark.no_cover, pytest.mark.filterwarnings("default")]

FRAME = pd.DataFrame(
    {
        "source": [one.source for one in TEXTS],
        "context": [one.context for one in TEXTS],
        "response": [one.response for one in TEXTS],
        "topic": ["bridges", "rain"],
    },
    index=[7, 3],
)


def exported(saved, tmp_path):
    return export_judge(saved, "mlflow", tmp_path / "model").place


def scores_of(saved):
    return [one.judgement.score for one in saved.golden]


@pytest.fixture(scope="module")
def mlflow():
    """MLflow itself, with nobody told that it is used."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    if importlib.util.find_spec("mlflow") is None:
        pytest.skip("pip install 'judgesmith[mlflow]'")
    return importlib.import_module("mlflow")


@pytest.fixture(scope="module")
def address():
    found = os.environ.get("JUDGESMITH_MLFLOW")
    if not found:
        pytest.skip("no MLflow server at $JUDGESMITH_MLFLOW; .ci/services/mlflow starts one")
    return found


@pytest.fixture(scope="module")
def running_server():
    with loopback.serving() as found:
        yield found


@pytest.mark.parametrize("family", ["active-critic", "annotator"])
def test_mlflow_loads_the_folder_and_gives_the_scores_of_the_golden_items(mlflow, family, tmp_path):
    saved = saved_of(family)
    place = exported(saved, tmp_path)
    model = importlib.import_module("mlflow.pyfunc").load_model(str(place))
    assert model.metadata.metadata["judgesmith"]["fingerprint"] == saved.fingerprint
    found = model.predict(FRAME)  # with a column that is none of the model's
    assert found["score"].tolist() == scores_of(saved)
    assert list(found.index) == [7, 3]
    empty = FRAME.assign(context=float("nan"), source_id=[1, 2], references=[["a"], []])
    assert model.predict(empty[["context", "response", "source_id", "references"]])[
        "source_id"
    ].tolist() == ["1", "2"]
    other = mlflow.exceptions.MlflowException
    with pytest.raises(other, match="missing inputs"):
        model.predict(FRAME[["source"]])


def test_mlflow_asks_the_server_that_model_config_names(
    mlflow, running_server, monkeypatch, tmp_path
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    running_server.reset()
    running_server.script({"chatty": "steady"})
    saved = saved_of(variant="vanilla", model="openai/m")
    place = exported(saved, tmp_path)
    said = {"api_base": f"http://127.0.0.1:{running_server.port}/v1", "ledger": None}
    said["allow_models"] = "openai/m"
    load = importlib.import_module("mlflow.pyfunc").load_model
    found = load(str(place), model_config=said).predict(FRAME)
    assert found["score"].notna().all()
    assert running_server.counts()["requests"] == 2
    running_server.reset()
    running_server.script({"answer": "I would rather not."})
    found = load(str(place), model_config=said).predict(FRAME)
    assert found["score"].isna().all()
    assert found["problem"].notna().all()
    told = "".join(one.read_text() for one in place.rglob("*") if one.is_file())
    assert "sk-test-0123456789" not in told
    assert "127.0.0.1" not in told


def test_it_is_logged_to_a_server_and_loaded_from_there(mlflow, address, fine, tmp_path):
    place = exported(fine, tmp_path)
    mlflow.set_tracking_uri(address)
    mlflow.set_experiment("logged judges")
    told = yaml.safe_load((place / "MLmodel").read_text())["flavors"]["python_function"]
    pyfunc = importlib.import_module("mlflow.pyfunc")
    models = importlib.import_module("mlflow.models")
    logged = pyfunc.log_model(
        name="judge",
        loader_module=told["loader_module"],
        data_path=str(place / "judge"),
        model_config=told["config"],
        signature=models.get_model_info(str(place)).signature,
        pip_requirements=str(place / "requirements.txt"),
        input_example=FRAME[["response"]],
    )
    found = pyfunc.load_model(logged.model_uri).predict(FRAME)
    assert found["score"].tolist() == scores_of(fine)
    with mlflow.start_run() as run:
        mlflow.log_artifacts(str(place), "model")
    found = pyfunc.load_model(f"runs:/{run.info.run_id}/model").predict(FRAME)
    assert found["score"].tolist() == scores_of(fine)


def test_a_scorer_of_evaluate_gives_the_scores_and_an_error_where_there_is_none(
    mlflow, address, vanilla, tmp_path
):
    place = exported(vanilla, tmp_path)
    mlflow.set_tracking_uri(address)
    mlflow.set_experiment("scored by a judge")
    rows = [
        {
            "inputs": {"question": one.source} | ({"context": one.context} if one.context else {}),
            "outputs": {"response": one.response},
        }
        for one in TEXTS
    ]
    rows.append({"inputs": {"question": "Who?"}, "outputs": {"response": None}})
    scorer = mlflow_scorer(place, name="quality")
    done = importlib.import_module("mlflow.genai").evaluate(data=rows, scorers=[scorer])
    wanted = scores_of(vanilla)
    assert done.metrics["quality/mean"] == pytest.approx(sum(wanted) / 2)
    told = {}
    for assessments in done.tables["eval_results"]["assessments"]:
        for one in assessments:
            if one["assessment_name"] == "quality":
                told[str(one["feedback"].get("error", {}))] = one
    found = scorer(inputs={"question": "Who?"}, outputs={"response": None})
    assert (found.value, found.error.error_code) == (None, UNSCORED)
    assert found.error.error_message == MISSING
    assert any(UNSCORED in error for error in told)


def test_a_scorer_finds_source_and_response_by_name_or_where_there_is_one(mlflow, vanilla):
    one, other = scores_of(vanilla)
    scorer = mlflow_scorer(vanilla)
    first, second = TEXTS
    assert scorer.name == "overall"
    assert scorer(inputs={"q": first.source}, outputs=first.response).value == one
    assert (
        scorer(inputs={"source": first.source, "k": 1}, outputs={"a": first.response}).value == one
    )
    named = mlflow_scorer(vanilla, source="q", context="found", response="text")
    inputs = {"q": second.source, "found": second.context, "n": 3}
    assert named(inputs=inputs, outputs={"text": second.response, "id": 4}).value == other
    with pytest.raises(ValueError, match="expected 'q'; got other"):
        named(inputs={"other": "x"}, outputs={"text": "y"})
    assert scorer(inputs={"a": 1, "b": ["x"]}, outputs=[{"role": "user"}]).value is not None
