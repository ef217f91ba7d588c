"""An exported MLflow model judges as the judge does, by what MLflow loads it with."""

import sys

import hostile
import pandas as pd
import pytest
import yaml
from exporting import TEXTS, saved_of

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.record import SavedJudgeError
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel
from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.mlflow_loading import COLUMNS, MISSING, _load_pyfunc
from judgesmith.programs.exporting.mlflow_scorer import mlflow_scorer
from judgesmith.programs.judging.registry import known_families
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures.aggregation import PanelWeights

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


def panel_of(*judges):
    members = {f"judge-{n}": one for n, one in enumerate(judges)}
    weights = PanelWeights.equal({name: one.scale for name, one in members.items()})
    return SavedPanel(members=members, weights=weights, target="overall", human_scale="1..5")


@pytest.mark.parametrize("family", ["active-critic", "reference", "annotator", "gptscore"])
def test_a_judge_of_any_family_is_carried_and_judges_golden_items_the_same(family, tmp_path):
    saved = saved_of(family)
    done = export_judge(saved, "mlflow", tmp_path / "model")
    assert (done.verified.n_items, done.verified.differences) == (2, ())


def test_the_folder_holds_no_pickle_and_tells_what_the_judge_is(fine, tmp_path):
    place = exported(fine, tmp_path)
    files = {str(one.relative_to(place)) for one in place.rglob("*") if one.is_file()}
    assert {"MLmodel", "requirements.txt", "judge/judge.json", "export.json"} <= files
    assert {one.rpartition(".")[2] for one in files} <= {"MLmodel", "txt", "json", "yaml", "md"}
    told = yaml.safe_load((place / "MLmodel").read_text())
    assert told["metadata"]["judgesmith"]["fingerprint"] == fine.fingerprint
    assert told["flavors"]["python_function"]["config"]["max_calls"] is None
    assert "utc_time_created" not in told


@pytest.mark.parametrize(("metric", "extra"), [("rougeL", "reference"), ("chrf", "reference")])
def test_what_a_judge_needs_is_among_the_requirements(metric, extra, tmp_path):
    place = exported(saved_of("reference", metric=metric), tmp_path)
    assert f"judgesmith[{extra}]==" in (place / "requirements.txt").read_text()


def test_rows_keep_order_and_index_and_what_is_missing_is_unscored_and_says_so(fine, tmp_path):
    model = _load_pyfunc(str(exported(fine, tmp_path) / "judge"))
    nothing = pd.DataFrame({"source": ["s", "s"], "response": [None, float("nan")]}, index=[9, 1])
    found = model.predict(pd.concat([FRAME, nothing]))
    assert list(found.index) == [7, 3, 9, 1]
    assert found["score"].tolist()[:2] == scores_of(fine)
    assert found["score"].isna().tolist() == [False, False, True, True]
    assert found["problem"].tolist() == [None, None, MISSING, MISSING]
    assert set(COLUMNS) <= set(found.columns)
    assert set(found["judge"]) == {fine.fingerprint}


def test_rows_are_taken_in_every_form_that_mlflow_hands_on(vanilla, tmp_path):
    model = _load_pyfunc(str(exported(vanilla, tmp_path) / "judge"))
    wanted = scores_of(vanilla)
    records = [
        {"source": one.source, "context": one.context, "response": one.response} for one in TEXTS
    ]
    assert model.predict(records)["score"].tolist() == wanted
    assert model.predict(records[0], params={"x": 1})["score"].tolist() == wanted[:1]
    assert model.predict(FRAME.head(0)).empty
    with pytest.raises(ValueError, match=r"expected rows with response, .*; got answer"):
        model.predict(pd.DataFrame({"answer": ["x"]}))


def test_hostile_texts_are_judged_like_any(vanilla, tmp_path):
    model = _load_pyfunc(str(exported(vanilla, tmp_path) / "judge"))
    texts = list(hostile.TEXTS)
    found = model.predict(pd.DataFrame({"response": texts, "source": texts}))
    assert len(found) == len(texts)
    assert (found["score"].notna() | found["problem"].notna()).all()


def test_a_setting_that_is_none_and_a_damaged_judge_are_refused(vanilla, tmp_path):
    place = exported(vanilla, tmp_path)
    with pytest.raises(ValueError, match="there is no setting 'temperature'; choose from model,"):
        _load_pyfunc(str(place / "judge"), {"temperature": 1})
    with pytest.raises(ValueError, match="there is no setting 'max_call'"):
        mlflow_scorer(place, max_call=1)
    (place / "judge" / "judge.json").write_text("{}")
    with pytest.raises(SavedJudgeError):
        _load_pyfunc(str(place / "judge"))


def test_one_model_can_be_named_for_all_and_all_share_one_ledger(tmp_path):
    panel = panel_of(saved_of(model="openai/a"), saved_of(variant="coarse", model="openai/b"))
    panel.save(tmp_path / "judge")
    ledger = {"ledger": str(tmp_path / "l.sqlite")}
    with pytest.raises(InputError, match=r"did not name: openai/a at .*, openai/b at "):
        _load_pyfunc(str(tmp_path / "judge"), ledger)
    ledger |= {"allow_models": ["openai/a", "openai/b"]}
    apart = _load_pyfunc(str(tmp_path / "judge"), ledger)
    assert lm_client_of(apart.lm).ledger.path == tmp_path / "l.sqlite"
    alone = _load_pyfunc(str(tmp_path / "judge"), {"model": "offline", "concurrency": 2})
    assert alone.predict(FRAME)["score"].notna().all()


def test_a_ceiling_leaves_the_rest_unscored(vanilla, tmp_path):
    model = _load_pyfunc(str(exported(vanilla, tmp_path) / "judge"), {"max_calls": 1})
    found = model.predict(FRAME)
    assert found["score"].isna().tolist() == [False, True]
    assert found["problem"].iloc[1].startswith("not asked: ")


def test_a_judge_that_compares_is_no_scorer():
    ranking = next(one.name for one in known_families() if one.ranks)
    with pytest.raises(ValueError, match=r"compares the responses .* use mlflow\.pyfunc"):
        mlflow_scorer(saved_of(ranking))


def test_without_mlflow_its_extra_is_named(vanilla, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.delitem(sys.modules, "mlflow.genai.scorers", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[mlflow\]'"):
        mlflow_scorer(vanilla)
