"""What Judgesmith costs, how good it is and what it survives: ``python -m benchmarks list``."""

import sys
from pathlib import Path

# Beside the tests, which have the servers, crowds and hostile texts that benchmarks need, too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))
