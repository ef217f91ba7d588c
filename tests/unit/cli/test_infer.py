import csv
import json

import pytest

from judgesmith.signatures import Rubric

NEWS = (
    "El ayuntamiento de Sevilla aprobó el lunes la construcción de un nuevo puente sobre el río. "
    "El alcalde dijo que las obras {n} costarán doce millones de euros y que durarán dos años. "
    "Los vecinos se quejaron del ruido, pero la mayoría está a favor del proyecto porque el "
    "puente viejo fue cerrado en marzo."
)


@pytest.fixture
def spanish(folder):
    """A table with Spanish texts and Spanish column names."""
    place = folder / "datos.csv"
    with place.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["artículo", "resumen", "nota"])
        for n in range(6):
            article = NEWS.format(n=n)
            table.writerow([article, f"Sevilla aprobó un puente que costará {n} millones.", 5])
            table.writerow([article, "El puente puente de Madrid y de", 1 + n % 2])
    return place


@pytest.mark.no_cover
def test_no_row_that_compile_holds_out_is_read(run, data, folder):
    run("infer", data, "-o", "rubric.yaml", "--seed", "2")
    run("compile", data, "-o", "judge", "--seed", "2", "--rounds", "1")
    seen = json.loads((folder / "judge" / "judge.json").read_text())["seen"]
    known = {*seen["train"], *seen["select"]}
    batches = Rubric.load(folder / "rubric.yaml").provenance["batches"]
    assert batches
    assert all(set(batch["rows"]) <= known for batch in batches)


@pytest.mark.no_cover
def test_from_spanish_columns_to_a_judge_by_an_edited_rubric(run, spanish, folder):
    columns = ["--map", "source=artículo,response=resumen,score=nota", "--scale", "1..5"]
    done = run("infer", spanish, "-o", "rubrica.yaml", *columns)
    assert done.status == 0, done.err
    assert "the texts look Spanish" in done.out
    place = folder / "rubrica.yaml"
    text = place.read_text(encoding="utf-8")
    edited = text.replace("criteria:\n", "criteria:\n  brevedad: ¿Es breve el resumen?\n", 1)
    place.write_text(edited, encoding="utf-8")
    made = run("compile", spanish, "-o", "juez", "--rubric", place, *columns, "--rounds", "2")
    assert made.status == 0, made.err
    assert "brevedad" in run("show", "juez").out


def test_the_same_command_again_asks_nothing_and_leaves_the_file(run, data, folder):
    first = run("infer", data, "-o", "rubric.yaml", "--json").json
    before = (folder / "rubric.yaml").read_bytes()
    again = run("infer", data, "-o", "rubric.yaml", "--json")
    assert (first["calls"] > 5, again.json["calls"]) == (True, 0)
    assert (folder / "rubric.yaml").read_bytes() == before


def test_edits_are_never_written_over(run, data, folder):
    run("infer", data, "-o", "rubric.yaml")
    place = folder / "rubric.yaml"
    place.write_text(place.read_text().replace("task_type: summarization", "task_type: news"))
    done = run("infer", data, "-o", "rubric.yaml")
    assert done.status == 2
    assert "was edited since this run made it" in done.err
    assert run("infer", data, "-o", "rubric.yaml", "--force").status == 0
    assert Rubric.load(place).task_type == "summarization"


@pytest.mark.parametrize("content", ["task: Mine.\n", "provenance: {run: abc}\n", "not: [yaml"])
def test_another_file_is_refused_before_anything_is_asked(run, data, folder, content):
    (folder / "rubric.yaml").write_text(content)
    done = run("infer", data, "-o", "rubric.yaml", "--json")
    assert done.status == 2
    assert "--force" in done.fault["hint"]
    assert (folder / "rubric.yaml").read_text() == content
    assert not (folder / ".judgesmith").exists()


def test_a_spent_budget_writes_nothing_and_a_larger_one_goes_on(run, data, folder):
    done = run("infer", data, "-o", "rubric.yaml", "--max-calls", "4", "--json")
    assert done.status == 0
    assert (done.json["rubric"], done.json["calls"]) == (None, 4)
    assert "a larger budget continues from here" in done.err
    assert not (folder / "rubric.yaml").exists()
    rest = run("infer", data, "-o", "rubric.yaml", "--json").json["calls"]
    whole = run("infer", data, "-o", "b.yaml", "--ledger", "b.sqlite", "--json").json["calls"]
    assert 4 + rest == whole


def test_a_model_that_answers_something_else_writes_nothing_and_says_why(run, data, folder, server):
    options = ["--model", "openai/m", "--api-base", server.url]
    done = run("infer", data, "-o", "rubric.yaml", *options)
    assert done.status == 2
    assert "nothing could be inferred of the task and the criteria" in done.err
    assert not (folder / "rubric.yaml").exists()
