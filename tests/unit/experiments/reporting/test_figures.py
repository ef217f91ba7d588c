import re

import numpy as np

from judgesmith.experiments.report.figures import agreement_figure, search_figure
from judgesmith.experiments.report.reading import ReportRow, Trial


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=n)
    scores = human + rng.normal(size=n)
    return [
        ReportRow(item=place, group=place // 2, human=human[place], score=scores[place])
        for place in range(n)
    ]


def test_a_figure_takes_the_colours_of_its_page_and_names_of_its_own():
    svg = agreement_figure(rows_of(40), name="f7", seed=0)
    assert svg.startswith("<svg ")
    assert "on 40 rows" in svg
    assert "var(--ink)" in svg
    assert not re.search(r"#0102|<script|<style|http", svg)
    assert all(name.startswith("f7-") for name in re.findall(r' id="([^"]*)"', svg))
    assert svg == agreement_figure(rows_of(40), name="f7", seed=0)


def test_a_figure_of_many_rows_is_not_larger_for_it():
    assert len(agreement_figure(rows_of(5_000), name="f", seed=0)) < 90_000


def test_nothing_is_drawn_of_nothing():
    assert agreement_figure(rows_of(1), name="f", seed=0) is None
    unscored = [one.model_copy(update={"score": None}) for one in rows_of(9)]
    assert agreement_figure(unscored, name="f", seed=0) is None
    assert search_figure([Trial(number=0, value=None)], name="s") is None


def test_judges_without_any_spread_are_drawn_without_a_line():
    flat = [one.model_copy(update={"score": 3.0}) for one in rows_of(9)]
    assert "on 9 rows" in agreement_figure(flat, name="f", seed=0)


def test_a_search_is_drawn_with_the_best_so_far():
    trials = [Trial(number=n, value=value) for n, value in enumerate((0.5, None, 0.2, 0.75))]
    svg = search_figure(trials, name="s")
    assert "What 3 trials of the search reached" in svg
    assert "the best is 0.750, the first was 0.500" in svg
