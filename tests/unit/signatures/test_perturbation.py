"""Changed texts: edits that make them, where these stand, and edits that make no sense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures.perturbation import Edit, Perturbation, Perturbed, edited


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(st.text(max_size=40))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    words = [draw(st.text(min_size=1, max_size=5)) for _ in spans]
    return text, [Edit(start=a, end=b, text=w) for (a, b), w in zip(spans, words, strict=True)]


@pytest.mark.no_cover
@given(texts_and_edits())
def test_spans_are_where_the_replacements_stand(given_both: tuple[str, list[Edit]]) -> None:
    original, edits = given_both
    changed = Perturbed(text=edited(original, edits), edits=tuple(edits))
    found = [changed.text[start:end] for start, end in changed.spans]
    assert found == [edit.text for edit in edits]


@pytest.mark.no_cover
@given(texts_and_edits())
def test_what_is_between_edits_stays(given_both: tuple[str, list[Edit]]) -> None:
    original, edits = given_both
    kept = original
    for edit in reversed(edits):
        kept = kept[: edit.start] + kept[edit.end :]
    changed = Perturbed(text=edited(original, edits), edits=tuple(edits))
    left = changed.text
    for start, end in reversed(changed.spans):
        left = left[:start] + left[end:]
    assert left == kept


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(start=3, end=4), Edit(start=0, end=1)],
        [Edit(start=0, end=3), Edit(start=2, end=4)],
        [Edit(start=2, end=6)],
    ],
)
def test_edits_out_of_order_overlapping_or_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="sorted, disjoint and in the text of 5 characters"):
        edited("abcde", edits)


@pytest.mark.parametrize("span", [(2, 1), (2, 2)])
def test_an_edit_that_changes_nothing_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="an edit must change something"):
        Edit(start=span[0], end=span[1])


def test_a_degree_is_part_of_the_name() -> None:
    assert Perturbation(kind="reordering", level="sentence", degree="major").name == (
        "reordering/major"
    )
    assert str(Perturbation(kind="random_ending", level="sentence")) == "random_ending"
