"""Every fuzz target on few inputs, the same ones each time; benchmark ``fuzz`` has more."""

import importlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.no_cover

TARGETS = sorted(path.stem for path in Path(__file__).parent.glob("fuzz_*.py"))
FEWER = {"fuzz_commands": 15, "fuzz_ledgers": 30, "fuzz_judges": 30, "fuzz_sheets": 30}
FEWER |= {"fuzz_specs": 15, "fuzz_requests": 30}
USUAL = 60


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


# Inputs that once ended in a fault that nobody had foreseen.
FOUND = {
    "fuzz_judges": [
        "ea53ce6fc35f1162f69ae5ade89f7cc02e9104f93bdac5d206abb33006519ea8",
        "75979ddf29a1997bdd579e014110bd0856eb158452a85da0c246d199233d4c55abd6f154ba84b61d"
        "891ad6496f0e4b18f59f58ff38eb42190a29156a9d5cf1d8b0594262a89b512648e9339ada3e91aa"
        "e98ad65973a4f8ac8c92718a90fbbbda76b38de4beaaf519ca8b4f5f2efa403e7d7ebeda096f542c"
        "6ff7a7bd4a0179b2868fa820f436b6ae94f0c03a7af7092ad2509ab885fb9e136b6edfe613fb543a"
        "5fc1b5d2f67f15dc1051c98cd653db5ebca4c7b696e2b8e285ca591026177087dc4b37e2a62cf5fb"
        "d4407e0bad14586ce02db5a8adecdf33b5389575ba0a95d7377aa597a1a074b9b9f5b1bb05ad4bd0"
        "74e189a2f7bd380d886b3a911830adb12fd4831cec73d7ae57a791739edd4963957ee88a3e88f5e0"
        "35ceca21769c8ff50cde73c62297c2d05b40e476069861deccada28cab962c1c4032b7d287f0917f"
        "a8d1a92229a2d256b04fe52a3a49dbfe53ca80b290ee21ab0b8b431ff7f5cb92c9d4f56755f35222"
        "6427b3b2c29c59687a054a87e22a3f1e6dff6c3baa7061d2be0f9dfc235c7944461bb8ddf7f48fc4"
        "794865909a081075ff19c33ff05fb22dd0a4e1b81db9b1730f33a4b2cadb7e8de97c3a0aa31efec5"
        "550d80f16cd69ca1b59aeb87d589f94965d21f2900c06faefe8a6a5cf19ccea05731fabcb46762ba"
        "fbc8ffe2fd57594abf1b8e84ea68ec146e0a134756ad85b0dbf5022bc2b0e152",
    ],
    "fuzz_ledgers": [
        "ac04069968d6c1419d9a74d8d6b592c7368bc9e3f414b27fc056c459bd3885c7",
        "d6335e5b6f8910a8",
    ],
}


@pytest.mark.parametrize(("name", "data"), [(k, one) for k, many in FOUND.items() for one in many])
def test_what_was_once_found_is_not_found_again(name, data):
    importlib.import_module(name).fuzz_one(bytes.fromhex(data))
