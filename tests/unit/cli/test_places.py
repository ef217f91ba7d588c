import pytest

from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.places import check_place, file_place, judge_place


def test_a_place_in_a_folder_that_is_there_is_returned_and_left_alone(tmp_path):
    place = tmp_path / "out.jsonl"
    assert check_place(str(place)) == place
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_not_made(tmp_path):
    with pytest.raises(OptionError, match=r"there is no folder .*/a to put b in; make it"):
        check_place(str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_nothing_is_refused():
    with pytest.raises(OptionError, match="nothing can be written in /proc"):
        check_place("/proc/judge")


@pytest.mark.parametrize("nothing", ["", "/", "."])
def test_a_place_needs_a_name(nothing):
    with pytest.raises(OptionError, match="names no file or folder"):
        check_place(nothing)


def test_a_file_is_neither_a_folder_nor_what_is_read(tmp_path):
    read = tmp_path / "in.csv"
    read.write_text("a")
    assert file_place(str(tmp_path / "out.csv"), str(read), None, "-", like="out.csv").name
    with pytest.raises(OptionError, match=r"is read by this command; name another file"):
        file_place(str(read), "-", str(read), like="out.csv")
    with pytest.raises(OptionError, match=r"is a folder; name a file, such as out\.csv"):
        file_place(str(tmp_path), like="out.csv")


def test_a_judge_replaces_nothing_but_a_judge(tmp_path):
    place = tmp_path / "judge"
    assert judge_place(str(place)) == place
    place.mkdir()
    with pytest.raises(OptionError, match="is there and holds no judge; name another folder"):
        judge_place(str(place))
    (place / "judge.json").touch()
    assert judge_place(str(place)) == place
