import pytest

from judgesmith.cli.shared.data_options import scales_of


def test_one_scale_is_for_all_and_named_ones_are_each_for_one():
    assert scales_of(()) is None
    assert scales_of(("1..5",)) == "1..5"
    assert scales_of(("a=1..5", "b=0..1")) == {"a": "1..5", "b": "0..1"}


@pytest.mark.parametrize(
    "given", [("1..5", "a=0..1"), ("1..5", "0..1"), ("a=1..5", "a=0..1"), ("=1..5",)]
)
def test_scales_that_cannot_be_told_apart_are_refused(given):
    with pytest.raises(ValueError):
        scales_of(given)
