import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.sheets import LONGEST_CELL, cell_of, is_cut, number_cell

FORMULA = re.compile(r"[\s\"]*[=+\-@＝＋－＠]")


@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(1)",
        "+1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "  =1",
        '"=1',
        "＝1+1",
        "\u200c=1",
        "\xa0=1",
    ],
)
def test_a_cell_that_could_be_a_formula_gets_an_apostrophe(text):
    assert FORMULA.match(text.replace("\u200c", ""))
    assert re.match(r"\s*'", cell_of(text))


@pytest.mark.parametrize("text", ["'=1", "5 - 3 = 2", "a=b", "x", "", "¡hola!", "日本語", "एक"])
def test_other_texts_stay_as_they_are(text):
    assert cell_of(text) == text


@given(st.text(alphabet=st.sampled_from('=+-@;,"\n\r\t a\x0b\u2028'), max_size=12))
def test_no_cell_begins_like_a_formula_whatever_delimiter_a_program_takes(text):
    line = io.StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(["id", cell_of(text)])
    for delimiter in ",;\t":
        for cells in csv.reader(io.StringIO(line.getvalue(), newline=""), delimiter=delimiter):
            assert not [cell for cell in cells if FORMULA.match(cell)]


@given(st.text())
def test_nothing_in_a_cell_moves_a_cursor(text):
    cell = cell_of(text)
    assert all(c.isprintable() or c in "\n\u200c\u200d" for c in cell)
    assert cell.encode("utf-8").decode() == cell


def test_escapes_are_shown_and_line_ends_kept():
    assert cell_of("a\x1b[2Jb\r\nc\u202ed\ud800") == "a\\x1b[2Jb\nc\\u202ed\\ud800"


def test_a_cell_too_long_for_a_spreadsheet_says_what_it_left_out():
    cell = cell_of("a" * (LONGEST_CELL + 7))
    assert cell.endswith("a … [7 more characters left out]")
    assert len(cell) < 32_767
    assert is_cut(cell)
    assert not is_cut(cell_of("a" * LONGEST_CELL))


@pytest.mark.no_cover
def test_huge_cells_of_blanks_take_no_time():
    assert len(cell_of("; \n" * 400_000)) < 33_000


def test_numbers_have_two_decimals_at_most():
    assert [number_cell(one) for one in (85.0, 2.4183, -0.001, 100, 0.5)] == [
        *("85", "2.42", "0", "100", "0.5")
    ]
