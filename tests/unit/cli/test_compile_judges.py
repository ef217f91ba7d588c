"""Judges of every family go through the same commands."""

import json

import pytest

AS_IT_IS = ["--optimizer", "none", "--criteria", "general"]


def compiled(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, "--judge", "direct", *options, "--json")
    assert done.status == 0, done.err
    return done


def protocol(folder, out="judge"):
    return json.loads((folder / out / "judge.json").read_text())["protocol"]


@pytest.mark.no_cover
def test_a_direct_judge_goes_all_the_way(run, data, folder):
    done = compiled(run, data, "--criteria", "general")
    assert done.json["heldout"]["dataset"]["q"]["n"] == 12
    assert protocol(folder)["judge"] == "direct"
    assert protocol(folder)["aggregation"]["kind"] in ("overall", "linear")
    assert run("score", "judge", data, "-o", "scores.jsonl").status == 0
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert len(rows) == 40
    assert all(row["problem"] is None for row in rows)
    assert run("evaluate", "judge", data, "--json").json["heldout"]["dataset"]["q"]["n"] == 12
    assert "- judge: direct, which asks for a score" in run("show", "judge").out


def test_the_same_command_again_asks_nothing(run, data, folder):
    first = compiled(run, data, *AS_IT_IS)
    assert compiled(run, data, *AS_IT_IS).json == first.json | {"calls": 0}


def test_a_judge_that_gives_no_reasons_is_not_quoted_with_any(run, data, folder):
    said = run("compile", data, "-o", "judge", "--judge", "direct", *AS_IT_IS).out
    assert said.count("\n  response: ") == 2
    assert "because" not in said


def test_its_space_is_searched(run, data, folder):
    options = ["--optimizer", "protocol", "--trials", "4", "--criteria", "general"]
    compiled(run, data, *options, "--choose", "answers=1-5")
    history = json.loads((folder / "judge" / "judge.json").read_text())["history"]
    tried = [one["picked"] for one in history if one["stage"] == "protocol"]
    assert len(tried) > 1
    assert any(one.get("asks") == "criteria" for one in tried)
    assert not any("answers" in one or "demonstrations" in one for one in tried)
    assert protocol(folder)["answers"]["high"] == 5


@pytest.mark.no_cover
def test_it_scores_the_criteria_that_people_rated(run, data, folder):
    options = ["--target", "fluency", "--target", "faithfulness", "--choose", "asks=criteria"]
    done = compiled(run, data, *options)
    assert set(done.json["criteria"]["heldout"]) == {"fluency", "faithfulness"}


def test_what_is_not_searched_can_be_set(run, data, folder):
    chosen = ["--choose", "beam=2", "--choose", "doubt=.2", "--objective", "spearman@sample"]
    options = ["--criteria", "general", "--judge", "pairs", *chosen]
    searched = ["--optimizer", "protocol", "--trials", "2"]
    assert run("compile", data, "-o", "judge", *options, *searched).status == 0
    own = protocol(folder)
    assert (own["beam"], own["doubt"]) == (2, 0.2)


def test_steps_are_given_in_a_file(run, data, folder):
    (folder / "own.yaml").write_text(
        "fluency:\n- Read it  aloud.\nrelevance: |\n  1. Count.\n  2. Add.\n"
    )
    options = ["--judge", "g-eval", "--optimizer", "none", "--steps", "own.yaml"]
    asked = run("compile", data, "-o", "judge", *options, "--criteria", "general", "--json").json
    steps = protocol(folder)["steps"]
    assert steps["fluency"] == ["Read it aloud."]
    assert steps["relevance"] == ["Count.", "Add."]
    assert len(steps) == 6
    planned = run("compile", data, "-o", "judge", *options, "--criteria", "general", "--dry-run")
    assert f"{asked['calls']} calls if every answer can be read" in planned.out
    said = run("compile", data, "-o", "human", *options, "--criteria", "human").out
    assert "steps are given for relevance, which is no criterion" in " ".join(said.split())


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


def test_a_later_run_starts_from_it(run, data, folder):
    compiled(run, data, *AS_IT_IS)
    assert run("compile", data, "-o", "later", "--from", "judge").status == 0
    assert protocol(folder, "later")["judge"] == "direct"


@pytest.mark.no_cover
def test_two_kinds_of_judges_are_told_apart(run, data, folder, judge):
    compiled(run, data, *AS_IT_IS, out="direct")
    said = run("show", "judge", "--diff", "direct").out
    assert 'protocol.judge: "active-critic" → "direct"' in said
    assert 'protocol.variant: "fine" → (absent)' in said


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "option", ["--optimizer=none", "--optimizer=protocol", "--without=weights"]
)
def test_what_it_would_cost_is_an_upper_bound(run, data, folder, option):
    options = [option, "--criteria", "general"]
    options += ["--trials", "3"] if option.endswith("protocol") else []
    planned = compiled(run, data, *options, "--dry-run").json["calls"]
    assert 0 < compiled(run, data, *options).json["calls"] <= planned


def test_a_choice_that_is_made_holds_for_active_critic_too(run, data, folder):
    options = ["--choose", "answers=1-5", "--choose", "variant=coarse", *AS_IT_IS]
    assert run("compile", data, "-o", "judge", *options).status == 0
    assert protocol(folder)["variant"] == "coarse"
    assert protocol(folder)["answers"]["high"] == 5


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


def test_an_even_spread_is_not_looked_for_where_texts_are_compared(run, data, folder):
    done = run("compile", data, "-o", "judge", "--judge", "pairs", "--optimizer", "balanced")
    assert done.status == 2
    assert "compares the responses to a source" in done.err
    assert not (folder / "judge").exists()
    assert not (folder / ".judgesmith").exists()


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
