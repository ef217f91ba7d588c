"""Pictures of reports, of the page to try a judge and of the studio, as the guides show them.

Chromium takes them: ``.ci/services/chromium .venv/bin/python -m
benchmarks run pictures``. The report is that of a small experiment on the bundled sample with the
offline model, which takes half a minute; the page has a judge that marks errors, and the studio
two judges of the bundled verdicts.
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
from judgesmith.signatures import Rubric

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


STUDIO = {
    "home": ("/", 1100, 970, False),
    "label": ("/label", 1100, 840, False),
    "review": ("/review", 1100, 900, False),
    "judge": ("/judges/v2", 1100, 1300, False),
    "dark": ("/rubric", 1100, 900, True),
    "phone": ("/label", 390, 1260, False),
}


def project_with_judges(folder: Path) -> None:
    """Make a project folder with labels of two raters, an edited rubric and two judges."""
    from judgesmith import read
    from judgesmith.studio import Choices, Compilation, Project

    folder.mkdir()
    verdicts = read("sample-verdicts")
    texts = {"source_id", "system_id", "source", "context", "response"}
    rows = "".join(item.model_dump_json(include=texts) + "\n" for item in verdicts)
    (folder / "answers.jsonl").write_text(rows, encoding="utf-8")
    about = "data: answers.jsonl\nlabels: [fail, pass]\n"
    (folder / "judgesmith.yaml").write_text(about, encoding="utf-8")
    labels = {item.key: int(item.human["overall"][0]) for item in verdicts}
    project = Project(folder)
    compilation = Compilation(project)
    for number in range(2):
        for rater, n in (("anna", 20), ("ben", 12)):
            for key, by, _ in project.next_rows(rater, n=n):
                value = ("fail", "pass")[labels[key]]
                project.store.rate(rater, key, "overall", value, chosen_by=by)
        compilation.start(Choices(effort="light", rubric=number > 0))
        if compilation.wait() != "done":
            raise NotRun(compilation.state["line"])
        if not number:
            rubric = Rubric(task="Judge an answer of a shop.", criteria={"help": "Does it help?"})
            project.store.save_rubric(rubric.to_yaml(), why="from a review")
    project.close()


@benchmark(quick=NO_QUICK)
def studio_pictures(*, folder: str = FOLDER) -> Iterator[Row]:
    """The pictures of the studio that docs/how-to/studio.md shows."""
    chromium()
    from devtools import Chromium
    from serving_page import studio

    with tempfile.TemporaryDirectory() as name:
        project_with_judges(Path(name) / "support")
        browser = Chromium(Path(name))
        with studio(Path(name) / "support") as link:
            page = browser.opened("about:blank")
            page.ask("Page.navigate", url=link)
            page.wait("location.pathname === '/'", loaded=True)
            for kind, (path, width, height, dark) in STUDIO.items():
                page.screen(width, height, dark=dark)
                page.go(link.partition("/enter")[0] + path)
                if path == "/label":
                    page.wait("document.querySelector('fieldset')")
                yield saved(io.BytesIO(page.picture()), Path(folder) / f"studio-{kind}.png")
        browser.close()
