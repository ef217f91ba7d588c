"""Exports to prompts, DSPy, MLflow and Inspect AI."""

import ast
import inspect as introspection
import json
import runpy
import sys
from importlib.util import find_spec
from types import ModuleType

import dspy
import hostile
import pandas as pd
import pytest
import yaml
from exporting import TEXTS, calibrated_of, panel_of, saved_of
from looping import for_each

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.record import SavedJudgeError
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, load_saved
from judgesmith.programs.exporting.dspy_program import DspyProgram, load_program
from judgesmith.programs.exporting.export import (
    FORMS,
    Form,
    differing,
    export_judge,
    form_of,
    verified,
)
from judgesmith.programs.exporting.inspect_scorer import SETTINGS, inspect_scorer, inspect_scoring
from judgesmith.programs.exporting.mlflow_loading import COLUMNS, MISSING, _load_pyfunc
from judgesmith.programs.exporting.mlflow_scorer import mlflow_scorer
from judgesmith.programs.exporting.prompt import Prompt
from judgesmith.programs.judging.registry import known_families
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import Judgement
from judgesmith.signatures.aggregation import Aggregation, PanelWeights
from judgesmith.signatures.fences import fence_key, fence_tag
from judgesmith.signatures.items import Demonstration
from judgesmith.signatures.judgement import CriterionScore

# exporting


class Half(Form):
    says = "half of the judge's scores"
    folder = False
    suffix = ".json"

    def check(self, saved):
        return "it is half a form" if saved.target == "mean" else None

    def write(self, saved, place):
        place.write_text(place.name)

    def judged(self, place, saved, lms):
        first, *others = [
            {"score": one.judgement.score, "problem": None, "criteria": {}} for one in saved.golden
        ]
        return [first, *({**one, "score": one["score"] / 2} for one in others)]


@pytest.fixture
def half(monkeypatch):
    module = ModuleType("half_a_form")
    module.Half = Half
    monkeypatch.setitem(sys.modules, "half_a_form", module)
    monkeypatch.setitem(FORMS, "half", "half_a_form:Half")


def test_golden_items_that_are_judged_otherwise_are_named(half, vanilla, tmp_path):
    done = export_judge(vanilla, "half", tmp_path / "half.json")
    assert (done.verified.n_items, done.verified.n_equal) == (2, 1)
    (difference,) = done.verified.differences
    assert (difference.item, difference.field) == (1, "score")
    assert difference.exported == difference.saved / 2


def test_a_file_is_written_under_its_own_name(half, vanilla, tmp_path):
    done = export_judge(vanilla, "half", tmp_path / "own.json")
    assert done.place.read_text() == "own.json"
    assert [one.name for one in tmp_path.iterdir()] == ["own.json"]


def test_a_name_without_the_ending_of_the_form_is_refused(half, vanilla, tmp_path):
    with pytest.raises(ValueError, match=r"is a file in \.json, not .*own\.txt"):
        export_judge(vanilla, "half", tmp_path / "own.txt")


def test_a_judge_that_cannot_be_carried_is_refused_with_the_forms_that_can(half, vanilla, tmp_path):
    other = vanilla.model_copy(update={"target": "mean"})
    with pytest.raises(ValueError, match=r"half cannot .*: it is half a form; choose from prompt"):
        export_judge(other, "half", tmp_path / "own.json")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced_unless_that_is_said_and_only_exports_then(vanilla, tmp_path):
    place = tmp_path / "out"
    export_judge(vanilla, "prompt", place)
    with pytest.raises(FileExistsError, match="is there already"):
        export_judge(vanilla, "prompt", place)
    export_judge(vanilla, "prompt", place, overwrite=True)
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError, match="holds no export"):
        export_judge(vanilla, "prompt", tmp_path / "mine", overwrite=True)


def test_the_same_judge_is_written_in_the_same_bytes(fine, tmp_path):
    places = [export_judge(fine, "prompt", tmp_path / name).place for name in ("a", "b")]
    first, second = (
        {one.relative_to(place): one.read_bytes() for one in place.rglob("*") if one.is_file()}
        for place in places
    )
    assert first == second
    assert b"openai.com" not in b"".join(first.values())


def test_judges_of_other_models_are_not_verified_without_being_told_to(half, vanilla, tmp_path):
    other = vanilla.model_copy(update={"model": "openai/m"})
    assert verified(Half(), tmp_path, other, None) is None


@for_each(
    ("row", "fields"),
    [
        ({}, []),
        ({"score": 3.5 + 1e-12}, []),
        ({"score": 3.6}, ["score"]),
        ({"score": None, "problem": "too long"}, ["score", "problem"]),
        ({"problem": "too long"}, ["problem"]),
        ({"criteria": {}}, ["criteria.wit"]),
        (
            {"criteria": {"wit": {"score": None}, "tone": {"score": 2}}},
            ["criteria.wit", "criteria.tone"],
        ),
    ],
)
def test_what_is_not_the_same_is_named(row, fields):
    own = Judgement(score=3.5, criteria={"wit": CriterionScore(score=2.0, explanation="w")})
    same = {"score": 3.5, "problem": None, "criteria": {"wit": {"score": 2.0}}}
    assert [one.field for one in differing(4, own, {**same, **row})] == fields


def test_no_score_for_another_reason_is_a_difference():
    (found,) = differing(4, Judgement.unscored("cut off"), {"score": None, "problem": "empty"})
    assert (found.item, found.field, found.saved, found.exported) == (
        4,
        "problem",
        "cut off",
        "empty",
    )


# prompt


def rendered(pieces, inputs, system):
    """Return the last message, made as ``messages.json`` says."""
    first = next(n for n, one in enumerate(pieces) if not isinstance(one, str) and one["fenced"])
    before = (one if isinstance(one, str) else inputs[one["placeholder"]] for one in pieces[:first])
    tag = fence_tag(
        [inputs[one["placeholder"]] for one in slots(pieces) if one["fenced"]],
        fence_key(system, "".join("(none)" if one is None else one for one in before)),
    )
    parts = []
    for one in pieces:
        text = one if isinstance(one, str) else inputs[one["placeholder"]]
        if text is None:
            text = "(none)"
        elif not isinstance(one, str) and one["fenced"]:
            text = f"<verbatim-{tag}>\n{text}\n</verbatim-{tag}>"
        parts.append(text)
    return "".join(parts)


def slots(pieces):
    return [one for one in pieces if not isinstance(one, str)]


@pytest.mark.parametrize("item", TEXTS)
def test_the_last_message_can_be_made_from_what_is_told(fine, tmp_path, item):
    place = export_judge(fine, "prompt", tmp_path / "out").place
    told = json.loads((place / "messages.json").read_text())["judge"]
    inputs = {"source": item.source, "context": item.context, "response": item.response}
    inputs["assessments"] = "- wit: 50."
    for name, template in fine.asked_questions():
        question = told["questions"][name]
        system = question["messages"][0]["content"]
        assert rendered(question["last_message"], inputs, system) == template.render(inputs)
        *fixed, last = question["messages"]
        assert [(one["role"], one["content"]) for one in fixed] == [
            (turn.role, turn.text) for turn in template.turns
        ]
        assert all(f"{{{{{one}}}}}" in last["content"] for one in question["placeholders"])


def test_settings_and_learned_numbers_are_told(tmp_path):
    learned = Aggregation(
        kind="linear", terms=("overall",), centers=(50,), spreads=(20,), weights=(1,), scale="1..5"
    )
    saved = saved_of(variant="coarse", samples=3, temperature=0.7, aggregation=learned)
    place = export_judge(saved, "prompt", tmp_path / "out").place
    told = json.loads((place / "messages.json").read_text())["judge"]
    assert told["sampling"]["answers_to_each_question"] == 3
    assert told["sampling"]["temperature"] == 0.7
    assert told["aggregation"]["weights"] == [1]
    assert (place / "prompts" / "rate.txt").is_file()


@pytest.mark.parametrize(
    ("family", "parts", "why"),
    [
        ("annotator", {}, "messages do not tell what annotator does"),
        (
            "active-critic",
            {
                "variant": "vanilla",
                "aggregation": Aggregation(
                    kind="linear",
                    terms=("lexical:words",),
                    centers=(1,),
                    spreads=(1,),
                    weights=(1,),
                ),
            },
            "lexical features",
        ),
    ],
)
def test_judges_of_which_messages_tell_too_little_are_refused(family, parts, why):
    from judgesmith.programs.features import FEATURE_INDEX

    if "aggregation" in parts:
        name = f"lexical:{next(iter(FEATURE_INDEX))}"
        parts = parts | {"aggregation": parts["aggregation"].model_copy(update={"terms": (name,)})}
    assert why in Prompt().check(saved_of(family, texts=(), **parts))


# A judge that was exported for DSPy is a program like any other, with the judge's scores.

SHOWN = {"grade": (Demonstration(inputs={"source": "a", "response": "b"}, outputs={"score": 40}),)}
JUDGES = {
    "active-critic": lambda: saved_of(samples=3, temperature=0.7),
    "with demonstrations": lambda: saved_of(
        variant="vanilla", demonstrations=SHOWN, instructions={"grade": "Grade it, and be kind."}
    ),
    "g-eval": lambda: saved_of("g-eval"),
    "panel": lambda: panel_of(a=saved_of(variant="vanilla"), b=saved_of("direct", answers="1..5")),
    "calibrated annotator": lambda: calibrated_of(saved_of("annotator")),
}


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES)
def test_the_program_judges_golden_items_as_the_judge_does(make, tmp_path):
    done = export_judge(make(), "dspy", tmp_path / "program")
    assert done.verified.differences == ()
    assert done.verified.n_equal == len(TEXTS)
    assert not [one for one in done.place.iterdir() if one.suffix in (".pkl", ".pickle")]


@pytest.fixture
def program(tmp_path, vanilla):
    return load_program(export_judge(vanilla, "dspy", tmp_path / "program").place / "program.json")


@pytest.fixture
def rated():
    """The texts as examples of DSPy, with ratings."""
    fields = ("source", "context", "response")
    return [
        dspy.Example(**{name: getattr(one, name) for name in fields}, score=score).with_inputs(
            *fields
        )
        for one, score in zip(TEXTS, (90, 20), strict=True)
    ]


def close(example, found, trace=None):
    return 0.0 if found.score is None else 1 - abs(found.score - example.score) / 100


def test_dspy_evaluates_it(program, rated):
    with dspy.context(lm=model("offline", ledger=None)):
        found = dspy.Evaluate(devset=rated, metric=close, num_threads=1, display_progress=False)(
            program
        )
    assert 50 < found.score <= 100


def test_the_file_beside_it_loads_it(vanilla, tmp_path):
    place = export_judge(vanilla, "dspy", tmp_path / "program").place
    judge = runpy.run_path(str(place / "judge.py"))["judge"]
    assert judge.protocol == vanilla.protocol
    assert str(tmp_path) not in "".join(one.read_text() for one in place.iterdir())
    assert str(place) not in sys.path


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"protocol": 1}', '{"members": {"a": 1}}'])
def test_a_file_without_a_state_is_refused(content, tmp_path):
    (tmp_path / "program.json").write_text(content)
    with pytest.raises(ValueError, match="expected the state of a judge"):
        load_program(tmp_path / "program.json")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: saved_of("pairs", texts=()), "compares the responses to a source"),
        (
            lambda: saved_of("exemplar", texts=()).model_copy(update={"roles": {"writer": "a/b"}}),
            "asks several models",
        ),
    ],
)
def test_judges_that_a_program_cannot_be_are_refused(make, why):
    assert why in DspyProgram().check(make())


def test_a_judge_that_is_worded_differently_now_is_refused(vanilla):
    question = vanilla.questions["grade"]
    turn = question.turns[0].model_copy(update={"text": "Grade."})
    other = question.model_copy(update={"turns": (turn,)})
    saved = vanilla.model_copy(update={"questions": {"grade": other}})
    assert "words the judge's questions differently" in DspyProgram().check(saved)


# What ``export --to inspect`` writes, without Inspect AI; ``test_in_inspect.py`` runs it there.


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_folder_is_a_package_around_the_judge(tmp_path):
    saved = saved_of()
    done = export_judge(saved, "inspect", tmp_path / "my_judge")
    assert (done.verified.n_equal, done.verified.n_items) == (2, 2)
    assert load_saved(done.place / "judge") == saved
    names = {name for name in files(done.place) if not name.startswith("judge/")}
    assert names == {"README.md", "__init__.py", "export.json", "requirements.txt"}
    assert b"inspect-ai>=" in files(done.place)["requirements.txt"]


@pytest.mark.parametrize("target", ["overall", '"""\nraise SystemExit\n"""', "\\", "\x1b[2J\u202e"])
def test_no_name_ends_the_words_about_the_judge(tmp_path, target):
    saved = saved_of(texts=()).model_copy(update={"target": target})
    text = (export_judge(saved, "inspect", tmp_path / "a").place / "__init__.py").read_text()
    tree = ast.parse(text)
    kinds = [type(node).__name__ for node in tree.body]
    assert kinds == ["Expr", "ImportFrom", "ImportFrom", "ImportFrom", "Assign", "FunctionDef"]
    assert all(one.isprintable() or one == "\n" for one in text)
    assert saved.fingerprint in ast.get_docstring(tree)


def test_the_scorer_takes_every_setting_and_hands_it_on(tmp_path):
    place = export_judge(saved_of(texts=()), "inspect", tmp_path / "a").place
    function = ast.parse((place / "__init__.py").read_text()).body[-1]
    taken = [one.arg for one in function.args.args]
    handed = {
        one.arg
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "inspect_scoring"
        for one in node.keywords
    }
    assert set(taken) == handed == {"source", "context", *SETTINGS}
    assert set(introspection.signature(inspect_scoring).parameters) >= {"source", "context"}


def test_judges_that_compare_are_refused():
    saved = saved_of("pairs", texts=())
    assert "compares the responses" in form_of("inspect").check(saved)
    with pytest.raises(ValueError, match="cannot be a scorer: it compares"):
        inspect_scoring(saved)


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="the library is here")
def test_without_the_library_the_extra_is_named():
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[inspect\]'"):
        inspect_scorer(saved_of(texts=()))


# An exported MLflow model judges as the judge does, by what MLflow loads it with.

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


def panel_of_mlflow_model(*judges):
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
    panel = panel_of_mlflow_model(
        saved_of(model="openai/a"), saved_of(variant="coarse", model="openai/b")
    )
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
