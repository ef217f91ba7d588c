"""The report page: sections, figures and the explorer."""

import dataclasses
import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith import InputError
from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.errors.page import LARGEST, SCRIPT, STYLE
from judgesmith.experiments.evaluate.placing import apart, band, counts_by_third, standing
from judgesmith.experiments.report import read_run, texts_of, write_report
from judgesmith.experiments.report.page import warnings_of
from judgesmith.experiments.report.reading import Mattered, Trial
from judgesmith.experiments.report.sections import board_section, cell_section, explorer
from judgesmith.experiments.runs.cell_result import CellDiagnostics, LevelCounts, SeenFrom
from judgesmith.experiments.runs.leaderboard import SeedsBlock

# Rankings as a page shows them: what the other forms of the leaderboard tell is told here, too.

SPREAD = {"mean": 1.25, "sd": 0.5, "low": 0.75, "high": 1.75, "n_seeds": 2, "n_undefined": 1}
LINE = {"judge": "<b>fine</b>", "optimizer": None, "model": "offline", "q": SPREAD}


@pytest.fixture
def several(reported):
    """The run with a ranking over three seeds, too."""
    lines = [LINE | {"difference": None}, LINE | {"difference": SPREAD | {"mean": -0.25}}]
    told = {"data": "answers", "target": "overall", "level": "dataset", "seeds": [0, 1, 2]}
    board = SeedsBlock.model_validate(told | {"cells": lines})
    return replace(reported, board=reported.board.model_copy(update={"over_seeds": (board,)}))


def test_systems_and_rows_of_both_are_counted_and_few_systems_told(reported):
    section = board_section(reported)
    assert ">systems</th>" in section
    assert ">rows of both</th>" in section
    few = max(line.n_systems for line in reported.board.blocks[-1].cells)
    assert f"system level (only {few} systems: tells little)</caption>" in section
    assert "dataset level</caption>" in section


def test_a_ranking_is_drawn_first_over_seeds_where_there_are_several(reported, several):
    one, more = board_section(reported), board_section(several)
    assert one.index("<svg") < one.index("<table")
    assert "lines are 95% intervals" in one
    assert "Mean over 3 seeds; lines from the lowest to the highest." in more
    assert "&lt;b&gt;fine&lt;/b&gt;" in more[: more.index("</svg>")]
    assert "<svg" not in board_section(reported, figures=False)


def test_means_over_seeds_stand_before_those_of_each(several):
    section = board_section(several)
    first = section.index("<h3><bdi>answers: overall, over 3 seeds</bdi></h3>")
    assert first < section.index("<h3><bdi>answers: overall, seed 0</bdi></h3>")
    assert "<bdi>&lt;b&gt;fine&lt;/b&gt;</bdi>" in section
    for cell in ("1.25", "0.50", "0.75", "1.75", "2, 1 undefined", "-0.25"):
        assert f'">{cell}</td>' in section


# cell section


@pytest.fixture
def section_with(reported):
    cell = next(iter(reported.cells.values()))

    def made(**besides):
        result = cell.result.model_copy(update={"besides": CellDiagnostics(**besides)})
        changed = type(cell)(names=cell.names, result=result, rows=cell.rows)
        return cell_section(changed, 0, figures=False)

    return made


def test_rows_are_counted_by_level_where_people_rate_by_level(section_with):
    counts = LevelCounts(levels=(1, 2), counts=((3, 0), (1, 4)))
    section = section_with(confusion=counts)
    assert 'raters: 2</th><td class="num">1</td><td class="num">4</td>' in section
    assert "judge: middle" not in section


def test_a_perspective_tells_each_criterion_their_mean_and_what_is_left_out(reported):
    cell = next(iter(reported.cells.values()))
    number = {"value": 0.5, "low": 0.25, "high": 0.75, "n": 9, "n_groups": 4}
    seen = SeenFrom.model_validate(
        {
            "criteria": {"<i>": {"kappa": number, "confusion": {}}, "style": {"kappa": None}},
            "mean": number,
            "left_out": {"length": "no ratings"},
            "notes": ["few <b>rows</b>"],
        }
    )
    result = cell.result.model_copy(update={"perspectives": {"global": seen}})
    section = cell_section(replace(cell, result=result), 0, figures=False)
    cells = '<td class="num">0.50 [0.25, 0.75]</td><td class="num">9</td><td class="num">4</td>'
    assert f"<bdi>&lt;i&gt;</bdi></th>{cells}" in section
    assert f"mean</th>{cells}" in section
    assert "<li>length is left out: no ratings</li>" in section
    assert "<li>few &lt;b&gt;rows&lt;/b&gt;</li>" in section
    assert "Local perspective" not in section


def test_a_search_tells_which_choices_mattered(reported):
    cell = next(iter(reported.cells.values()))
    trials = tuple(Trial(number=n, value=n / 4) for n in range(3))
    mattered = (Mattered(objective="<q>", shares={"scale": 0.25, "explain": 0.75}),)
    searched = replace(cell, trials=trials, mattered=mattered)
    section = cell_section(searched, 0, figures=False)
    assert "Importance of each choice for &lt;q&gt; (PED-ANOVA)</caption>" in section
    assert section.index("width:75.0%") < section.index("width:25.0%")
    assert '<td class="num">75%</td>' in section
    assert "PED-ANOVA" not in cell_section(replace(searched, mattered=()), 0, figures=False)


# explorer


@pytest.fixture(scope="module")
def bodies_of():
    def found(section):
        return section.split("<tbody")[1:]

    return found


def test_the_largest_differences_come_first(reported, sets, bodies_of):
    found = explorer(reported, sets, room=10**9)
    gaps = [
        abs(float(one.split('data-apart="')[1].split('"')[0])) if "data-apart" in one else -1.0
        for one in bodies_of(found.section)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps.count(-1.0) == sum(
        row.score is None for cell in reported.cells.values() for row in cell.rows
    )
    assert "judgements of rows held out are below, the largest differences first" in found.section


def test_what_does_not_fit_is_said_and_no_judge_is_left_out(reported, sets, bodies_of):
    found = explorer(reported, sets, room=60_000)
    assert 3 < found.shown < found.n_rows
    assert f"{found.shown} of {found.n_rows} judgements" in found.section
    assert "More do not fit on a page" in found.section
    for name in reported.cells:
        assert any(f'data-cell="{name}"' in one for one in bodies_of(found.section))
    assert "unscored" in found.section


def test_a_text_that_changed_since_is_not_shown_for_the_one_that_was_judged(reported, sets):
    items = [one.model_copy(update={"response": "Something else."}) for one in sets["answers"]]
    changed = dataclasses.replace(sets["answers"], items=tuple(items))
    assert isinstance(changed, DataSet)
    section = explorer(reported, {"answers": changed}, room=10**9).section
    assert "Something else." not in section


# figures


def test_a_cell_is_drawn_in_words_too_with_ids_of_its_own(reported):
    cell = next(iter(reported.cells.values()))
    section = cell_section(cell, 7, figures=True)
    assert "Each dot is one of" in section
    assert set(re.findall(r'<title id="([^"]*)"', section)) == {"f70-t", "f71-t"}
    assert section == cell_section(cell, 7, figures=True)


def test_nothing_is_drawn_of_nothing(reported):
    cell = next(iter(reported.cells.values()))
    unscored = tuple(one.model_copy(update={"score": None}) for one in cell.rows)
    for rows in (cell.rows[:1], unscored):
        assert "<svg" not in cell_section(replace(cell, rows=rows), 0, figures=True)
    tried = replace(cell, rows=(), trials=(Trial(number=0, value=None), Trial(number=1, value=0.5)))
    assert "<svg" not in cell_section(tried, 0, figures=True)


def test_a_search_is_drawn_with_the_best_so_far(reported):
    trials = [Trial(number=n, value=value) for n, value in enumerate((0.5, None, 0.2, 0.75))]
    cell = replace(next(iter(reported.cells.values())), rows=(), trials=tuple(trials))
    assert "What 3 trials reached" in cell_section(cell, 0, figures=True)


# page

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Every element of a page with its attributes and the elements around it, and its texts."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.texts, self.open = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]

    @property
    def text(self):
        return "".join(text for _, text in self.texts)


@pytest.fixture(scope="module")
def html(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(html):
    return Page(html)


def test_a_page_is_one_file_below_3_mb_that_asks_for_nothing(html, read):
    assert len(html.encode()) < LARGEST
    for tag, attributes, _ in read.elements:
        assert tag not in {"link", "iframe", "object", "embed", "img", "base"}
        assert not {name for name in attributes if name.startswith("on")}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    policy = next(one["content"] for one in read.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not re.search(r"url\((?!#)|@import", html)


def test_whatever_a_text_holds_stays_a_text(html, read):
    scripts = [text for tag, text in read.texts if tag == "script"]
    assert scripts == [SCRIPT]
    assert [text for tag, text in read.texts if tag == "style"] == [STYLE]
    assert [text for tag, text in read.texts if tag == "title"][:1] == [
        "</title></script><script>alert(1)</script>"
    ]
    assert "<img src=x onerror=alert(2)>" in read.text
    assert "\u202e" not in html
    assert "\x00" not in html
    assert read.text.count(r"\u202e\x00&amp;") > 40


def test_the_same_inputs_make_the_same_bytes(page, reported, sets, tmp_path):
    again = tmp_path / "again.html"
    done = write_report(again, reported, sets)
    assert again.read_bytes() == page.read_bytes()
    assert done.n_bytes == again.stat().st_size
    assert (done.cells, done.n_cells) == (3, 3)
    assert done.shown == done.n_rows == sum(len(one.rows) for one in reported.cells.values())


def test_people_who_hear_a_page_or_use_keys_find_their_way(read):
    assert read.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, *_ in read.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    tags = [tag for tag, *_ in read.elements]
    for at, tag in enumerate(tags):
        if tag == "table":
            assert tags[at + 1] == "caption"
        if tag == "section":
            assert "aria-labelledby" in read.elements[at][1]
    assert all(one.get("scope") in {"col", "row"} for one in read.all("th"))
    drawn = read.all("svg")
    assert drawn
    assert all(one["role"] == "img" and one["aria-labelledby"] for one in drawn)
    for tag, _, around in read.elements:
        if tag in {"select", "input"}:
            assert around[-1] == "label"
    assert all(one.get("tabindex") in {None, "0"} for _, one, _ in read.elements)


def test_names_are_given_once_and_everything_named_is_there(read):
    ids = [one["id"] for _, one, _ in read.elements if "id" in one]
    assert len(set(ids)) == len(ids)
    named = {one["href"][1:] for _, one, _ in read.elements if "href" in one}
    labels = [one["aria-labelledby"] for _, one, _ in read.elements if "aria-labelledby" in one]
    named |= {name for one in labels for name in one.split()}
    assert named <= set(ids)


def test_nothing_leads_to_a_cell_that_does_not_fit(reported, sets, tmp_path, monkeypatch):
    monkeypatch.setattr("judgesmith.experiments.report.page._FOR_CELLS", 1)
    done = write_report(tmp_path / "page.html", reported, sets, figures=False)
    assert done.cells == 0
    read = Page((tmp_path / "page.html").read_text("utf-8"))
    assert "3 more cells do not fit on a page" in read.text
    ids = {one["id"] for _, one, _ in read.elements if "id" in one}
    assert {one["href"][1:] for one in read.all("a")} <= ids


def test_without_figures_nothing_else_is_missing(reported, sets, tmp_path):
    write_report(tmp_path / "plain.html", reported, sets, figures=False)
    read = Page((tmp_path / "plain.html").read_text("utf-8"))
    assert read.all("svg") == []
    assert "judge: middle" in read.text


def test_a_page_without_texts_says_why_and_shows_the_rest(reported, study, tmp_path):
    (tmp_path / "spec.yaml").write_text((study / "spec.yaml").read_text("utf-8"), "utf-8")
    sets, why = texts_of(tmp_path / "spec.yaml")
    assert sets == {}
    assert "rated.jsonl" in why
    write_report(tmp_path / "page.html", reported, sets, figures=False, why=why)
    read = Page((tmp_path / "page.html").read_text("utf-8"))
    assert "Texts are not shown: " in read.text
    assert ("summary", "Source") not in read.texts
    assert len(read.all("tbody")) > 48


# reading

PLAIN = "answers.overall.plain.none.offline.0"


@pytest.fixture
def copied(study, tmp_path):
    return shutil.copytree(study / "run", tmp_path / "run")


def rewrite(place, change):
    content = json.loads(place.read_text("utf-8"))
    change(content)
    place.write_text(json.dumps(content), "utf-8")


def test_a_run_is_read_with_its_rankings_cells_rows_and_questions(reported):
    assert len(reported.cells) == 3
    assert reported.unranked == ()
    cell = reported.cells[PLAIN]
    assert len(cell.rows) == cell.result.rows.heldout
    assert any(line.startswith("task: ") for line in cell.asks)
    assert cell.title == "plain · none · offline on answers: overall, seed 0"
    assert reported.board.blocks[0].level == "dataset"


def test_a_folder_without_a_run_or_without_rankings_is_refused(copied, tmp_path):
    with pytest.raises(FileNotFoundError, match="is no folder that 'judgesmith experiment' made"):
        read_run(tmp_path)
    (copied / "leaderboard.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no leaderboard.json yet; wait for its run"):
        read_run(copied)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("run.json", "restore it"),
        ("leaderboard.json", "give the command"),
        (f"cells/{PLAIN}/result.json", f"remove the folder .*{PLAIN}, and the command"),
        (f"cells/{PLAIN}/scores.jsonl", f"remove the folder .*{PLAIN}, and the command"),
    ],
)
@pytest.mark.parametrize("text", ["[]", "{", "\udcff", "[" * 100_000, '{"score": NaN}'])
def test_a_file_that_was_changed_is_named(copied, name, remedy, text):
    (copied / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=f"; {remedy}") as caught:
        read_run(copied)
    assert name.rpartition("/")[2] in str(caught.value)


def test_an_id_leads_nowhere_but_to_its_own_folder(copied):
    def change(content):
        content["cells"][0]["id"] = "../../elsewhere"

    rewrite(copied / "run.json", change)
    with pytest.raises(ValueError, match=r"changed after it was written \(cells.0.id\)"):
        read_run(copied)


def test_rankings_of_another_run_are_refused(copied):
    rewrite(copied / "leaderboard.json", lambda content: content.update(run="0" * 12))
    with pytest.raises(ValueError, match="is that of another run"):
        read_run(copied)


def test_a_judge_that_cannot_be_read_is_said_and_the_rest_shown(copied):
    rewrite(copied / "cells" / PLAIN / "judge" / "judge.json", lambda one: one.update(model="x"))
    found = read_run(copied)
    assert found.cells[PLAIN].asks == ()
    assert any("cannot be read" in one for one in warnings_of(found))


def test_cells_that_failed_or_came_late_are_told_first(copied):
    def change(content):
        content["failed"] = {"a.b": "no key"}
        content["unfinished"] = {PLAIN: "the budget ended", "c.d": "the budget ended"}
        for block in content["blocks"]:
            block["cells"] = [one for one in block["cells"] if one["cell"] != PLAIN]

    rewrite(copied / "leaderboard.json", change)
    told = warnings_of(read_run(copied))
    assert told[0] == "a.b failed: no key"
    assert told[1] == "c.d is not finished: the budget ended"
    assert told[2].startswith(f"{PLAIN} ended after the rankings were made")


def test_warnings_are_of_unscored_rows_few_sources_and_the_offline_model(reported):
    told = "\n".join(warnings_of(reported))
    assert "rows held out have no score (" in told
    assert "6 sources are held out; intervals over so few are rough" in told
    assert "The offline model is a classical model" in told
    assert "chosen by" not in told


# standing

points = st.lists(st.sampled_from([None, 1.0, 2.0, 3.0]), min_size=8, max_size=8)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_a_place_is_the_share_below_with_ties_counted_half(values):
    found = standing(np.asarray(values, dtype=float))
    for value, place in zip(values, found, strict=True):
        below = sum(one < value for one in values) + sum(one == value for one in values) / 2
        assert place == pytest.approx(below / len(values))


@given(points, points)
def test_differences_are_defined_where_both_are_and_add_to_nothing(human, scores):
    gaps = apart(human, scores)
    assert [one is None for one in gaps] == [
        None in both for both in zip(human, scores, strict=True)
    ]
    known = [one for one in gaps if one is not None]
    assert sum(known) == pytest.approx(0)
    assert counts_by_third(human, scores).sum() == len(known)
    # The scale that a judge uses makes no difference.
    stretched = [None if one is None else one**3 - 7 for one in scores]
    assert apart(human, stretched) == gaps


def test_a_band_holds_the_line_and_is_undefined_where_there_is_none():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    sources = np.repeat(np.arange(20), 3)
    found = band(x, x + rng.normal(size=60), sources, seed=1)
    assert (found.low < found.middle).all()
    assert (found.middle < found.high).all()
    again = band(x, x + 0 * x, sources, seed=1)
    assert again.low == pytest.approx(again.high)
    assert band(np.ones(60), x, sources, seed=0) is None
    assert band(x, np.ones(60), sources, seed=0) is None
    assert band(x, 2 * x, np.zeros(60, dtype=int), seed=0) is None
