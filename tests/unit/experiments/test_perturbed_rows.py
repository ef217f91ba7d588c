"""Perturbed rows are written and read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.data import DataSet, read_items
from judgesmith.experiments.robustness.perturbed_rows import (
    edits_of,
    get_perturbed,
    is_perturbed,
    rows_of,
)
from judgesmith.experiments.robustness.perturbing import (
    PerturbationConfig,
    perturb_texts,
    perturbation_summary,
    write_perturbed,
)
from judgesmith.programs.perturbing import Donors, Every
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import edited
from judgesmith.signatures.scale import Scale

# perturbed rows


def row(source, system, response, **extra):
    return RatedItem(source_id=source, system_id=system, source="s", response=response, extra=extra)


def data(*items):
    return DataSet(name="toy", items=items)


def test_a_set_is_read_back_from_its_file_as_it_was(tmp_path):
    items = [
        RatedItem(
            source_id=str(n),
            system_id="m",
            source=f"Source {n}.",
            context="c" if n else None,
            response=f"Ada met Bob {n}. It rained, they said.\u2028 Bob left; 3 of 4 stayed.",
            references=("One.", "Two."),
            human={"overall": (4.0, 5.0)},
            scale={"overall": Scale(low=1, high=5)},
            extra={"task": "story", "odd": [float("nan"), {"a": 1}]},
        )
        for n in range(4)
    ]
    made = perturb_texts(
        items, PerturbationConfig(kinds=("all",), task="summarization"), name="versions"
    )
    write_perturbed(made, tmp_path / "versions.jsonl")
    read = get_perturbed(read_items(tmp_path / "versions.jsonl"))
    has = {kind.name: any(own) for kind, own in zip(made.kinds, made.versions, strict=True)}
    assert read.kinds == tuple(kind for kind in made.kinds if has[kind.name])
    (note,) = read.notes
    assert all(has[name] or name in note for name in has)
    assert [one.response for one in read.originals] == [one.response for one in items]
    assert [one.human for one in read.originals] == [one.human for one in items]
    assert {k: dict(v) for k, v in read.skipped.items() if v} == {
        k: dict(v) for k, v in made.skipped.items() if v and has[k]
    }
    for mine, theirs in zip(filter(any, made.versions), read.versions, strict=True):
        for one, other, original in zip(mine, theirs, items, strict=True):
            assert (one is None) is (other is None)
            if other is not None:
                assert (one.response, one.system_id) == (other.response, other.system_id)
                assert edited(original.response, edits_of(other)) == other.response
                assert other.human == {}


def test_rows_of_another_origin_are_aligned_by_source():
    found = get_perturbed(
        data(
            row("1", "original", "A b.", perturbation="none", level="none"),
            row("1", "e1", "A c.", perturbation="Wrong Entity", level="unfaithful"),
            row("2", "e2", "D f.", perturbation="Wrong Entity", level="unfaithful"),
            row("2", "original", "D e.", perturbation=None),
        )
    )
    assert [kind.name for kind in found.kinds] == ["wrong_entity"]
    assert [one.response for one in found.originals] == ["A b.", "D e."]
    assert [one.response for one in found.versions[0]] == ["A c.", "D f."]
    assert found.kinds[0].level == "word"
    assert any("unfaithful" in note and "taken as word" in note for note in found.notes)
    given = get_perturbed(
        data(row("1", "o", "A."), row("1", "x", "a.", perturbation="Case", level="minor")),
        levels={"minor": "character"},
    )
    assert given.kinds[0].level == "character"
    assert given.notes == ()


def test_unverified_and_equal_versions_are_left_out_and_counted():
    found = get_perturbed(
        data(
            row("1", "original", "A.", perturbation="none"),
            row("1", "x", "a.", perturbation="lower", pert_check=False),
            row("2", "original", "B.", perturbation="none"),
            row("2", "x", "B.", perturbation="lower", pert_check=True),
            row("3", "original", "C.", perturbation="none"),
        )
    )
    assert found.versions == ((None, None, None),)
    assert dict(found.skipped["lower"]) == {
        "not verified where it comes from (pert_check is false)": 1,
        "the same text as the original": 1,
        "no version in the data": 1,
    }


def test_an_original_stands_again_where_a_kind_changed_it_twice():
    found = get_perturbed(
        data(
            row("1", "o", "A."),
            row("1", "x", "B.", perturbation="swap"),
            row("1", "y", "C.", perturbation="swap"),
            row("1", "z", "D.", perturbation="drop"),
        )
    )
    assert [one.response for one in found.originals] == ["A.", "A."]
    assert [[one and one.response for one in own] for own in found.versions] == [
        *(["B.", "C."], ["D.", None])
    ]
    assert found.skipped == {}
    assert "1 more pair with the same original" in found.notes[0]


def test_of_several_originals_the_version_says_which_is_its_own():
    versions = [row("1", f"{m}+swap", "C.", perturbation="swap", original=m) for m in "ab"]
    found = get_perturbed(data(row("1", "a", "A."), row("1", "b", "B."), *versions))
    assert [one.system_id for one in found.versions[0]] == ["a+swap", "b+swap"]
    unsaid = row("1", "x", "C.", perturbation="swap")
    with pytest.raises(ValueError, match="source '1' has 2 rows without a perturbation"):
        get_perturbed(data(row("1", "a", "A."), row("1", "b", "B."), unsaid))
    named = get_perturbed(data(row("1", "a", "A."), row("1", "Original", "B."), unsaid))
    assert [one and one.response for one in named.versions[0]] == [None, "C."]


def test_a_kind_that_is_the_reference_is_a_control_and_rows_may_say_so():
    reference = RatedItem(
        source_id="1",
        system_id="ref",
        response="R.",
        references=("R.",),
        extra={"perturbation": "reference as text"},
    )
    said = row("1", "p", "A. ", perturbation="pad", lowers="False")
    known = row("1", "q", "a.", perturbation="padding")
    found = get_perturbed(data(row("1", "original", "A."), reference, said, known))
    assert {kind.kind: kind.lowers for kind in found.kinds} == {
        "reference_as_text": False,
        "pad": False,
        "padding": False,
    }


def test_plain_rows_state_no_perturbation():
    assert not is_perturbed(data(row("1", "m", "A.")))
    with pytest.raises(ValueError, match="no row of toy states a perturbation; make versions"):
        get_perturbed(data(row("1", "m", "A.")))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("12"),
            st.sampled_from(["m", "original", "x", ""]),
            st.sampled_from(["A.", "B.", ""]),
            st.none() | st.sampled_from(["none", "Swap it!", "swap_it", "…", "5", "x" * 90]),
            st.none() | st.sampled_from(["none", "word", "major", "", 3]),
            st.none() | st.sampled_from(["m", "original", 5]),
        ),
        max_size=8,
    )
)
def test_rows_of_any_kind_are_read_or_refused_in_words(drawn):
    items = [
        row(source, system, text, perturbation=kind, level=level, original=original)
        for source, system, text, kind, level, original in drawn
    ]
    try:
        found = get_perturbed(data(*items))
    except ValueError:
        return
    assert len(found.versions) == len(found.kinds) == len({kind.name for kind in found.kinds})
    for own in found.versions:
        assert len(own) == len(found.originals)
        for version, original in zip(own, found.originals, strict=True):
            assert version is None or version.response != original.response
    assert all(json.dumps(line) for line in rows_of(found))


@for_each("given", [None, "x", [1], [[0]], [["a", 1, "b"]], [[3, 1, "b"]], {"a": 1}])
def test_edits_that_cannot_be_read_are_none(given):
    assert edits_of(row("1", "m", "A.", edits=given)) == ()


# perturbing


def items(n):
    return [
        RatedItem(
            source_id=str(k), system_id="m", source=f"s{k}", response=f"Ada met Bob {k}. He left."
        )
        for k in range(n)
    ]


def test_donors_are_the_originals_unless_others_are_given():
    changes = PerturbationConfig(kinds=("random_ending",))
    own = perturb_texts(items(3), changes, name="x")
    assert all(one.response != o.response for one, o in zip(own.versions[0], items(3), strict=True))
    others = Donors([RatedItem(source_id="9", response="From elsewhere.")])
    given = perturb_texts(items(3), changes, name="x", donors=others)
    assert {one.response for one in given.versions[0]} == {"From elsewhere."}
    alone = perturb_texts(items(1), changes, name="x")
    assert perturbation_summary(alone)["kinds"]["random_ending"]["skipped"] == {
        "no text of another source to put in its place": 1
    }


def test_amounts_are_those_of_the_task_unless_they_are_said():
    for amounts, n in (({}, 5), ({"character_deletions": 3}, 3)):
        changes = PerturbationConfig(
            kinds=("character_deletions",), task="story_completion", amounts=amounts
        )
        found = perturb_texts(items(1), changes, name="x")
        assert len(found.versions[0][0].extra["edits"]) == n
    every = PerturbationConfig(kinds=("repetition",), amounts={"repetition": Every()})
    assert perturb_texts(items(1), every, name="x").n_versions == 1
