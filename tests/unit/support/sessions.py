"""Pages, and the sessions on them, run as a reader would run them."""

import gc
import io
import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from judgesmith.cli import main

ROOT = Path(__file__).resolve().parents[3]
EVERY_PAGE = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "examples/README.md",
        )
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def blocks(page, kind):
    """Return the blocks of one kind on a page, one after another."""
    text = page.read_text(encoding="utf-8")
    return "".join(block.group(2) for block in BLOCK.finditer(text) if block.group(1) == kind)


def commands(session):
    """Return each command of a session, on one line, with the lines shown under it."""
    parts = re.split(r"^\$ ", session.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    return [(part.splitlines()[0], part.splitlines()[1:]) for part in parts]


def pattern(line):
    """Return a pattern for a line of output in which ``...`` stands for anything."""
    return ".*".join(map(re.escape, line.split("...")))


_DONE = {}
"""What the first commands of pages printed, and a folder as they left it, by these commands."""


def _printed(so_far, folder):
    """Return the lines that the last of these commands prints; pages that begin alike share it."""
    if so_far in _DONE:
        lines, left = _DONE[so_far]
        shutil.copytree(left, folder, dirs_exist_ok=True)
        return lines
    name, *arguments = so_far[-1].split()
    assert name == "judgesmith"
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(arguments)
    assert status == 0, (so_far[-1], err.getvalue())
    lines = out.getvalue().splitlines()
    if len(so_far) < 3:
        gc.collect()  # closes the cache, whose files would go while they are copied
        _DONE[so_far] = lines, shutil.copytree(folder, f"{folder}-{len(so_far)}")
    return lines


def run_session(page, folder):
    """Run the commands of a page in the folder one is in; return what they did not print."""
    for file in (*ROOT.glob("examples/*.csv"), *ROOT.glob("examples/*.yaml")):
        shutil.copy(file, folder)
    wrong, so_far = [], ()
    for command, shown in commands(blocks(page, "console")):
        so_far += (command,)
        printed = iter(_printed(so_far, folder))
        for line in shown:
            if line != "...":
                found = any(re.fullmatch(pattern(line), one) for one in printed)
                wrong += [] if found else [(command, line)]
    return wrong
