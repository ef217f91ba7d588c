"""The studio over a project folder: by its pages' requests, and by processes that are killed."""

import csv
import io
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import ExitStack, closing, redirect_stderr, redirect_stdout

import httpx
import pytest
from studios import Entered, Within

from judgesmith import read
from judgesmith.cli import main
from judgesmith.studio import Choices, Compilation, ExportedRatings, Project, Store, StoredRating

HARM = "<script>document.title='harm'</script>\u202e{{ 7*7 }} \x00"


def write_project(folder, rows, text="labels: [fail, pass]\n"):
    folder.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "data.jsonl").write_text(lines, encoding="utf-8")
    (folder / "judgesmith.yaml").write_text(f"data: data.jsonl\n{text}", encoding="utf-8")
    return folder


def some_rows(n=40):
    return [
        {"source_id": f"s{i}", "source": f"Question {i}?", "response": f"Answer {i} {i * 7}."}
        for i in range(n)
    ]


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """What a user's home keeps for the studio, for one test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


HEARD = """
import os, sys
LOCAL = (None, "", "127.0.0.1", "::1", "localhost")

def heard(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if (host.decode() if isinstance(host, bytes) else host) not in LOCAL:
        with open(os.environ["OUTSIDE"], "a", encoding="utf-8") as file:
            print(event, host, file=file)

open(os.environ["OUTSIDE"], "a").close()
sys.addaudithook(heard)
"""
"""What every Python process of a studio runs first: it notes which other hosts are called."""


class Running(Entered):
    """A studio as a process of its own."""

    def __init__(self, folder, hook, *options):
        super().__init__()
        call = [sys.executable, "-m", "judgesmith", "studio", str(folder), "--port", "0"]
        hook.mkdir(exist_ok=True)
        (hook / "sitecustomize.py").write_text(HEARD, encoding="utf-8")
        self.outside = hook / "outside"
        self.process = subprocess.Popen(
            [*call, "--json", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(hook), "OUTSIDE": str(self.outside)},
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        told = json.loads(line)
        self.address, self.links = told["address"], told["links"]

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)


@pytest.fixture
def studio(tmp_path):
    """Starts studios over a folder, and ends those that a test leaves."""
    running = []

    def start(folder, *options):
        running.append(Running(folder, tmp_path / "hook", *options))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.stop()
        for opened in (*one.clients, one.process.stdout, one.process.stderr):
            opened.close()
        assert one.outside.read_text(encoding="utf-8") == "", "another host was called"


@pytest.fixture
def within():
    """Starts studios over a folder in this process, and ends them."""
    running = []

    def start(folder, *raters):
        running.append(Within(folder, *raters))
        return running[-1]

    yield start
    for one in running:
        for opened in one.clients:
            opened.close()
        one.stop()


@pytest.fixture
def opened():
    """Opens projects, and closes them at the end."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(closing(Project(folder)))


def answer(browser, row, value, **more):
    sent = {"key": row["key"], "criterion": row["criteria"][0]["name"], "value": value, **more}
    reply = browser.post("/api/label/rate", json=sent)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_two_raters_label_at_once_and_share_some_rows(within, opened, tmp_path):
    folder = write_project(tmp_path / "p", some_rows())
    one = within(folder, "anna", "ben")
    anna, ben = one.browser("anna"), one.browser("ben")
    seen = {"anna": [], "ben": []}
    for name, browser in (("anna", anna), ("ben", ben)) * 60:
        row = browser.get("/api/label/next").json()
        if row["key"] is None:
            continue
        if not row["again"]:
            assert not row["mine"]
            seen[name].append(row["key"])
        answer(browser, row, "pass", again=row["again"], rationale=f"by {name}")
    both = set(seen["anna"]) & set(seen["ben"])
    assert len(set(seen["anna"]) | set(seen["ben"])) == 40
    assert 0 < len(both) < 20
    one.stop()
    project = opened(folder)
    assert sum(one["seen_again"] for one in project.summary()) >= 2
    exported = project.export()
    assert isinstance(exported, ExportedRatings)
    assert len(exported.rows) == 40
    twice = [row for row in exported.rows if len(row["human"]["overall"]) == 2]
    assert len(twice) == len(both)
    assert set(twice[0]["raters"]["overall"]) == {"anna", "ben"}
    assert all(row["selection_probability"] == 1 for row in exported.rows)


def test_who_may_come_in(within, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(3))
    one = within(folder, "anna")
    stranger = one.stranger()
    assert stranger.get("/").status_code == 401
    assert stranger.get("/api/label/next").status_code == 401
    owner, anna = one.browser(), one.browser("anna")
    assert stranger.get(one.links["owner"]).status_code == 403  # used once
    cookie = httpx.get(one.address + "/enter?token=no").headers
    assert "set-cookie" not in cookie
    assert owner.get("/").status_code == 200
    assert anna.get("/").status_code == 303
    row = anna.get("/api/label/next").json()
    for other in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        sent = {"key": row["key"], "criterion": "overall", "value": "pass"}
        assert anna.post("/api/label/rate", json=sent, headers=other).status_code == 403
    form = anna.post("/api/label/rate", data={"key": row["key"]})
    assert form.status_code == 415
    long = anna.post("/api/label/rate", json={"key": "k" * 2_000_000, "criterion": "c"})
    assert long.status_code == 413
    policy = owner.get("/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert not owner.get("/page/../project.py").is_success
    # The cookie outlives the server; its links do not.
    one.stop()
    again = within(folder)
    kept = again.stranger(cookies=dict(owner.cookies))
    assert kept.get("/").status_code == 200
    assert kept.get(one.links["anna"].replace(one.address, again.address)).status_code == 403


def test_refusals_of_ratings(within, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(3))
    anna = within(folder, "anna").browser("anna")
    row = anna.get("/api/label/next").json()
    sent = {"key": row["key"], "criterion": "overall", "value": "pass"}
    for wrong in (
        {"key": "x"},
        {"criterion": "x"},
        {"value": "good"},
        {"state": "x"},
        {"rationale": "x" * 20_001},
    ):
        reply = anna.post("/api/label/rate", json={**sent, **wrong})
        assert reply.status_code == 422, wrong
        assert reply.json()["error"]


def test_later_tab_wins_and_the_earlier_is_told(within, opened, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(3))
    anna = within(folder, "anna").browser("anna")
    row = anna.get("/api/label/next").json()
    first = answer(anna, row, "pass")
    assert first["overtaken"] is None
    assert answer(anna, row, "fail")["overtaken"] == {"value": "pass", "state": "value"}
    project = opened(folder)
    assert [one["said"]["value"] for one in project.store.history()] == ["pass", "fail"]
    now = project.store.ratings()[0]
    assert isinstance(now, StoredRating)
    assert (now.rater, now.key, now.value) == ("anna", row["key"], "fail")
    undone = anna.post("/api/label/undo", json={}).json()
    assert undone["mine"]["overall"]["value"] == "pass"
    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
        project.store.query("DELETE FROM history")


def test_words_are_kept_before_there_is_a_value(within, opened, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(3))
    anna = within(folder, "anna").browser("anna")
    row = anna.get("/api/label/next").json()
    sent = {"key": row["key"], "criterion": "overall", "rationale": HARM}
    anna.post("/api/label/words", json=sent)
    shown = anna.get(f"/api/label/row?key={row['key']}").json()
    assert shown["mine"]["overall"]["rationale"] == HARM
    assert anna.get("/api/label/next").json()["key"] == row["key"]
    answer(anna, row, "pass", seen=shown["mine"]["overall"]["change"])
    assert opened(folder).export().rows[0]["rationale"] == {"overall": [HARM]}


def test_no_label_is_lost_where_the_server_is_killed(studio, opened, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(60))
    times = int(os.environ.get("JUDGESMITH_KILLS", "3"))
    kept = {}
    for n in range(times):
        one = studio(folder, "--rater", "anna")
        anna = one.browser("anna")
        for _ in range(3):
            row = anna.get("/api/label/next").json()
            value = ("fail", "pass")[(n + len(kept)) % 2]
            if row["key"] is None:  # all are labelled: label them anew
                row = anna.get(f"/api/label/row?key={sorted(kept)[n % len(kept)]}").json()
            answer(anna, row, value, again=False)
            kept[row["key"]] = value
        one.process.send_signal(signal.SIGKILL)
        one.process.wait(60)
        store = Store(folder / "ratings.sqlite")
        assert {one.key: one.value for one in store.ratings()} == kept
        store.close()


def test_files_are_their_owners(within, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(3))
    anna = within(folder, "anna").browser("anna")
    answer(anna, anna.get("/api/label/next").json(), "pass")
    for file in folder.glob("ratings.sqlite*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_label_that_the_scale_has_no_longer(opened, tmp_path):
    folder = write_project(tmp_path / "p", some_rows(3))
    project = opened(folder)
    key = project.next_rows("anna")[0][0]
    project.store.rate("anna", key, "overall", "pass")
    project.close()
    write_project(folder, some_rows(3), "labels: [bad, good]\npositive: good\n")
    project = opened(folder)
    assert [one.value for one in project.stale()] == ["pass"]
    assert (project.export().n_stale, project.export().rows) == (1, [])


def told(*words, status=0):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        ended = main(["label", *map(str, words), "--json"])
    assert ended == status, err.getvalue()
    return json.loads(err.getvalue().splitlines()[-1] if status else out.getvalue())


@pytest.fixture
def rated(opened, tmp_path):
    """A folder with three ratings, one of them skipped, and the table of them."""
    folder = write_project(tmp_path / "p", some_rows(4))
    project = opened(folder)
    version = project.check_value("overall", "pass")
    keys = [key for key, *_ in project.next_rows("anna")]
    for key, words in zip(keys[:2], ("=1+1", HARM), strict=True):
        project.store.rate("anna", key, "overall", "pass", rationale=words, labels=version)
    project.store.rate("anna", keys[2], "overall", None, state="skipped", rationale="too long")
    place = tmp_path / "ratings.csv"
    assert told("export", folder, "-o", place) == {"output": str(place), "ratings": 3, "stale": 0}
    return project, place


def test_ratings_go_out_as_a_table_and_into_another_folder(rated, opened, tmp_path):
    project, place = rated
    with place.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["rationale"] == "'=1+1"
    assert rows[0]["labels"] == project.check_value("overall", "pass")
    assert [row["state"] for row in rows] == ["value", "value", "skipped"]
    same = {"new": 0, "changed": 0, "unchanged": 3, "without_row": 0}
    assert told("import", place, project.folder) == same
    other = write_project(tmp_path / "q", some_rows(4))
    assert told("import", place, other) == {**same, "new": 3, "unchanged": 0}
    assert told("import", place, other) == same
    given, kept = project.store.ratings(), opened(other).store.ratings()
    fields = ("rater", "key", "criterion", "state", "value", "chosen_by", "chance", "labels")
    assert [[getattr(one, name) for name in fields] for one in kept[:2]] == [
        [getattr(one, name) for name in fields] for one in given[:2]
    ]
    assert kept[0].rationale == "=1+1"
    found = told("status", other)
    assert found["rows"] == 4
    assert (
        found["raters"][0] | {"rows": 2, "skipped": 1, "values": {"pass": 2}}
        == (found["raters"][0])
    )
    lines = tmp_path / "rated.jsonl"
    assert told("export", other, "-o", lines)["rated_rows"] == 2
    assert len(read(lines)) == 2


def test_a_changed_table_changes_ratings_and_a_wrong_one_none(rated):
    project, place = rated
    text = place.read_text(encoding="utf-8-sig")
    place.write_text(text.replace('"pass"', '"fail"', 1), encoding="utf-8")
    assert told("import", place, project.folder)["changed"] == 1
    assert sorted(one.value or "" for one in project.store.ratings()) == ["", "fail", "pass"]
    assert project.store.history()[-1]["before"]["value"] == "pass"
    before = project.store.ratings()
    for old, new, said in (
        ('"pass"', '"good"', "expected a value of"),
        ('"anna"', '"owner"', "a rater has a name"),
        ('"value","pass"', '"odd","pass"', "a rating is a value"),
        ('"random",""', '"random","2"', "chance is above 0"),
        ('"state",', '"status",', "state is missing"),
    ):
        assert old in text
        place.write_text(text.replace(old, new), encoding="utf-8")
        assert said in told("import", place, project.folder, status=2)["error"]
    place.write_text(text.replace(before[0].key, "0" * 32), encoding="utf-8")
    assert told("import", place, project.folder)["without_row"] == 1
    assert len(project.store.ratings()) == len(before)


def test_an_export_replaces_nothing_unasked(rated):
    project, place = rated
    for name, hint in ((place, "--force"), (project.folder / "data.jsonl", "name another")):
        assert hint in told("export", project.folder, "-o", name, status=2)["hint"]
    data = project.folder / "data.jsonl"
    told("export", project.folder, "-o", data, "--force", status=2)
    told("export", project.folder, "-o", "ratings.txt", status=2)
    assert told("export", project.folder, "-o", place, "--force")["ratings"] == 3
    assert len(data.read_text().splitlines()) == 4


def test_folder_without_project_file_or_data(tmp_path, capsys):
    for text, said in ((None, "has no judgesmith.yaml"), ("", "names no data")):
        if text is not None:
            (tmp_path / "judgesmith.yaml").write_text(text)
        assert main(["studio", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="cannot be used as a store of ratings") as fault:
        Store(tmp_path)
    assert "make it writable" in fault.value.hint


def test_other_addresses_take_tls(tmp_path, capsys):
    folder = write_project(tmp_path / "p", some_rows(3))
    assert main(["studio", str(folder), "--host", "0.0.0.0"]) == 2
    assert "--behind-tls" in capsys.readouterr().err


@pytest.fixture
def labelled(tmp_path, opened):
    """A folder with labels of the bundled verdicts on most of its rows."""
    verdicts = read("sample-verdicts")
    texts = ("source_id", "system_id", "source", "context", "response")
    folder = write_project(
        tmp_path / "p", [item.model_dump(include=set(texts)) for item in verdicts]
    )
    project = opened(folder)
    labels = {item.key: ("fail", "pass")[int(item.human["overall"][0])] for item in verdicts}
    for key, by, _ in project.next_rows("anna", n=60):
        project.store.rate("anna", key, "overall", labels[key], chosen_by=by, rationale="so")
    return folder


def states(browser):
    """Yield what the server tells of a compilation, until it ends."""
    with browser.stream("GET", "/api/compile/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                state = json.loads(line.removeprefix("data: "))
                yield state
                if state["status"] in ("done", "stopped", "failed"):
                    return


def test_compile_stop_resume_review_edit_and_compare(studio, labelled, opened):
    one = studio(labelled, "--rater", "anna")
    owner, anna = one.browser(), one.browser("anna")
    for path in ("/api/compile/start", "/api/compile/estimate", "/api/review", "/api/rubric"):
        assert anna.post(path, json={}).status_code == 403
    for path in ("/compile", "/review", "/rubric", "/judges/v1", "/api/compile/events"):
        assert anna.get(path).status_code == 403
    assert "calls" in owner.post("/api/compile/estimate", json={}).json()["said"]
    assert owner.post("/api/compile/start", json={"effort": "light"}).json() == {"number": 1}
    assert owner.post("/api/compile/start", json={}).status_code == 422
    assert owner.post("/api/compile/stop", json={}).is_success
    assert list(states(owner))[-1]["status"] == "stopped"
    assert "Resume v1" in owner.get("/compile").text
    assert owner.post("/api/compile/start", json={"resume": True}).json() == {"number": 1}
    seen = list(states(owner))
    assert seen[-1]["status"] == "done", seen[-1]
    assert {"compile", "score", "suggest"} <= {state["step"] for state in seen}
    assert any(state.get("total") for state in seen)
    home = owner.get("/").text
    assert "balanced accuracy" in home
    assert "Label the 40 rows that would help the judge most" in home
    assert "v1" in owner.get("/judges/v1").text
    assert owner.get("/judges/v7").status_code == 404

    page = owner.get("/review").text
    key = re.search(r'name="key" value="([0-9a-f]+)"', page)[1]
    sent = {"key": key, "criterion": "overall", "value": "pass", "why": HARM, "note": HARM}
    assert owner.post("/api/review", json={**sent, "mark": "demonstration"}).status_code == 200
    assert owner.post("/api/review", json={"key": key, "rater": "anna", "value": "fail"}).is_success
    other = next(one.key for one in opened(labelled).store.ratings() if one.key != key)
    assert owner.post("/api/review", json={"key": other, "mark": "never"}).is_success
    row = owner.get(f"/rows/{key}").text
    assert "adjudicate" in row
    assert "correct" in row
    assert "<script>document" not in row + owner.get("/rubric").text + owner.get("/review").text
    edited = {
        "task": "Judge an answer of a shop.",
        "name-0": "help",
        "definition-0": "Does it say what to do?",
        "guidelines": "An answer says what to do next.",
        "why": "from a review",
    }
    assert owner.post("/api/rubric", json=edited).json() == {"version": 1}
    assert owner.post("/api/rubric", json={**edited, "name-0": "a:b"}).status_code == 422
    assert "a criterion or more" in owner.post("/api/rubric", json={"name-9999": "a"}).text
    assert "An answer says what to do next." in owner.get("/rubric").text
    assert owner.post("/api/compile/start", json={"effort": "light", "suggest": False}).is_success
    assert list(states(owner))[-1]["status"] == "done"
    assert "Labelled rows: " in owner.get("/judges/v2").text
    project = opened(labelled)
    assert project.judges == [1, 2]
    assert project.rubric.names == ("help",)
    rows = {row["response"]: row for row in project.export().rows}
    decided = rows[project.item(key).response]
    assert decided["human"] == {"overall": ["pass"]}
    assert decided["suggested_by"] == "demonstration"
    assert rows[project.item(other).response]["demonstration"] == "never"
    assert one.stop() == 0


def test_texts_go_to_a_model_only_where_that_is_confirmed(within, tmp_path, opened):
    folder = write_project(
        tmp_path / "p", some_rows(3), "model: openai/gpt-4o-mini\napi_base: http://127.0.0.1:9/v1\n"
    )
    project = opened(folder)
    compilation = Compilation(project)
    assert compilation.endpoint == "openai/gpt-4o-mini at http://127.0.0.1:9/v1"
    with pytest.raises(ValueError, match="confirm that first"):
        compilation.start(Choices())
    # A stranger's folder cannot bring its permission along.
    project.store.agree(compilation.endpoint)
    assert not compilation.confirmed()
    owner = within(folder).browser()
    assert "Send texts of this folder" in owner.get("/compile").text
    assert owner.post("/api/compile/start", json={}).status_code == 422
    compilation.confirm()
    assert "Send texts of this folder" not in owner.get("/compile").text
