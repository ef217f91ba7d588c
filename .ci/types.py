"""Check the types of the package, and of each page of the documentation as a user's script."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / ".mypy_cache" / "examples"
# Examples leave annotations of their own functions out, and DSPy is untyped: all else is strict.
HEADER = """\
# mypy: allow-untyped-defs, allow-untyped-calls, allow-subclassing-any
# mypy: allow-redefinition, disable-error-code="no-redef"
"""


def extract() -> list[Path]:
    """Write the examples of each page that has some as one script, and return the scripts."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    written = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.S | re.M)
        examples = doctest.DocTestParser().get_examples("\n".join(blocks))
        if not examples:
            continue
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
        path = SCRIPTS / f"{name}.py"
        text = HEADER + "".join(one.source for one in examples)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
        written.append(path)
    for old in set(SCRIPTS.glob("*.py")) - set(written):
        old.unlink()
    return written


if __name__ == "__main__":
    scripts = [str(path.relative_to(ROOT)) for path in extract()]
    command = [sys.executable, "-m", "mypy", "judgesmith", *scripts, *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)
