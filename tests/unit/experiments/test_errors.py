"""Error spans of raters and judges: files, marks and the page."""

import json
import random
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from looping import for_each

from judgesmith.data import DataSet
from judgesmith.data.problems import DataError
from judgesmith.experiments.evaluate.errors.found import (
    FoundErrors,
    TextErrors,
    error_totals,
    numbered_errors,
    text_pieces,
)
from judgesmith.experiments.evaluate.errors.gold import changed_texts, gold_kind, marked_errors
from judgesmith.experiments.evaluate.errors.page import LARGEST, POLICY, STYLE, write_page
from judgesmith.experiments.evaluate.errors.reading import read_errors
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import ErrorSpan

# errors gold


def data(*items):
    return DataSet(name="toy", items=items)


def marked(errors):
    return data(RatedItem(response="a b c", extra={"errors": errors}))


def version(text, edits, **fields):
    said = {"perturbation": "negation", "level": "word", "original": "m", "edits": edits}
    return RatedItem(source_id="1", system_id="v", response=text, extra=said | fields)


ORIGINAL = RatedItem(source_id="1", system_id="m", response="A day.")


def test_edits_go_before_errors_and_rows_may_state_neither():
    assert gold_kind(data(ORIGINAL, version("a day.", [[0, 1, "a"]]))) == "edits"
    assert gold_kind(marked([])) == "errors"
    assert gold_kind(data(ORIGINAL)) is None


def test_places_of_changes_are_read():
    right, none, wrong, beyond = (
        version("No day.", [[0, 1, "No"]]),
        version("No day.", []),
        version("No day.", [[0, 1, "The"]]),
        version("No day.", [[0, 99, "No"]]),
    )
    (kind,), _ = changed_texts(data(ORIGINAL, right, none, wrong, beyond))
    assert [one.places for one in kind.texts] == [((0, 2),)]
    assert sorted(kind.left_out.values()) == [1, 2]
    (kind,), _ = changed_texts(data(ORIGINAL, version("A.", [[1, 5, ""]])))
    assert kind.texts[0].places == ((1, 1),)
    typo = version("A dya.", [[3, 5, "ya"]], perturbation="character_typos", level="character")
    (kind,), _ = changed_texts(data(ORIGINAL, typo))
    assert kind.texts[0].places == ((2, 5),)
    (found,) = marked_errors(marked([{}, {"severity": "Critical", "start": None, "end": None}]))
    assert [error.severity for error in found] == [None, 5.0]


@for_each(
    ("error", "said"),
    [
        ("major", "an object with severity"),
        ({"severity": "awful"}, "a word from neutral to critical"),
        ({"severity": True}, "a word from neutral to critical"),
        ({"start": 0}, "0 <= start <= end <= 5"),
        ({"start": 0, "end": 6}, "0 <= start <= end <= 5"),
        ({"start": "0", "end": "1"}, "0 <= start <= end <= 5"),
    ],
)
def test_a_marked_error_that_cannot_be_read_is_told_with_its_row(error, said):
    with pytest.raises(DataError) as caught:
        marked_errors(marked([{}, error]))
    assert "toy, row 1: errors[1]: expected" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("edits", [[[-5, 9, "x"]], [{"foo": 1}], [[4, 1, "x"]], ["odd"]])
def test_edits_that_cannot_be_read_are_told_with_their_row(edits):
    broken = data(ORIGINAL, version("No day.", edits))
    assert gold_kind(broken) == "edits"
    with pytest.raises(DataError, match=r"toy, row 2: edits: expected \[start, end, text\] each"):
        changed_texts(broken)


# errors marks


def errors_at(*places):
    return numbered_errors([ErrorSpan(text="", start=start, end=end) for start, end in places])


def drawn(text, *places, around=1000):
    """Return the text with a bracket and a number where each error begins and ends."""
    parts = []
    for one in text_pieces(text, errors_at(*places), around=around):
        parts += [f"<{n}]" for n in one.closes] + [f"[{n}>" for n in one.opens]
        parts += [f"({one.left_out})"] * bool(one.left_out) + [one.text]
    return "".join(parts)


@for_each(
    ("places", "shown"),
    [
        ([], "abcdef"),
        ([(0, 6)], "[1>abcdef<1]"),
        ([(1, 3), (2, 5)], "a[1>b[2>c<1]de<2]f"),
        ([(1, 3), (3, 5)], "a[1>bc<1][2>de<2]f"),
        ([(2, 2)], "ab[1><1]cdef"),
        ([(6, 6), (0, 0)], "[1><1]abcdef[2><2]"),
        ([(1, 3), (3, 3), (3, 4)], "a[1>bc<1][2><2][3>d<3]ef"),
        ([(1, 4), (1, 4)], "a[1>bcd<1]ef"),
    ],
)
def test_marks_stand_where_errors_begin_and_end(places, shown):
    assert drawn("abcdef", *places) == shown


def test_what_is_far_from_any_mark_is_left_out_and_counted():
    text = "".join(chr(97 + n % 26) for n in range(200))
    shown = drawn(text, (100, 103), around=5)
    assert shown == f"{text[:5]}(90){text[95:100]}[1>{text[100:103]}<1]{text[103:108]}(92)"
    assert drawn(text, (10, 190), around=5).startswith(f"{text[:10]}[1>{text[10:15]}(170)")


def test_every_character_is_shown_once_or_counted():
    rng = random.Random(0)
    for _ in range(200):
        text = "x" * rng.randrange(40)
        ends = [sorted(rng.choices(range(len(text) + 1), k=2)) for _ in range(rng.randrange(5))]
        found = list(text_pieces(text, errors_at(*ends), around=rng.randrange(1, 6)))
        assert sum(len(one.text) + one.left_out for one in found) == len(text)
        numbers = list(range(1, len(set(map(tuple, ends))) + 1))
        for side in ("opens", "closes"):
            assert sorted(n for one in found for n in getattr(one, side)) == numbers


# errors page

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
        if tag not in ("meta", "input"):
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
    def writing(*texts, start=1, people=None):
        found = FoundErrors(label="it", texts=texts, n_unused=0)
        place = tmp_path / "page.html"
        n = write_page(place, "it", "toy", texts, error_totals(found), start=start, people=people)
        html = place.read_text(encoding="utf-8")
        assert len(html.encode()) <= LARGEST
        return Page(html), n

    return writing


def text_with(*errors, response=TEXT, source_id="s1", **fields):
    item = RatedItem(source_id=source_id, system_id="m", source="She won.", response=response)
    return TextErrors(item=item, errors=errors, **{"score": 3.0, **fields})


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


def test_texts_can_be_chosen_by_severity_criterion_and_agreement(page_of):
    error = ErrorSpan(text="won", start=12, end=15, severity=5, criterion="facts")
    texts = [
        text_with(*found, source_id=f"s{n}", score=float(n))
        for n, found in enumerate([[error], [], [error.model_copy(update={"severity": 1})]])
    ]
    page, _ = page_of(*texts, people={("s0", "m"): 3.0, ("s1", "m"): 2.0, ("s2", "m"): 1.0})
    rows = page.all("article")
    assert [one.get("data-severity") for one in rows] == ["major", None, "minor"]
    assert [one.get("data-criterion") for one in rows] == ["c0", None, "c0"]
    assert [one["data-people"] for one in rows] == ["lower", "alike", "higher"]
    assert {one["name"] for one in page.all("select")} >= {"severity", "people"}
    unrated, _ = page_of(*texts)
    assert not any("data-people" in one for one in unrated.all("article"))
    assert "people" not in {one["name"] for one in unrated.all("select")}


def test_whatever_a_text_holds_stays_text(page_of):
    evil = "</p><script>alert(1)</script>\" onload='x' &amp; \u202e\x00\ud800 <!-- ]]>"
    error = ErrorSpan(text=evil, start=0, end=9, severity=4, explanation=evil, criterion=evil)
    item = RatedItem(source_id=evil, system_id=evil, source=evil, context=evil, response=evil)
    text = TextErrors(item=item, errors=(error,), score=1.0, explanation=evil, notes=(evil,))
    page, _ = page_of(text)
    named = error.model_copy(update={"criterion": "x"})
    plain, _ = page_of(text_with(named, explanation="x", notes=("x",)))
    assert page.open == []
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements}
    assert not any(name.startswith("on") for _, found in page.elements for name in found)
    assert "alert(1)</script>\" onload='x' &amp; \\u202e\\x00\\ud800 <!-- ]]>" in page.text


def test_directions_of_texts_are_their_own_and_the_page_needs_no_script(page_of):
    page, _ = page_of(text_with(response="هذا النص"))
    assert {"class": "text", "dir": "auto"} in page.all("p")
    assert page.all("form")[0]["hidden"] == "hidden"  # until the script is there
    assert not any("hidden" in one for one in page.all("article"))
    policy = [meta.get("content") for meta in page.all("meta") if "http-equiv" in meta]
    assert policy == [POLICY]
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


# errors reading

ITEMS = tuple(
    RatedItem(source_id=str(n), system_id="m", source="s", response=f"Text {n} is wrong.")
    for n in range(3)
)
DATA = DataSet(name="toy", items=ITEMS)


def row(n, *errors, **fields):
    return {
        "source_id": str(n),
        "system_id": "m",
        "score": 50.0,
        "problem": None,
        "errors": list(errors),
    } | fields


@pytest.fixture
def reading(tmp_path):
    def read(*rows, **options):
        path = tmp_path / "scores.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
        return read_errors(path, DATA, **options)

    return read


def test_errors_stand_beside_their_texts_in_the_order_of_the_set(reading):
    error = {"text": "wrong", "start": 10, "end": 15, "severity": 4, "explanation": "It is right."}
    notes = [{"kind": "contradiction", "about": "overall", "text": "So it is."}, "odd"]
    found = reading(row(2, error, notes=notes), row(0), row("elsewhere"))
    assert [text.item.source_id for text in found.texts] == ["0", "1", "2"]
    assert found.texts[0].errors == ()
    assert found.texts[2].errors[0].severity == 4
    assert found.texts[2].notes == ("So it is.",)
    assert (found.label, found.n_unused) == ("scores.jsonl", 1)


def test_a_text_without_an_answer_has_no_errors_rather_than_none(reading):
    left = {"text": "wrong"}
    found = reading(row(0, score=None, problem="cut off"), row(2, left, score=None, problem="?"))
    assert [text.errors is None for text in found.texts] == [True, True, False]
    assert found.texts[0].problem == "cut off"
    assert found.texts[1].problem == "there is no score for this row in the file"
    assert found.n_unscored == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"errors": None}, "errors: expected a list of errors, as score writes it; got nothing"),
        ({"errors": ["x"]}, "errors[0]: expected an error with a text"),
        ({"errors": [{"text": "x", "severity": float("nan")}]}, "errors[0]: expected an error"),
        ({"errors": [{"text": "x", "start": 0, "end": 99}]}, "0 <= start <= end <= 16"),
        ({"errors": [{"text": "x", "start": 3}]}, "got 3 to nothing"),
        ({"score": "high"}, "score: expected a number, or null with a problem"),
        ({"errors": 3}, "errors: expected a list of errors, as score writes it; got 3"),
        ({"source_id": "z"}, "expected ids that occur in toy"),
    ],
)
def test_what_cannot_be_read_is_told(reading, fields, said):
    with pytest.raises(DataError) as caught:
        reading(row(0, **fields))
    assert said in str(caught.value)


def test_one_of_several_judges_is_named(reading):
    rows = row(0, judge="a"), row(0, {"text": "x"}, judge="b")
    assert reading(*rows, judge="b").texts[0].errors[0].text == "x"
    with pytest.raises(DataError, match="one of a, b"):
        reading(*rows)


def panel_row(n, **annotations):
    merged = [{"text": "Text", "start": 0, "end": 4, "severity": 2, "criterion": "clear"}]
    return row(n, *merged, support=[sorted(annotations)], annotations=annotations) | {
        "members": dict.fromkeys(annotations, 40),
        "explanation": "The panel's own words.",
    }


def test_a_member_of_a_panel_can_be_read_instead_of_the_panel(reading):
    own = {"text": "wrong", "start": 10, "end": 15}
    rows = panel_row(0, a=[own], b=[]), panel_row(1, b=[own])
    found = reading(*rows, member="a")
    assert found.label == "a of scores.jsonl"
    assert [error.text for error in found.texts[0].errors] == ["wrong"]
    assert (found.texts[0].score, found.texts[0].explanation) == (40, "")
    assert (found.texts[1].errors, found.texts[1].problem) == (None, "a was not asked")
    with pytest.raises(DataError, match="one of a, b; got 'c'"):
        reading(*rows, member="c")
    with pytest.raises(DataError, match="rows of a panel of judges with errors"):
        reading(row(0), member="a")
