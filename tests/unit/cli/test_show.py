import pytest


def test_a_judge_is_shown_as_its_card(run, judge):
    done = run("show", judge)
    assert done.status == 0
    assert done.out.rstrip() == (judge / "README.md").read_text(encoding="utf-8").rstrip()


def test_prompts_are_shown_on_request(run, judge):
    out = run("show", judge, "--prompts").out
    for path in (judge / "prompts").iterdir():
        assert f"===== {path.stem} =====" in out
        assert path.read_text(encoding="utf-8").strip() in out


def test_the_whole_judge_is_shown_to_machines(run, judge):
    shown = run("show", judge, "--json").json
    assert shown["target"] == "overall"
    assert shown["fingerprint"] in run("show", judge).out


def test_a_judge_does_not_differ_from_itself(run, judge):
    assert run("show", judge, "--diff", judge).out == "the two judges are the same.\n"
    assert run("show", judge, "--diff", judge, "--json").json["differences"] == []


@pytest.mark.no_cover
def test_what_differs_between_two_judges_is_shown_line_by_line(run, judge, data):
    run("compile", data, "-o", "other", "--rounds", "2", "--seed", "7")
    lines = run("show", judge, "--diff", "other").out.splitlines()
    assert "settings.seed: 0 → 7" in lines
    assert run("show", judge, "--diff", "other", "--json").json["differences"] == lines


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
