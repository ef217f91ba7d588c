"""The page as Chromium shows it from a disk: no fault, nothing obeyed, and everything of use."""

from pathlib import Path

import pytest
from browsing import SCREENS, browser

pytestmark = pytest.mark.chromium
DRIVER = Path(__file__).with_name("driver.html")
__all__ = ["browser"]


@pytest.fixture(scope="module", params=SCREENS)
def saw(request, browser, page):
    """What was seen on a screen."""
    return browser.seen(DRIVER, page.as_uri(), screen=request.param)


def test_a_page_opens_from_a_disk_without_a_fault(browser, page):
    dom, faults = browser.opened(page.as_uri())
    assert faults == []
    assert "shown</p>" in dom


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_has_nothing_against_the_page(browser, page, screen):
    assert browser.violations(page.read_text("utf-8"), screen=screen) == []


def test_axe_finds_what_is_wrong_with_a_page(browser):
    found = browser.violations(
        "<!DOCTYPE html><html><head><title>A page</title></head><body><main><h1>One</h1>"
        "<p>Two <a href='#x'>three</a></p><ul><li>four</li></ul>"
        "<form><input></form><img src=''></main></body></html>"
    )
    assert {one.partition(":")[0] for one in found} >= {"html-has-lang", "image-alt", "label"}


def test_nothing_that_a_text_holds_is_obeyed(saw):
    assert (saw["scripts"], saw["harm"]) == (1, 0)
    assert saw["hostile_words"] == saw["rows"]


def test_rows_can_be_chosen(saw, reported):
    rows = [row for cell in reported.cells.values() for row in cell.rows]
    unscored = sum(row.score is None for row in rows)
    assert unscored
    assert saw["form"]
    assert saw["told"] == f"{len(rows)} of {len(rows)} shown"
    assert saw["unscored"] == saw["words"] == unscored
    assert saw["unscored_told"] == f"{unscored} of {len(rows)} shown"
    assert saw["higher"]
    assert all(float(one) > 0 for one in saw["higher"])
    assert len(saw["cells"]) == 1


def test_rows_can_be_sorted_both_ways(saw):
    order, values = saw["falling"]
    assert order == "descending"
    assert [float(one) for one in values] == sorted(map(float, values), reverse=True)
    order, values = saw["rising"]
    assert order == "ascending"
    assert [float(one) for one in values] == sorted(map(float, values))


def test_what_is_folded_is_open_on_paper_alone(saw):
    assert (saw["printed"], saw["folded"]) == (0, 0)


def test_every_screen_holds_the_page_and_every_text_can_be_read(saw):
    assert saw["wide"] <= 0
    assert saw["wide_open"] <= 0
    assert saw["nameless"] == 0
    assert saw["faintest"]["ratio"] >= 4.5, saw["faintest"]["where"]
