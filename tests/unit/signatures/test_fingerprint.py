"""The one fingerprint of plain data, whose bytes stand in saved files."""

from __future__ import annotations

import pytest

from judgesmith.signatures.plain_data import fingerprint_of

WHOLE = {"b": [1, 0.5, None], "a": "é"}


@pytest.mark.parametrize(
    ("whole", "sort_keys", "mark"),
    [
        (WHOLE, True, "97f0d07083dc"),
        (WHOLE, False, "17fe59bcc714"),
        (["a", "b"], True, "3554d2b8a1e3"),
        ("a\nb", True, "7e18f737311b"),
    ],
)
def test_a_fingerprint_stays_what_files_hold(whole, sort_keys, mark):
    assert fingerprint_of(whole, sort_keys=sort_keys) == mark
