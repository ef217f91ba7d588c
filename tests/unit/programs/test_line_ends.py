"""Lines end alike in every prompt, whatever system a text is from; offsets are of the original."""

import pytest

import judgesmith
from judgesmith.programs import AnnotatorJudge, PanelJudge, Supervisor
from judgesmith.programs.judging.spans import Locator
from judgesmith.signatures import RatedItem
from judgesmith.signatures.rubric import Rubric

SOURCE = "The bridge in Oslo opened in May.\nTwo hundred people came.\n"
RESPONSE = "The bridge opened in June.\nIn Paris 300 people came, Ms Ito said.\nIt was was good."
CRITERIA = {"faithfulness": "Is all of it in the source?"}


def judged(end, rubric, judge_of):
    item = RatedItem(source=SOURCE.replace("\n", end), response=RESPONSE.replace("\n", end))
    (found,) = judgesmith.score_batch(judge_of(rubric), [item])
    places = [(one.start, one.end) for one in found.errors if one.start is not None]
    return found, [item.response[start:end] for start, end in places]


def panel(rubric):
    members = {"a": AnnotatorJudge(rubric=rubric), "b": AnnotatorJudge(rubric=rubric, rules="off")}
    return PanelJudge(members, supervisor=Supervisor())


@pytest.mark.parametrize("judge_of", [lambda rubric: AnnotatorJudge(rubric=rubric), panel])
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_a_text_with_other_line_ends_is_asked_about_in_the_same_words(judge_of, end):
    usual, words = judged("\n", {"criteria": CRITERIA}, judge_of)
    found, same = judged(end, {"criteria": CRITERIA}, judge_of)
    assert (found.score, found.calls) == (usual.score, usual.calls)
    assert words == same == ["June", "Paris 300", "Ms Ito"]
    assert [one.text for one in found.errors] == [one.text for one in usual.errors]


def test_a_quotation_across_a_line_end_is_found_where_it_stands():
    find = Locator("It opened in June.\r\nIn Paris it rained.")
    place = find("June.\nIn Paris")
    assert (place.start, place.end) == (13, 28)


def test_a_rubric_holds_one_kind_of_line_end():
    rubric = Rubric(task="Judge\r\nit.", criteria={"wit": "Is it\rfunny?"})
    assert (rubric.task, rubric.criteria[0].definition) == ("Judge\nit.", "Is it\nfunny?")
