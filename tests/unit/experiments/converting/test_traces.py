"""Traces and logs that tools wrote become rated rows, by the assessor that is asked for."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from judgesmith.cli.main import main
from judgesmith.data.convert import convert
from judgesmith.errors import InputError

MADE = Path(__file__).parents[3] / "system" / "traces"
BEFORE = (
    "system: You sell lamps.\nuser: What does delivery cost?\nassistant: Nothing above 50 euros."
)
OF_EACH = {
    "mlflow": ["mlflow_traces.jsonl"],
    "langfuse": ["langfuse_scores.jsonl", "langfuse_observations.jsonl"],
    "phoenix": ["phoenix_spans.jsonl", "phoenix_annotations.jsonl"],
    "inspect": ["inspect.json"],
    "openai-evals": ["evals_modelgraded.jsonl"],
    "promptfoo": ["promptfoo.json"],
}


@pytest.fixture
def rows_of(tmp_path):
    """Convert files by the names of those on hand, or by path; return the rows."""

    def run(name, *files, **options):
        out = tmp_path / "rows.jsonl"
        made = convert(name, [MADE / one for one in files], out, **options)
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        return {(row["response"], row.get("system_id")): row for row in rows}, made

    return run


def by_response(rows):
    return {response: row for (response, _), row in rows.items()}


@pytest.mark.parametrize("files", [["mlflow_traces.jsonl"], ["mlflow_search.csv"]])
def test_mlflow_keeps_what_people_said_last(rows_of, files):
    rows, made = rows_of("mlflow", *files)
    rows = by_response(rows)
    first = rows["Yes, within 30 days."]
    assert first["human"] == {"correct": [False, True]}
    assert first["raters"] == {"correct": ["ben@shop.example", "anna@shop.example"]}
    assert first["rationale"]["correct"][0] == "It leaves out the receipt."
    assert (first["source"], first["context"]) == ("Can I return a lamp?", None)
    second = rows["Delivery is always free."]
    assert (second["human"], second["references"]) == ({"correct": [False]}, ["Above 50 euros."])
    third = rows["Then it is 4 euros."]
    assert (third["source"], third["context"]) == ("And for 20?", BEFORE)
    assert third["human"] == {"tone": [4]}
    assert made.left_out == {
        "assessments by models (--assessor llm takes these)": 2,
        "assessments by code (--assessor code takes these)": 1,
        "assessments that later ones replaced": 1,
    }


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_langfuse_joins_scores_with_observations(rows_of, ending):
    files = [f"langfuse_scores.{ending}", f"langfuse_observations.{ending}"]
    rows, made = rows_of("langfuse", *files)
    rows = by_response(rows)
    assert rows["Yes, within 30 days."]["human"] == {"correct": [True, False]}
    assert rows["Yes, within 30 days."]["raters"] == {"correct": ["anna", "ben"]}
    assert rows["Then it is 4 euros."]["human"] == {"tone": ["curt"]}
    assert rows["Then it is 4 euros."]["context"] == BEFORE
    assert made.left_out["scores of no trace, such as those of a session"] == 1
    rows, _ = rows_of("langfuse", *reversed(files), assessor="llm")
    assert [row["human"] for row in rows.values()] == [{"correct": [True]}]
    assert [row["assessor"] for row in rows.values()] == ["llm"]


@pytest.mark.parametrize(
    "files",
    [
        ["phoenix_spans.jsonl", "phoenix_annotations.jsonl"],
        ["phoenix_annotations.csv", "phoenix_spans.parquet"],
    ],
)
def test_phoenix_joins_annotations_with_spans(rows_of, files):
    rows, _ = rows_of("phoenix", *files)
    rows = by_response(rows)
    assert rows["Yes, within 30 days."]["human"] == {"correct": ["fail", "pass"]}
    assert rows["Yes, within 30 days."]["raters"] == {"correct": ["ben", "anna"]}
    assert rows["Delivery is always free."]["human"] == {"correct": ["fail"]}
    assert rows["Then it is 4 euros."]["human"] == {"tone": [4]}
    assert rows["Then it is 4 euros."]["context"] == BEFORE


def packed(log, path):
    """Write a log as the .eval file that Inspect made before it took to Zstandard."""
    document = json.loads(log.read_text("utf-8"))
    samples = document.pop("samples")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for one in samples:
            file.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
        file.writestr("header.json", json.dumps(document))
    return path


@pytest.mark.parametrize("form", ["json", "eval"])
def test_inspect_tells_edits_by_people_from_scorers(rows_of, tmp_path, form):
    log = (
        MADE / "inspect.json"
        if form == "json"
        else packed(MADE / "inspect.json", tmp_path / "a.eval")
    )
    rows, _ = rows_of("inspect", log)
    rows = by_response(rows)
    lamp = rows["Yes, within 30 days."]
    assert lamp["human"] == {"model_graded_qa": ["P"]}
    assert (lamp["labels"], lamp["ordered"]) == ({"model_graded_qa": ["I", "P", "C"]}, True)
    assert lamp["raters"] == {"model_graded_qa": ["anna"]}
    assert rows["4 euros."]["references"] == ["4 euros", "4 EUR"]
    assert (rows["4 euros."]["source"], rows["4 euros."]["context"]) == ("And for 20?", BEFORE)
    rows, _ = rows_of("inspect", log, assessor="llm")
    graded = {response: row["human"] for response, row in by_response(rows).items()}
    assert graded["Yes, within 30 days."] == {"model_graded_qa": ["C"]}  # before the edit
    rows, _ = rows_of("inspect", log, assessor="code")
    assert {tuple(row["human"]["includes"]) for row in rows.values()} == {("C",), ("I",)}


def test_an_inspect_log_that_cannot_be_unpacked_says_how_to_get_one(rows_of):
    with zipfile.ZipFile(MADE / "inspect.eval") as log:
        try:
            log.read("header.json")
        except NotImplementedError:
            with pytest.raises(InputError, match="inspect log convert"):
                rows_of("inspect", "inspect.eval")
            return
    rows, _ = rows_of("inspect", "inspect.eval")  # where Python unpacks Zstandard
    assert len(rows) == 3


def test_evals_have_no_people(rows_of):
    with pytest.raises(InputError, match="assessed by people"):
        rows_of("openai-evals", "evals_includes.jsonl")
    rows, _ = rows_of("openai-evals", "evals_includes.jsonl", assessor="code")
    assert by_response(rows)["Delivery is always free."]["human"] == {"match": [False]}
    rows, _ = rows_of("openai-evals", "evals_modelgraded.jsonl", assessor="llm")
    graded = by_response(rows)["Delivery is always free."]
    assert graded["human"] == {"choice": ["N"], "score": [0]}
    assert graded["rationale"]["choice"] == ["It contradicts.\nN"]
    rows, _ = rows_of("openai-evals", "openai_output_items.jsonl", assessor="llm")
    item = by_response(rows)["Delivery is always free."]
    assert item["human"] == {"correct": [False]}
    assert item["rationale"] == {"correct": ["Only above 50 euros."]}


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_promptfoo_tells_ratings_from_assertions(rows_of, ending):
    rows, _ = rows_of("promptfoo", f"promptfoo.{ending}")
    free = rows["Delivery is always free.", "shop-1"]
    assert (free["source"], free["human"]) == ("Is delivery free?", {"overall": [False]})
    assert free["rationale"] == {"overall": ["Only above 50 euros, says our page."]}
    assert len(rows) == 3
    rows, made = rows_of("promptfoo", f"promptfoo.{ending}", assessor="llm")
    assert rows["Delivery is always free.", "shop-1"]["human"] == {"correct": [False]}
    assert (made.n_rows, len(made.sources), len(made.systems)) == (4, 2, 2)


def test_only_traces_have_assessors(rows_of, tmp_path):
    with pytest.raises(InputError, match="no ratings by models in hanna"):
        rows_of("hanna", tmp_path / "x.csv", assessor="llm")


@pytest.mark.parametrize(
    ("name", "files", "said"),
    [
        (
            "langfuse",
            {"a.jsonl": '{"name": "x", "value": 1, "source": "EVAL"}'},
            "also the file of",
        ),
        ("phoenix", {"a.jsonl": '{"annotator_kind": "HUMAN", "span_id": "1"}'}, "also the file of"),
        ("phoenix", {"a.jsonl": '{"name": "x"}'}, "a.jsonl:1: id: expected the id"),
        ("mlflow", {"a.json": "[1, {}]"}, "entry: expected an object"),
        ("mlflow", {"a.jsonl": '{"info": {}}'}, "a.jsonl:1: trace_id"),
        ("mlflow", {"a.jsonl": "{broken"}, "one JSON object"),
        ("inspect", {"a.eval": "PK no zip"}, "a whole log"),
        ("inspect", {"a.json": '{"version": 9, "samples": [{"id": 1}]}'}, "version 1 or 2"),
        ("inspect", {"a.json": "[]"}, "at least one row"),
        ("promptfoo", {"a.json": '{"results": {"version": 7, "results": []}}'}, "version 1 to 4"),
        ("promptfoo", {"a.json": '{"results": []}'}, "results.results"),
        ("openai-evals", {"a.jsonl": '{"x": 1}'}, "an event of the evals recorder"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_place(tmp_path, capsys, name, files, said):
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    out = tmp_path / "out.jsonl"
    paths = [str(tmp_path / file) for file in files]
    assert main(["data", "convert", name, *paths, "-o", str(out)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def damaged(value, junk):
    """Yield a document with each of its values in turn replaced by something else."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield {**value, name: junk}
            yield {k: v for k, v in value.items() if k != name}
            yield from ({**value, name: other} for other in damaged(one, junk))
    elif isinstance(value, list):
        for at, one in enumerate(value[:2]):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in damaged(one, junk))


@pytest.mark.parametrize("name", sorted(OF_EACH))
@pytest.mark.parametrize("junk", [None, 7, "\ud800", [], {"a": [1]}, float("inf")])
def test_any_damage_is_rows_or_faults(tmp_path, name, junk):
    for damaged_file in OF_EACH[name]:
        for one in OF_EACH[name]:
            shutil.copy(MADE / one, tmp_path / one)
        path = tmp_path / damaged_file
        text = path.read_text("utf-8")
        lines = [text] if path.suffix == ".json" else text.splitlines()
        for at, line in [(at, line) for at, line in enumerate(lines)][:3]:
            others = list(damaged(json.loads(line), junk))
            for other in others[:: max(1, len(others) // 7)]:
                path.write_text("\n".join([*lines[:at], json.dumps(other), *lines[at + 1 :]]))
                for assessor in ("human", "llm"):
                    out = tmp_path / "out.jsonl"
                    out.unlink(missing_ok=True)
                    try:
                        files = [tmp_path / each for each in OF_EACH[name]]
                        made = convert(name, files, out, assessor=assessor)
                    except InputError:
                        assert not out.exists()
                    else:
                        assert len(out.read_text("utf-8").splitlines()) == made.n_rows > 0


def test_nothing_by_whom_is_asked_for_is_a_refusal(rows_of):
    with pytest.raises(InputError, match="assessed by code"):
        rows_of("phoenix", "phoenix_spans.jsonl", assessor="code")


def test_what_is_converted_is_checked(tmp_path, capsys):
    out = str(tmp_path / "rows.jsonl")
    assert main(["data", "convert", "mlflow", str(MADE / "mlflow_traces.jsonl"), "-o", out]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "left out: assessments by models (--assessor llm takes these): 2" in said
    assert main(["check", out, "--scale", "tone=1..5", "--json"]) == 0
    # The two people differ on one answer: a tie, without a label.
    correct, tone = json.loads(capsys.readouterr().out)["criteria"]
    assert (correct["name"], correct["scale"], correct["n_rated"]) == ("correct", "false|true", 1)
    assert (tone["name"], tone["n_rated"]) == ("tone", 1)
