import json

import pytest

from judgesmith.cli.trust.compare import p_text

JUDGES = ("gpt-4-0314 rts", "gpt-3.5-turbo-0301 rts")


@pytest.fixture
def recorded(folder, sample_rows):
    """Two recorded judges: one says what people say, one the number of letters."""
    with (folder / "judges.jsonl").open("w") as file:
        for row in sample_rows:
            ids = {"source_id": row["source_id"], "system_id": row["system_id"]}
            said = {"people": row["human"]["overall"], "letters": [len(row["response"])]}
            for judge, scores in said.items():
                file.write(json.dumps(ids | {"judge": judge, "scores": scores}) + "\n")
    return "judges.jsonl"


def test_the_answer_is_the_first_sentence(run, data, recorded):
    done = run("compare", f"{recorded}:people", f"{recorded}:letters", data)
    assert done.status == 0
    first = " ".join(done.out.split("\n\n")[0].split())
    assert first.startswith("! No significant difference: Spearman 1.000 for people, ")
    assert "Holm-adjusted p = 0.077. The interval excludes 0" in first
    assert first.endswith("the p-value adjusted for all differences in the table is above 0.05.")
    assert "A: people\nB: letters\nratings: overall of data\n" in done.out
    assert "All rows: 40 of 10 sources, 95% intervals over sources" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.no_cover
def test_further_tests_stand_beside_the_interval(run, data, recorded):
    call = ["compare", f"{recorded}:people", f"{recorded}:letters", data]
    assert "Williams" not in run(*call).out
    out = run(*call, "--full").out
    header = next(line for line in out.splitlines() if "p Holm" in line)
    assert header.split() == ["A", "B", "A", "-", "B", "p", "p", "Holm", "p", "perm"]
    told = " ".join(out.split())
    assert "by permutation, swapping the two judges' scores of systems and sources" in told
    assert "Williams' test of Pearson: dataset level t(37) = " in told
    tests = run(*call, "--json").json["tests"]
    assert list(tests) == ["pairs", "holm", "swap", "permutation", "williams"]
    pairs = next(line for line in out.splitlines() if line.startswith("  pairs"))
    assert pairs.split()[-1] == p_text(tests["holm"]["dataset"]["pairs"])
    row = next(line for line in out.splitlines() if line.startswith("  kendall"))
    assert row.split()[-2] == f"{tests['holm']['dataset']['kendall']:.3f}"
    assert row.split()[-1] == f"{tests['permutation']['dataset']['kendall']['p_value']:.3f}"


@pytest.mark.no_cover
def test_the_order_of_the_two_changes_the_sign_and_not_the_answer(run, data, recorded):
    one = run("compare", f"{recorded}:people", f"{recorded}:letters", data, "--json").json
    other = run("compare", f"{recorded}:letters", f"{recorded}:people", data, "--json").json
    assert one["tests"]["holm"] == other["tests"]["holm"]
    assert one["objective"]["better"] is other["objective"]["better"] is None
    assert one["objective"]["gain"]["value"] == -other["objective"]["gain"]["value"]
    text = run("compare", f"{recorded}:letters", f"{recorded}:people", data).out
    assert text.startswith("! No significant difference: Spearman 1.000 for people, ")
    assert "difference +" in text


@pytest.mark.no_cover
def test_a_compiled_judge_is_compared_on_rows_it_has_not_seen(run, judge, data, recorded):
    found = run("compare", judge, f"{recorded}:letters", data, "--json").json
    assert found["rows"] == {
        "compared": 12,
        "unseen": None,
        "seen": 28,
        "unknown": 12,
        "seen_by": {"a": 28, "b": None},
        "unscored": {"a": 0, "b": 0},
        "unrated": 0,
    }
    text = run("compare", judge, f"{recorded}:letters", data, "--full").out
    assert (found["objective"]["on"], found["heldout"]) == ("unknown", None)
    assert "Rows unseen by A: 12 of 3 sources, " in text
    assert "Rows seen by A: 28 of 7 sources, " in text
    alone = run("evaluate", judge, data, "--json").json
    ours = found["unknown"]["dataset"]["kendall"]["first"]
    assert ours == pytest.approx(alone["heldout"]["dataset"]["kendall"]["value"])


def test_where_no_row_is_unseen_it_says_so(run, judge, data, sample_rows, recorded):
    known = json.loads((judge / "judge.json").read_text())["seen"]
    keys = {key for part in known.values() for key in part}
    run("score", judge, data, "-o", "out.jsonl")
    scored = data.with_name("out.jsonl").read_text().splitlines()
    of_row = [json.loads(line)["key"] for line in scored]
    seen = [row for row, key in zip(sample_rows, of_row, strict=True) if key in keys]
    data.write_text("".join(json.dumps(row) + "\n" for row in seen))
    text = run("compare", judge, f"{recorded}:letters", data).out
    first = " ".join(text.split("\n\n")[0].split())
    assert " on rows that A was compiled from (there are no others)" in first
    found = run("compare", judge, f"{recorded}:letters", data, "--json").json
    assert [found[part] for part in ("heldout", "unknown")] == [None, None]
    assert found["objective"]["on"] == "seen"


def test_equal_judges_agree_equally_well(run, data, recorded, folder):
    again = (folder / recorded).read_text().replace('"people"', '"twin"')
    (folder / "twin.jsonl").write_text(again)
    done = run("compare", f"{recorded}:people", "twin.jsonl:twin", data)
    assert done.out.startswith("! people and twin agree equally well with human ratings")


def test_what_cannot_be_told_is_said(run, data, recorded, folder):
    flat = (folder / recorded).read_text()
    rows = [json.loads(line) | {"scores": [3]} for line in flat.splitlines()]
    (folder / "flat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("compare", f"{recorded}:people", "flat.jsonl:letters", data)
    first = " ".join(done.out.split("\n\n")[0].split())
    assert first == "! No result: Spearman is undefined for letters."
    assert "correlations are undefined: the scores of A or B are all the same there" in done.out
    assert "\n  pairs " in done.out


@pytest.mark.no_cover
def test_sources_without_a_value_of_either_are_left_out_for_both_and_counted(
    run, data, recorded, folder, sample_rows
):
    tied = sample_rows[0]["source_id"]
    rows = [json.loads(line) for line in (folder / recorded).read_text().splitlines()]
    lazy = [row | ({"scores": [3]} if row["source_id"] == tied else {}) for row in rows]
    (folder / "lazy.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lazy))
    call = ["compare", "lazy.jsonl:letters", f"{recorded}:people", data]
    assert "sample (1 source without a value, pairs 0)" in run(*call, "--full").out.splitlines()
    found = run(*call, "--json").json["unknown"]["sample"]["kendall"]
    assert (found["n_groups"], found["n_undefined"], found["n"]) == (9, 1, 36)


@pytest.mark.no_cover
def test_the_objective_and_the_confidence_may_be_chosen(run, data, recorded):
    options = ["--objective", "q@sample", "--confidence", "0.9"]
    done = run("compare", f"{recorded}:people", f"{recorded}:letters", data, *options)
    first = " ".join(done.out.split("\n\n")[0].split())
    assert "Q at sample level 3.000 for people, " in first
    assert first.endswith("is significant at 0.1.")
    found = run("compare", f"{recorded}:people", f"{recorded}:letters", data, *options, "--json")
    assert found.json["objective"]["name"] == "q@sample"
    assert found.json["unknown"]["system"]["pearson"]["confidence"] == 0.9


def test_of_scores_on_file_nobody_knows_what_was_seen(run, data, recorded):
    found = run("compare", f"{recorded}:people", f"{recorded}:letters", data, "--json").json
    assert found["rows"] == {
        "compared": 40,
        "unseen": None,
        "seen": None,
        "unknown": 40,
        "seen_by": {"a": None, "b": None},
        "unscored": {"a": 0, "b": 0},
        "unrated": 0,
    }
    assert [found[part] for part in ("heldout", "seen")] == [None, None]
    assert found["objective"]["on"] == "unknown"
    assert found["unknown"]["dataset"]["spearman"] == found["objective"]["gain"]


def test_scores_on_another_criterion_than_the_target_are_named(run, data, recorded, folder):
    rows = [json.loads(line) for line in (folder / recorded).read_text().splitlines()]
    rows = [row | {"criterion": "\x1b[31mwit"} for row in rows]
    (folder / "wit.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = ["compare", "wit.jsonl:people", f"{recorded}:letters", data, "--target", "overall"]
    assert "\nA: people, by its scores on \\x1b[31mwit\nB: letters\n" in run(*call).out
    found = run(*call, "--json").json
    assert found["scored_by"] == {"a": "\x1b[31mwit", "b": "score"}


@pytest.mark.no_cover
def test_equal_seeds_give_equal_answers(run, data, recorded):
    call = ["compare", f"{recorded}:people", f"{recorded}:letters", data]
    assert run(*call).out == run(*call, "--seed", "0").out
    assert run(*call).out != run(*call, "--seed", "1").out


@pytest.mark.no_cover
def test_one_budget_holds_for_both_judges(run, judge, data, folder):
    run("compile", data, "-o", "second", "--variant", "vanilla", "--rounds", "1")
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20"]
    done = run("compare", judge, "second", data, *options)
    assert "20 answers from 20 calls" in run("ledger", "stats", "--ledger", "fresh.sqlite").out
    assert done.status == 2
    assert "scored the same rows" in done.err
    assert "the budget of 20 calls is spent" in done.err


def test_names_cannot_move_the_cursor(run, data, recorded, folder):
    (folder / "odd.jsonl").write_text(
        (folder / recorded).read_text().replace('"people"', '"\\u001b[31mred"')
    )
    done = run("compare", "odd.jsonl:\x1b[31mred", f"{recorded}:letters", data)
    assert done.status == 0
    assert "\x1b" not in done.out
    assert "\\x1b[31mred" in done.out


@pytest.fixture
def compare(run, data_folder):
    """Compare two recorded judges on rated texts, by name."""

    def found(recorded, rated, first, second, *options):
        scores = data_folder / "recorded" / f"{recorded}.jsonl.gz"
        rated = data_folder / f"{rated}.jsonl.gz"
        return run("compare", f"{scores}:{first}", f"{scores}:{second}", rated, *options)

    return found


def test_gpt_4_is_not_clearly_better_than_gpt_3_5_on_coherence(compare):
    call = ["summeval_likert_llms", "summeval", *JUDGES, "--target", "coherence"]
    done = compare(*call)
    assert done.out.startswith("! No significant difference: Spearman 0.448 for gpt-4-0314 rts")
    found = compare(*call, "--json").json
    assert found["rows"]["compared"] == 1200
    levels = found["unknown"]["dataset"]
    assert [round(levels[one]["first"], 3) for one in ("spearman", "pearson", "kendall")] == [
        0.448,
        0.428,
        0.373,
    ]


def test_it_is_clearly_better_on_consistency(compare):
    done = compare("summeval_likert_llms", "summeval", *JUDGES, "--target", "consistency", "--json")
    assert done.json["objective"]["better"] == "a"
