import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from judgesmith.experiments.evaluate.errors.found import FoundErrors, TextErrors, error_totals
from judgesmith.experiments.evaluate.errors.page import LARGEST, STYLE, write_page
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import ErrorSpan

TEXT = "Maria Rossi won 14 races."


class Page(HTMLParser):
    """What a page holds: every element with its attributes, and all text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.texts, self.open = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def page_of(tmp_path):
    def writing(*texts, start=1):
        found = FoundErrors(label="it", texts=texts, n_unused=0)
        place = tmp_path / "page.html"
        n = write_page(place, "it", "toy", texts, error_totals(found), start=start)
        html = place.read_text(encoding="utf-8")
        assert len(html.encode()) <= LARGEST
        return Page(html), n

    return writing


def text_with(*errors, response=TEXT, **fields):
    item = RatedItem(source_id="s1", system_id="m", source="She won.", response=response)
    return TextErrors(item=item, errors=errors, score=3.0, **fields)


def test_every_number_in_the_text_leads_to_its_entry_and_back(page_of):
    first = ErrorSpan(text="Maria Rossi", start=0, end=11, severity=5)
    second = ErrorSpan(text="Rossi won", start=6, end=15, severity=2)
    page, n = page_of(text_with(first, second), text_with(second))
    assert (n, page.open) == (2, [])
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in page.all("a")]
    assert set(links) <= {f"#{one}" for one in ids}
    assert len(links) == 6
    assert [mark["class"] for mark in page.all("mark")[3:]] == ["major", "major", "minor", "minor"]


def test_severity_is_told_in_words_and_what_has_no_place_is_listed(page_of):
    missing = ErrorSpan(text="", severity=3, located="missing", explanation="Where?")
    invented = ErrorSpan(text="the king", severity=4, located="unresolved")
    text = text_with(missing, invented, notes=("The score contradicts its errors.",))
    page, _ = page_of(text)
    for said in (
        "moderate, 3 of 5",
        "missing from the text",
        "quoted, but not in the text",
        "the king",
        "Where?",
        "The score contradicts its errors.",
        "Score 3",
    ):
        assert said in page.text


def test_of_a_panel_the_page_says_who_found_an_error(page_of):
    error = ErrorSpan(text="Maria", start=0, end=5, criterion="clear")
    page, _ = page_of(text_with(error, support=(("gemma", "<qwen>"),)))
    assert "characters 0 to 5 · clear · found by gemma, <qwen>" in page.text


def test_a_page_without_errors_or_texts_says_so(page_of):
    unread = TextErrors(item=RatedItem(response=""), errors=None, problem="cut off")
    page, _ = page_of(text_with(), unread)
    assert "No errors." in page.text
    assert "No score: cut off" in page.text
    page, n = page_of()
    assert n == 0
    assert "No text is on this page." in page.text


def test_whatever_a_text_holds_stays_text(page_of):
    evil = "</p><script>alert(1)</script>\" onload='x' &amp; \u202e\x00\ud800 <!-- ]]>"
    error = ErrorSpan(text=evil, start=0, end=9, severity=4, explanation=evil, criterion=evil)
    item = RatedItem(source_id=evil, system_id=evil, source=evil, context=evil, response=evil)
    text = TextErrors(item=item, errors=(error,), score=1.0, explanation=evil, notes=(evil,))
    page, _ = page_of(text)
    plain, _ = page_of(text_with(error, explanation="x", notes=("x",)))
    assert page.open == []
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements}
    assert not any(name.startswith("on") for _, found in page.elements for name in found)
    assert "alert(1)</script>\" onload='x' &amp; \\u202e\\x00\\ud800 <!-- ]]>" in page.text


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_every_kind_of_line_end_is_shown_as_one(page_of, end):
    response = f"Maria won.{end}She won 14 races."
    start = response.index("14")
    error = ErrorSpan(text="14", start=start, end=start + 2, severity=4, explanation=f"No.{end}9.")
    page, _ = page_of(text_with(error, response=response))
    assert "Maria won.\nShe won " in page.text
    assert "\\r" not in page.text
    assert "14" in page.texts


def test_directions_of_texts_are_their_own_and_the_page_needs_no_script(page_of):
    page, _ = page_of(text_with(response="هذا النص"))
    assert {"class": "text", "dir": "auto"} in page.all("p")
    assert not page.all("script")
    policy = [meta.get("content") for meta in page.all("meta") if "http-equiv" in meta]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert all(one["href"].startswith("#") for one in page.all("a"))


def test_a_page_ends_before_it_is_too_large_and_a_huge_text_is_cut(page_of):
    long = "word " * 1_000_000
    errors = tuple(
        ErrorSpan(
            text="\u202e" * 5000, start=n * 90_000, end=n * 90_000 + 4, explanation="\0" * 9000
        )
        for n in range(55)
    )
    huge = TextErrors(item=RatedItem(source=long, response=long), errors=errors, score=1.0)
    page, n = page_of(huge, *[text_with(response="é" * 1900)] * 900)
    assert 1 <= n < 901
    assert f"{901 - n} more did not fit." in page.text
    assert "And 5 more, which are not shown." in page.text
    assert re.search(r" … \d+ characters … ", page.text)
    page, n = page_of(*[text_with()] * 3, start=11)
    assert "Text 11: s1, m" in page.text


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_words_can_be_told_from_their_ground(scheme):
    block = STYLE.split(":root {")[1 + scheme].split("}")[0]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
    grounds = [colours["paper"], colours["panel"]]
    grades = ("major", "moderate", "minor", "ungraded")
    assert contrast("#000000", "#ffffff") == 21
    for ground in grounds:
        for name in ("ink", "soft", "link", *grades):
            assert contrast(colours[name], ground) >= 4.5, (name, ground)
    for grade in grades:
        assert contrast(colours["ink"], colours[f"{grade}-wash"]) >= 4.5
        assert contrast(colours[grade], colours[f"{grade}-wash"]) >= 3
    lines = re.findall(r"mark\.\w+ \{.*?text-decoration-style: (\w+)", STYLE, re.DOTALL)
    assert len(set(lines)) == len(lines) == 4
    assert all(a != b for a, b in pairwise(lines))
