"""Run every check, show every failure, and say how long each took.

Standard library only; run it with the Python that has the locked requirements
(``.venv/bin/python .ci/checks.py``). The exit status is that of the first check that failed.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
# One worker more than cores: some tests wait for servers and processes that they start.
WORKERS = str((os.cpu_count() or 1) + 1)
# import-linter has no ``python -m`` form, so its command is taken from beside the interpreter.
LINT_IMPORTS = str(Path(PYTHON).with_name("lint-imports"))

CHECKS = {
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "types": [PYTHON, ".ci/types.py"],
    "imports": [LINT_IMPORTS],
    "tests": [PYTHON, "-m", "pytest", "-n", WORKERS, "--dist", "worksteal"],
}
# Counting lines doubles the time of the tests: one job of the workflow asks for it.
if os.environ.get("JUDGESMITH_COVERAGE") == "1":
    CHECKS["tests"].append("--cov")


def run(checks: dict[str, list[str]], folder: Path) -> int:
    """Run ``checks`` in ``folder`` and return the first non-zero status.

    Two run at a time and are printed whole. The tests print as they go; types, which take longest
    of the others and one core, are found meanwhile and told of after them.
    """
    # Hundreds of processes import the same modules: each keeps for the others what it compiled.
    compiling = {n: text for n, text in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}

    def ran(name: str) -> tuple[int, float, bytes]:
        started = time.monotonic()
        done = subprocess.run(
            checks[name],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=None if name == "tests" else subprocess.PIPE,
            stderr=None if name == "tests" else subprocess.STDOUT,
            env=compiling,
        )
        return done.returncode, time.monotonic() - started, done.stdout or b""

    found, lines, first_failure = {}, [], 0
    with ThreadPoolExecutor(2) as pool:
        beside = {name: pool.submit(ran, name) for name in checks if name != "tests"}
        for name in sorted(checks, key="types".__eq__):
            command = [Path(checks[name][0]).name, *checks[name][1:]]
            print(f"\n== {name}: {' '.join(command)}", flush=True)
            status, seconds, said = beside[name].result() if name in beside else ran(name)
            print(said.decode(errors="replace"), end="", flush=True)
            found[name] = status, seconds
    for name in checks:
        status, seconds = found[name]
        verdict = "ok" if status == 0 else f"FAILED, status {status}"
        lines.append(f"{name:<8} {seconds:7.1f} s  {verdict}")
        first_failure = first_failure or status
    print("\n" + "\n".join(["check       time  result", *lines]), flush=True)
    return first_failure


if __name__ == "__main__":
    sys.exit(run(CHECKS, ROOT))
