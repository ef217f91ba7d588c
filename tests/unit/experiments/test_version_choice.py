import numpy as np
import pytest
from discerning import ORDER, PADDING, TYPOS, texts

from judgesmith.data import DataSet
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.experiments.robustness.perturbed_set import kinds_among, some_kinds, some_originals
from judgesmith.programs.perturbing import PERTURBATIONS
from judgesmith.signatures import RatedItem


def test_a_kind_stands_for_its_degrees():
    given = texts(3, TYPOS, ORDER, PADDING)
    assert some_kinds(given, ["character_typos", "padding"]).kinds == (TYPOS, PADDING)
    assert some_kinds(given, ["reordering/minor"]).versions == given.versions[1:2]


@pytest.mark.parametrize("names", [[], ["reordering/major"], ["typos"]])
def test_unknown_kinds_are_refused(names):
    with pytest.raises(ValueError, match="name"):
        some_kinds(texts(3, ORDER), names)


def test_originals_are_drawn_with_their_versions_and_reasons_are_counted_again():
    given = texts(20, TYPOS, without={(TYPOS.name, i) for i in range(10)})
    part = some_originals(given, 8, rng=np.random.default_rng(0))
    assert len(part.originals) == len(part.versions[0]) == 8
    for original, version in zip(part.originals, part.versions[0], strict=True):
        assert version is None or version.source_id == original.source_id
    missing = sum(one is None for one in part.versions[0])
    assert part.skipped == {TYPOS.name: {"no version in the data": missing}}
    assert some_originals(given, 99, rng=np.random.default_rng(0)) is given


def test_groups_stand_for_what_there_is_of_them():
    given = (PADDING, TYPOS, PERTURBATIONS["negation"])
    assert kinds_among(given, ["controls"]) == (PADDING,)
    assert kinds_among(given, ["additions", "all"]) == (given[2], PADDING, TYPOS)
    assert kinds_among(given, ["task"]) == (TYPOS, given[2])
    assert kinds_among(given, ["task"], task="translation") == (TYPOS,)
    with pytest.raises(ValueError, match="changed by controls; name some of"):
        kinds_among((TYPOS,), ["controls"])


def test_an_original_with_several_versions_of_a_kind_lacks_none_of_another():
    items = []
    for n in range(4):
        own = {"source_id": str(n)}
        items.append(RatedItem(**own, system_id="m", response=f"Text {n}."))
        changes = [("typos", "txt"), ("typos", "tetx"), ("swap", "n text")][: 3 if n else 2]
        for place, (kind, words) in enumerate(changes):
            extra = {"perturbation": kind, "original": "m"}
            items.append(
                RatedItem(**own, system_id=f"v{place}", response=f"{words} {n}", extra=extra)
            )
    whole = get_perturbed(DataSet(name="toy", items=tuple(items)))
    assert len(whole.originals) == 8
    part = some_originals(whole, 3, rng=np.random.default_rng(0))
    assert {one.source_id for one in part.originals} == {"1", "2", "3"}
    assert part.skipped == {"typos": {}, "swap": {}}
