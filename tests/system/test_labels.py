"""Label answers pass or fail, and ask what is known of the labels and of judges that give them."""

import json

import pytest

import judgesmith
from judgesmith.cli import main

REASONS = ("invents a date", "skips the question", "names the wrong unit")


@pytest.fixture
def labelled(folder):
    """Answers to 60 questions, a third of them bad, and what two judges say of them."""
    rows, good, lazy = [], [], []
    for n in range(120):
        label = "fail" if n % 3 == 0 else "pass"
        ids = {"source_id": f"q{n // 2}", "system_id": f"s{n % 2}"}
        why = REASONS[n % 9 // 3] if label == "fail" else None
        human = {"human": {"overall": label}, "rationale": {"overall": why}}
        rows.append({**ids, "source": f"Question {n // 2}", "response": f"Answer {n}", **human})
        other = {"pass": "fail", "fail": "pass"}[label]
        said = other if n % 12 == 0 else label
        good.append({**ids, "score": 0.9 if said == "pass" else 0.2, "label": said})
        good[-1]["explanation"] = f"The answer {n} is what was asked for."
        lazy.append({**ids, "label": "pass"})
    scores = [{**one, "score": 1 - one["score"]} for one in good]
    for name, lines in (("rows", rows), ("good", good), ("lazy", lazy), ("good2", scores)):
        text = "\n".join(map(json.dumps, lines))
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def run(labelled, capsys):
    """Run a command and return its status, what it prints, and the errors."""

    def command(*words):
        capsys.readouterr()
        status = main(list(words))
        out, err = capsys.readouterr()
        return status, out, err

    return command


def test_check_speaks_of_labels(run):
    status, out, _ = run("check", "rows.jsonl")
    assert status == 0
    assert "(80 pass, 40 fail)" in out.replace("\n  ", " ")
    assert "±5 need 141 rows" in out
    assert "correlation of 0.5" not in out


def test_evaluate_says_first_what_is_stopped_and_passed(run):
    status, out, _ = run("evaluate", "good.jsonl", "rows.jsonl")
    assert status == 0
    first = out.split("\n\n")[0].replace("\n  ", " ")
    assert "stops 75% [" in first
    assert "of bad answers (TNR), passes 100% [" in first
    assert "40 fails among 120 rows" in first
    assert "rater: fail: invents a date" in out
    assert "judge: pass (0.90): The answer 0 is what was asked for." in out


def test_evaluate_as_json_has_every_wrong_label(run):
    _, out, _ = run("evaluate", "good.jsonl", "rows.jsonl", "--json")
    labels = json.loads(out)["labels"]
    assert len(labels["false_passes"]) == 10
    assert labels["false_passes"][0]["raters"][0]["rationale"] == "invents a date"
    assert labels["confusion"] == [[30, 10], [0, 80]]


def test_evaluate_calls_a_judge_useless_that_passes_everything(run):
    _, out, _ = run("evaluate", "lazy.jsonl", "rows.jsonl")
    assert "such a judge is useless" in out.replace("\n  ", " ")


def test_compare_answers_in_a_sentence(run):
    _, out, _ = run("compare", "lazy.jsonl", "good.jsonl", "rows.jsonl")
    first = out.split("\n\n")[0].replace("\n  ", " ")
    assert "good.jsonl labels better: balanced accuracy 0.875 for good.jsonl" in first
    assert "stops 75 points more" in first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "rows.jsonl", "--labels", "bad,good"], "bad, good"),
        (["evaluate", "good.jsonl", "rows.jsonl", "--positive", "great"], "--positive"),
        (["evaluate", "odd.jsonl", "rows.jsonl"], "fail, pass"),
    ],
)
def test_wrong_inputs_are_refused_in_words(run, labelled, words, message):
    row = {"source_id": "q1", "system_id": "s0", "label": "perhaps"}
    (labelled / "odd.jsonl").write_text(json.dumps(row), encoding="utf-8")
    status, _, err = run(*words)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


SPEC = """
name: labels
data: {rows: {path: rows.jsonl, targets: [overall]}}
judges:
  good: {recorded: good.jsonl, scale: 0..1}
  lazy: {recorded: lazy.jsonl, scale: 0..1}
"""


def test_experiments_rank_by_labels_and_the_page_shows_wrong_ones_with_both_words(run, labelled):
    (labelled / "spec.yaml").write_text(SPEC, encoding="utf-8")
    status, out, err = run("experiment", "spec.yaml", "-o", "run")
    assert status == 0, err
    assert "rows: overall, labels, seed 0" in out
    board = (labelled / "run" / "leaderboard.csv").read_text(encoding="utf-8").splitlines()
    assert board[0].endswith("balanced_accuracy,tnr,tpr,mcc")
    assert run("report", "run", "--spec", "spec.yaml", "-o", "page.html")[0] == 0
    page = (labelled / "page.html").read_text(encoding="utf-8")
    assert "of bad answers (TNR), passes 100%" in page
    assert "Passed, and bad for raters" in page
    assert "fail: invents a date" in page
    assert "is what was asked for." in page
    assert "such a judge is useless" in page


@pytest.mark.parametrize("objective", [None, "tnr"])
def test_compare_as_json_names_the_objective_that_was_compared(run, objective):
    words = ["--objective", objective] if objective else []
    _, out, _ = run("compare", "lazy.jsonl", "good.jsonl", "rows.jsonl", "--json", *words)
    found = json.loads(out)
    name = objective or "balanced_accuracy"
    assert found["objective"]["name"] == name
    assert found["objective"]["better"] == "b"
    assert found["objective"]["gain"] == found["labels"][name]
    assert found["objective"]["gain"]["value"] == (-0.75 if objective else -0.375)


def test_compare_refuses_a_rate_of_labels_on_ratings(run, labelled):
    lines = (labelled / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) | {"human": {"overall": 1 + n % 5}} for n, line in enumerate(lines)]
    (labelled / "rated.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ["--objective", "tpr", "--scale", "1..5"]
    status, _, err = run("compare", "good.jsonl", "good2.jsonl", "rated.jsonl", *words)
    assert status == 2
    assert "tpr counts labels, and overall has ratings on 1..5" in err.replace("\n  ", " ")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A judge that is compiled on the bundled sample of labels."""
    return judgesmith.compile(
        judgesmith.read("sample-verdicts"), judgesmith.CompileSettings(optimizer="none")
    ).saved


def test_a_card_leads_with_what_the_judge_stops_and_passes(run, labelled, compiled):
    compiled.save(labelled / "judge")
    _, out, _ = run("show", "judge")
    found = compiled.agreement.verdicts
    first = out.split("\n\n")[1]
    assert first.startswith(f"**It stops {found.heldout['tnr'].percent} of bad answers (TNR)")
    assert f"of good ones (TPR); {found.n['fail']} fails among {sum(found.n.values())}" in first
    assert out.index("| TNR |") < out.index("| dataset | pearson |")
    assert (labelled / "judge" / "README.md").read_text(encoding="utf-8") == out.rstrip("\n") + "\n"


def test_recheck_alarms_where_labels_are_wrong_that_were_right(run, labelled, compiled):
    assert {one.human_label for one in compiled.golden} == {"pass", "fail"}
    compiled.save(labelled / "judge")
    status, out, _ = run("monitor", "recheck", "judge", "--json")
    assert status == 0
    checks = {one["name"]: one for one in json.loads(out)["checks"]}
    assert {"tnr", "tpr"} <= set(checks)
    stated = compiled.agreement.verdicts.heldout["tnr"].percent
    assert f"stated TNR: {stated}" in checks["tnr"]["said"]
    other = {"pass": "fail", "fail": "pass"}
    # As if people's labels, and the judge's, had been the other ones: now all are wrong.
    golden = tuple(
        one.model_copy(
            update={
                "human_label": other[one.judgement.label],
                "judgement": one.judgement.model_copy(update={"label": other[one.judgement.label]}),
            }
        )
        for one in compiled.golden
    )
    compiled.model_copy(update={"golden": golden}).save(labelled / "turned")
    status, out, _ = run("monitor", "recheck", "turned")
    assert status == 1
    assert "TNR and TPR fell below what is stated" in out.replace("\n  ", " ")
    assert "DRIFTED  tnr: 0% of" in out


def test_mistakes_are_counted_by_criterion_and_by_the_closest_guideline(run, labelled, compiled):
    protocol = compiled.protocol
    rules = ("An answer that invents dates fails.", "Be short.")
    plain = {**protocol.rubric.model_dump(), "guidelines": [{"text": one} for one in rules]}
    rubric = type(protocol.rubric).model_validate(plain)
    taught = protocol.model_copy(update={"rubric": rubric})
    compiled.model_copy(update={"protocol": taught}).save(labelled / "judge")
    lines = (labelled / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        row["rationale"] = {"overall": "The answer invents dates."}
    (labelled / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    status, out, err = run("evaluate", "judge", "rows.jsonl", "--json")
    assert status == 0, err
    found = json.loads(out)["labels"]
    n_wrong = len(found["false_passes"]) + len(found["false_fails"])
    groups = found["mistakes"]
    assert {one["guideline"] for one in groups} == {rules[0]}
    assert sum(one["false_passes"] + one["false_fails"] for one in groups) == n_wrong
    _, out, _ = run("evaluate", "judge", "rows.jsonl")
    assert "Mistakes by criterion and closest guideline" in out
    assert "An answer that invents dates fails." in out


@pytest.mark.parametrize(
    ("option", "why", "instead"),
    [
        (["--calibrate"], "labels, which have no interval", "--abstain leaves uncertain rows"),
        (["--calls-per-item", "3"], "a threshold for labels is learned", "judgesmith panel JUDGE"),
    ],
)
def test_what_labels_have_not_is_refused_with_what_to_do_instead(run, option, why, instead):
    status, _, err = run("compile", "sample-verdicts", "-o", "judge", *option)
    assert status == 2
    assert why in err.replace("\n  ", " ")
    assert instead in err.replace("\n  ", " ")


def test_labels_with_a_backslash_go_through_compile_score_and_evaluate(run, folder):
    words = ("c:\\new", "c:\\temp\\")
    rows = [
        {
            "source_id": f"s{n}",
            "source": f"The bridge number {n} opened on Monday. Ann cut the ribbon.",
            "response": "Ann cut the ribbon when it opened." if n % 2 else "Bananas: 77.",
            "human": {"ok": [words[n % 2]]},
        }
        for n in range(60)
    ]
    (folder / "odd.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = "--positive", words[1]
    chosen = "--choose", "weighting=none"
    assert run("compile", "odd.jsonl", "-o", "odd", *said, *chosen)[0] == 0
    assert run("score", "odd", "odd.jsonl", "-o", "odd.csv")[0] == 0
    status, out, _ = run("evaluate", "odd.csv", "odd.jsonl", *said, "--json")
    assert status == 0
    found = json.loads(out)
    assert found["labels"]["labels"] == [*words]
    assert found["labels"]["tnr"]["value"] == 1
    assert run("export", "odd", "--to", "python", "-o", "odd.py")[0] == 0


@pytest.fixture
def spreadsheet(labelled):
    """The rows as a spreadsheet with headings of its own, and new rows without labels."""
    rows = list(map(json.loads, (labelled / "rows.jsonl").read_text(encoding="utf-8").splitlines()))
    wide = [("question", "answer", "model", "Ergebnis", "Kommentar")]
    for row in rows:
        label, why = row["human"]["overall"], row["rationale"]["overall"] or ""
        wide.append((row["source"], row["response"], row["system_id"], label, why))
    new = [one[:3] for one in wide[:1]] + [(f"New {n}", f"Said {n}", "s0") for n in range(30)]
    for name, table in (("wide", wide), ("new", new)):
        lines = "\n".join(",".join(cells) for cells in table)
        (labelled / f"{name}.csv").write_text(lines, encoding="utf-8")
    return "label=Ergebnis,rationale=Kommentar"


def test_a_mapped_label_is_the_overall_one(run, spreadsheet):
    status, out, _ = run("check", "wide.csv", "--map", spreadsheet, "--json")
    assert status == 0
    assert [one["name"] for one in json.loads(out)["criteria"]] == ["overall"]


def test_files_without_labels_need_no_column_of_reasons(labelled, spreadsheet):
    data = judgesmith.data.read_many(["new.csv", "wide.csv"], columns=spreadsheet)
    labels = [item.human.get("overall") for item in data]
    assert len(data) == 150
    assert labels.count(None) == 30


def test_an_experiment_reads_labels_as_commands_do(run, labelled, spreadsheet):
    text = (labelled / "wide.csv").read_text(encoding="utf-8")
    odd = text.replace(",pass,", ",gut,").replace(",fail,", ",schlecht,")
    (labelled / "odd.csv").write_text(odd, encoding="utf-8")
    spec = {
        "name": "gut?",
        "data": {"odd": {"path": "odd.csv", "map": spreadsheet, "labels": "schlecht,gut"}},
        "judges": {"verdict": {"judge": "verdict"}},
    }
    (labelled / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    status, _, err = run("experiment", "spec.yaml", "-o", "out", "--dry-run")
    assert (status, "positive" in err) == (2, True)
    spec["data"]["odd"]["positive"] = "gut"
    (labelled / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    assert run("experiment", "spec.yaml", "-o", "out", "--dry-run")[0] == 0
