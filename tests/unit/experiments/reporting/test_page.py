import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from judgesmith.experiments.evaluate.errors.page import LARGEST
from judgesmith.experiments.report import texts_of, write_report
from judgesmith.experiments.report.page import SCRIPT, STYLE

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
    assert [text for tag, text in read.texts if tag == "title"] == [
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
    assert all(one["role"] == "img" and one["aria-label"] for one in drawn)
    for tag, _, around in read.elements:
        if tag in {"select", "input"}:
            assert around[-1] == "label"
    assert all(one.get("tabindex") in {None, "0"} for _, one, _ in read.elements)


def test_names_are_given_once_and_everything_named_is_there(read):
    ids = [one["id"] for _, one, _ in read.elements if "id" in one]
    assert len(set(ids)) == len(ids)
    named = {one["href"][1:] for _, one, _ in read.elements if "href" in one}
    named |= {one["aria-labelledby"] for _, one, _ in read.elements if "aria-labelledby" in one}
    assert named <= set(ids)


def test_nothing_leads_to_a_cell_that_does_not_fit(reported, sets, tmp_path, monkeypatch):
    monkeypatch.setattr("judgesmith.experiments.report.page._FOR_CELLS", 1)
    done = write_report(tmp_path / "page.html", reported, sets, figures=False)
    assert done.cells == 0
    read = Page((tmp_path / "page.html").read_text("utf-8"))
    assert "3 more cells do not fit on a page" in read.text
    ids = {one["id"] for _, one, _ in read.elements if "id" in one}
    assert {one["href"][1:] for one in read.all("a")} <= ids


def test_without_figures_nothing_else_is_missing(reported, sets, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"figures need matplotlib: .*judgesmith\[report\]"):
        write_report(tmp_path / "none.html", reported, sets)
    assert not (tmp_path / "none.html").exists()
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
    assert "What it answers" not in read.text
    assert len(read.all("tbody")) > 48


def test_what_correlations_do_not_tell_stands_beside_them(read):
    assert "Beside correlations, on rows held out" in read.text
    assert "pairs put in people's order, dataset" in read.text
    assert "longer texts score higher: judge" in read.text
    names = [text for tag, text in read.texts if tag == "bdi"]
    assert "faithfulness" in names
    assert "**" not in read.text
