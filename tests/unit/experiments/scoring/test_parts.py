import errno
import os

import pytest

from judgesmith.drafts import claimed
from judgesmith.experiments.scoring import parts as parts_module
from judgesmith.experiments.scoring.lines import Line, read_line
from judgesmith.experiments.scoring.parts import Parts

MARKS = {"judge": "j", "target": "t", "run": "r"}
AGAIN = {"problem": "not asked: the budget is spent", "again": True}


def key(n):
    return 2 * f"{n:016x}"


def line(n, note=None, row='{"score": 1}'):
    return Line(n, key(n), note, row)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(parts_module, "ROWS", 2)


@pytest.fixture
def begun(tmp_path):
    """Return parts of one file, as each process makes its own."""

    def begin(**options):
        return Parts(tmp_path / "out.jsonl", options.pop("marks", MARKS), **_ordered(options))

    return begin


def _ordered(options):
    return {"ordered": True, **options}


def stopped(parts, *lines):
    """Let a process take rows and be killed."""
    for one in lines:
        parts.add(one)
    parts.close()


@pytest.mark.parametrize(
    "one", [line(3), line(4, AGAIN), Line(5, key(5), {"stated": '", null, {'}, '{"a": ", {"}')]
)
def test_a_line_is_read_as_it_was_written(one):
    assert read_line(f"{one.written()}\n") == one
    with pytest.raises(ValueError, match=r"not enough|expected|Expecting|invalid"):
        read_line(one.written()[:-3])


def test_rows_that_were_committed_are_known_to_the_next_process_and_come_in_order(begun, tmp_path):
    stopped(begun(), line(1), line(2), line(3))
    parts = begun()
    earlier = parts.earlier()
    assert [earlier.has(n, key(n)) for n in (1, 2, 3, 4)] == [True, True, False, False]
    earlier.refuse_rest(4)
    for n in (3, 4, 5):
        parts.add(line(n))
    assert [one.number for one in parts.lines()] == [1, 2, 3, 4, 5]
    parts.remove()
    assert list(tmp_path.iterdir()) == []


def test_few_rows_need_no_folder_and_what_goes_wrong_leaves_none(begun, tmp_path):
    parts = begun()
    parts.add(line(1))
    assert list(tmp_path.iterdir()) == []
    assert list(parts.lines()) == [line(1)]
    parts.leave()
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ends_by_itself_commits_what_it_has(begun):
    parts = begun()
    for n in (1, 2, 3):
        parts.add(line(n))
    parts.leave()
    again = begun()
    assert again.earlier().has(1, key(1))
    assert [one.number for one in again.lines()] == [1, 2, 3]


def test_rows_worth_another_try_are_judged_again_and_replaced(begun):
    stopped(begun(), line(1), line(2, AGAIN), line(3, AGAIN), line(4))
    parts = begun()
    earlier = parts.earlier()
    assert [earlier.has(n, key(n)) for n in (1, 2, 3, 4)] == [True, False, False, True]
    parts.add(line(2))
    parts.add(line(3, AGAIN))
    assert list(parts.lines()) == [line(1), line(2), line(3, AGAIN), line(4)]


def test_rows_in_no_order_are_known_by_their_number(begun):
    stopped(begun(ordered=False), line(40), line(7), line(1, AGAIN), line(8))
    parts = begun(ordered=False)
    earlier = parts.earlier()
    with pytest.raises(FileExistsError, match="holds rows beyond the 5 of this input"):
        earlier.refuse_rest(5)
    with pytest.raises(FileExistsError, match="row 7 of the run that was stopped is about other"):
        earlier.has(7, key(9))
    assert [n for n in range(1, 50) if earlier.has(n, key(n))] == [7, 8, 40]
    earlier.refuse_rest(40)
    parts.add(line(1))
    assert [one.number for one in parts.lines()] == [40, 7, 8, 1]


def test_other_texts_and_fewer_rows_are_refused(begun):
    stopped(begun(), line(1), line(2))
    earlier = begun().earlier()
    with pytest.raises(FileExistsError, match=r"out.jsonl.parts: row 1 of the run"):
        earlier.has(1, key(2))
    with pytest.raises(FileExistsError, match=r"beyond the 0 of this input; give the whole input"):
        earlier.refuse_rest(0)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"marks": MARKS | {"judge": "k"}}, "of another judge"),
        ({"marks": MARKS | {"run": "q"}}, "for another input or model"),
        ({"ordered": False}, "written in order"),
    ],
)
def test_parts_of_another_run_are_refused_unless_it_starts_over(begun, tmp_path, other, said):
    stopped(begun(), line(1), line(2))
    with pytest.raises(FileExistsError, match=f"rows of a run that was stopped, {said}; finish"):
        begun(**other)
    assert begun(fresh=True, **other).earlier().has(1, key(1)) is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damaged", [b'[1, "', b"\xff\n", b'[1, "k", ' + b"[" * 100_000])
def test_a_damaged_part_is_named(begun, tmp_path, damaged):
    stopped(begun(), line(1), line(2))
    (part,) = (tmp_path / "out.jsonl.parts").glob("*.jsonl")
    part.write_bytes(damaged)
    with pytest.raises(FileExistsError, match=r"000000-000000000.jsonl:1: expected a row of a run"):
        begun().earlier()


@pytest.mark.parametrize("damaged", ["", "[1]", "[" * 100_000])
def test_parts_that_do_not_say_whose_they_are_are_refused(begun, tmp_path, damaged):
    stopped(begun(), line(1), line(2))
    (tmp_path / "out.jsonl.parts" / "run.json").write_text(damaged)
    with pytest.raises(FileExistsError, match="rows of a run that was stopped"):
        begun()


def test_a_full_disk_is_told_with_the_name_of_the_file(begun, tmp_path, monkeypatch):
    def full(draft, place):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(parts_module, "put", full)
    parts = begun()
    parts.add(line(1))
    with pytest.raises(OSError, match=r"out\.jsonl: No space left on device"):
        parts.add(line(2))
    parts.close()


def test_a_process_beside_another_keeps_its_rows_to_itself(begun, tmp_path):
    one = begun()
    for n in (1, 2):
        one.add(line(n))
    other = begun()
    assert other.earlier().has(1, key(1)) is False
    for n in (1, 2, 3):
        other.add(line(n))
    assert [len(list(each.lines())) for each in (one, other)] == [2, 3]
    one.remove()
    assert [each.number for each in other.lines()] == [1, 2, 3]
    other.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_a_process_left_before_its_first_part_is_cleared_away(begun, tmp_path):
    (tmp_path / "out.jsonl.parts").mkdir()
    (tmp_path / "out.jsonl.parts" / "draft").write_text("half")
    begun()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_somebody_else_is_left_alone(begun, tmp_path):
    theirs = tmp_path / "out.jsonl.parts"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("all of it")
    for fresh in (False, True):
        parts = begun(fresh=fresh)
        for n in (1, 2, 3):
            parts.add(line(n))
        assert [one.number for one in parts.lines()] == [1, 2, 3]
        parts.remove()
    assert [one.name for one in theirs.iterdir()] == ["thesis.txt"]
    assert list(tmp_path.iterdir()) == [theirs]


def test_a_folder_is_claimed_by_one(tmp_path):
    lock = claimed(tmp_path)
    assert claimed(tmp_path) is None
    os.close(lock)
    other = claimed(tmp_path)
    assert other is not None
    os.close(other)
