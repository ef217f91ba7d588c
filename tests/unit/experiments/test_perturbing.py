from judgesmith.experiments.robustness.perturbing import (
    PerturbationConfig,
    perturb_texts,
    summary_of,
)
from judgesmith.programs.perturbing import Donors, Every
from judgesmith.signatures.items import RatedItem


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
    assert summary_of(alone)["kinds"]["random_ending"]["skipped"] == {
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


def test_progress_counts_texts():
    told = []
    perturb_texts(items(4), PerturbationConfig(kinds=("padding",)), name="x", progress=told.append)
    assert sum(told) == 4
