import math

from judgesmith.data.columns import ColumnMap
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import shown
from judgesmith.data.rows import GivenScales, RatingReader, TextReader, given_scales
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)


def texts(row, said="source=source,response=response,source_id=id,system_id=sys,references=refs"):
    raw = RawRows(name="a.jsonl", unit="line")
    reader = TextReader(ColumnMap.parse(said), raw, ignored=("human",))
    return reader.fields(7, row), [*map(str, raw.problems)], reader.notes


def points(row, said="score=r1+r2", scale="1..5"):
    raw = RawRows(name="a.csv", unit="line")
    columns = ColumnMap.parse(said) if said else ColumnMap()
    reader = RatingReader(columns, given_scales(scale) if scale else GivenScales(), raw)
    human, scales = reader.points(7, reader.answers(7, row))
    raw.found += [(0, problem) for problem in reader.scale_problems]
    return human, scales, [*map(str, raw.problems)], reader.notes


def test_columns_that_are_not_read_are_kept():
    fields, problems, notes = texts({"source": "s", "response": "a", "id": 1, "w": 2, "human": {}})
    assert fields["extra"] == {"w": 2}
    assert (problems, notes) == ([], [])


def test_values_that_are_no_texts_are_read_as_spelled_and_noted():
    fields, problems, notes = texts({"source": 3.5, "response": True, "id": "x"})
    assert (fields["source"], fields["response"]) == ("3.5", "true")
    assert problems == []
    assert notes == [
        "source: not a text in 1 row (first at a.jsonl:7), read as spelled there.",
        "response: not a text in 1 row (first at a.jsonl:7), read as spelled there.",
    ]


def test_a_missing_response_is_empty_and_noted_and_an_absent_one_is_a_problem():
    for missing in (None, math.nan):
        fields, problems, notes = texts({"source": "s", "response": missing, "id": "x"})
        assert (fields["response"], problems) == ("", [])
        assert notes == ["response: missing in 1 row (first at a.jsonl:7), read as an empty text."]
    _, problems, _ = texts({"source": "s", "id": "x"})
    assert problems == ["a.jsonl:7: response: expected a text to judge; got no such field"]


def test_lists_and_objects_are_no_texts():
    _, problems, _ = texts({"source": [{"role": "user"}], "response": {"text": "x"}, "id": "x"})
    assert problems == [
        "a.jsonl:7: source: expected a text; got [{'role': 'user'}]",
        "a.jsonl:7: response: expected a text; got {'text': 'x'}",
    ]


def test_ids_may_be_numbers_and_floats_of_whole_numbers_are_written_whole():
    assert texts({"response": "a", "id": 3})[0]["source_id"] == "3"
    assert texts({"response": "a", "id": 3.0})[0]["source_id"] == "3"
    assert texts({"response": "a", "id": 3.5})[0]["source_id"] == "3.5"
    assert texts({"response": "a", "id": "03"})[0]["source_id"] == "03"


def test_other_ids_are_problems():
    for wrong in (True, ["x"], math.inf):
        fields, problems, _ = texts({"response": "a", "sys": wrong, "id": "x"})
        assert problems == [f"a.jsonl:7: sys: expected an id; got {shown(wrong)}"]
        assert fields["system_id"] == ""


def test_a_missing_source_id_is_a_hash_of_the_source_alone():
    first, _, notes = texts({"source": "s", "response": "a"})
    second, _, _ = texts({"source": "s", "response": "b", "id": ""})
    other, _, _ = texts({"source": "t", "response": "a"})
    assert first["source_id"] == second["source_id"] != other["source_id"]
    assert len(first["source_id"]) == 16
    assert notes == [
        "source_id: missing in 1 row (first at a.jsonl:7), a hash of the text instead."
    ]


def test_without_a_source_text_each_response_stands_for_itself():
    first, second = (texts({"source": "", "response": one})[0] for one in "ab")
    assert first["source_id"] != second["source_id"]


def test_references_are_one_text_or_a_list():
    assert texts({"response": "a", "refs": "x"})[0]["references"] == ("x",)
    assert texts({"response": "a", "refs": ["x", None, "y"]})[0]["references"] == ("x", "y")
    assert texts({"response": "a", "refs": ""})[0]["references"] == ()
    assert texts({"response": "a", "refs": [1]})[1] == ["a.jsonl:7: refs: expected texts; got 1"]


def test_ratings_of_several_columns_are_one_per_rater():
    human, scales, problems, _ = points({"r1": "4", "r2": 5})
    assert human == {"overall": (4.0, 5.0)}
    assert scales == {"overall": LIKERT}
    assert problems == []


def test_blank_cells_are_ratings_that_were_not_given_and_are_counted():
    human, _, problems, notes = points({"r1": " ", "r2": None})
    assert (human, problems) == ({"overall": ()}, [])
    assert notes == ["2 ratings are blank and left out."]


def test_every_cell_with_a_wrong_rating_is_a_problem_of_its_own_column():
    _, _, problems, _ = points({"r1": "four", "r2": 9})
    assert problems == [
        "a.csv:7: r1: expected a number from 1 to 5; got 'four'",
        "a.csv:7: r2: expected a number from 1 to 5; got 9",
    ]
    assert points({"r1": 4, "r2": 9})[2] == ["a.csv:7: r2: expected a number from 1 to 5; got 9"]


def test_what_is_wrong_in_one_cell_is_said_once():
    _, _, problems, _ = points({"r1": [9, 1, "four", True, -1], "r2": 2})
    assert problems == [
        "a.csv:7: r1: expected a number from 1 to 5; got 9, 'four', true and 1 more"
    ]


def test_canonical_ratings_come_with_their_scale():
    row = {"human": {"fluency": [4, 5], "clear": 3}, "scale": {"fluency": [1, 5], "clear": [1, 3]}}
    human, scales, problems, _ = points(row, said="", scale=None)
    assert human == {"fluency": (4.0, 5.0), "clear": (3.0,)}
    assert scales == {"fluency": LIKERT, "clear": Scale(low=1, high=3)}
    assert problems == []


def test_canonical_ratings_may_be_json_in_a_cell_or_pairs():
    row = {"human": '{"fluency": [4]}', "scale": '{"fluency": [1, 5]}'}
    assert points(row, said="", scale=None)[:2] == ({"fluency": (4.0,)}, {"fluency": LIKERT})
    row = {"human": [("fluency", [4])], "scale": [("fluency", [1, 5])]}
    assert points(row, said="", scale=None)[:2] == ({"fluency": (4.0,)}, {"fluency": LIKERT})


def test_a_row_may_be_unrated_in_every_way():
    for nothing in ({}, None, "", {"fluency": []}, {"fluency": None}):
        human, _, problems, _ = points({"human": nothing}, said="", scale=None)
        assert not any(human.values())
        assert problems == []


def test_ratings_that_are_no_mapping_say_how_to_map_them():
    _, _, problems, _ = points({"human": 4}, said="", scale=None)
    assert problems == [
        "a.csv:7: human: expected {criterion: [ratings]} (or say --map score=human); got 4"
    ]


def test_a_scale_that_nobody_said_is_not_guessed():
    _, scales, problems, _ = points({"r1": 2, "r2": 4.5}, scale=None)
    assert scales == {}
    assert problems == [
        "a.csv: overall: expected a scale (say --scale LOW..HIGH with the ends of the rating "
        "form); got none; the ratings go from 2 to 4.5"
    ]


def test_several_criteria_without_a_scale_are_one_problem():
    row = {"f": 2, "c": 40}
    assert points(row, said="fluency=f,coherence=c", scale=None)[2] == [
        "a.csv: fluency, coherence: expected a scale (say --scale LOW..HIGH for all with the ends "
        "of the rating form); got none; the ratings go from 2 to 2 (fluency), 40 to 40 (coherence)"
    ]


def test_where_scales_are_given_by_name_the_missing_ones_are_asked_for_by_name():
    row = {"f": 2, "c": 40, "r": 1}
    for said, wanted in (("fluency=f,coherence=c", "coherence="), ("fluency=f,a=c,b=r", "NAME=")):
        problems = points(row, said=said, scale="fluency=1..5")[2]
        assert len(problems) == 1
        assert f"(say --scale {wanted}LOW..HIGH " in problems[0]


def test_a_scale_for_a_criterion_that_is_not_there_is_a_problem():
    row = {"f": 2, "c": 3}
    said = "fluency=1..5,coherencia=1..5,coherence=1..5"
    assert points(row, said="fluency=f,coherence=c", scale=said)[2] == [
        "a.csv: --scale: expected one of the criteria fluency, coherence; "
        "got 'coherencia'; did you mean 'coherence'?"
    ]
    canonical = {"human": {"fluency": []}, "scale": {"coherence": [1, 5]}}
    assert points(canonical, said="", scale="fluency=1..5,coherence=1..5")[2] == []


def test_a_flat_row_may_state_its_scale_as_a_pair():
    assert points({"r1": 4, "scale": [1, 5]}, said="score=r1", scale=None)[1] == {"overall": LIKERT}
    assert points({"r1": 4, "scale": "large"}, said="score=r1")[2] == []


def test_a_scale_that_overrules_the_rows_is_noted():
    row = {"human": {"fluency": [4]}, "scale": {"fluency": [1, 7]}}
    _, scales, _, notes = points(row, said="", scale="fluency=1..5")
    assert scales == {"fluency": LIKERT}
    assert notes == ["the scale of fluency is 1..5 as given, not 1..7 as in the rows."]
    assert points(row, said="", scale="1..5")[1] == {"fluency": Scale(low=1, high=7)}
