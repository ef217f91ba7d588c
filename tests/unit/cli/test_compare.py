"""judgesmith compare, report and tables."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.cli.shared.printing import print_table, say, say_under, visible
from judgesmith.cli.trust.compare import p_text, verdict
from judgesmith.data import read_items
from judgesmith.data.score_files import Scores
from judgesmith.errors import shortened
from judgesmith.experiments import compare_judges

# compare


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
    assert first.startswith("! No significant difference: Pearson 1.000 for people, ")
    assert "Holm-adjusted p = 0.077. With 10 sources no such difference can be sig" in first
    assert first.endswith("that takes 13 sources or more.")
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


def test_names_cannot_move_the_cursor(run, data, recorded, folder):
    (folder / "odd.jsonl").write_text(
        (folder / recorded).read_text().replace('"people"', '"\\u001b[31mred"')
    )
    done = run("compare", "odd.jsonl:\x1b[31mred", f"{recorded}:letters", data)
    assert done.status == 0
    assert "\x1b" not in done.out
    assert "\\x1b[31mred" in done.out


@pytest.mark.no_cover
def test_one_budget_holds_for_both_judges(run, judge, data, folder):
    run("compile", data, "-o", "second", "--variant", "vanilla", "--rounds", "1")
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20"]
    done = run("compare", judge, "second", data, *options)
    assert "20 answers from 20 calls" in run("ledger", "stats", "--ledger", "fresh.sqlite").out
    assert done.status == 2
    assert "scored the same rows" in done.err
    assert "the budget of 20 calls is spent" in done.err


@pytest.fixture
def compare(run, data_folder):
    """Compare two recorded judges on rated texts, by name."""

    def found(recorded, rated, first, second, *options):
        scores = data_folder / "recorded" / f"{recorded}.jsonl.gz"
        rated = data_folder / f"{rated}.jsonl.gz"
        return run("compare", f"{scores}:{first}", f"{scores}:{second}", rated, *options)

    return found


# compared

NAN = float("nan")


@pytest.fixture(scope="module")
def found():
    """A comparison of two judges, the first a little better."""
    data = read_items("sample").subset(range(40))
    noise = np.random.default_rng(0)
    human = np.asarray([np.mean(item.human["overall"]) for item in data])
    sides = [
        Scores(
            values=human + noise.normal(scale=spread, size=40),
            problems=(None,) * 40,
            label=label,
            criterion=None,
            n_unused=0,
        )
        for label, spread in (("new", 0.5), ("old", 3.0))
    ]
    return compare_judges(*sides, data, seed=0)


def with_gain(found, holm=0.01, **fields):
    """The same comparison, but for the estimate that decides and its adjusted p-value."""
    least = fields.get("least_p", 0.001)
    gain = replace(found.gain, **{"least_p": least, **fields})
    report = {
        level: {name: replace(one, least_p=least) for name, one in row.items()}
        for level, row in found.unseen.items()
    }
    report = {**report, "dataset": {**report["dataset"], "pearson": gain}}
    holm = {**found.tests.holm, "dataset": {**found.tests.holm["dataset"], "pearson": holm}}
    return replace(found, unseen=report, tests=replace(found.tests, holm=holm))


def gain(first, second, low, high, p_value=0.5):
    return {
        "first": first,
        "second": second,
        "value": first - second,
        "low": low,
        "high": high,
        "p_value": p_value,
    }


@for_each(
    ("fields", "said"),
    [
        (
            gain(0.5, 0.25, 0.1, 0.4, 0.004),
            "new agrees better with human ratings: Pearson 0.500 for new, 0.250 for old, "
            "difference +0.250 [+0.10, +0.40], p = 0.004, Holm-adjusted p = 0.010. The difference "
            "is significant at 0.05.",
        ),
        (
            gain(0.25, 0.5, -0.4, -0.1, 0.0001),
            "old agrees better with human ratings: Pearson 0.500 for old, 0.250 for new, "
            "difference +0.250 [+0.10, +0.40], p < 0.001, Holm-adjusted p = 0.010. The difference "
            "is significant at 0.05.",
        ),
        (
            gain(0.5, 0.25, -0.1, 0.6),
            "No significant difference: Pearson 0.500 for new, 0.250 for old, difference "
            "+0.250 [-0.10, +0.60], p = 0.500, Holm-adjusted p = 0.010.",
        ),
        (
            gain(1.5, 0.25, NAN, NAN, NAN) | {"n_groups": 2},
            "No significant difference: Pearson 1.500 for new, 0.250 for old, difference "
            "+1.250 [no interval]. 2 sources are too few for an interval.",
        ),
        (
            gain(0.5, 0.25, NAN, NAN, NAN),
            "No significant difference: Pearson 0.500 for new, 0.250 for old, difference "
            "+0.250 [no interval].",
        ),
        (
            gain(0.5, 0.25, -0.1, 0.6) | {"n_groups": 9, "least_p": 0.0292},
            "No significant difference: Pearson 0.500 for new, 0.250 for old, difference "
            "+0.250 [-0.10, +0.60], p = 0.500, Holm-adjusted p = 0.010. With 9 sources no such "
            "difference can be significant, since all differences in the table are adjusted "
            "together; that takes 13 sources or more.",
        ),
        (
            gain(0.5, 0.5, 0, 0, 1),
            "new and old agree equally well with human ratings: Pearson 0.500 each.",
        ),
        (
            gain(0.5, NAN, NAN, NAN, NAN),
            "No result: Pearson is undefined for old.",
        ),
        (
            gain(NAN, NAN, NAN, NAN, NAN),
            "No result: Pearson is undefined for new and old.",
        ),
    ],
)
def test_the_verdict_says_who_by_how_much_and_how_sure(found, fields, said):
    assert verdict(with_gain(found, **fields)) == said


def test_a_difference_is_clear_by_the_adjusted_p_value_alone(found):
    known = gain(0.5, 0.25, 0.1, 0.4, 0.004)
    assert verdict(with_gain(found, holm=0.05, **known)).endswith("is significant at 0.05.")
    said = verdict(with_gain(found, holm=0.051, **known))
    assert said.endswith(
        "p = 0.004, Holm-adjusted p = 0.051. The interval excludes 0, but the p-value adjusted for "
        "all differences in the table is above 0.05. 'compile' does not adjust the p-value of its "
        "gain."
    )
    assert with_gain(found, holm=0.051, **known).to_dict()["objective"]["better"] is None


def test_a_verdict_on_rows_that_were_seen_says_so(found):
    seen = replace(found, unseen=None, seen=found.unseen, a=replace(found.a, n_seen=40))
    assert " on rows that A was compiled from (there are no others): Pearson" in verdict(seen)
    both = replace(seen, b=replace(found.b, n_seen=3))
    assert " on rows that A or B was compiled from" in verdict(both)


# report

SPEC = """
name: two
data: {answers: {path: data.jsonl, targets: [overall]}}
judges: {plain: {judge: direct}, again: {from: plain}}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture
def ran(run, folder, data):
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    assert run("experiment", "spec.yaml", "-o", "run").status == 0
    return "run"


def test_a_run_becomes_a_page(run, ran, folder, monkeypatch):
    done = run("report", ran, "--spec", "spec.yaml", "--no-figures")
    assert (done.status, done.err) == (0, "")
    assert done.out == "2 cells and 40 rows in report.html\n"
    page = (folder / "report.html").read_text("utf-8")
    assert "<summary>Source</summary>" in page
    refused = run("report", ran)
    assert refused.status == 2
    assert "report.html is there already" in refused.err
    done = run("report", ran, "--force", "--no-figures", "--json")
    assert done.status == 0
    assert (done.json["cells"], done.json["rows"], done.json["rows_in_all"]) == (2, 40, 40)
    assert done.json["bytes"] == (folder / "report.html").stat().st_size
    # The specification in RUN names the file where it is not.
    assert done.json["notes"][0].startswith("texts are not shown: ")
    assert "give --spec" in done.json["notes"][1]
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)  # figures need no library
    assert run("report", ran, "-o", "drawn.html").status == 0
    assert "<svg" in (folder / "drawn.html").read_text("utf-8")


# tables


def test_a_table_is_aligned(capsys):
    print_table("Title", [["a", "1"], ["long name", "100"]], header=["name", "n"])
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Title",
        "",
        "name         n",
        "---------- ---",
        "a            1",
        "long name  100",
    ]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_columns_that_do_not_fit_follow_below_beside_the_first(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    header = ["measure", *(f"criterion {n}" for n in range(12))]
    print_table("", [["mean", *map(str, range(12))]], header=header)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    heads = [line for line in lines if line.startswith("measure")]
    assert len(heads) == len([line for line in lines if line.startswith("mean")])
    assert (
        "  ".join(head.removeprefix("measure").strip() for head in heads).split("  ") == header[1:]
    )


def test_a_heading_takes_no_room_from_the_columns(capsys):
    rows = [["a long heading of \x1b[31mits own"], ["  a", "1", "2"], ["other"], ["  b", "3", "4"]]
    print_table("", rows, header=["", "x", "y"])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "     x  y",
        "---- -- -",
        "a long heading of \\x1b[31mits own",
        "  a  1  2",
        "other",
        "  b  3  4",
    ]


# printing

ATTACK = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\u202e\x7f\ud800"


@pytest.mark.no_cover
@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "L"])))
def test_nothing_but_line_ends_and_tabs_can_move_a_cursor(text):
    assert all(c.isprintable() or c in "\n\t" for c in visible(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_letters_are_shown_as_they_are(text):
    assert visible(text) == text


def test_sentences_and_cells_reach_the_terminal_harmless(capsys):
    say(ATTACK)
    print_table(ATTACK, [[ATTACK, "1"]], header=[ATTACK, "n"])
    out = capsys.readouterr().out
    assert "\\x1b]0;title\\x07" in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_long_texts_are_cut_on_one_line():
    assert shortened("a\n b\tc") == "a b c"
    assert shortened("x" * 20, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("indent", [0, 2])
def test_a_long_text_is_wrapped_under_its_beginning(capsys, monkeypatch, columns, indent):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = "Some well-chosen words that say why.\n" * 9 + "\x1b[2J"
    say_under("because", text, indent=indent)
    out = capsys.readouterr().out
    first, *rest = out.splitlines()
    assert first.startswith(" " * indent + "because: Some")
    start = " " * (indent + len("because: "))
    assert all(line.startswith(start) and line[len(start)] != " " for line in rest)
    assert max(map(len, [first, *rest])) <= columns
    assert out.split() == ["because:", *visible(text).split()]
