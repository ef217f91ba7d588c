"""Judges of every family through the commands."""

import json
from pathlib import Path

import pytest

from judgesmith.cli import main
from judgesmith.programs import SavedJudge

# Judges of every family go through the same commands.

AS_IT_IS = ["--optimizer", "none", "--criteria", "general"]


def protocol(folder, out="judge"):
    return json.loads((folder / out / "judge.json").read_text())["protocol"]


@pytest.mark.parametrize(
    ("judge", "option", "text", "said"),
    [
        ("g-eval", "--steps", "fluenci: [Look.]", "steps for 'fluenci', which is not a criterion"),
        ("g-eval", "--steps", "fluency: 3", "expected a list of steps for fluency; got '3'"),
        ("g-eval", "--steps", "- Look.", "expected steps by criterion"),
        ("g-eval", "--steps", "fluency: ['<verbatim-0>']", "without markers of the prompt layout"),
        ("g-eval", "--steps", "\xff", "in UTF-8"),
        ("checklist", "--questions", "fluency: [Is it]", "must end with a question mark"),
        ("checklist", "--steps", "fluency: [Look.]", "does not apply to a checklist judge"),
        ("direct", "--questions", "fluency: [Is it?]", "does not apply to a direct judge"),
    ],
)
def test_what_are_no_steps_or_questions_is_refused(run, data, folder, judge, option, text, said):
    (folder / "own.yaml").write_text(text, encoding="latin-1")
    options = ["--judge", judge, "--optimizer", "none", "--criteria", "general"]
    ended = run("compile", data, "-o", "judge", *options, option, "own.yaml")
    assert ended.status == 2
    assert said in " ".join(ended.err.split())
    assert not (folder / "judge").exists()


REFERENCE = ["--judge", "reference", "--choose", "metric=rouge1"]


@pytest.mark.parametrize(
    ("options", "where", "said"),
    [
        ([*REFERENCE, "--model", "openai/x"], "--model", "does not apply to a reference judge"),
        ([*REFERENCE, "--criteria", "general"], "--criteria", "does not apply to a reference"),
        ([*REFERENCE, "--optimizer", "reflective"], "--optimizer", "asks none"),
        (
            ["--judge", "reference", "--choose", "metric=meteor", "--choose", "stem=porter"],
            "--choose",
            "stem=porter has no effect with metric=meteor; it takes metric rougeL, rouge1 or",
        ),
    ],
)
def test_options_without_effect_are_refused(run, data, options, where, said):
    done = run("compile", data, "-o", "judge", *options, "--json")
    assert (done.status, done.out) == (2, "")
    fault = json.loads(done.err.splitlines()[-1])
    assert fault["where"] == where
    assert said in f"{fault['error']} {fault['hint']}"


def test_what_an_annotator_is_shown_of_single_criteria_can_be_set(run, data, folder):
    options = ["--optimizer", "none", "--criteria", "human", "--target", "fluency+faithfulness"]
    chosen = [
        "shows.faithfulness=response",
        "ignores.faithfulness=fluency, length",
        "ignores.fluency=none",
    ]
    options += [part for one in chosen for part in ("--choose", one)]
    done = run("compile", data, "-o", "judge", "--judge", "annotator", *options, "--json")
    assert done.status == 0, done.err
    assert protocol(folder)["shows"] == {"faithfulness": "response"}
    assert protocol(folder)["ignores"] == {"faithfulness": ["fluency", "length"], "fluency": []}
    asked = [one.read_text() for one in sorted((folder / "judge" / "prompts").iterdir())]
    assert not any("## Source" in one for one in asked)
    told = ["Leave these to others, however bad they are: fluency, length." in one for one in asked]
    assert sorted(told) == [False, True]


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ("shows.flency=source", "shows for 'flency', which is not a criterion"),
        ("shows.fluency=all", "shows.fluency: expected one of"),
        ("shows=source", "shows.CRITERION, ignores.CRITERION can be set"),
    ],
)
def test_what_an_annotator_cannot_be_told_is_refused(run, data, folder, chosen, says):
    options = ["--judge", "annotator", *AS_IT_IS, "--choose", chosen]
    done = run("compile", data, "-o", "judge", *options)
    assert done.status == 2
    assert says in done.err
    assert done.err.count("error:") == 1
    assert not (folder / "judge").exists()


# Judges whose scores are ranks within a source, on the command line.

PAIRS = ["--judge", "pairs", "--criteria", "general", "--optimizer", "none"]


@pytest.fixture
def pairs_judge(run, data):
    done = run("compile", data, "-o", "pairs", *PAIRS, "--objective", "q@sample")
    assert done.status == 0, done.err
    return "pairs"


@pytest.mark.no_cover
def test_evaluate_tells_figures_within_sources_alone_and_says_why(run, data, pairs_judge):
    done = run("evaluate", pairs_judge, data)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert "sample" in lines
    assert not {"dataset", "system"} & set(lines)
    assert "note: scores of pairs are ranks within a source" in done.out


@pytest.mark.no_cover
def test_compare_decides_within_sources_and_says_why(run, data, judge, pairs_judge):
    done = run("compare", pairs_judge, judge, data)
    assert done.status == 0, done.err
    assert "Pearson at sample level" in " ".join(done.out.split())
    assert "note: scores of pairs are ranks within a source" in done.out
    told = run("compare", pairs_judge, judge, data, "--json")
    assert told.json["objective"]["name"] == "pearson@sample"
    assert told.json["objective"]["gain"]["value"] is not None


def test_compare_refuses_to_decide_over_sources_before_anything_is_asked(
    run, data, judge, pairs_judge
):
    done = run("compare", pairs_judge, judge, data, "--objective", "q", "--json")
    assert done.status == 2
    assert done.fault == {
        "error": "scores of pairs are ranks within a source, and q compares sources.",
        "where": "--objective",
        "hint": "say --objective q@sample.",
    }


def test_what_decides_need_not_be_said(run, data):
    done = run("compile", data, "-o", "pairs", *PAIRS)
    assert done.status == 0, done.err
    assert "note: --objective was not given: q@sample was looked at" in done.out
    assert "Validation q@sample:" in done.out


def test_an_objective_that_compares_sources_is_refused_by_the_option_to_say(run, data):
    done = run("compile", data, "-o", "pairs", *PAIRS, "--objective", "spearman", "--json")
    assert (done.status, done.fault["where"]) == (2, "--objective")
    assert done.fault["hint"] == "say --objective spearman@sample."
    done = run("compile", data, "-o", "pairs", *PAIRS, "--objective", "q + scored", "--json")
    assert done.fault["hint"] == "say q@sample in --objective."


# ``exemplars``: the texts that a judge compares with, on file.


@pytest.fixture
def exemplar_judge(run, data):
    usual = ["--judge", "exemplar", "--choose", "levels=3", "--choose", "asks=overall"]
    usual += ["--criteria", "general"]
    assert run("compile", data, "-o", "judge", *usual, "--optimizer", "none").status == 0
    return "judge"


def test_the_same_command_again_continues_and_asks_nothing_twice(run, data, exemplar_judge, folder):
    assert run("exemplars", exemplar_judge, data, "-o", "out.jsonl").status == 0
    first = (folder / "out.jsonl").read_bytes()
    again = run("exemplars", exemplar_judge, data, "-o", "out.jsonl", "--json")
    assert (again.status, again.json["calls"]) == (0, 0), again.err
    assert (folder / "out.jsonl").read_bytes() == first


@pytest.mark.no_cover
def test_a_budget_that_ends_leaves_a_file_from_which_the_same_command_goes_on(
    run, data, exemplar_judge, folder
):
    usual = ["exemplars", exemplar_judge, data, "-o", "out.jsonl", "--ledger", "fresh.sqlite"]
    short = run(*usual, "--max-calls", "3")
    assert short.status == 0, short.err
    n_short = len((folder / "out.jsonl").read_text().splitlines())
    assert run(*usual).status == 0
    rows = (folder / "out.jsonl").read_text().splitlines()
    assert len(rows) == 3 * 10 > n_short


def test_a_file_of_something_else_stays(run, data, exemplar_judge, folder):
    (folder / "out.jsonl").write_text("mine\n")
    done = run("exemplars", exemplar_judge, data, "-o", "out.jsonl", "--json")
    assert done.status == 2
    assert done.fault["where"] == "out.jsonl:1"
    assert "out.jsonl:1: expected an exemplar of this judge" in done.fault["error"]
    assert (folder / "out.jsonl").read_text() == "mine\n"


def test_exemplars_of_other_sources_stay(run, data, exemplar_judge, folder, sample_rows):
    assert run("exemplars", exemplar_judge, data, "-o", "out.jsonl").status == 0
    first = (folder / "out.jsonl").read_bytes()
    (folder / "few.jsonl").write_text(json.dumps(sample_rows[0]) + "\n")
    done = run("exemplars", exemplar_judge, "few.jsonl", "-o", "out.jsonl", "--json")
    assert done.status == 2
    assert "out.jsonl holds 30 exemplars, 27 of which this run does not have" in done.fault["error"]
    assert (folder / "out.jsonl").read_bytes() == first


# ``--role``: another model writes exemplars, from compile to score.

ROWS = [
    {"source": f"Ann left town {n}. Bo stayed.", "response": f"Ann left {n}{end}", "score": score}
    for n in range(6)
    for end, score in ((".", 4), (" and and", 2), ("", 3))
]
WRITER = "[[ ## exemplar ## ]]\nA text."


@pytest.fixture
def data_roles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    return "rows.jsonl"


def compiled_roles(data, *more):
    usual = ["-o", "judge", "--judge", "exemplar", "--choose", "levels=2", "--scale", "1..5"]
    usual += ["--choose", "asks=overall"]
    return main(["compile", data, *usual, "--optimizer", "none", "--criteria", "general", *more])


def first_row(name):
    return Path(name).read_text().split("\n")[0]


def test_a_writer_is_asked_for_exemplars_and_named_in_the_judge(data_roles, server, capsys):
    server.script({"answer": WRITER})
    roles = ["--role", "writer=openai/w", "--api-base", server.url]
    assert compiled_roles(data_roles, *roles, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    saved = SavedJudge.load("judge")
    assert (saved.model, dict(saved.roles)) == ("offline", {"writer": "openai/w"})
    bodies = [one["body"] for one in server.counts()["recent"]]
    # Worst and best of six sources, and the best once more: it is a copy of the worst.
    assert len(bodies) == 6 * 3
    assert all(one["model"] == "w" and "verdict" not in str(one) for one in bodies)
    # Both exemplars are the same text, with which a response is compared once.
    assert told["calls"] == 6 * 3 + len(ROWS)
    assert compiled_roles(data_roles, *roles) == 0  # the same run again asks nothing
    assert server.counts()["requests"] == 6 * 3

    scored = ["score", "judge", data_roles, "-o", "one.jsonl", "--api-base", server.url]
    assert main(scored) == 2  # nobody named openai/w, nor does a model without a network allow it
    assert main([*scored[:-2], "--model", "offline", "--allow-model", "openai/w"]) == 2
    scored += ["--allow-model", "openai/w"]
    assert main(scored) == 0
    assert server.counts()["requests"] == 6 * 3
    row = json.loads(first_row("one.jsonl"))
    assert row["weighting"]["overall"]["mode"] == "probabilities"
    assert "sum" in row["weighting"]["overall"]

    assert main(["score", "judge", data_roles, "-o", "two.jsonl", "--role", "writer=offline"]) == 0
    assert server.counts()["requests"] == 6 * 3
    assert first_row("one.jsonl") != first_row("two.jsonl")


def test_one_budget_holds_for_both(data_roles, server, capsys):
    server.script({"answer": WRITER})
    roles = ["--role", "writer=openai/w", "--api-base", server.url, "--max-calls", "7", "--json"]
    compiled_roles(data_roles, *roles)
    assert server.counts()["requests"] <= 7


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--role", "writer"], "expected ROLE=MODEL; got 'writer'."),
        (["--role", "writer=offline", "--role", "writer=offline"], "named twice"),
        (["--role", "writter=offline"], "no role 'writter'."),
        (["--role", "writer=gpt"], "a model is 'offline' or 'provider/model'"),
    ],
)
def test_what_is_no_role_is_refused(data_roles, capsys, more, said):
    assert compiled_roles(data_roles, *more) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--model", "anthropic/x"], ["--models", "anthropic/x"]])
def test_a_model_that_cannot_tell_how_likely_a_text_is_is_refused_at_once(data_roles, capsys, more):
    own = [
        "compile",
        data_roles,
        "-o",
        "judge",
        "--judge",
        "gptscore",
        "--scale",
        "1..5",
        "--dry-run",
    ]
    if "--models" in more:
        more = [*more, "--optimizer", "protocol"]
    assert main([*own, *more]) == 2
    assert "anthropic/x gives no log-probabilities of a text" in capsys.readouterr().err


def test_verdicts_by_samples_are_warned_of(data_roles, server, capsys):
    server.script({"contains": "exemplar ## ]]", "answer": WRITER})
    server.script({"answer": "[[ ## verdict ## ]]\nBetter\n\n[[ ## completed ## ]]"})
    asked = ["--api-base", server.url, "--model", "openai/m"]
    assert compiled_roles(data_roles, *asked) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "scores rest on several sampled answers, not on probabilities" in said
    assert main(["score", "judge", data_roles, "-o", "one.jsonl", *asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    ((reason, n),) = told["sampled"].items()
    assert reason.startswith("n = 5: the endpoint gave no log-probabilities")
    assert n == len(ROWS)
    assert json.loads(first_row("one.jsonl"))["weighting"]["overall"]["n"] == 5


# show


@pytest.mark.no_cover
@pytest.mark.parametrize("what", [[], ["--prompts"], ["--diff", "other"]])
def test_a_rubric_cannot_move_the_cursor(run, folder, data, judge, what):
    rubric = folder / "rubric.yaml"
    rubric.write_text('task: "Judge.\\e[2J"\ncriteria:\n  "\\e[31mred": "Is it\\e[0m red?"\n')
    run("compile", data, "-o", "other", "--rubric", rubric, "--optimizer", "none")
    done = run("show", "other" if what != ["--diff", "other"] else judge, *what)
    assert done.status == 0
    assert "\\x1b" in done.out
    assert "\x1b" not in done.out


# options


def settings_of(*words):
    """What ``compile`` is given by these words, and by no project file."""
    from judgesmith.cli.main import command_of

    made = command_of("compile").make_context(
        "compile", ["data.csv", "-o", "judge", "--project", "none", *words]
    )
    return made.params


def test_an_expert_setting_is_the_option_of_its_name():
    given = settings_of("--set", "rounds=3", "--set=explain=none", "--set", "screen=true")
    assert (given["n_rounds"], given["explain"], given["screen"]) == (3, "none", True)
    assert settings_of("--rounds", "3")["n_rounds"] == 3
    assert settings_of("--set", "lexical=no")["lexical"] is False
    assert settings_of("--set", "screen=false")["screen"] is False


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("roundz=3", "did you mean rounds"),
        ("rounds", "KEY=VALUE"),
        ("screen=maybe", "true or false"),
    ],
)
def test_a_wrong_expert_setting_is_refused(run, setting, said):
    done = run("compile", "sample", "-o", "judge", "--set", setting, "--json")
    assert (done.status, done.fault["where"]) == (2, "--set")
    assert said in done.fault["error"] + str(done.fault["hint"])


def test_expert_options_are_listed_by_key_alone(run):
    out = run("compile", "--help").out
    assert "--set KEY=VALUE" in out
    assert "--rounds" not in out
    assert " rounds," in " ".join(out.split())
