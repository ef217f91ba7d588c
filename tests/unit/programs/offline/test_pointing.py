"""Faults that can be counted are pointed at where they are, and what is right is left alone."""

import time

import pytest

from judgesmith.programs.offline.annotating import faults_in

SOURCE = "The ferry left Malmo on 3 May with 120 passengers, said Captain Ann Berg."


@pytest.mark.parametrize(
    ("response", "source", "found"),
    [
        ("The ferry left on 3 May.", SOURCE, []),
        ("The ferry left Oslo on 4 May.", SOURCE, [("Oslo", "support"), ("4", "support")]),
        ("So said Captain Eva Lind there.", SOURCE, [("Eva Lind", "support")]),
        ("So the ferry left Oslo.", None, []),
        ("The ferry left with pasengers.", SOURCE, [("pasengers", "support")]),
        ("The passenger left.", SOURCE, []),
        ("It left left in May.", SOURCE, [("left left", "fluency")]),
        ("So they is gone.", None, [("they is", "fluency")]),
        ("It left. it came back.", None, [("it", "fluency")]),
        ("It left in May and", None, [("and", "fluency")]),
        ("It left in May", None, [("May", "fluency")]),
        ("It <unk> left.", None, [("<unk>", "fluency")]),
        ("It leFT in Maaay.", None, [("leFT", "fluency"), ("Maaay", "fluency")]),
        (
            "The ferry left at noon. It was late. The ferry left at noon.",
            None,
            [("The ferry left at noon.", "flow")],
        ),
        ("渡轮渡轮离开了。", None, []),
        ("", SOURCE, []),
        (" \n…", SOURCE, []),
    ],
)
def test_faults_are_found_where_they_stand(response, source, found):
    faults = faults_in(response, source, None)
    said = [(response[one.start : one.end], one.facet) for one in faults]
    assert said == found


def test_what_the_context_holds_is_supported():
    assert faults_in("So Oslo won.", "They played.", "The final was in Oslo.") == []


@pytest.mark.parametrize(
    "text", ["ab" * 50_000, "ab " * 50_000, "A b. " * 20_000, "<" * 100_000, "Ab Cd 7 " * 10_000]
)
def test_a_huge_text_takes_little_time(text):
    started = time.process_time()
    faults = faults_in(text, SOURCE, None)
    assert time.process_time() - started < 3
    assert all(0 <= one.start < one.end <= len(text) for one in faults)
    assert len(faults) <= 60
