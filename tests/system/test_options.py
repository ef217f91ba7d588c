"""The options that no other story takes, each in the work that it is for."""

import json

import loopback_batches
import pytest

RUBRIC = """\
task: Judge a short answer to a notice.
criteria:
  faithfulness: Is all of it in the source?
  fluency: Is it well written?
"""
RULED = ["--rubric", "rubric.yaml"]


@pytest.fixture
def rubric(story):
    """Criteria of one's own."""
    return story.write("rubric.yaml", RUBRIC).name


@pytest.fixture
def texts(story, sample_rows):
    """A few texts to judge."""
    return story.rows("texts.jsonl", sample_rows[:12]).name


def test_infer_from_less(story, data):
    story.run(
        *("infer", data, "-o", "rubric.yaml", "--aggregate", "median", "--max-characters", "6000"),
        *("--split-rows", "--holdout", ".5", "--json"),
    )
    story.run("infer", data, "-o", "rubric.yaml", "--inference", "single", "--force", "--json")


COMPILED = {
    "aggregate": ["--aggregate", "mode", "--target", "fluency", "--optimizer", "none"],
    "unscored": ["--max-unscored", "0", "--no-lexical", "--rounds", "1", "--variant", "coarse"],
    "tokens": ["--answer-tokens", "60", "--optimizer", "none", "--variant", "coarse"],
    "role": [
        *("--judge", "exemplar", "--choose", "levels=2", "--choose", "asks=overall"),
        *("--role", "writer=offline", "--optimizer", "none"),
    ],
    "versions": [
        *("--objective", "d_avg - false_alarms", "--task", "summarization", "--versions", "2"),
        *("--kinds", "negation,padding", "--variant", "coarse", "--rounds", "1"),
    ],
    "storage": [
        *("--judge", "direct", "--optimizer", "protocol", "--trials", "2"),
        *("--storage", "sqlite:///study.db"),
    ],
    "percent": ["--demonstrations", "2", "--rounds", "1", "--percent-of-max", "--split-rows"],
}


@pytest.mark.parametrize("way", COMPILED)
@pytest.mark.usefixtures("rubric")
def test_compile_with(story, data, way):
    story.run("compile", data, "-o", "judge", *RULED, *COMPILED[way], "--json")


@pytest.mark.usefixtures("rubric")
def test_compile_with_models_that_compete(story, data, on_server):
    options = ["--judge", "direct", "--optimizer", "protocol", "--trials", "3", "--holdout", ".3"]
    models = ["--models", "openai/n", "--price", "openai/m=1,2", "--price", "openai/n=3,4"]
    budget = ["--max-tokens", "900000", "--max-minutes", "5", "--concurrency", "4"]
    limits = ["--rpm", "60000", "--tpm", "9000000", "--only-host", "127.0.0.1"]
    story.plain.passing |= {"content_hash", "run"}
    command = ["compile", data, "-o", "judge", *RULED, *options, *models, *on_server]
    story.run(*command, *budget, *limits, "--json", only="none")


def test_ablate_in_part(story, data):
    story.run(
        *("ablate", data, "-o", "parts", "--rows", "vanilla", "--target", "fluency", "--json"),
        *("--aggregate", "median", "--holdout", ".5", "--demonstrations", "2", "--rounds", "1"),
        *("--seed", "2"),
    )


def test_panel_in_part(story, judge, unseen):
    story.run(
        *("panel", judge("direct"), judge("vanilla"), unseen, "-o", "panel", "--no-texts"),
        *("--target", "fluency", "--aggregate", "median", "--holdout", ".4", "--seed", "3"),
        "--json",
    )


def test_score_in_batches(story, judge, texts):
    name = judge("vanilla")
    model = ["--model", "openai/m", "--api-base", "http://127.0.0.1:9/v1"]
    files = ["--batch-files", "asked"]
    (story.folder / "asked").mkdir()
    story.run("score", name, texts, "-o", "scores.jsonl", *model, *files, "--json", only="none")
    asked = sorted((story.folder / "asked").glob("*.jsonl"))
    story.keep("files", [one.suffix for one in asked])


@pytest.fixture(scope="module")
def batch_server():
    """A server that answers in batches, too."""
    with loopback_batches.serving() as server:
        yield server


def test_score_in_batches_of_a_server(story, judge, texts, batch_server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    batch_server.script({"answer": "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"})
    model = ["--model", "openai/m", "--api-base", batch_server.url]
    batches = ["--batch", "--poll", "0.001"]
    story.plain.passing |= {"run"}
    story.run("score", judge("direct"), texts, "-o", "scores.jsonl", *model, *batches, "--json")
    counts = batch_server.batch_counts()
    story.keep("batches", [one["status"] for one in counts["batches"]])


FAULTS = {
    "unreadable": {"answer": "I would rather not say."},
    "empty": {"answer": ""},
    "cut off": {"answer": "[[ ## score ## ]]\n7", "finish_reason": "length"},
    "out of range": {"answer": "[[ ## score ## ]]\n700\n\n[[ ## completed ## ]]"},
    "refused": {"status": 400, "body": '{"error": {"message": "no such thing"}}'},
    "too long": {
        "status": 400,
        "body": '{"error": {"message": "too long", "code": "context_length_exceeded"}}',
    },
    "filtered": {"answer": "", "finish_reason": "content_filter"},
    "busy, then well": {"status": 429, "retry_after": 0, "times": 2},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_score_with_answers_of_no_use(story, judge, server, on_server, sample_rows, fault):
    story.rows("texts.jsonl", sample_rows[:3])
    server.script(FAULTS[fault], {"answer": "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"})
    name = judge("direct")
    story.run("score", name, "texts.jsonl", "-o", "scores.jsonl", *on_server, only="none")
    rows = (story.folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    said = [json.loads(row) for row in rows]
    story.keep("scores", [row["score"] for row in said])
    story.keep("problems", [row["problem"] and story.plain.text(row["problem"]) for row in said])


def test_score_once_more_what_could_not_be_read(story, judge, server, on_server, texts):
    server.script({"answer": "I would rather not say.", "times": 8})
    options = ["-o", "scores.jsonl", *on_server, "--concurrency", "1", "--max-unscored", "1"]
    story.plain.passing |= {"run"}
    name = judge("direct")
    story.run("score", name, texts, *options, "--json")
    story.run("score", name, texts, *options, "--retry-unscored", "--json")


def test_score_needs_leave_for_another_model(story, judge, server, on_server, texts):
    story.run(
        "score", judge("direct"), texts, "-o", "a.jsonl", *on_server, "--only-host", "b.example"
    )
    story.run(
        *("compile", texts, "-o", "judge", "--judge", "direct", "--optimizer", "none"),
        *("--holdout", "0", *on_server),
        only="none",
        out=False,
    )
    story.run("score", "judge", texts, "-o", "b.jsonl", "--json")
    allowed = ["--allow-model", "openai/m", "--api-base", server.url]
    story.run("score", "judge", texts, "-o", "b.jsonl", *allowed, "--json", only="none", out=False)


def test_scores_beside_another_criterion(story, judge, data):
    name = judge()
    story.run("score", name, data, "-o", "scores.jsonl", text=False)
    fluency = ["--target", "fluency", "--criterion", "fluency"]
    story.run("evaluate", "scores.jsonl", data, *fluency, "--json")
    story.run("compare", "scores.jsonl", judge("vanilla"), data, "--seed", "4", "--json")
    local = ["--perspective", "global", "--samples", "2", "--target", "fluency"]
    story.run(
        "evaluate", name, data, *local, "--answers", "1..5", "--aggregate", "median", "--json"
    )


def test_perturb_in_part(story, texts):
    story.run(
        *(
            "perturb",
            texts,
            "-o",
            "a.jsonl",
            "--kinds",
            "character_typos/minor,additions",
            "--json",
        ),
        *("--amount", "character_typos/minor=2", "--originals", "responses", "--seed", "4"),
    )
    story.run("perturb", texts, "-o", "b.jsonl", "--task", "summarization", "--dry-run", "--json")


def test_discern_in_part(story, judge, texts):
    weights = "negation: {faithfulness: 1, fluency: 0}\n"
    weights += "character_typos: {faithfulness: .2, fluency: .8}\n"
    story.write("weights.yaml", weights)
    name = judge("active-critic")
    story.run(
        *("discern", name, texts, "--kinds", "negation,character_typos", "--sample", "6"),
        *("--weights", "weights.yaml", "--samples", "2", "--temperature", ".5", "--seed", "3"),
        "--json",
    )
    story.run("score", name, texts, "-o", "scores.jsonl", text=False)
    story.run("discern", name, texts, "--task", "summarization", "--weights", "none", "--json")


def test_benchmark_by_rules_of_ones_own(story, judge, sample_rows):
    rows = [
        {**row, "references": [row["source"][: row["source"].find(".", 90) + 1]]}
        for row in sample_rows[:9]
    ]
    story.rows("articles.jsonl", rows)
    story.write("rubric.yaml", RUBRIC)
    made = ["benchmark", "articles.jsonl", "--perspective", "local", "--steps", "2", "--json"]
    story.run(*made, "-o", "a", *RULED, "--criteria", "fluency", "--seed", "2", "--references", "2")
    sides = ["--sub-aspects", "a/sub_aspects.yaml", "--role", "injector=offline"]
    story.run(*made, "-o", "b", *RULED, *sides, "--sources", "2")


def test_drift_that_is_tolerated(story, judge, data):
    name = judge("vanilla")
    story.run("score", name, data, "-o", "scores.jsonl", text=False)
    tolerant = ["--tolerance", ".9", "--share-tolerance", ".5", "--seed", "2"]
    story.run("drift", name, "scores.jsonl", *tolerant, "--json")
    story.run(
        "recheck", name, "--samples", "2", "--confidence", ".8", "--max-unscored", ".2", "--json"
    )


def test_small_things(story, judge, texts, data):
    story.run("score", judge(), texts, "-o", "scores.jsonl", text=False)
    story.run("sheet", "write", "scores.jsonl", texts, "-o", "s.csv", "--rows", "3", "--seed", "1")
    story.run(
        "distil", data, judge("annotator"), "-o", "d", "--unresolved", "1", "--seed", "1", "--json"
    )
    recipe = ["--batch", "2", "--epochs", "2", "--rank", "8", "--steps", "3"]
    story.run("finetune", "d", "--base", "own/x", "-o", "a", *recipe, "--dry-run", "--json")
    story.run(
        "suggest",
        judge("direct"),
        data,
        "--rate",
        "tone=1..5",
        "-n",
        "3",
        "-o",
        "r.csv",
        "--seed",
        "5",
    )
    story.run("export", "direct", "--to", "prompt", "-o", "p", "--verify", "--json")
    story.run("export", judge("vanilla"), "--to", "python", "-o", "p.py", "--verify", "--json")
    story.run("export", "direct", "--to", "prompt", "-o", "p", "--json")
    story.run("export", "direct", "--to", "prompt", "-o", "p", "--force", "--json")
    story.run("init", "spec.yaml")
    story.run("init", "spec.yaml", "--force")


@pytest.mark.usefixtures("rubric")
def test_report_of_a_specification_elsewhere(story, unseen):
    spec = f"name: small\ndata: {{a: {{path: {unseen}, targets: [overall]}}}}\n"
    spec += "judges: {plain: {judge: direct, rubric: rubric.yaml}}\noptimizers: {none: {}}\n"
    story.write("spec.yaml", spec)
    story.run("experiment", "spec.yaml", "-o", "run", only="leaderboard.*", text=False)
    story.run(
        "report",
        "run",
        "-o",
        "page.html",
        "--spec",
        "spec.yaml",
        "--figures",
        only="none",
        out=False,
    )
