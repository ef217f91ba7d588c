"""judgesmith score: output, shards, sizes and unscored rows."""

import fcntl
import io
import json
import socket
import subprocess
import sys
from pathlib import Path

import loopback_offline
import pytest
from sharding import write

from judgesmith.experiments.scoring import parts as parts_scoring

# score


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def out(folder):
    return folder / "out.jsonl"


@pytest.mark.no_cover
def test_ratings_in_the_input_change_nothing(run, judge, data, out, folder, sample_rows):
    run("score", judge, data, "-o", out)
    bare = folder / "bare.jsonl"
    unrated = [{**row, "human": {"overall": ["?"]}, "scale": {}} for row in sample_rows]
    bare.write_text("".join(json.dumps(row) + "\n" for row in unrated))
    assert run("score", judge, bare, "-o", folder / "other.jsonl").status == 0
    assert (folder / "other.jsonl").read_bytes() == out.read_bytes()


@pytest.mark.no_cover
def test_the_same_command_again_writes_the_same_and_asks_nothing(run, judge, data, out):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    done = run("score", judge, data, "-o", out, "--json")
    assert done.json["calls"] == 0
    assert out.read_bytes() == before


@pytest.mark.no_cover
def test_a_bad_row_is_named_and_nothing_is_written(run, judge, data, out, folder):
    lines = data.read_text().splitlines()
    lines[6] = '{"source": '
    data.write_text("\n".join(lines))
    done = run("score", judge, data, "-o", out)
    assert done.status == 2
    assert "data.jsonl:7: line: expected one JSON object" in done.err
    assert not out.exists()
    assert not list(folder.glob(".out*"))


@pytest.mark.no_cover
def test_a_spent_budget_is_stated_and_no_failure(run, judge, data, out):
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20"]
    done = run("score", judge, data, "-o", out, *options)
    assert done.status == 0
    assert "× not asked: the budget of 20 calls is spent" in done.out
    again = run("score", judge, data, "-o", out, *options, "--json").json
    assert again["calls"] == 0
    more = run("score", judge, data, "-o", out, *options[:-1], "1000", "--json").json
    assert (more["unscored"], more["calls"]) == (0, 60)


@pytest.mark.no_cover
def test_rows_of_another_run_are_kept_unless_forced(run, judge, data, out, folder, sample_rows):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    other = folder / "other.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in sample_rows[1:]))
    done = run("score", judge, other, "-o", out)
    assert done.status == 2
    assert "holds this judge's rows for another input or model" in done.err
    assert out.read_bytes() == before
    assert run("score", judge, other, "-o", out, "--force").status == 0
    assert len(rows_of(out)) == 39


@pytest.mark.no_cover
def test_rows_are_not_replaced_by_fewer_nor_scores_by_failures(run, judge, data, out, folder):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    first, *_ = data.read_text().splitlines()
    (folder / "short.jsonl").write_text(first + "\n")
    done = run("score", judge, folder / "short.jsonl", "-o", out)
    assert done.status == 2
    assert "holds 40 rows, 40 with a score, and this run has 1, 1 with a score" in done.err
    spent = ("--ledger", folder / "fresh.sqlite", "--max-calls", "4")
    done = run("score", judge, data, "-o", out, *spent)
    assert done.status == 2
    assert "replace this one with --force" in done.err
    assert out.read_bytes() == before
    assert run("score", judge, data, "-o", out, *spent, "--force").status == 0
    assert out.read_bytes() != before


@pytest.mark.no_cover
def test_drafts_of_killed_runs_are_cleared_away_and_others_left(run, judge, data, out, folder):
    orphan, own = folder / ".out.jsonl-0123abcd.part", folder / ".out.jsonl-89abcdef.part"
    orphan.write_text("half")
    with own.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        run("score", judge, data, "-o", out)
    assert not orphan.exists()
    assert own.exists()


# score shards


@pytest.fixture
def parts(folder, sample_rows):
    """Two files of texts in a folder of their own."""
    write(folder / "in" / "a.jsonl", sample_rows[:5])
    write(folder / "in" / "b.jsonl", sample_rows[5:8])
    return folder / "in"


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("options", "option", "says"),
    [
        ("-o new.jsonl --ledger ./new.jsonl", "--ledger", "is what -o names, too"),
        ("-o new.jsonl --ledger a.sqlite --log a.sqlite", "--log", "is what --ledger names, too"),
        ("-o new.jsonl --record c.jsonl --log c.jsonl", "--log", "is what --record names, too"),
        (
            *("-o new.jsonl --record c.jsonl --metrics-file c.jsonl", "--metrics-file"),
            "is what --record names, too",
        ),
        ("-o judge/", "--output", "judge holds a judge"),
        ("-o judge --force", "--output", "judge holds a judge"),
    ],
)
def test_no_file_of_a_run_takes_the_place_of_another(
    run, judge, parts, folder, options, option, says
):
    before = sorted(folder.rglob("*"))
    done = run("score", judge, "in", *options.split(), "--json")
    assert (done.status, done.fault["where"]) == (2, option)
    assert says in done.fault["error"]
    assert sorted(folder.rglob("*")) == before


@pytest.mark.no_cover
def test_an_empty_name_does_not_stand_for_the_working_folder(run, judge, parts, folder):
    done = run("score", judge, "", "-o", "new.jsonl")
    assert done.status == 2
    assert "expected a file, a folder or a pattern; got an empty name" in done.err


@pytest.mark.no_cover
@pytest.mark.parametrize("record", ["{", '{"files": 3}', '{"files": [{}]}', "[" * 100_000])
def test_a_folder_whose_record_is_damaged_is_refused_by_every_reader(
    run, judge, parts, folder, record
):
    (folder / "out").mkdir()
    (folder / "out" / "scores.json").write_text(record)
    said = "out/scores.json: file: expected the record of a folder of scores"
    for command in (
        *(
            "evaluate out sample",
            "errors out sample",
            "drift judge out",
            "compare out judge sample",
        ),
    ):
        done = run(*command.split())
        assert (done.status, said in done.err) == (2, True), (command, done.err)
    assert run("score", judge, "in", "-o", "out/").status == 2


# score size


@pytest.fixture
def told(run, judge, data):
    def said(*more, **kept):
        done = run("score", judge, data, "-o", "new.jsonl", "--dry-run", *more, **kept)
        assert (done.status, done.err) == (0, "")
        return done

    return said


def row_of(text, name):
    (line,) = [one for one in text.splitlines() if one.startswith(name)]
    return line.removeprefix(name).split()


def test_nothing_is_asked_or_written(told, folder):
    before = sorted(folder.rglob("*"))
    assert "nothing was asked" in told("--ledger", "none.sqlite").out
    told("--ledger", "none.sqlite", "--model", "openai/gpt-4o-mini")
    assert sorted(folder.rglob("*")) == before


def test_rows_a_million_and_a_thousand_million_stand_side_by_side(told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    options = ["--model", "openai/m", "--price", "1,4", "--seconds-per-call", "3", "--ledger", "no"]
    text = told(*options, "--concurrency", "64").out
    assert row_of(text, "calls  ") == ["80", "2,000,000", "2,000,000,000"]
    assert row_of(text, "time")[:2] == ["4", "s"]
    assert row_of(text, "  bound by") == ["answers"] * 3
    assert row_of(text, "  requests under way") == ["1", "70", "69,400"]
    assert "64 texts at a time, 3 s a call (as given)" in text
    assert row_of(told(*options, "--rpm", "10").out, "  bound by") == ["--rpm"] * 3


def test_rows_on_record_cost_nothing(run, told, judge, data):
    run("score", judge, data, "-o", "done.jsonl")
    found = told("--json").json
    assert [one["calls"] for one in found["sizes"]] == [0, 2_000_000, 2_000_000_000]
    assert found["looked_up"] == {"rows": 40, "on_record": 40}


def test_what_this_very_run_has_written_is_not_in_the_way(run, judge, data, told, folder):
    run("score", judge, data, "-o", "new.jsonl")
    run("score", judge, data, "-o", "scores/")
    before = {one: one.read_bytes() for one in folder.rglob("*.json*") if one.is_file()}
    told()
    assert run("score", judge, data, "-o", "scores/", "--dry-run").status == 0
    assert {one: one.read_bytes() for one in before} == before
    other = run("score", judge, data, "-o", "new.jsonl", "--model", "openai/m", "--dry-run")
    assert other.status == 2
    assert "new.jsonl holds this judge's rows for another input or model" in other.err
    forced = run(
        "score", judge, data, "-o", "new.jsonl", "--model", "openai/m", "--dry-run", "--force"
    )
    assert forced.status == 0


def test_rows_on_standard_input_are_counted_from_the_first_on(run, judge, data, monkeypatch):
    for output in ("new.jsonl", "scores/"):
        given = io.TextIOWrapper(io.BytesIO(data.read_bytes()))
        monkeypatch.setattr("sys.stdin", given)
        done = run("score", judge, "-", "-o", output, "--dry-run", "--json")
        assert done.json["sizes"][0]["rows"] == 40


def test_an_unknown_price_is_said(told):
    text = told("--model", "openai/m", "--ledger", "none.sqlite").out
    assert row_of(text, "cost")[0] == "unknown"
    assert "--price IN,OUT" in text


def test_it_fits_a_narrow_terminal(told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "48")
    text = told("--model", "openai/m", "--price", "1,4", "--ledger", "none.sqlite").out
    assert max(map(len, text.splitlines())) <= 48


# score watched


@pytest.fixture
def score(run, judge, data):
    def done(*more):
        return run("score", judge, data, "-o", "out.jsonl", *more)

    return done


def events_of(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["event"]: line for line in lines}, path.read_text(encoding="utf-8")


def test_a_log_tells_the_run_and_none_of_its_texts(score, folder, sample_rows, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890abcdef")
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20", "--log", "run.jsonl"]
    assert score(*options).status == 0
    events, text = events_of(folder / "run.jsonl")
    assert list(events) == ["started", "unscored", "finished"]
    assert (events["started"]["rows"], events["started"]["max_calls"]) == (40, 20)
    assert (events["unscored"]["level"], events["unscored"]["kind"]) == ("warning", "over_budget")
    assert (events["finished"]["rows"], events["finished"]["calls"]) == (40, 20)
    assert events["finished"]["unscored"] == {"over_budget": 30}
    assert "sk-12345" not in text
    assert not any(row["response"][:40] in text for row in sample_rows[:40])
    score("--log", "run.jsonl")
    assert (folder / "run.jsonl").read_text().startswith(text)


def test_rows_that_are_kept_whatever_happens_are_told(score, folder, monkeypatch):
    monkeypatch.setattr(parts_scoring, "ROWS", 16)
    assert score("--log", "run.jsonl").status == 0
    events, _ = events_of(folder / "run.jsonl")
    assert (events["checkpoint"]["file"], events["checkpoint"]["rows"]) == ("out.jsonl", 16)


def test_a_run_that_fails_says_so_in_its_log(score, folder, server):
    server.script({"status": 401})
    options = ["--model", "openai/m", "--api-base", server.url, "--ledger", "new.db"]
    done = score(*options, "--log", "run.jsonl")
    assert done.status == 2
    events, _ = events_of(folder / "run.jsonl")
    assert events["failed"]["fault"] == "ModelError"
    assert events["started"]["models"][0]["endpoint"] == server.url


def test_numbers_for_prometheus_are_left_in_a_file(score, folder):
    done = score("--metrics-file", "run.prom", "--metrics-port", "0")
    assert (done.status, done.err) == (0, "")
    text = (folder / "run.prom").read_text()
    assert 'judgesmith_model_calls_total{model="offline"}' in text
    assert "\njudgesmith_rows_total{" in text
    assert "} 40.0\n" in text


def test_a_port_that_is_taken_is_refused_before_any_call(score, folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = score("--metrics-port", port, "--ledger", "new.sqlite")
    assert done.status == 2
    assert done.err.startswith(f"error: cannot listen on 127.0.0.1:{port}: ")
    assert "choose another port" in done.err
    assert not (folder / "new.sqlite").exists()
    assert not (folder / "out.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_under_the_log_is_said_once_and_ends_nothing(score, folder):
    done = score("--log", "/dev/full", "--max-calls", "0", "--ledger", "new.sqlite", "--force")
    assert done.status == 0
    assert done.err == "/dev/full: No space left on device; the run continues without its log.\n"
    assert len((folder / "out.jsonl").read_text().splitlines()) == 40


# Rows without a score: how many are too many, and when they are asked about again.

UNREADABLE = "I would rather not say."


@pytest.fixture
def graded(run, on_server, data):
    """A judge that asks the server one question per text; its options for other commands."""
    asked = [*on_server[:4]]
    options = ["--optimizer", "none", "--ledger", "made.sqlite"]
    assert run("compile", data, "-o", "graded", *on_server, *options).status == 0
    return ["graded", *asked]


def broken(server, rows, **script):
    """Have the server answer questions about these rows with what cannot be read."""
    server.script(
        *({"contains": row["response"][:40], "answer": UNREADABLE, **script} for row in rows)
    )


def unscored_in(path):
    return [row for row in rows_of(path) if row["score"] is None]


@pytest.mark.no_cover
class TestTooMany:
    def test_score_warns_of_the_main_reason_and_fails(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "--ledger", "own.sqlite", "-o"]
        done = run(*score, "out.jsonl")
        assert done.status == 1
        assert "warning: 3 of 40 rows that were asked about have no score, more than 5%" in done.err
        assert "the model's answer could not be read" in done.err
        assert len(unscored_in(folder / "out.jsonl")) == 3
        assert run(*score, "two.jsonl", "--max-unscored", ".1").status == 0
        assert run(*score, "three.jsonl", "--json").json["unscored"] == 3

    def test_rows_that_a_budget_did_not_reach_do_not_count(self, run, graded, data, folder):
        judge, *asked = graded
        asked += ["--ledger", "own.sqlite", "--max-calls", "10"]
        done = run("score", judge, data, *asked, "-o", "out.jsonl")
        assert (done.status, "warning" in done.err) == (0, False)
        assert len(unscored_in(folder / "out.jsonl")) == 30

    def test_evaluate_fails_of_a_judge_and_of_its_scores(
        self, run, graded, data, server, sample_rows
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        asked += ["--ledger", "own.sqlite"]
        done = run("evaluate", judge, data, *asked)
        assert (done.status, "warning: 3 of 40 rows" in done.err) == (1, True)
        assert run("evaluate", judge, data, *asked, "--max-unscored", ".1").status == 0
        run("score", judge, data, *asked, "-o", "out.jsonl")
        done = run("evaluate", "out.jsonl", data, "--json")
        assert (done.status, "warning: 3 of 40 rows" in done.err) == (1, True)
        assert done.json["rows"]["unscored"] == 3

    def test_compile_fails_and_the_same_command_mends_it(
        self, run, on_server, data, server, sample_rows
    ):
        options = [*on_server, "--optimizer", "none"]
        broken(server, sample_rows[:12])
        done = run("compile", data, "-o", "made", *options)
        assert (done.status, "warning: 12 of 40 rows" in done.err) == (1, True)
        server.forget()
        done = run("compile", data, "-o", "made", *options, "--json")
        assert (done.status, done.json["rows"]["unscored"]) == (0, 0)
        assert 12 <= done.json["calls"] <= 24
        assert run("compile", data, "-o", "made", *options, "--json").json["calls"] == 0


@pytest.mark.no_cover
class TestAskedAnew:
    def test_a_finished_run_that_is_started_again_asks_what_it_could_not_read(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        for output in ("out.jsonl", "scores/"):
            score = ["score", judge, data, *asked, "-o", output, "--json"]
            score += ["--ledger", f"{output[:3]}.sqlite"]
            written = folder / (output if output.endswith("l") else "scores/data.jsonl")
            first = run(*score)
            assert (first.json["calls"], first.json["unscored"]) == (43, 3)
            again = run(*score)
            assert (again.json["calls"], again.json["unscored"]) == (6, 3)
            server.forget()
            mended = run(*score)
            assert (mended.status, mended.json["calls"], mended.json["unscored"]) == (0, 3, 0)
            assert unscored_in(written) == []
            before = written.read_bytes()
            assert run(*score).json["calls"] == 0
            assert written.read_bytes() == before
            broken(server, sample_rows[5:8])

    def test_one_that_goes_on_keeps_its_answers_until_it_is_finished(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "--ledger", "own.sqlite", "-o", "out.jsonl"]
        score += ["--max-unscored", "1", "--json", "--max-calls"]
        assert run(*score, "20").json["calls"] == 20
        assert run(*score, "30").json["calls"] == 10
        server.forget()
        done = run(*score, "1000").json
        assert (done["calls"], done["unscored"]) == (13, 3)
        assert run(*score, "43").json["unscored"] == 3
        assert run(*score, "1000").json["calls"] == 3
        assert unscored_in(folder / "out.jsonl") == []

    def test_rows_without_a_score_are_asked_about_where_that_is_said(
        self, run, graded, data, server, sample_rows
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "--ledger", "own.sqlite", "-o", "out.jsonl"]
        score += ["--max-unscored", "1", "--json", "--max-calls"]
        assert run(*score, "20").json["unscored"] == 23 + 3
        server.forget()
        done = run(*score, "1000", "--retry-unscored").json
        assert (done["calls"], done["unscored"]) == (23 + 3, 0)

    def test_what_was_asked_anew_is_played_as_it_was_recorded(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "-o"]
        own = ["--ledger", "own.sqlite"]
        run(*score, "out.jsonl", *own)
        server.forget()
        recorded = run(*score, "out.jsonl", *own, "--force", "--record", "tape.jsonl")
        assert recorded.status == 0, recorded.err
        asked_before = server.counts()["requests"]
        assert run(*score, "played.jsonl", "--replay", "tape.jsonl").status == 0
        assert (folder / "played.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()
        assert server.counts()["requests"] == asked_before


# 100 rows judged by a polite server: words around its JSON, some garbage, some refusals.

N_ROWS = 100


def rows():
    """Return texts of two systems; their ratings follow from their length."""
    found = []
    for n in range(N_ROWS):
        kept = 1 + n * 7 % 5
        facts = [f"Ann left town {n // 2} on day {day}." for day in range(5)]
        found.append(
            {
                "source_id": f"s{n // 2}",
                "system_id": f"m{n % 2}",
                "source": " ".join(facts),
                "response": f"Item {n}: " + " ".join(facts[:kept]),
                "human": {"overall": [kept]},
                "scale": {"overall": [1, 5]},
            }
        )
    return found


@pytest.fixture
def polite(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with loopback_offline.serving() as server:
        server.script({"polite": True})
        yield server


def test_scoring_over_http_imports_only_what_it_needs(polite, judge, folder):
    polite.forget()
    ask = ["--model", "openai/m", "--api-base", polite.url]
    program = f"""
import sys
from judgesmith.cli import main
code = main({["score", str(judge), "sample-verdicts", "-o", "scores.jsonl", *ask]})
heavy = ("dspy", "litellm", "pandas", "gepa", "sentencex", "optuna")
print(code, [one for one in heavy if one in sys.modules], file=sys.stderr)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "0 []"
    assert len(rows_of(folder / "scores.jsonl")) == 100


@pytest.mark.no_cover
def test_infer_compile_and_score_lose_the_garbage_alone(run, polite, folder):
    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in rows()), encoding="utf-8")
    ask = ["--model", "openai/m", "--api-base", polite.url, "--json"]
    garbage = {f"s{n // 2}:m{n % 2}" for n in range(0, N_ROWS, 50)}

    inferred = run("infer", data, "-o", "rubric.yaml", *ask)
    assert inferred.status == 0, inferred.err
    assert "taught nothing" not in inferred.err
    assert "could not be read" not in inferred.err

    compiled = run(
        "compile", data, "-o", "judge", "--rubric", "rubric.yaml", "--optimizer", "none", *ask
    )
    assert compiled.status == 0, compiled.err
    assert compiled.json["rows"]["unscored"] <= len(garbage)

    scored = run("score", "judge", data, "-o", "scores.jsonl", *ask)
    assert scored.status == 0, scored.err
    found = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    lost = {f"{one['source_id']}:{one['system_id']}" for one in found if one["score"] is None}
    assert len(found) == N_ROWS
    assert lost == garbage
