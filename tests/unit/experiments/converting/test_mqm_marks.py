"""Marks are taken out of texts, and quotes of spreadsheets with them."""

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st

from judgesmith.data.convert.wmt_mqm import is_quoted, unquoted, without_marks

pieces = st.lists(st.text(st.sampled_from('ab" <v>/é\U0001f600')), min_size=3, max_size=3)


def written(text):
    """Return a cell as a spreadsheet writes it."""
    table = io.StringIO()
    csv.writer(table, delimiter="\t", lineterminator="").writerow([text])
    return table.getvalue()


@given(pieces)
@example(["a", '"', "b"])
def test_the_place_holds_what_was_marked(three):
    before, marked, after = (one.replace("<v>", "").replace("</v>", "") for one in three)
    text = f"{before}<v>{marked}</v>{after}"
    found = without_marks(text)
    if "<v>" in before + after + marked or found.text != before + marked + after:
        return  # letters around a mark happen to make another one
    assert found.places == ((len(before), len(before + marked)),)
    assert not found.broken


@given(pieces)
@example(['He said "', 'no "', 'way".'])
def test_quotes_of_a_spreadsheet_go_and_places_move(three):
    before, marked, after = ("".join(c for c in one if c not in "<>/v") for one in three)
    cell = written(before + marked + after)
    if not cell.startswith('"'):
        return
    assert is_quoted(cell)
    # A rater marks what the viewer shows: the cell as it stands in the file.
    start = 1 + len(before.replace('"', '""'))
    end = start + len(marked.replace('"', '""'))
    found = unquoted(without_marks(f"{cell[:start]}<v>{cell[start:end]}</v>{cell[end:]}"))
    assert found.text == before + marked + after
    assert found.places == ((len(before), len(before + marked)),)


def test_what_has_no_partner_marks_nothing():
    for text in ("a <v>b", "a</v> b", "<v>a<v>b</v>c</v>", "</v>a<v>"):
        found = without_marks(text)
        assert found.broken
        assert found.places == ()
        assert "v>" not in found.text
