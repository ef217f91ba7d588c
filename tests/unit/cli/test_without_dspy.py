import json
import subprocess
import sys
from urllib.request import Request, urlopen

import pytest

pytestmark = pytest.mark.no_cover

HEAVY = ["dspy", "litellm", "optuna", "pandas", "scipy", "sklearn", "gepa"]
PROGRAM = f"""
import sys
from judgesmith.cli import main
status = main(sys.argv[1:])
print(status, [name for name in {HEAVY} if name in sys.modules])
"""


def left_by(*arguments):
    """Return the last line of a fresh interpreter that ran a command: status, what it imported."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_scoring_with_the_offline_model_imports_nothing_heavy(judge, data, folder):
    watched = ["--log", folder / "run.jsonl", "--metrics-file", folder / "run.prom"]
    assert left_by("score", judge, data, "-o", folder / "out.jsonl", *watched) == "0 []"


def test_saying_what_scoring_would_cost_imports_nothing_heavy(judge, data):
    options = ["--model", "openai/m", "--dry-run"]
    assert left_by("score", judge, data, "-o", "out.jsonl", *options) == "0 []"


def test_scoring_with_a_served_model_imports_nothing_heavy(judge, data, folder, server):
    served = ["--model", "openai/m", "--api-base", server.url, "--max-unscored", "1"]
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:2]))
    assert left_by("score", judge, data, "-o", folder / "out.jsonl", *served) == "0 []"


def test_asking_golden_items_again_imports_nothing_of_dspy(judge):
    assert "dspy" not in left_by("recheck", judge, "--json")


def test_a_server_imports_nothing_heavy(judge, folder):
    command = [sys.executable, "-W", "error", "-c", PROGRAM, "serve", str(judge), "--port", "0"]
    row = json.dumps({"source": "The bridge opened.", "response": "It opened."}).encode()
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True) as process:
        try:
            address = json.loads(process.stdout.readline())["address"]
            for path, body in (("judge", row), ("batch", b'{"items": [%b]}' % row)):
                asked = Request(f"{address}/v1/judges/judge/{path}", data=body)
                asked.add_header("Content-Type", "application/json")
                with urlopen(asked, timeout=120) as reply:
                    assert reply.status == 200
        finally:
            process.terminate()
        assert process.stdout.read() == "0 []\n"


def test_no_family_of_judges_needs_dspy_to_be_asked():
    program = (
        "import sys\n"
        "from judgesmith.programs import known_families\n"
        "for one in known_families():\n"
        "    own = one.protocol_class.model_validate({})\n"
        "    for name in one.forms_of(own): one.inputs_of(own, name)\n"
        "    one.space_of(own); one.calls_of(own)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
