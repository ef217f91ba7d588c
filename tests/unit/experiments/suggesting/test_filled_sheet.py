import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.data import DataError, read_items
from judgesmith.data.joining import read_together
from judgesmith.data.rating_sheets import write_rating_sheet
from judgesmith.data.sheets import LONGEST_CELL
from judgesmith.signatures import RatedItem, Scale

LIKERT = Scale.parse("1..5")
texts = st.one_of(st.text(max_size=30), st.sampled_from(["=1+1", "'=a", "-", "a;@b\n=c", "\ufeff"]))


def filled(place, *ratings, column=0):
    with place.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    asked = [number for number, name in enumerate(header) if ": a number from" in name][column]
    for row, rating in zip(rows, ratings, strict=False):
        row[asked] = rating
    with place.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return place


def sheet(tmp_path, *items, name="sheet.csv", by="coverage", **scales):
    place = tmp_path / name
    place.unlink(missing_ok=True)
    write_rating_sheet([(one, by) for one in items], scales or {"overall": LIKERT}, place)
    return place


@settings(max_examples=60)
@given(source=texts, context=st.one_of(st.none(), texts), response=texts)
def test_printable_texts_come_back_as_they_were(tmp_path_factory, source, context, response):
    item = RatedItem(source_id="s", source=source, context=context, response=response)
    plain = all(c.isprintable() or c == "\n" for c in source + (context or "") + response)
    place = sheet(tmp_path_factory.mktemp("sheet"), item)
    (found,) = read_items(filled(place, "3"))
    assert found.human == {"overall": (3.0,)}
    if plain:
        assert (found.source, found.context, found.response) == (source, context, response)
        assert found.key == item.key


def test_a_partly_filled_sheet_is_data_without_a_map(tmp_path):
    items = [RatedItem(source_id=one, source=one, response=f"re {one}") for one in "abc"]
    data = read_items(filled(sheet(tmp_path, *items, overall=LIKERT), "4", ""))
    assert [item.human["overall"] for item in data] == [(4.0,), (), ()]
    assert data.scales == {"overall": LIKERT}
    assert "2 ratings are blank and left out." in data.notes
    assert any("1 of 1 rated rows was chosen by suggest" in note for note in data.notes)


def test_a_wrong_rating_is_refused_with_file_line_and_field(tmp_path):
    item = RatedItem(source_id="a", source="s", response="r")
    with pytest.raises(DataError, match=r"sheet\.csv:2: overall: a number from .*got '6'"):
        read_items(filled(sheet(tmp_path, item), "6"))


def test_rows_drawn_at_random_are_as_other_rows(tmp_path):
    item = RatedItem(source_id="a", source="s", response="r")
    assert read_items(filled(sheet(tmp_path, item, by="random"), "4")).notes == ()


def test_edited_texts_count_as_they_stand_and_are_counted(tmp_path):
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="long")), "2")
    place.write_text(place.read_text().replace("long", "short"))
    data = read_items(place)
    assert data[0].response == "short"
    assert any(note.startswith("1 row has other texts than were suggested") for note in data.notes)


def test_texts_that_a_sheet_had_no_room_for_are_taken_from_the_file_they_came_from(tmp_path):
    item = RatedItem(source_id="a", source="s", response="x" * (LONGEST_CELL + 9))
    place = filled(sheet(tmp_path, item), "2")
    with pytest.raises(DataError, match="whole texts"):
        read_items(place)
    pool = tmp_path / "pool.jsonl"
    pool.write_text(f'{{"source_id": "a", "source": "s", "response": "{item.response}"}}\n')
    for order in ([pool, place], [place, pool]):
        (found,) = read_together(order)
        assert (found.key, found.human) == (item.key, {"overall": (2.0,)})


@pytest.mark.parametrize("lost", ["suggested_by", "key"])
def test_a_sheet_that_lost_what_its_rows_are_is_refused(tmp_path, lost):
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="r")), "2")
    place.write_text(place.read_text().replace(lost, "x", 1))
    with pytest.raises(DataError, match=rf"sheet\.csv: {lost}: expected the column"):
        read_items(place)
    assert read_items(place, columns={"source_id": "source_id", "system_id": "system_id",
        "overall": "overall: a number from 1 (worst) to 5 (best)"}, scale="1..5")  # fmt: skip


def test_ratings_under_a_heading_that_was_changed_are_not_lost_in_silence(tmp_path):
    item = RatedItem(source_id="a", source="s", response="r")
    place = filled(sheet(tmp_path, item, clear=LIKERT, tone=LIKERT), "2")
    place.write_text(place.read_text().replace("clear: a number from 1 (worst) to 5 (best)", "c"))
    note = "not read: c; ratings are read under the sheet's own headings."
    assert note in read_items(place).notes


def test_copies_of_a_sheet_are_several_raters(tmp_path):
    items = [RatedItem(source_id=one, source=one, response=f"re {one}") for one in "ab"]
    ana = filled(sheet(tmp_path, *items, name="ana.csv"), "1", "")
    bo = filled(sheet(tmp_path, *items, name="bo.csv"), "2", "5")
    assert [one.human["overall"] for one in read_together([ana, bo])] == [(1.0, 2.0), (5.0,)]


def test_copies_are_several_raters_also_of_texts_that_a_sheet_changes(tmp_path):
    items = [RatedItem(source_id="a", source="no\xa0break", response="r")]
    copies = [filled(sheet(tmp_path, *items, name=f"{one}.csv"), one) for one in "345"]
    data = read_together(copies)
    assert [one.human["overall"] for one in data] == [(3.0, 4.0, 5.0)]
    assert sum("other texts than were suggested" in note for note in data.notes) == 1
    assert not any("of the other files" in note for note in data.notes)


def test_raters_below_each_other_in_one_sheet_rate_the_same_rows(tmp_path):
    item = RatedItem(source_id="a", source="s", response="r")
    twice = filled(sheet(tmp_path, item, item), "2", "5")
    other = filled(sheet(tmp_path, RatedItem(source_id="b", response="q"), name="o.csv"), "1")
    assert [one.human["overall"] for one in read_together([other, twice])] == [(1.0,), (2.0, 5.0)]


def test_one_file_under_two_names_is_given_twice(tmp_path):
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="r")), "2")
    (tmp_path / "link.csv").symlink_to(place)
    with pytest.raises(ValueError, match=r"link\.csv is given twice \(as .*sheet\.csv, too\)"):
        read_together([place, tmp_path / "link.csv"])


def test_rows_that_are_rated_in_two_files_are_refused(tmp_path):
    row = '{"source_id": "a", "source": "s", "response": "r", "human": {"overall": [4]}, '
    row += '"scale": {"overall": [1, 5]}}\n'
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text(row)
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="r")), "2")
    for other in (tmp_path / "two.jsonl", place):
        with pytest.raises(DataError, match="rated in one file only"):
            read_together([tmp_path / "one.jsonl", other])
    with pytest.raises(ValueError, match="given twice"):
        read_together([place, place])


def test_another_criterion_of_a_rated_row_is_one_more_rating_of_it(tmp_path):
    row = '{"source_id": "a", "source": "s", "response": "r", "human": {"overall": [4]}, '
    (tmp_path / "one.jsonl").write_text(row + '"scale": {"overall": [1, 5]}}\n')
    item = RatedItem(source_id="a", source="s", response="r")
    place = filled(sheet(tmp_path, item, tone=Scale.parse("0..1")), "1")
    (found,) = read_together([tmp_path / "one.jsonl", place])
    assert found.human == {"overall": (4.0,), "tone": (1.0,)}
    assert str(found.scale["tone"]) == "0..1"


def test_other_scales_of_one_criterion_are_refused(tmp_path):
    item = RatedItem(source_id="a", source="s", response="r")
    first = filled(sheet(tmp_path, item, name="a.csv"), "2")
    second = filled(sheet(tmp_path, item, name="b.csv", overall=Scale.parse("0..1")), "1")
    with pytest.raises(DataError, match=r"b\.csv: overall: expected the scale 1\.\.5"):
        read_together([first, second])


def test_a_row_that_several_files_hold_is_taken_once_with_its_ratings(tmp_path):
    plain = '{"source_id": "a", "source": "s", "response": "r"'
    rated = plain + ', "human": {"overall": [4]}, "scale": {"overall": [1, 5]}}\n'
    (tmp_path / "pool.jsonl").write_text(f'{plain}}}\n{plain.replace("r", "q", 1)[:-2]}t"}}\n')
    (tmp_path / "rated.jsonl").write_text(rated)
    for names in (("pool", "rated"), ("rated", "pool")):
        data = read_together([tmp_path / f"{name}.jsonl" for name in names])
        assert sorted(len(item.human.get("overall", ())) for item in data) == [0, 1]
        assert "1 row is in several files, and taken once." in data.notes
