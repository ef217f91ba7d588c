"""The offline supervisor merges what rules would merge, whatever stands in the texts."""

from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.ensemble.merging import (
    checked,
    entries_in,
    merged_by_rule,
    numbered,
    shown,
)
from judgesmith.programs.offline.annotating import merged_text
from judgesmith.signatures import ErrorSpan

PIECES = [
    "none",
    "Location:",
    "Annotations: 1",
    "Severity: 5",
    '"',
    "\n",
    " ",
    "…",
    "a ten b",
    "é",
    "*",
]


@st.composite
def annotated(draw):
    """Return a response, and errors of two annotators at places in it."""
    response = "".join(draw(st.lists(st.sampled_from(PIECES), min_size=2, max_size=8))) + "end"
    errors = {}
    for name in "ab":
        places = st.integers(0, len(response))
        spans = draw(st.lists(st.tuples(places, places), max_size=3))
        errors[name] = [
            ErrorSpan(
                text=response[start:end],
                start=start,
                end=end,
                severity=draw(st.integers(1, 5)),
                explanation=draw(st.sampled_from(PIECES)),
            )
            for start, end in map(sorted, spans)
            if response[start:end].strip()
        ]
    return response, errors


@given(annotated())
def test_what_it_lists_stands_up_to_the_checks_and_is_what_rules_make(case):
    response, errors = case
    annotations = numbered(errors, response)
    answer = merged_text(shown(annotations, response), response)
    kept, _ = checked(entries_in(answer), annotations, response)
    expected = merged_by_rule(annotations, response)
    assert {one.members for one in kept} <= {one.members for one in expected} | {("a",), ("b",)}
    assert len(kept) <= len(expected)


def test_a_stretch_over_a_line_break_and_words_such_as_none_are_found_again():
    response = "There is none.\nNo\nerrors. Severity: 5"
    spans = [(9, 13), (12, 20), (15, 25), (26, 37)]
    errors = [
        ErrorSpan(text="", start=start, end=end, severity=2, explanation="Why:\nno.")
        for start, end in spans
    ]
    annotations = numbered({"a": errors}, response)
    answer = merged_text(shown(annotations, response), response)
    kept, n_dropped = checked(entries_in(answer), annotations, response)
    assert ([(one.error.start, one.error.end) for one in kept], n_dropped) == (spans, 0)


def test_without_annotations_it_lists_nothing():
    assert entries_in(merged_text("", "r")) == ()
