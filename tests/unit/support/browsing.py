"""Pages as Chromium shows them, and what axe-core has against them.

``.ci/services/chromium`` sets the two variables that say where both are. A test of a page takes the
fixture ``browser`` and the mark ``chromium``; it is skipped where there is no browser, and one that
asks for violations where there is no axe-core.
"""

import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

BROWSER, AXE = "JUDGESMITH_CHROMIUM", "JUDGESMITH_AXE"
SCREENS = ("wide", "phone", "dark")
_DRIVER = Path(__file__).with_name("accessible.html")
_FAULT = re.compile(r"CONSOLE[^\n]*")
_POLICY = re.compile(r"<meta[^>]*Content-Security-Policy[^>]*>", re.IGNORECASE)


def need_browser():
    """Skip a test where there is no browser."""
    if not os.environ.get(BROWSER):
        pytest.skip(f"set {BROWSER} to a browser")


class Browser:
    """A headless Chromium with a profile of its own, which is made in ``folder``."""

    def __init__(self, folder):
        self.folder = folder

    def opened(self, address, *options):
        """Return the page at an address as it came to be, and the faults on its console."""
        call = [
            os.environ[BROWSER],
            *("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"),
            *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=20000"),
            *(f"--user-data-dir={self.folder / 'profile'}", *options, "--dump-dom", address),
        ]
        done = subprocess.run(call, capture_output=True, timeout=120, check=True)
        return done.stdout.decode(), _FAULT.findall(done.stderr.decode(errors="replace"))

    def seen(self, driver, page, *, screen="wide"):
        """Return what a driver saw that opens the page at an address in a frame of that width.

        The driver is a file that leaves JSON in ``<pre id="saw">``, with ``fault`` if it broke.
        """
        width = 390 if screen == "phone" else 1200
        dark = ["--blink-settings=preferredColorScheme=0"] if screen == "dark" else []
        dom, faults = self.opened(f"{driver.as_uri()}?width={width}&page={page}", *dark)
        assert faults == []
        told = re.search(r'<pre id="saw">(.*?)</pre>', dom, re.DOTALL)
        assert told, "the driver wrote nothing"
        found = json.loads(html.unescape(told[1]))
        assert "fault" not in found, found["fault"]
        return found

    def violations(self, page, *, screen="wide", base=""):
        """Return what axe-core has against a page, each with its rule and its element.

        Parameters
        ----------
        page : str
            Its HTML; for one that a server made, what ``opened`` returns. Its own policy on
            scripts is left out, since that would keep axe-core out, too.
        screen : str
            One of ``SCREENS``.
        base : str
            The address that its relative links start from.
        """
        if not os.environ.get(AXE):
            pytest.skip(f"set {AXE} to axe.min.js")
        axe = Path(os.environ[AXE]).resolve().as_uri()
        start = f'<base href="{html.escape(base)}">' if base else ""
        looked_at = re.sub(
            r"(?i)<head[^>]*>", lambda head: head[0] + start, _POLICY.sub("", page), count=1
        )
        end = looked_at.lower().rindex("</body>")
        copy = self.folder / "looked-at.html"
        script = f'<script src="{axe}"></script>'
        copy.write_text(looked_at[:end] + script + looked_at[end:], encoding="utf-8")
        found = self.seen(_DRIVER, copy.as_uri(), screen=screen)
        assert found["rules"] > 5, "axe-core found next to nothing to look at"
        return found["violations"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser for the tests of one module."""
    need_browser()
    return Browser(tmp_path_factory.mktemp("browser"))
