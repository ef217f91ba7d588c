"""The files of the page to try a judge: all there, none from elsewhere, and nothing inline."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from looping import for_each

import judgesmith.programs
from judgesmith.experiments.evaluate.errors.page import STYLE
from judgesmith.programs.serving.requests import Refusal
from judgesmith.programs.serving.routes import page_file

PAGE = Path(judgesmith.programs.__file__).parent / "serving" / "page"
SCRIPTS = sorted(PAGE.glob("*.js"))


class Elements(HTMLParser):
    """Every element of the page with its attributes, and what stands between their tags."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = [], []
        self.feed((PAGE / "index.html").read_text("utf-8"))

    def handle_starttag(self, name, about):
        self.found.append((name, dict(about)))

    def handle_data(self, text):
        if self.found and self.found[-1][0] in ("script", "style") and text.strip():
            self.inside.append(text)

    def values(self, key, *names):
        return [
            about[key] for name, about in self.found if key in about and name in (names or [name])
        ]


@pytest.fixture(scope="module")
def elements():
    return Elements()


def test_nothing_is_inline(elements):
    assert elements.inside == []
    assert not [key for _, about in elements.found for key in about if key.startswith("on")]
    assert elements.values("style") == []


def test_everything_it_loads_is_there(elements):
    loaded = elements.values("src") + elements.values("href", "link")
    loaded = [one for one in loaded if not one.startswith("data:")]
    assert sorted(loaded) == ["page/family.css", "page/page.css", "page/page.js"]
    for name in loaded:
        assert (PAGE.parent / name).is_file()
    for script in SCRIPTS:
        for name in re.findall(r'from "(.*?)"', script.read_text("utf-8")):
            assert (PAGE / name).is_file(), name


def test_names_are_unique_and_every_one_that_is_used_is_there(elements):
    names = elements.values("id")
    assert len(set(names)) == len(names)
    used = set(elements.values("for")) | {one[1:] for one in elements.values("href", "a")}
    for key in ("aria-labelledby", "aria-describedby"):
        used |= {one for value in elements.values(key) for one in value.split()}
    for script in SCRIPTS:
        used |= set(re.findall(r'\b(?:at|on)\("([\w-]+)"', script.read_text("utf-8")))
    assert used <= set(names)


def test_every_field_has_a_label(elements):
    fields = elements.values("id", "textarea", "select", "input")
    assert sorted(elements.values("for", "label")) == sorted(fields)


@for_each("script", SCRIPTS)
def test_no_script_writes_markup_or_keeps_anything(script):
    text = script.read_text("utf-8")
    assert len(text.splitlines()) <= 250
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\("
    assert re.findall(rf"{markup}|Storage|cookie|https?:", text) == []


def test_reports_have_the_same_style():
    assert STYLE.startswith((PAGE / "family.css").read_text("utf-8"))
    assert (
        re.findall(r"url\(|@import|#[0-9a-f]{3,8}\b", (PAGE / "page.css").read_text("utf-8")) == []
    )


@for_each(
    "name",
    ["../page/page.js", "./page.js", "/page.js", "Page.js", "page.js\n", "page.js\0", ".js", ""],
)
def test_no_other_name_leads_to_a_file(name):
    assert page_file("page.js").status_code == 200
    with pytest.raises(Refusal) as found:
        page_file(name)
    assert found.value.status == 404
