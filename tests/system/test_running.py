"""Run experiments and ablations, make panels and benchmarks, convert public data."""

import csv
from pathlib import Path

import pytest
from benchmark_texts import rows

SPEC = """\
name: a small grid
data: {answers: {path: unseen.jsonl, targets: [overall]}}
judges:
  plain: {judge: direct, rubric: rubric.yaml}
  coarse: {variant: coarse, rubric: rubric.yaml}
  both: {panel: [plain, coarse]}
  ours: {saved: direct}
  theirs: {recorded: recorded.jsonl, scale: 0..100}
optimizers: {none: {}, random: {demonstrations: 2, rounds: 1}}
leave_out: [{judge: plain, optimizer: random}, {judge: [ours, theirs], optimizer: random}]
seeds: [0, 1]
holdout: 0.5
perspectives: [global]
"""
RUBRIC = """\
task: Judge a short answer to a notice.
criteria:
  faithfulness: Is all of it in the source?
  fluency: Is it well written?
"""


@pytest.fixture
def spec(story, unseen, judge):
    story.write("rubric.yaml", RUBRIC)
    story.write("spec.yaml", SPEC)
    name = judge("direct")
    story.run("score", name, unseen, "-o", "recorded.jsonl")
    return "spec.yaml"


def test_experiment(story, spec):
    story.run("experiment", spec, "-o", "run", "--dry-run", "--json")
    story.run("experiment", spec, "-o", "run", "--record", "tape.jsonl.gz")
    story.run("experiment", spec, "-o", "run", "--json")
    story.run("report", "run", "-o", "page.html", "--no-figures")
    story.run("report", "run", "-o", "page.html", "--no-figures", "--force", "--json")
    story.run("experiment", spec, "-o", "again", "--replay", "tape.jsonl.gz", "--json")


def test_experiment_by_two_workers(story, spec):
    story.write("spec.yaml", SPEC.replace("seeds: [0, 1]", "seeds: [0]"))
    story.run("experiment", spec, "-o", "run", "--workers", "2", only="leaderboard.json", out=False)


def test_experiment_within_a_budget(story, spec):
    story.write("spec.yaml", SPEC + "budget: {calls: 30}\n")
    story.run("experiment", spec, "-o", "run", "--json")
    story.write("spec.yaml", SPEC.replace("judge: direct", "judge: dirct"))
    story.run("experiment", spec, "-o", "run", "--json")


def test_init(story):
    for name in ("start", "active-critic", "dhp", "dual-perspective", "exemplars", "openlgauge"):
        story.run("init", f"{name}.yaml", "--template", name, "--json")
    story.run("init", "replay.yaml", "--template", "replay")
    story.run("init", "start.yaml", "--json")
    story.run("experiment", "start.yaml", "-o", "run", "--dry-run", "--json")


def test_ablate(story, data):
    rows = ["--rows", "vanilla,coarse,without-mcs", "--rounds", "1"]
    story.run("ablate", data, "-o", "parts", *rows, "--dry-run", "--json")
    story.run("ablate", data, "-o", "parts", *rows)
    story.run("ablate", data, "-o", "parts", *rows, "--json", whole=True)


def test_panel(story, judge, unseen):
    names = [judge("direct"), judge("annotator"), judge("vanilla")]
    story.run("panel", *names, unseen, "-o", "panel", "--dry-run", "--json")
    story.run("panel", *names, unseen, "-o", "panel")
    story.run("panel", *names, unseen, "-o", "panel", "--json", whole=True)
    story.run("panel", *names, unseen, "-o", "mean", "--score", "mean", "--subsets", "--json")
    merged = ["--supervisor", "same", "--outliers", "none", "--objective", "spearman"]
    story.run("panel", *names[:2], unseen, "-o", "merged", *merged, "--json")
    story.run("score", "merged", unseen, "-o", "scores.jsonl", "--json")
    story.run("show", "panel")
    story.run("compare", "panel", names[0], unseen, "--json")


@pytest.fixture
def articles(story):
    """Four articles with references and rated summaries."""
    found = [item.model_dump(mode="json", exclude={"extra"}) for item in rows(("fluency",))]
    for row in found:
        row |= {"scale": {"fluency": [1, 3]}, "task": "summarization"}
    return story.rows("articles.jsonl", found).name


def test_benchmark_local(story, articles, judge):
    small = ["--perspective", "local", "--sources", "3", "--steps", "3"]
    story.run("benchmark", articles, "-o", "bench", *small, "--dry-run", "--json")
    story.run("benchmark", articles, "-o", "bench", *small)
    story.run("benchmark", articles, "-o", "bench", *small, "--json", whole=True)
    story.run("check", "bench/benchmark.jsonl", "--json")
    local = ["--perspective", "local", "--json"]
    story.run("evaluate", judge(), "bench/benchmark.jsonl", *local)
    story.run("evaluate", judge("pairs"), "bench/benchmark.jsonl", *local, "--target", "fluency")


def test_benchmark_global(story, articles, judge):
    few = ["--sources", "3", "--candidates", "1", "--per-rating", "1", "--samples", "1"]
    options = ["--perspective", "global", *few, "--anchors", "1", "--criteria", "fluency"]
    story.run("benchmark", articles, "-o", "bench", *options, "--dry-run", "--json")
    story.run("benchmark", articles, "-o", "bench", *options, "--json", whole=True)
    name = judge()
    story.run("evaluate", name, "bench/benchmark.jsonl", "--perspective", "global", "--json")
    story.run("evaluate", name, "bench/benchmark.jsonl", "--perspective", "global")
    with (story.folder / "bench" / "spot_check.csv").open(encoding="utf-8-sig") as file:
        asked = list(csv.DictReader(file))
    empty = [key for key in asked[0] if not asked[0][key]]
    with (story.folder / "ann.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(asked[0]))
        table.writeheader()
        table.writerows(row | dict.fromkeys(empty, "1") for row in asked)
    story.run("benchmark", "bench", "--spot-check", "ann.csv", "--json")


PUBLISHED = Path(__file__).parent / "published"
"""A few lines of each public set, as it is published."""


@pytest.mark.parametrize("name", sorted(one.name for one in PUBLISHED.iterdir()))
def test_data_convert(story, name):
    files = []
    for path in sorted((PUBLISHED / name).iterdir()):
        files.append(story.write(path.name, path.read_text(encoding="utf-8")).name)
    story.run("data", "convert", name, *files, "-o", "rated.jsonl", "--json")
    story.run("check", "rated.jsonl", "--json")


def test_data(story):
    story.run("data", "list")
    story.run("data", "list", "--json")
    text = (PUBLISHED / "qags-xsum" / "mturk_xsum.jsonl").read_text(encoding="utf-8")
    story.write("mturk_xsum.jsonl", text)
    story.run("data", "convert", "qags_xsum", "mturk_xsum.jsonl", "-o", "rated.jsonl")
    story.run("data", "convert", "qags_xsum", "mturk_xsum.jsonl", "-o", "rated.jsonl")
    story.run("data", "convert", "qags_xsum", "mturk_xsum.jsonl", "-o", "rated.jsonl", "--force")
    story.run("data", "convert", "qags-cnndm", "mturk_xsum.jsonl", "-o", "none.jsonl", "--json")
    story.run("data", "convert", "nothing", "mturk_xsum.jsonl", "-o", "none.jsonl", "--json")
