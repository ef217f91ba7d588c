"""SECURITY.md names ways that are there and promises what the code does; actions are pinned."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from looping import for_each

import judgesmith

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
JUDGES = sorted((ROOT / "tests" / "system" / "before" / "judges").iterdir())
WORKFLOWS = sorted((ROOT / ".github").rglob("*.y*ml"))
PAGES_WITH_ACTIONS = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", ".pre-commit-hooks.yaml")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.y*ml")),
]
USES = re.compile(r"^\s*(?:- )?uses:\s*(.*?)\s*$", flags=re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(?:\.\d+)*")

# Loads each judge once, so that all that it needs is imported, and then tells of the second time.
LOADING = """
import json, sys
from judgesmith.programs import load_saved

told = None

def heard(event, given):
    if told is not None:
        told.append([event, str(given[0]) if given else ""])

for folder in sys.argv[1:]:
    load_saved(folder)
sys.addaudithook(heard)
said = {}
for folder in sys.argv[1:]:
    told = []
    load_saved(folder)
    told, said[folder] = None, told
print(json.dumps(said))
"""


def section(name):
    """Return what stands under a heading of SECURITY.md, on one line."""
    (text,) = re.findall(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return " ".join(text.split())


def unpinned(text):
    """Return the actions of a text that no commit is named for."""
    actions = [one for one in USES.findall(text) if not one.startswith("./")]
    return [one for one in actions if not PINNED.fullmatch(one)]


def test_it_says_how_to_report():
    said = section("Reporting")
    assert "in private" in said
    assert "*Security*, then *Report a vulnerability*" in said
    assert "Do not open a public issue" in said
    assert "`main`" in said


def test_what_it_tells_to_give_python_can_be_given():
    given = set(re.findall(r"`(\w+)=(?:\[\.\.\.\])?`", PAGE))
    assert given == {"lm", "allow_models"}
    assert given <= set(inspect.signature(judgesmith.load).parameters)


def test_loading_a_judge_opens_no_other_file_and_runs_nothing():
    folders = [str(one) for one in JUDGES]
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *folders],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    told = json.loads(done.stdout)
    assert list(told) == folders
    assert len(folders) > 10
    for folder, events in told.items():
        # Not a socket, a process, an import, an unpickled class, nor code that is compiled.
        assert {event for event, _ in events} == {"open"}, folder
        assert {name for _, name in events} == {str(Path(folder) / "judge.json")}


def test_every_action_is_pinned_by_its_commit():
    assert WORKFLOWS
    found = {one: one.read_text(encoding="utf-8") for one in (*WORKFLOWS, *PAGES_WITH_ACTIONS)}
    assert {one.name: unpinned(text) for one, text in found.items() if unpinned(text)} == {}
    assert sum(len(USES.findall(text)) for text in found.values()) >= 5


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda one: one.name)
def test_a_workflow_may_read_and_no_more(workflow):
    assert yaml.safe_load(workflow.read_text(encoding="utf-8"))["permissions"] == {
        "contents": "read"
    }


@for_each(
    "action",
    [
        "actions/checkout@v4",
        "actions/checkout@main",
        "actions/checkout@11bd719",
        "actions/checkout",
        f"actions/checkout@{'1' * 40}",
    ],
)
def test_an_action_without_its_commit_or_version_is_noticed(action):
    assert unpinned(f"steps:\n  - uses: {action}\n") == [action]
