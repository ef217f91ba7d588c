import numpy as np
import pytest
from discerning import ORDER, PADDING, TYPOS, texts

from judgesmith.experiments.version_choice import some_kinds, some_originals


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
