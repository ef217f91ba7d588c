import json
from pathlib import Path

import pytest

from judgesmith.cli.main import main
from judgesmith.data import read_items

OPTIONS = (
    *("--objective", "d_avg; false_alarms <= 1", "--optimizer", "protocol", "--trials", "2"),
    *("--kinds", "word_deletions,punctuation_loss,padding", "--holdout-kinds", "repetition"),
)


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "texts.jsonl"
    with place.open("w", encoding="utf-8") as file:
        for item in read_items("sample").subset(range(60)):
            row = {"source": item.source, "response": item.response, "system_id": item.system_id}
            file.write(json.dumps(row) + "\n")
    return str(place)


def told(capsys, *arguments):
    assert main(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_a_judge_is_made_and_says_of_what(texts, capsys):
    said = told(capsys, "compile", texts, "-o", "judge", *OPTIONS)
    assert ": unrated;" in said
    assert "unseen perturbations" in said
    assert "Sensitivity grows with the number of rows" in said
    assert "(raters:" not in said
    shown = told(capsys, "show", "judge")
    assert "Made from texts that nobody rated" in shown
    assert "Kept for the report: repetition." in shown
    assert "| kinds it was chosen by | d_min |" in shown
    assert "| kinds it never saw | d_min |" in shown


def test_as_json(texts, capsys):
    found = json.loads(told(capsys, "compile", texts, "-o", "judge", *OPTIONS, "--json"))
    assert found["selection"] is found["heldout"] is found["uncompiled"] is found["gain"] is None
    assert found["target"] == "auto"
    kinds = [one["name"] for one in found["discernment"]["kinds"]]
    assert {"word_deletions/minor", "punctuation_loss", "padding"} <= set(kinds)
    assert found["discernment"]["unseen"]["heldout"]["overall"]["d_min"]["value"] > 0
    assert list(found["objective"]["constraints"]) == ["false_alarms <= 1"]


@pytest.mark.parametrize("option", ["--optimizer random", "--rounds 3", "--demonstrations 2"])
def test_options_about_examples_are_refused_as_there_are_none(texts, capsys, option):
    given = ("compile", texts, "-o", "judge", "--objective", "d_avg", *option.split())
    assert main(given) == 2
    name = option.split()[0]
    said = f"{name} is about examples to show, which takes ratings, and texts has none"
    assert said in capsys.readouterr().err
    none = ("--demonstrations", "0", "--kinds", "truncation", "--dry-run")
    assert main((*given[:6], *none)) == 0


def test_the_same_run_again_asks_nothing(texts, capsys):
    told(capsys, "compile", texts, "-o", "judge", *OPTIONS)
    assert "no model calls made" in told(capsys, "compile", texts, "-o", "judge", *OPTIONS)


def test_a_dry_run_counts_versions(texts, capsys):
    few, many = (
        json.loads(
            told(
                *(capsys, "compile", texts, "-o", "judge", *OPTIONS),
                *("--versions", n, "--dry-run", "--json"),
            )
        )["calls"]
        for n in ("1", "0")
    )
    assert many > 1.5 * few


def test_the_default_search_is_of_the_protocol(texts, capsys):
    said = told(
        *(capsys, "compile", texts, "-o", "judge", "--objective", "d_min", "--dry-run"),
        *("--kinds", "punctuation_loss"),
    )
    assert "Typically about" in said


@pytest.mark.parametrize("option", ["--trials 4", "--screen", "--vary-samples"])
def test_options_of_the_search_of_the_protocol_need_not_name_it(texts, capsys, option):
    given = ("-o", "judge", "--objective", "d_min", "--dry-run", *option.split())
    few = ("--kinds", "punctuation_loss")
    assert told(capsys, "compile", texts, *given, *few) == told(
        capsys, "compile", texts, *given, *few, "--optimizer", "protocol"
    )
    assert main(("compile", "sample", *given)) == 2
    said = f"{option.split()[0]} belongs to --optimizer protocol"
    assert said in capsys.readouterr().err


def test_equal_ratings_are_none_to_an_objective_that_takes_none(texts, capsys, tmp_path):
    rated = tmp_path / "rated.jsonl"
    with Path(texts).open(encoding="utf-8") as lines, rated.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps({**json.loads(line), "score": 3}) + "\n")
    given = ("compile", str(rated), "-o", "judge", "--scale", "1..5", *OPTIONS)
    assert main(given) == 0
    said = capsys.readouterr()
    told_once = (said.out + said.err).count("all ratings in rated are equal, and d_avg;")
    assert told_once == 1
    assert json.loads(told(capsys, "show", "judge", "--json"))["target"] == "auto"
    agreeing = ("compile", str(rated), "-o", "judge", "--scale", "1..5", "--force")
    assert main(agreeing) == 2
    assert "have the same value on overall" in capsys.readouterr().err


def test_without_rows_held_out(texts, capsys):
    said = told(capsys, "compile", texts, "-o", "judge", *OPTIONS, "--holdout", "0")
    assert "Sensitivity to damage on validation rows" in said


def test_a_front(texts, capsys):
    front = ("--objective", "d_avg, -calls", "--optimizer", "protocol", "--trials", "3")
    told(capsys, "compile", texts, "-o", "judge", *front, "--kinds", "punctuation_loss")
    assert "-calls" in told(capsys, "show", "judge")


def test_a_judge_goes_on_from_one_that_was_made_without_ratings(texts, capsys):
    told(capsys, "compile", texts, "-o", "judge", *OPTIONS)
    said = told(capsys, "compile", "sample", "-o", "next", "--from", "judge", "--rounds", "2")
    assert "Agreement with human ratings on test rows" in said
