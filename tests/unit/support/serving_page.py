"""Judges that mark errors, and studios, served from a process of their own."""

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager

from judgesmith.programs import family_of
from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.signatures import Judgement, RatedItem, Rubric, Scale

COMMAND = (sys.executable, "-m", "judgesmith", "serve")
RUBRIC = Rubric(
    task="A report is summarised.",
    criteria={"fluency": "Is it well written?", "faithfulness": "Is all of it in the source?"},
)
_ESTIMATE = {"value": 0.5, "low": -0.1, "high": 0.8, "confidence": 0.95, "n": 40, "n_groups": 10}
EXAMPLES = [
    RatedItem(source="Is the ferry late?", context="<b>Ask.</b>", response=f"No, {when}.")
    for when in ("never", "not today")
]
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/?")


def judge_folder(place, agreement=None, *, family="annotator"):
    """Save a judge with two criteria, one that marks errors unless it is said, in a folder."""
    judge = family_of(family).start(RUBRIC)
    heldout = {"heldout": {"dataset": {"pearson": _ESTIMATE}}}
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="openai/loopback",
        target="overall",
        human_scale=Scale(low=1, high=5),
        agreement=heldout if agreement is None else agreement,
        golden=[GoldenItem.of(one, Judgement(score=50)) for one in EXAMPLES],
    ).save(place)


@contextmanager
def served(judges, folder, *options, **environment):
    """Serve judges, by name, in a process with these options; give the address of the page."""
    call = [*COMMAND, *(f"{name}={place}" for name, place in judges.items()), "--port", "0"]
    log = folder / "served.log"
    with log.open("w", encoding="utf-8") as written:
        process = subprocess.Popen(
            [*call, *options],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
        )
    try:
        line = process.stdout.readline()
        found = _ADDRESS.search(line)
        assert found, f"{line}{log.read_text('utf-8')}"
        yield found[0].rstrip("/") + "/"
    finally:
        process.terminate()
        process.communicate(timeout=120)


@contextmanager
def studio(folder):
    """Serve the studio of a project folder in a process; give the owner's link."""
    call = [sys.executable, "-m", "judgesmith", "studio", str(folder), "--port", "0", "--json"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["links"]["owner"]
    finally:
        process.terminate()
        process.communicate(timeout=120)
