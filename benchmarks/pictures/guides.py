"""Pictures of reports and of the page to try a judge, as the guides show them.

Chromium takes each of them wide, dark and on a phone: ``.ci/services/chromium .venv/bin/python -m
benchmarks run pictures``. The report is that of a small experiment on the bundled sample with the
offline model, which takes half a minute; the page has a judge that marks errors.
"""

import io
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, NotRun, Row, benchmark
from judgesmith.cli import main

FOLDER = str(ROOT / "docs" / "pictures")
COLOURS = 64
NO_QUICK = "Chromium takes longer than a moment"

SPEC = """
name: What is tuning worth on the bundled sample?
data: {sample: {path: sample, targets: [overall]}}
judges:
  fine: {judge: active-critic, variant: fine}
  direct: {judge: direct}
  annotator: {judge: annotator}
optimizers:
  none: {}
  protocol: {trials: 8}
leave_out: [{judge: annotator, optimizer: protocol}]
holdout: 0.5
"""
WIDTHS = {"wide": 1100, "dark": 1100, "phone": 390}
HEIGHT = 1400
FRAME = (
    '<body style="margin:0">'
    '<iframe src="{page}" style="border:0;width:{width}px;height:{height}px"></iframe>'
)

SCREENS = {"wide": (1280, 1180), "dark": (1280, 1180), "phone": (390, 1500)}
BETTER = "The bridge over the Aare opened in May 1998. It carries two lanes of traffic in Paris."


def chromium() -> str:
    """Return where the browser is."""
    if "JUDGESMITH_CHROMIUM" not in os.environ:
        raise NotRun("no browser: .ci/services/chromium installs one")
    return os.environ["JUDGESMITH_CHROMIUM"]


def run(*command: str) -> None:
    """Run a command, whose words belong to no table."""
    with redirect_stdout(io.StringIO()):
        status = main(list(command))
    if status:
        raise SystemExit(status)


def saved(taken: Any, place: Path, box: tuple[int, int, int, int] | None = None) -> Row:
    """Save a picture, or a part of it, with few colours."""
    from PIL import Image

    with Image.open(taken) as whole:
        own = whole.convert("RGB").crop(box) if box else whole.convert("RGB")
        place.parent.mkdir(exist_ok=True)
        few = own.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(place, "PNG", optimize=True)
    return {"picture": place.name, "kB": round(place.stat().st_size / 1000)}


@benchmark(quick=NO_QUICK)
def report_pictures(*, folder: str = FOLDER) -> Iterator[Row]:
    """The pictures of a report that docs/how-to/reports.md shows."""
    browser = chromium()
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        (made / "spec.yaml").write_text(SPEC, encoding="utf-8")
        run("experiment", str(made / "spec.yaml"), "-o", str(made / "run"))
        run("report", str(made / "run"), "-o", str(made / "report.html"))
        for kind, width in WIDTHS.items():
            # A window is never as narrow as a phone, so the page stands in a frame.
            frame, shot = made / f"{kind}.html", made / f"{kind}.png"
            text = FRAME.format(page="report.html", width=width, height=HEIGHT)
            frame.write_text(text, encoding="utf-8")
            call = [
                browser,
                *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                f"--blink-settings=preferredColorScheme={0 if kind == 'dark' else 1}",
                *(f"--user-data-dir={made / 'profile'}", "--virtual-time-budget=10000"),
                *(f"--window-size={max(width, 500)},{HEIGHT}", f"--screenshot={shot}"),
                frame.as_uri(),
            ]
            subprocess.run(call, check=True, capture_output=True, timeout=120)
            yield saved(shot, Path(folder) / f"report-{kind}.png", (0, 0, width, HEIGHT))


def judge(page: Any, response: str | None = None) -> None:
    """Have the example judged, or another response to its source."""
    page.do("document.getElementById('example').click()")
    if response:
        page.do("document.activeElement.select()")
        page.write(response)
    before = page.do("document.querySelectorAll('article').length")
    page.press("Enter", "Control")
    page.wait(f"document.querySelectorAll('article').length > {before}")


@benchmark(quick=NO_QUICK)
def page_pictures(*, folder: str = FOLDER) -> Iterator[Row]:
    """The pictures of the page to try a judge that docs/how-to/serving.md shows."""
    chromium()
    from devtools import Chromium
    from serving_page import served

    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        compiling = ["compile", "sample", "-o", str(made / "errors"), "--judge", "annotator"]
        run(*compiling, "--optimizer", "none", "--ledger", str(made / "ledger.sqlite"))
        browser = Chromium(made)
        with served({"errors": made / "errors"}, made) as address:
            for kind, (width, height) in SCREENS.items():
                page = browser.opened(address, width=width, height=height, dark=kind == "dark")
                page.wait("!document.getElementById('judging').hidden")
                judge(page)
                if kind == "wide":
                    page.do("document.getElementById('keep-1').click()")
                    judge(page, BETTER)
                page.do("document.activeElement.blur()")
                top = "#texts" if kind == "phone" else "body"
                page.do(f"document.querySelector('{top}').scrollIntoView()")
                yield saved(io.BytesIO(page.picture()), Path(folder) / f"serve-{kind}.png")
        browser.close()
