"""The page as Chromium shows it from a disk: no fault, nothing obeyed, and everything of use."""

import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(
        not os.environ.get("JUDGESMITH_CHROMIUM"), reason="set JUDGESMITH_CHROMIUM to a browser"
    ),
]
DRIVER = Path(__file__).with_name("driver.html")
DARK = "--blink-settings=preferredColorScheme=0"
FAULT = re.compile(r"CONSOLE[^\n]*")


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """Open an address, and return the page as it came to be and what the browser logged."""
    profile = tmp_path_factory.mktemp("profile")

    def browsing(address, *options):
        call = [
            os.environ["JUDGESMITH_CHROMIUM"],
            *("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"),
            *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=20000"),
            *(f"--user-data-dir={profile}", *options, "--dump-dom", address),
        ]
        done = subprocess.run(call, capture_output=True, timeout=120, check=True)
        return done.stdout.decode(), done.stderr.decode(errors="replace")

    return browsing


@pytest.fixture(scope="module", params=["wide", "phone", "dark"])
def saw(request, browse, page):
    """What was seen on a screen."""
    width = 390 if request.param == "phone" else 1200
    options = [DARK] if request.param == "dark" else []
    dom, log = browse(f"{DRIVER.as_uri()}?width={width}&page={page.as_uri()}", *options)
    assert FAULT.findall(log) == []
    found = json.loads(html.unescape(re.search(r'<pre id="saw">(.*?)</pre>', dom, re.DOTALL)[1]))
    assert "fault" not in found, found["fault"]
    return found


def test_a_page_opens_from_a_disk_without_a_fault(browse, page):
    dom, log = browse(page.as_uri())
    assert FAULT.findall(log) == []
    assert "rows shown</p>" in dom


def test_nothing_that_a_text_holds_is_obeyed(saw):
    assert (saw["scripts"], saw["harm"]) == (1, 0)
    assert saw["hostile_words"] == saw["rows"]


def test_rows_can_be_chosen(saw, reported):
    rows = [row for cell in reported.cells.values() for row in cell.rows]
    unscored = sum(row.score is None for row in rows)
    assert unscored
    assert saw["form"]
    assert saw["told"] == f"{len(rows)} of {len(rows)} rows shown"
    assert saw["unscored"] == saw["words"] == unscored
    assert saw["unscored_told"] == f"{unscored} of {len(rows)} rows shown"
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
