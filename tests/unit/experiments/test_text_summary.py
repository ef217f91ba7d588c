from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.describing import Lengths, text_summary
from judgesmith.signatures.items import RatedItem


def found(*items):
    return text_summary(DataSet(name="toy", items=items))


def test_lengths_are_in_characters_and_only_of_what_is_there():
    summary = found(
        RatedItem(source="漢字", response="abc", references=("x", "yyy")),
        RatedItem(source="", response=""),
    )
    assert summary.lengths == {
        "source": Lengths(n=1, shortest=2, median=2, longest=2),
        "response": Lengths(n=2, shortest=0, median=1.5, longest=3),
        "references": Lengths(n=2, shortest=1, median=2, longest=3),
    }


def test_blank_texts_are_empty():
    summary = found(RatedItem(source=" ", response="\n"), RatedItem(source="s", response="r"))
    assert (summary.empty_sources, summary.empty_responses) == (1, 1)


def test_repeated_items_are_told_from_those_rated_differently():
    same = RatedItem(source="s", response="r", human={"a": (1,)})
    other = RatedItem(source="s", response="r", human={"a": (2,)})
    summary = found(same, same, other)
    assert (summary.repeated_items, summary.rated_differently) == (2, 1)
    assert summary.shared_responses == 0


def test_a_response_to_several_sources_leaks_but_an_empty_one_does_not():
    rows = [("s", "yes"), ("t", "yes"), ("t", "yes"), ("s", ""), ("t", ""), ("u", "no")]
    summary = found(*(RatedItem(source=s, response=r) for s, r in rows))
    assert (summary.shared_responses, summary.items_with_shared_response) == (1, 3)


def test_one_source_under_two_ids_is_one_source_for_leaks():
    items = [RatedItem(source="s", source_id=one, response="yes") for one in "12"]
    summary = found(*items)
    assert (summary.sources_with_several_ids, summary.shared_responses) == (1, 0)


def test_rows_for_a_table_are_texts():
    rows = found(RatedItem(source="ss", response="r")).rows()
    assert rows[0] == ["source, characters", "2 to 2, median 2"]
    assert all(isinstance(cell, str) for row in rows for cell in row)
