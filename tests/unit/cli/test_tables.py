import pytest

from judgesmith.cli.shared.printing import print_table


def test_a_table_is_aligned(capsys):
    print_table("Title", [["a", "1"], ["long name", "100"]], header=["name", "n"])
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Title",
        "",
        "name         n",
        "---------- ---",
        "a            1",
        "long name  100",
    ]


def test_wide_letters_are_counted_as_two_columns(capsys):
    print_table("", [["日本", "1"], ["abcd", "2"]])
    assert capsys.readouterr().out == "\n日本  1\nabcd  2\n"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_columns_that_do_not_fit_follow_below_beside_the_first(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    header = ["measure", *(f"criterion {n}" for n in range(12))]
    print_table("", [["mean", *map(str, range(12))]], header=header)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    heads = [line for line in lines if line.startswith("measure")]
    assert len(heads) == len([line for line in lines if line.startswith("mean")])
    assert (
        "  ".join(head.removeprefix("measure").strip() for head in heads).split("  ") == header[1:]
    )


def test_a_table_without_rows_is_its_title(capsys):
    print_table("Nothing", [])
    assert capsys.readouterr().out == "\nNothing\n"


def test_a_heading_takes_no_room_from_the_columns(capsys):
    rows = [["a long heading of \x1b[31mits own"], ["  a", "1", "2"], ["other"], ["  b", "3", "4"]]
    print_table("", rows, header=["", "x", "y"])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "     x  y",
        "---- -- -",
        "a long heading of \\x1b[31mits own",
        "  a  1  2",
        "other",
        "  b  3  4",
    ]
