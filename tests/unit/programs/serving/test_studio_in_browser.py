"""The studio in Chromium: from a table to a second judge by keys alone, and what its pages show."""

import csv
import json
import re

import pytest
from devtools import chromium
from serving_page import studio

from judgesmith import read
from judgesmith.cli import main
from judgesmith.experiments import card_html

__all__ = ["chromium"]

pytestmark = [pytest.mark.chromium, pytest.mark.no_cover]

N_LABELLED = 30
LONG = "A very long answer. " * 400
HARM = "<script>document.title='harm'</script><img src=x onerror=\"document.title='harm'\">"


def enter(page, selector):
    """Go to an element by Tab, and press Enter on it."""
    page.tab_to(selector)
    page.press("Enter")


def opens(page, path):
    """Wait until the page at a path is open."""
    page.wait(f"location.pathname === '{path}'", loaded=True)


def label(page, labels):
    """Label rows by keys, with words on the first, and undo the last once."""
    shown, n = "document.getElementById('response').textContent", 0
    page.wait(f"document.querySelector('fieldset') && {shown}")
    page.press("w")
    page.write("It says what to do.")
    page.press("Escape")
    undoes = True
    while n < N_LABELLED or undoes:
        response = page.do(shown)
        if n == N_LABELLED:
            page.press("u")
            undoes = False
        else:
            page.press(labels.get(response, "fail")[0])
        page.wait(f"{shown} !== {json.dumps(response)}")
        n = int(re.match(r"\d+", page.text("#state"))[0])


def compile_judge(page, number):
    """Compile by keys, and follow the progress until the judge's page is open."""
    opens(page, "/compile")
    page.tab_to("#effort")
    page.press("l")
    if number > 1:
        page.tab_to("#suggest")
        page.press("Space")
    enter(page, "#estimate")
    page.wait("/calls/.test(document.getElementById('estimated').innerText)")
    enter(page, "#new button.main")
    page.wait("document.getElementById('stop').checkVisibility()")
    done = f"document.querySelector('#result[href$=v{number}]:not([hidden])')"
    page.wait(done, patience=300)
    enter(page, "#result")
    opens(page, f"/judges/v{number}")


@pytest.fixture(scope="module")
def improved(chromium, tmp_path_factory):
    """A studio's page after the whole loop by keys: two judges, reviews, an edited rubric."""
    folder = tmp_path_factory.mktemp("support")
    state = folder / "state"
    rows = list(read("sample-verdicts"))[:60]
    labels = {item.response: ("fail", "pass")[int(item.human["overall"][0])] for item in rows}
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "answer"])
        table.writerows([item.source, item.response] for item in rows)
        table.writerows(
            [[HARM, f"{HARM} \u202e {LONG}"], ["Why?", "Нет. مرحبا 😀\u200d\U0010ffff"]]
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_STATE_HOME", str(state))
        assert main(["init", "answers.csv"]) == 0
        with studio(folder) as link:
            page = chromium.opened("about:blank")
            page.ask("Page.navigate", url=link)
            opens(page, "/")
            enter(page, ".steps a[href='/label']")
            opens(page, "/label")
            label(page, labels)
            enter(page, "nav a[href='/compile']")
            compile_judge(page, 1)
            enter(page, "nav a[href='/review']")
            opens(page, "/review")
            n_left = int(re.match(r"\d+", page.text("main > p:nth-of-type(3)"))[0])
            for number in range(2):
                page.press("j")
                page.tab_to("article button[name='value']")
                page.press("Enter")
                wanted = f"innerText.startsWith('{n_left - number - 1} of')"
                page.wait(f"document.querySelector('main > p:nth-of-type(3)').{wanted}")
            enter(page, "nav a[href='/rubric']")
            opens(page, "/rubric")
            page.tab_to("#guidelines")
            page.write("An answer says what to do next.")
            page.tab_to("#why")
            page.write("from a review")
            enter(page, "main form button.main")
            page.wait("document.getElementById('versions-h')")
            enter(page, "nav a[href='/compile']")
            compile_judge(page, 2)
            page.folder = folder
            page.address = link.partition("/enter")[0]
            yield page


def test_a_table_becomes_a_second_judge_by_keys_alone(improved):
    assert improved.faults == []
    assert "harm" not in improved.do("document.title")
    assert all(one.startswith(improved.address) for one in improved.asked if "data:" not in one)
    improved.go(f"{improved.address}/judges/v2")
    assert "Labelled rows: " in improved.text("section")
    improved.tab_to("#response")
    improved.write("Bring it to any shop.")
    enter(improved, "form button.main")
    improved.wait("/pass|fail/.test(document.querySelector('[data-done]').innerText)")
    improved.go(f"{improved.address}/")
    assert "v2" in improved.do("document.querySelector('figure').textContent")


PAGES = ("/", "/label", "/review", "/rubric", "/compile", "/judges/v2", "/nowhere")


@pytest.mark.parametrize("path", [*PAGES, "/rows/", "card.html"])
def test_a_page_suits_every_screen_and_reader(improved, path):
    if path == "card.html":
        (improved.folder / path).write_text(card_html(improved.folder / "judges" / "v2"), "utf-8")
        improved.go((improved.folder / path).as_uri())
    elif path == "/rows/":
        improved.go(f"{improved.address}/review")
        key = improved.do("document.querySelector('input[name=key]').value")
        improved.go(f"{improved.address}/rows/{key}")
    else:
        improved.go(improved.address + path)
    if path == "/label":
        improved.wait("document.querySelector('fieldset')")
    for width, dark in ((1200, False), (390, True)):
        improved.screen(width, dark=dark)
        assert improved.violations() == []
        assert improved.do("document.documentElement.scrollWidth") <= width
    improved.screen(1000, paper=True)
    shown = (
        "Array.from(document.querySelectorAll('header, button'), (one) => one.checkVisibility())"
    )
    assert path == "card.html" or not any(improved.do(shown))
    assert improved.faults == []
    assert "harm" not in improved.do("document.title")
