"""Inside metrics: spans."""

import pytest

from judgesmith.metrics.spans import matched_span_agreement, matching


def agreement(predicted, gold, **settings):
    return matched_span_agreement(gold, predicted, seed=0, n_resamples=20, **settings)


def test_spans_that_hang_together_in_too_great_number_are_refused(monkeypatch):
    monkeypatch.setattr(matching, "_MOST_PAIRS", 3)
    with pytest.raises(ValueError, match="2 predicted and 2 gold spans of one text overlap"):
        agreement([[(0, 4), (1, 5)]], [[(2, 6), (3, 7)]])
