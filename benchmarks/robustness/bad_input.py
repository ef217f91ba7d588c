"""Bad input, command by command: the table of the tests, counted."""

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from benchmarks.harness import Row, benchmark, held

TABLE = Path(__file__).resolve().parents[2] / "tests" / "unit" / "cli" / "bad_inputs.py"


@benchmark(quick={"most": 20})
def bad_input(*, most: int | None = None) -> list[Row]:
    """Bad input, command by command: how many refusals are as the table of the tests says."""
    bad_inputs = _module()
    refusals = bad_inputs.table()
    tried = [one for one in refusals if bad_inputs.missing_need(one) is None][:most]
    with tempfile.TemporaryDirectory() as place:
        made, shelf = Path(place) / "made", Path(place) / "shelf"
        made.mkdir()
        shelf.mkdir()
        bad_inputs.shelve(shelf, bad_inputs.make_judge(made))
        wrong = [(one.command, faults) for one in tried if (faults := _faults(one, shelf))]
    for command, faults in wrong:
        print(f"{command}: {'; '.join(faults)}", file=sys.stderr)
    placed = sum(one.where is not None for one in tried)
    untried = len(refusals) - len(tried)
    left = f", {untried} not tried here" if untried else ""
    return [
        held(
            "exact message on standard error, exit status 2, the same with --json, no model asked, "
            "every file and folder as it was",
            f"{len(tried) - len(wrong)} of {len(tried)}{left}",
            not wrong and len(tried) >= min(100, most or 100),
        ),
        held(
            "--json names the file, the line or the option to blame",
            f"{placed} of {len(tried)}",
            placed >= len(tried) - 1,
        ),
    ]


def _faults(refusal: object, shelf: Path) -> list[str]:
    found: list[str] = sys.modules["bad_inputs"].faults_of(refusal, shelf)
    return found


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bad_inputs", TABLE)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["bad_inputs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
