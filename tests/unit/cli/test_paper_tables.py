"""The templates of papers run by name against a server, and end with published numbers."""

import csv
import gzip
import json

import loopback_offline
import pytest

from judgesmith.experiments.evaluate import agreement
from judgesmith.experiments.specs import cells_of, spec_of
from judgesmith.experiments.specs.published import published_names, read_published
from judgesmith.experiments.specs.templates import template_text
from judgesmith.signatures.plain_data import read_yaml

TEXTS = ["The mill of town {n} was closed in May.", "The mill was closed.", "the the mill  ,, and"]
CRITERIA = {
    "summeval": ["coherence", "consistency", "fluency", "relevance"],
    "qags_cnndm": ["consistency"],
    "topical_chat": ["naturalness", "coherence", "engagingness", "groundedness", "overall"],
    "sfres": ["informativeness", "naturalness", "overall"],
    "openmeva_roc": ["overall"],
    "wiki_da": ["simplicity", "fluency", "meaning"],
}
ONE_SET = {
    "active-critic": ("openmeva", ["fine", "vanilla"]),
    "dhp": ("summeval", ["g-eval", "g-eval-five"]),
    "dual-perspective": ("summeval", ["direct-5-ten", "direct-10-ten", "direct-5", "direct-10"]),
    "exemplars": ("summeval", ["exemplars-5", "exemplars-2", "direct"]),
    "openlgauge": ("summeval", ["annotator", "points", "words", "panel-5", "supervised"]),
}


@pytest.fixture(scope="module")
def model_server():
    with loopback_offline.serving() as found:
        yield found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with sets of eight sources and three texts each, under the names of the papers'."""
    folder = tmp_path_factory.mktemp("papers")
    for name, criteria in CRITERIA.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for n in range(8):
                for system, text in enumerate(TEXTS):
                    row = {
                        "source_id": str(n),
                        "system_id": str(system),
                        "source": f"The old mill of town {n} was closed in May. Nobody was hurt.",
                        "response": text.format(n=n),
                        "human": {
                            one: [4 - system + (n % 3 == k)] for k, one in enumerate(criteria)
                        },
                        "scale": {one: [1, 5] for one in criteria},
                    }
                    file.write(json.dumps(row) + "\n")
    return folder


def one_set(name):
    """Return a template with one of its sets and some of its judges, and few rounds."""
    plain = read_yaml(template_text(name))
    data, judges = ONE_SET[name]
    plain["data"] = {data: plain["data"][data]}
    plain["data"][data]["targets"] = plain["data"][data]["targets"][:1]
    if judges is not None:
        plain["judges"] = {one: plain["judges"][one] for one in judges}
        for one in plain["judges"].values():
            if "panel" in one:
                one["panel"] = [member for member in one["panel"] if member in judges]
    plain["optimizers"] = {"none": {}}
    plain.pop("leave_out", None)
    return json.dumps(plain)


@pytest.mark.parametrize("name", sorted(ONE_SET))
def test_a_papers_template_ends_with_its_table_and_resumes(
    name, run, folder, data, model_server, monkeypatch
):
    monkeypatch.setenv("JUDGESMITH_DATA", str(data))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(agreement, "N_RESAMPLES", 20)
    (folder / "spec.yaml").write_text(one_set(name), encoding="utf-8")
    command = ["experiment", "spec.yaml", "-o", "run", "--model", f"openai/m@{model_server.url}"]
    done = run(*command)
    assert done.status == 0, done.err
    asked = model_server.counts()["requests"]
    again = run(*command, "--json")
    assert (again.status, model_server.counts()["requests"]) == (0, asked)
    lines = again.json["published"]
    paper = read_published(name, folder)
    assert {line["table"] for line in lines} == {one.source for one in paper.tables}
    ours = [line for line in lines if line["ours"] is not None]
    assert ours
    known = [n["ours"] is not None for line in ours for n in line["numbers"].values()]
    assert any(known) if name == "dual-perspective" else all(known)  # few rows are unanimous
    assert {line["model"] for line in ours} <= {"openai/m", None}
    # Whatever has no number here says why.
    lacking = [one for one in lines if all(n["ours"] is None for n in one["numbers"].values())]
    assert all(line["differs"] for line in lacking)
    assert all(one["differs"] for one in ours if one["published_model"])
    assert paper.tables[0].source in done.out
    assert "published / here" in (folder / "run" / "leaderboard.md").read_text(encoding="utf-8")


def test_every_subset_of_a_panel_is_a_judge_that_asks_nothing():
    spec = spec_of(template_text("openlgauge"))
    panels = {name: one.panel for name, one in spec.judges.items() if not one.supervisor}
    panels = {name: one for name, one in panels.items() if one}
    assert len(panels) == 2**5 - 1 - 5
    assert panels["panel-5 1+3"] == ("annotator", "points-and-words")
    many = {f"j{n}": {} for n in range(11)}
    lines = json.dumps({"name": "n", "data": {"d": {"path": "sample"}}, "optimizers": ["none"]})
    judges = json.dumps({"judges": {**many, "all": {"panel": [*many], "subsets": True}}})
    with pytest.raises(ValueError, match="11 judges have 2,047 subsets"):
        spec_of(f"{lines[:-1]}, {judges[1:]}")


SUPERVISED = """
name: errors
data: {answers: {path: sample, targets: [overall], rows: 60}}
judges:
  annotator: {judge: annotator, criteria: human}
  "in words": {from: annotator, choose: {severity: words}}
  panel: {panel: [annotator, "in words"]}
  supervised: {from: panel, supervisor: same, outliers: deviation}
  by rule: {from: panel, supervisor: rule, at_least: 2}
optimizers: [none]
"""


def test_a_supervisor_merges_the_errors_of_a_panel_and_asks_its_members_nothing(
    run, folder, model_server, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(agreement, "N_RESAMPLES", 20)
    (folder / "spec.yaml").write_text(SUPERVISED, encoding="utf-8")
    model_server.reset()
    command = ["experiment", "spec.yaml", "-o", "run", "--model", f"openai/m@{model_server.url}"]
    expected = {
        one["judge"]: one["estimate"] for one in run(*command, "--dry-run", "--json").json["cells"]
    }
    assert expected["supervised"]["calls"] > 0
    assert expected["panel"] is expected["by rule"] is None
    done = run(*command, "--json")
    assert done.status == 0, done.err
    asked = model_server.counts()
    assert run(*command).status == 0
    assert model_server.counts()["requests"] == asked["requests"]
    cells = {
        name: folder / "run" / "cells" / f"answers.overall.{name}.none.openai-m.0"
        for name in ("annotator", "panel", "supervised", "by-rule")
    }
    rows = {
        name: list(map(json.loads, (place / "scores.jsonl").read_text("utf-8").splitlines()))
        for name, place in cells.items()
    }
    usage = {name: json.loads((one / "usage.json").read_text()) for name, one in cells.items()}
    with_errors = [
        len({error["criterion"] for said in row["annotations"].values() for error in said})
        for row in rows["supervised"]
    ]
    assert usage["supervised"]["calls"] == sum(with_errors) > 0
    assert usage["panel"]["calls"] == usage["by-rule"]["calls"] == 0
    for plain, merged, by_rule in zip(
        rows["panel"], rows["supervised"], rows["by-rule"], strict=True
    ):
        assert merged["score"] == pytest.approx(100 * plain["score"])
        assert set(merged["members"]) == {"annotator", "in-words"}
        found = any(merged["annotations"].values())
        assert merged["merged_by"] == ("supervisor" if found else "nobody")
        assert by_rule["merged_by"] == ("rule" if found else "nobody")
    n_drawn = (
        len(rows["panel"])
        + json.loads((cells["annotator"] / "result.json").read_text())["rows"]["select"]
    )
    assert n_drawn <= 60


def test_mistakes_about_supervisors_are_told(run, folder):
    text = SUPERVISED + "models: [offline]\n"
    text = text.replace("supervisor: same, ", "").replace("supervisor: rule", "supervisor: opena/x")
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run", "--dry-run")
    assert done.status == 2
    assert "judges.supervised.outliers: outliers says whose errors are left out" in done.err
    assert "judges.by rule.supervisor:" in done.err
    assert "did you mean openai" in done.err
    recorded = (
        "  theirs: {recorded: scores.jsonl, scale: 1..5}\n  panel: {panel: [annotator, theirs]}"
    )
    text = SUPERVISED.replace('  panel: {panel: [annotator, "in words"]}', recorded)
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run", "--dry-run")
    assert "theirs points at no errors that could be merged" in done.err


def test_experts_weights_give_a_second_d(run, folder, monkeypatch):
    monkeypatch.setattr(agreement, "N_RESAMPLES", 20)
    spec = """
name: experts
data:
  answers:
    path: sample
    targets: [[faithfulness, fluency]]
    rows: 120
    kinds: [character_typos, truncation]
    versions: 0
    expert_weights: votes.yaml
judges: {fine: {variant: fine}}
optimizers: [none]
holdout: 0.5
objective: d_min
published: numbers.yaml
"""
    numbers = "paper: P\ntables: [{source: T 1, statistics: [d_min, d_min_ew], sets: {S: {data: "
    numbers += (
        'answers, targets: ["faithfulness, fluency"], ours: fine}}, rows: {x: {values: [[1, 2]]}}}]'
    )
    (folder / "numbers.yaml").write_text(numbers, encoding="utf-8")
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    votes = "character_typos/minor: {fluency: 1, faithfulness: 0}"
    (folder / "votes.yaml").write_text(votes.replace("faith", "fath"), encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run")
    assert done.status == 2
    assert "spec.yaml:10: data.answers.expert_weights: the weights of character_typos" in done.err
    assert "got fluency and fathfulness" in done.err
    (folder / "votes.yaml").write_text(votes, encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run", "--json")
    assert done.status == 0, done.err
    (block,) = done.json["discernment"]
    (line,) = block["cells"]
    # Of few typos alone and by fluency alone.
    assert line["d_min_ew"]["value"] == line["d_avg_ew"]["value"] > 0
    (beside,) = done.json["published"]
    assert beside["numbers"]["d_min_ew"]["ours"] == line["d_min_ew"]["value"]
    assert "lowest, experts" in run("experiment", "spec.yaml", "-o", "run").out
    with (folder / "run" / "leaderboard.csv").open(encoding="utf-8") as file:
        (row,) = [one for one in csv.DictReader(file) if one["d_min"]]
    assert float(row["d_min_ew"]) == line["d_min_ew"]["value"]
    first = run("experiment", "spec.yaml", "-o", "other", "--dry-run", "--json").json["run"]
    (folder / "votes.yaml").write_text(votes.replace("1, f", "0.5, f").replace("0}", "0.5}"))
    assert run("experiment", "spec.yaml", "-o", "other", "--dry-run", "--json").json["run"] != first


def test_texts_without_ratings_are_judged_by_criteria_that_are_named(run, folder):
    spec = """
name: unrated
data:
  changed: {path: changed.jsonl, targets: [[coherence, consistency]], rows: 20, versions: 0,
    expert_weights: summarization}
judges: {direct: {judge: direct, choose: {asks: criteria}}}
optimizers: [none]
holdout: 0.5
objective: d_min
"""
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    made = ("--task", "summarization", "--kinds", "character_typos,negation", "--rows", "30")
    assert run("discern", "perturb", "sample", *made, "-o", "changed.jsonl").status == 0
    rows = map(json.loads, (folder / "changed.jsonl").read_text("utf-8").splitlines())
    unrated = "".join(json.dumps(row | {"human": {}}) + "\n" for row in rows)
    (folder / "changed.jsonl").write_text(unrated, encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run", "--json")
    assert done.status == 0, done.err
    (block,) = done.json["discernment"]
    (line,) = block["cells"]
    assert "d_min_ew" not in line  # the task's experts speak of four criteria
    (result,) = (folder / "run" / "cells").glob("*/result.json")
    cell = json.loads(result.read_text())
    assert cell["rows"]["heldout"] + cell["rows"]["select"] == 20
    found = cell["agreement"]["discernment"]
    assert found["targets"] == ["coherence", "consistency"]
    assert "fluency and relevance are not judged" in found["expert_weights"]


def test_an_optional_set_has_cells_once_its_file_is_there(folder):
    spec = spec_of(
        "{name: n, judges: {plain: {judge: direct}}, optimizers: [none], data: {answers: {path: "
        "sample}, built: {path: built/benchmark.jsonl, optional: true}}}",
        folder=folder,
    )
    assert ({one.data for one in cells_of(spec)}, [*spec.files]) == ({"answers"}, [])
    before = spec.fingerprint
    (folder / "built").mkdir()
    (folder / "built/benchmark.jsonl").write_text("", encoding="utf-8")
    assert {one.data for one in cells_of(spec)} == {"answers", "built"}
    assert spec.fingerprint != before


def test_judges_are_ranked_by_the_damage_that_they_notice(run, folder, monkeypatch):
    monkeypatch.setattr(agreement, "N_RESAMPLES", 20)
    spec = """
name: damage
data: {changed: {path: changed.jsonl, optional: true, versions: 0}}
judges:
  coarse: {variant: coarse, criteria: general}
  vanilla: {variant: vanilla}
optimizers: [none]
holdout: 0.5
objective: d_min
"""
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    missing = run("experiment", "spec.yaml", "-o", "run")
    assert missing.status == 2
    assert "make the files of changed" in missing.err
    kinds = "character_typos,truncation"
    changes = ("--kinds", kinds, "--rows", "24", "-o", "changed.jsonl")
    assert run("discern", "perturb", "sample", *changes).status == 0
    done = run("experiment", "spec.yaml", "-o", "run", "--json")
    (block,) = done.json["discernment"]
    lines = block["cells"]
    assert {line["judge"] for line in lines} == {"coarse", "vanilla"}
    lowest = [line["d_min"]["value"] for line in lines]
    assert lowest == sorted(lowest, reverse=True)
    assert lowest[0] > 0
    for line in lines:
        assert line["d_avg"]["value"] >= line["d_min"]["value"] >= 0
        assert line["weakest"] in kinds or line["weakest"].partition("/")[0] in kinds
    said = run("experiment", "spec.yaml", "-o", "run")
    assert "no cell has anything to rank" not in said.out
    assert "lowest D" in said.out
    header, *rows = (folder / "run" / "leaderboard.csv").read_text("utf-8").splitlines()
    at = header.split(",").index("d_min")
    told = [row.split(",")[at] for row in rows]
    assert [float(one) for one in told if one] == lowest
    assert run("report", "run", "-o", "page.html").status == 0
    page = (folder / "page.html").read_text("utf-8")
    assert "which judges notice the damage" in page
    assert page.count('<figure class="chart"') >= 1


def test_a_template_runs_by_its_name(run, data, monkeypatch):
    monkeypatch.setenv("JUDGESMITH_DATA", str(data))
    done = run("experiment", "start", "-o", "run", "--model", "offline", "--dry-run", "--json")
    assert done.status == 0
    assert len(done.json["cells"]) == 16


def test_every_published_number_is_of_a_set_and_a_judge_of_its_template():
    for name in published_names():
        spec = spec_of(template_text(name))
        assert spec.published == name
        for table in read_published(name, None).tables:
            for one in table.sets.values():
                assert one.why or one.data in spec.data
                assert one.ours in (None, *spec.judges)
            for row in table.rows.values():
                assert row.why or row.ours in (None, *spec.judges)


def test_numbers_of_ones_own_stand_beside_and_mistakes_in_them_are_told(run, folder):
    spec = """
name: one
data: {answers: {path: sample, targets: [overall]}}
judges: {plain: {judge: direct}}
optimizers: [none]
published: numbers.yaml
"""
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run")
    assert done.status == 2
    assert "spec.yaml:6: published: there is no published table 'numbers.yaml'" in done.err
    numbers = "paper: P\ntables: [{source: T 1, statistics: [pearson], sets: {S: {data: answers, "
    numbers += "targets: [overall]}}, rows: {theirs: {ours: plain, values: [[0.5, 1]]}}}]"
    (folder / "numbers.yaml").write_text(numbers, encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run")
    assert done.status == 2
    assert "T 1 has [1] numbers by set; 'theirs' has [2]" in done.err
    (folder / "numbers.yaml").write_text(numbers.replace("0.5, 1", "0.5"), encoding="utf-8")
    done = run("experiment", "spec.yaml", "-o", "run", "--json")
    (line,) = done.json["published"]
    assert line["numbers"]["pearson"]["published"] == 0.5
    assert -1 <= line["numbers"]["pearson"]["ours"] <= 1
    assert line["differs"] == ""
