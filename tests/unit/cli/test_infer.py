import csv
import json
import re
import shlex

import pytest

from judgesmith.signatures import Rubric

KEYS = {"rubric", "task", "task_type", "criteria", "provenance", "calls", "cost_usd"}
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
def test_a_rubric_is_written_that_compile_takes(run, data, folder):
    done = run("infer", data, "-o", "rubric.yaml")
    assert (done.status, done.err) == (0, "")
    rubric = Rubric.load(folder / "rubric.yaml")
    assert rubric.task_type == "summarization"
    assert 4 <= len(rubric.criteria) <= 10
    made = run("compile", data, "-o", "judge", "--rubric", "rubric.yaml", "--rounds", "2")
    assert made.status == 0, made.err


@pytest.mark.no_cover
def test_people_see_task_criteria_what_taught_them_and_what_to_edit(run, data):
    out = run("infer", data, "-o", "rubric.yaml").out
    assert "Task (summarization), from batch" in out
    assert "faithfulness, from batch" in out
    assert "Where they come from\n  batch 1: row " in out
    assert "Edit rubric.yaml: change the task and definitions" in out
    assert "Then: judgesmith compile" in out
    assert "the offline model uses the form of the texts" in out


def test_rows_are_named_by_their_number_also_where_texts_have_several_lines(run, folder):
    with (folder / "lines.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "response", "score"])
        table.writerows([f"a\nb\nc\n{n}", f"It says\n\nthat {n}.", 1 + n % 5] for n in range(20))
    done = run("infer", "lines.csv", "-o", "rubric.yaml", "--scale", "1..5")
    assert done.status == 0, done.err
    named = re.findall(r"\brow (\d+)", done.out)
    assert named
    assert all(1 <= int(number) <= 20 for number in named)


@pytest.mark.no_cover
def test_the_report_is_one_object(run, data, folder):
    done = run("infer", data, "-o", "rubric.yaml", "--json")
    assert set(done.json) == KEYS
    rubric = Rubric.load(folder / "rubric.yaml")
    assert done.json["criteria"] == {one.name: one.definition for one in rubric.criteria}
    assert done.json["provenance"] == rubric.provenance
    assert "note: after batch" in done.err


def test_provenance_names_run_data_target_rows_and_batches(run, data, folder, sample_rows):
    run("infer", data, "-o", "rubric.yaml", "--seed", "3")
    learned = Rubric.load(folder / "rubric.yaml").provenance
    assert (learned["data"], learned["target"], learned["rows"]) == ("data", "overall", 28)
    assert learned["settings"]["seed"] == 3
    for rows in (batch["rows"] for batch in learned["batches"]):
        for name in rows.values():
            number, source_id = name.removeprefix("row ").split(", ", 1)
            assert sample_rows[int(number) - 1]["source_id"] == source_id


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


def test_what_is_read_is_never_written_over(run, data):
    before = data.read_bytes()
    assert run("infer", data, "-o", data, "--force").status == 2
    assert data.read_bytes() == before
    assert run("infer", data, "-o", ".").status == 2


@pytest.mark.no_cover
def test_scores_can_be_shown_as_percent_of_the_highest_point(run, data, folder):
    first = run("infer", data, "-o", "a.yaml", "--json").json["provenance"]["run"]
    done = run("infer", data, "-o", "b.yaml", "--percent-of-max", "--json")
    assert done.json["provenance"]["run"] != first


@pytest.mark.no_cover
def test_the_next_step_can_be_copied(run, spanish, folder):
    columns = ["--map", "source=artículo,response=resumen,score=nota", "--scale", "1..5"]
    said = run("infer", spanish, "-o", "r.yaml", *columns).out
    (line,) = [one for one in said.splitlines() if one.startswith("Then: ")]
    words = shlex.split(line.removeprefix("Then: judgesmith "))
    words[words.index("JUDGE")] = "made"
    assert run(*words, "--rounds", "1").status == 0
    assert (folder / "made" / "judge.json").exists()


def test_another_seed_is_another_run(run, data):
    run("infer", data, "-o", "rubric.yaml")
    done = run("infer", data, "-o", "rubric.yaml", "--seed", "1")
    assert done.status == 2
    assert "holds a rubric from another run" in done.err


def test_a_part_can_be_left_out_or_kept(run, data, folder):
    assert run("infer", data, "-o", "a.yaml", "--without", "task").status == 0
    bare = Rubric.load(folder / "a.yaml")
    assert (bare.task, len(bare.criteria) >= 4) == ("", True)
    assert run("infer", data, "-o", "b.yaml", "--without", "criteria").status == 0
    assert Rubric.load(folder / "b.yaml").criteria == ()
    (folder / "mine.yaml").write_text("criteria:\n  brevity: Is it short?\n")
    done = run("infer", data, "-o", "c.yaml", "--keep", "mine.yaml")
    assert Rubric.load(folder / "c.yaml").names == ("brevity",)
    assert "brevity, as given" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--without", "source"], "--without takes task or criteria; got source"),
        (["--without", "task,criteria"], "nothing to infer"),
        (["--target", "beauty"], "no ratings of 'beauty'"),
        (["--max-characters", "10"], "no rated rows to infer from"),
        (["--concurrency", "3"], "there is no option --concurrency"),
    ],
)
def test_bad_options_are_refused_with_a_reason(run, data, options, said):
    done = run("infer", data, "-o", "rubric.yaml", *options)
    assert done.status == 2
    assert said in done.err


def test_a_single_batch(run, data, folder):
    run("infer", data, "-o", "rubric.yaml", "--inference", "single", "--batch-size", "4")
    learned = Rubric.load(folder / "rubric.yaml").provenance
    assert [len(batch["rows"]) for batch in learned["batches"]] == [4]


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
