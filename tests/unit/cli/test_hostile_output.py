"""Whatever rows, names and options hold, no terminal obeys it and JSON stays JSON."""

import csv
import json
import os
import pty
import re
import subprocess
import sys

import hostile
import pytest

pytestmark = pytest.mark.no_cover

QUICK = ["--rounds", "2"]
EVIL = "\x1b]0;owned\x07\x1b[7;7H\x9b31m\u202e\u2066\u200b[bold]x[/bold]"
NAME = "fl\u202e[red]uency"
# What rich itself writes to move about in its bars of progress is no text of anybody's.
_OWN = re.compile(r"\x1b\[(?:\?25[lh]|\d*[ABK]|2K|[\d;]*m)")


def obeyed(text):
    """Return what a terminal would not merely show."""
    return sorted({one for one in text if not (one.isprintable() or one in "\n\t")})


@pytest.fixture
def evil_rows(folder):
    """Rated rows whose texts, ids, criteria and other fields are hostile, in a file that is."""
    texts = [text for text in hostile.TEXTS.values() if len(text) < 3000]
    rows = [
        {
            "source_id": f"{EVIL} {n // 3}",
            "system_id": f"{EVIL} {n % 3}",
            "source": texts[n // 3],
            "response": f"{texts[(n * 7 + 3) % len(texts)]} {n}",
            "human": {NAME: [1 + n % 5], "overall": [1 + n * 3 % 5]},
            "scale": {NAME: [1, 5], "overall": [1, 5]},
            "note": EVIL,
        }
        for n in range(60)
    ]
    place = folder / f"data {EVIL.replace('/', '')}.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place, rows


def test_no_command_lets_a_terminal_obey(folder, run, evil_rows):
    data, rows = evil_rows
    judge = folder / "judge \x1b[2J"
    scores = folder / "scores \x1b[2J.jsonl"
    sheet = folder / "sheet.csv"
    for call in (
        ("check", data),
        ("infer", data, "-o", folder / "rubric \x1b[2J.yaml"),
        ("compile", data, "-o", judge, *QUICK),
        ("compile", data, "-o", folder / "other", "--criteria", "human", *QUICK),
        ("show", judge),
        ("show", judge, "--prompts"),
        ("show", judge, "--diff", folder / "other"),
        ("score", judge, data, "-o", scores),
        ("evaluate", judge, data),
        ("evaluate", scores, data),
        ("compare", judge, scores, data),
        ("sheet", "write", scores, data, "-o", sheet, "--rows", "9"),
        ("ledger", "stats"),
    ):
        done = run(*call)
        assert done.status == 0, (call, done.err)
        assert not obeyed(done.out + done.err), call
        if call[0] in ("check", "evaluate", "compare", "show") and "--prompts" not in call:
            assert isinstance(run(*call, "--json").json, dict)
    for card in (judge / "README.md", folder / "other" / "README.md"):
        assert not obeyed(card.read_text(encoding="utf-8"))
    kept = json.loads((folder / "other" / "judge.json").read_bytes())["protocol"]["rubric"]
    assert [one["name"] for one in kept["criteria"]] == [NAME]
    written = scores.read_text(encoding="utf-8")
    assert not obeyed(written)
    found = [json.loads(line) for line in written.split("\n") if line]
    ids = [(row["source_id"], row["system_id"]) for row in found]
    assert ids == [(row["source_id"], row["system_id"]) for row in rows]
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert not [cell for cell in cells if obeyed(cell.replace("\u200c", "").replace("\u200d", ""))]
    assert not [cell for cell in cells if cell.lstrip(' "')[:1] in ("=", "+", "@")]


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        (EVIL,),
        (f"--{EVIL}",),
        ("check", EVIL),
        ("check", "sample", "--map", EVIL),
        ("check", "sample", "--scale", EVIL),
        ("check", "sample", EVIL),
        ("compile", "sample", "-o", "judge", "--model", EVIL),
        ("compile", "sample", "-o", "judge", "--target", EVIL),
        ("compile", "sample", "-o", "judge", "--objective", EVIL),
        ("compile", "sample", "-o", "judge", "--variant", EVIL),
        ("compile", "sample", "-o", "judge", "--rubric", EVIL),
        ("compile", "sample", "-o", f"{EVIL}/judge"),
        ("compile", "sample", "-o", "judge", "--model", "openai/m", "--api-base", EVIL),
        ("score", EVIL, "sample", "-o", "scores.jsonl"),
        ("show", EVIL),
        ("ledger", "stats", "--ledger", EVIL),
    ],
    ids=lambda call: " ".join(call[:-1]) or ascii(call[0]),
)
def test_a_refusal_quotes_nothing_that_a_terminal_obeys(run, call, as_json):
    done = run(*call, *["--json"] * as_json)
    assert done.status == 2
    assert not obeyed(done.out + done.err)
    if as_json:
        assert done.fault["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_progress_on_a_terminal_shows_names_as_they_are(folder, evil_rows):
    """The bars themselves are drawn with escapes; nothing in a name or a text adds one."""
    data, _ = evil_rows
    ours, theirs = pty.openpty()
    call = [sys.executable, "-m", "judgesmith", "compile", str(data), "-o", "judge", *QUICK]
    call += ["--target", NAME, "--target", "overall"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    seen = b""
    with subprocess.Popen(call, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        finally:
            os.close(ours)
    text = _OWN.sub("", seen.decode().replace("\r", ""))
    assert process.returncode == 0, text
    assert "\x1b[" in seen.decode()
    assert not obeyed(text)
    assert "fl\\u202e[red]uency" in text
