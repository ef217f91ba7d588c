"""What is written beside its place is put there whole, and leaves nothing behind."""

import fcntl
import os
import signal
import subprocess
import sys

import pytest

from judgesmith.drafts import draft_beside, put, tidy, write_synced

LEFT = ".out.txt-0123abcd.part"

HOLDING = """
import sys, time
from pathlib import Path
from judgesmith.drafts import draft_beside
with draft_beside(Path("out.txt")) as draft:
    draft.write_text("half")
    print(draft.name, flush=True)
    time.sleep(300)
"""


def names(folder):
    return sorted(one.name for one in folder.iterdir())


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    place = tmp_path / "out.txt"
    with pytest.raises(TypeError), draft_beside(place) as draft:
        write_synced(draft, None)
    assert names(tmp_path) == []
    with draft_beside(place) as draft:
        write_synced(draft, "whole \udc80")
        assert not place.exists()
        put(draft, place)
    assert names(tmp_path) == ["out.txt"]
    assert place.read_text() == "whole \\udc80"


def test_a_folder_takes_the_place_of_another(tmp_path):
    place = tmp_path / "judge"
    for text in ("first", "second"):
        with draft_beside(place, folder=True) as draft:
            write_synced(draft / "text", text)
            put(draft, place)
    assert names(tmp_path) == ["judge"]
    assert (place / "text").read_text() == "second"


def test_new_files_have_the_permissions_that_the_user_chose(tmp_path):
    before = os.umask(0o027)
    try:
        for folder in (False, True):
            with draft_beside(tmp_path / "out", folder=folder) as draft:
                assert draft.stat().st_mode & 0o777 == (0o750 if folder else 0o640)
    finally:
        os.umask(before)


def test_drafts_of_killed_processes_go_and_those_of_living_ones_stay(tmp_path):
    call = [sys.executable, "-c", HOLDING]
    with subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            held = process.stdout.readline().strip()
            tidy(tmp_path / "out.txt")
            assert names(tmp_path) == [held]
        finally:
            process.send_signal(signal.SIGKILL)
    assert names(tmp_path) == [held]
    (tmp_path / ".out.txt-mine.part").write_text("of somebody who likes such names")
    with draft_beside(tmp_path / "out.txt"):
        assert held not in names(tmp_path)
    assert names(tmp_path) == [".out.txt-mine.part"]


def test_a_folder_that_was_on_its_way_out_comes_back(tmp_path):
    place, old = tmp_path / "judge", tmp_path / ".judge-0123abcd.old"
    old.mkdir()
    (old / "text").write_text("first")
    (tmp_path / ".judge-0123abcd.part").mkdir()
    tidy(place)
    assert names(tmp_path) == ["judge"]
    assert (place / "text").read_text() == "first"
    place.rename(old)
    place.mkdir()
    (place / "text").write_text("second")
    tidy(place)
    assert names(tmp_path) == ["judge"]
    assert (place / "text").read_text() == "second"


def test_links_and_locked_leftovers_are_not_followed_or_touched(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / LEFT).symlink_to(tmp_path / "precious")
    locked = tmp_path / ".out.txt-89abcdef.part"
    with locked.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        tidy(tmp_path / "out.txt")
        assert names(tmp_path) == [LEFT, locked.name, "precious"]
    tidy(tmp_path / "out.txt")
    assert (tmp_path / "precious").read_text() == "mine"
    assert locked.name not in names(tmp_path)


def test_without_locks_nothing_is_taken_for_left_over(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (tmp_path / LEFT).write_text("perhaps somebody's")
    with draft_beside(tmp_path / "out.txt") as draft:
        put(draft, tmp_path / "out.txt")
    assert names(tmp_path) == [LEFT, "out.txt"]


def test_two_who_write_the_same_place_both_end_and_one_of_them_wins(tmp_path):
    place = tmp_path / "out.txt"
    with draft_beside(place) as first, draft_beside(place) as second:
        first.write_text("first")
        second.write_text("second")
        put(first, place)
        put(second, place)
    assert names(tmp_path) == ["out.txt"]
    assert place.read_text() == "second"


REPLACING = """
import sys
from pathlib import Path
from judgesmith.drafts import draft_beside, put, write_synced
for number in range(60):
    with draft_beside(Path("judge"), folder=True) as draft:
        write_synced(draft / "text", sys.argv[1])
        put(draft, Path("judge"))
"""


@pytest.mark.no_cover
def test_two_who_replace_the_same_folder_over_and_over_leave_one_whole(tmp_path):
    call = [sys.executable, "-c", REPLACING]
    pipes = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([*call, text], **pipes) for text in ("first", "second")]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert names(tmp_path) == ["judge"]
    assert (tmp_path / "judge" / "text").read_text() in ("first", "second")


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), draft_beside(tmp_path / "none" / "out.txt"):
        pass
