"""What calls of public names come to, held against values on file."""

from pathlib import Path

import pytest
from locking import Plain, file_of, hold, values

EXPECTED = Path(__file__).parent / "expected"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGESMITH_LEDGER", raising=False)
    return tmp_path


@pytest.fixture
def keep(folder, request):
    """Keep what a call came to; in the end all of it is as it is on file."""
    kept = {}
    plain = Plain(folder)

    def keeping(name, found, *, whole=True):
        assert name not in kept
        told = values(found)
        nested = isinstance(told, dict | list)
        kept[name] = plain.whole_or_parts(told, whole=whole) if nested else told
        return found

    yield keeping
    names = {short: long for long, short in [*plain.keys.items(), *plain.texts.items()]}
    hold({**kept, "names": names}, file_of(request, EXPECTED))
