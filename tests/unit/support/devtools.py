"""Chromium as somebody uses it: keys, typing, screens, over the pipe of its DevTools protocol.

``browsing.py`` looks at pages as they come to be; here they are worked with. A test takes the
fixture ``chromium`` and the mark ``chromium``.
"""

import base64
import json
import os
import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from browsing import AXE, BROWSER, need_browser

PATIENCE = 30.0  # seconds for anything that a page does
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Space": (32, " "),
    "ArrowDown": (40, ""),
    "End": (35, ""),
    "Escape": (27, ""),
}


class Fault(AssertionError):
    """What the page or the browser would not do."""


class Chromium:
    """A headless browser with a profile of its own, which is made in ``folder``."""

    def __init__(self, folder):
        (ours, theirs_out), (theirs_in, self.sent) = os.pipe(), os.pipe()
        call = [
            *("bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "chromium"),
            *(os.environ[BROWSER], "--headless", "--no-sandbox", "--disable-gpu"),
            *("--remote-debugging-pipe", "--hide-scrollbars", "--no-first-run"),
            *(f"--user-data-dir={folder / 'devtools'}", "about:blank"),
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(call, pass_fds=(theirs_in, theirs_out), **quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self.came, self.rest, self.number, self.pages = ours, b"", 0, {}

    def ask(self, method, session=None, **given):
        """Return what the browser answers to a command; what it says meanwhile goes to pages."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": given}
        if session:
            message["sessionId"] = session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.sent, rest) :]
        number, until = self.number, time.monotonic() + PATIENCE
        while True:
            said = self._message(until, method)
            if said.get("id") == number:
                if "error" in said:
                    raise Fault(f"{method}: {said['error']['message']}")
                return said["result"]
            if said.get("sessionId") in self.pages:
                self.pages[said["sessionId"]].heard(said["method"], said["params"])

    def _message(self, until, method):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.came], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self.came, 1 << 20) if ready else b""
            if not part:
                raise Fault(f"{method}: no answer within {PATIENCE:g} seconds")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def opened(self, address, *, width=1200, height=900, dark=False):
        """Return a page at an address, with a memory of its own, when it has loaded."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=context)
        session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = Page(self, session["sessionId"])
        page.screen(width, height, dark=dark)
        page.go(address)
        return page

    def close(self):
        """End the browser."""
        with suppress(Fault, OSError):
            self.ask("Browser.close")
        os.close(self.sent)
        self.process.wait(PATIENCE)
        os.close(self.came)


class Page:
    """A page that is open.

    Attributes
    ----------
    faults : list of str
        What it logged as an error or a warning, threw or was forbidden by its policy. That a
        request was refused is no fault.
    asked : list of str
        Addresses of everything that it requested.
    """

    def __init__(self, chromium, session):
        self.chromium, self.session = chromium, session
        self.faults, self.asked = [], []
        chromium.pages[session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **given):
        """Return what the browser answers to a command for this page."""
        return self.chromium.ask(method, self.session, **given)

    def heard(self, event, said):
        """Take note of what the page says."""
        if event == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", details["text"])
            self.faults.append(f"thrown: {thrown}")
        elif event == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.faults.append(f"{said['type']}: {said['args']}")
        elif event == "Log.entryAdded" and said["entry"]["source"] != "network":
            self.faults.append(f"{said['entry']['source']}: {said['entry']['text']}")
        elif event == "Network.requestWillBeSent":
            self.asked.append(said["request"]["url"])

    def go(self, address):
        """Open another address, or the same one anew, and wait until it has loaded."""
        self.ask("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address)})", loaded=True)

    def screen(self, width, height=900, *, dark=False, paper=False):
        """Show the page on another screen, or as on paper."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        media = "print" if paper else "screen"
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme, still])

    def do(self, script):
        """Return what a script comes to, as plain data; promises are waited for."""
        found = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise Fault(found["exceptionDetails"].get("exception", {}).get("description", script))
        return found["result"].get("value")

    def wait(self, script, *, loaded=False, patience=PATIENCE):
        """Wait until a script comes to something true."""
        until = time.monotonic() + patience
        whole = f"!!({script})" + " && document.readyState === 'complete'" * loaded
        while time.monotonic() < until:
            with suppress(Fault):
                if self.do(whole):
                    return
            time.sleep(0.02)
        raise Fault(f"still not so after {patience:g} seconds: {script}")

    def press(self, key, *held):
        """Press a key of ``KEYS``, or a letter, while others of ``MODIFIERS`` are held down."""
        code, text = KEYS[key] if key in KEYS else (ord(key.upper()), key)
        about = {
            "key": " " if key == "Space" else key,
            "code": key,
            "windowsVirtualKeyCode": code,
            "modifiers": sum(MODIFIERS[one] for one in held),
        }
        self.ask(
            "Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {})
        )
        self.ask("Input.dispatchKeyEvent", type="keyUp", **about)

    def write(self, text):
        """Type a text where the focus is, all at once, as an input method does."""
        self.ask("Input.insertText", text=text)

    def tab_to(self, wanted, *held):
        """Press Tab until the element of that selector has the focus."""
        for _ in range(60):
            if self.do(f"document.activeElement?.matches({json.dumps(wanted)})"):
                return
            self.press("Tab", *held)
        raise Fault(f"Tab does not lead to {wanted}")

    def text(self, selector):
        """Return the words of an element as they can be seen."""
        return self.do(f"document.querySelector({json.dumps(selector)}).innerText")

    def violations(self):
        """Return what axe-core has against the page as it is, each with its rule and element."""
        if not os.environ.get(AXE):
            pytest.skip(f"set {AXE} to axe.min.js")
        self.ask("Runtime.evaluate", expression=Path(os.environ[AXE]).read_text("utf-8"))
        found = self.do("axe.run({ resultTypes: ['violations'] })")
        assert len(found["passes"]) > 5, "axe-core found next to nothing to look at"
        return [
            f"{one['id']}: {node['html']}" for one in found["violations"] for node in one["nodes"]
        ]

    def picture(self):
        """Return what is on the screen as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A browser for the tests of one module."""
    need_browser()
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()
