"""Every fuzz target on few inputs, the same ones each time; ``benchmarks/torture`` has more."""

import importlib
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TARGETS = sorted(path.stem for path in Path(__file__).parent.glob("fuzz_*.py"))
FEWER = {"fuzz_commands": 25, "fuzz_ledgers": 50, "fuzz_judges": 50, "fuzz_sheets": 50}
USUAL = 100


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_what_is_documented_comes_of_any_input(name):
    target = importlib.import_module(name)

    @settings(
        max_examples=FEWER.get(name, USUAL),
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(max_size=400))
    def fuzz(data):
        target.fuzz_one(data)

    fuzz()


@pytest.mark.parametrize("name", TARGETS)
def test_nor_of_longer_inputs_which_are_more_complicated_cases(name):
    target = importlib.import_module(name)
    rng = random.Random(name)
    for _ in range(2 * FEWER.get(name, USUAL)):
        target.fuzz_one(rng.randbytes(rng.choice((32, 128, 512))))


# Inputs that once ended in a fault that nobody had foreseen.
FOUND = {
    "fuzz_judges": ["ea53ce6fc35f1162f69ae5ade89f7cc02e9104f93bdac5d206abb33006519ea8"],
    "fuzz_ledgers": [
        "ac04069968d6c1419d9a74d8d6b592c7368bc9e3f414b27fc056c459bd3885c7",
        "d6335e5b6f8910a8",
    ],
}


@pytest.mark.parametrize(("name", "data"), [(k, one) for k, many in FOUND.items() for one in many])
def test_what_was_once_found_is_not_found_again(name, data):
    importlib.import_module(name).fuzz_one(bytes.fromhex(data))
