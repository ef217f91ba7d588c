"""Make the pictures of a report that ``docs/reports.md`` shows: wide, dark, and on a phone.

``.ci/services/chromium .venv/bin/python benchmarks/report_pictures.py docs/pictures`` runs a small
experiment on the bundled sample with the offline model, which takes half a minute, writes its
report, and lets Chromium take the pictures.
"""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from judgesmith.cli import main

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
COLOURS = 64


def report(folder: Path) -> Path:
    """Run the experiment in a folder and return its report."""
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    place = folder / "report.html"
    run = str(folder / "run")
    for command in (
        ["experiment", str(folder / "spec.yaml"), "-o", run],
        ["report", run, "-o", str(place)],
    ):
        if status := main(command):
            sys.exit(status)
    return place


def picture(page: Path, name: str, place: Path) -> None:
    """Take one picture; a window is never as narrow as a phone, so the page stands in a frame."""
    width = WIDTHS[name]
    frame = page.with_name(f"{name}.html")
    frame.write_text(FRAME.format(page=page.name, width=width, height=HEIGHT), encoding="utf-8")
    shot = page.with_name(f"{name}.png")
    call = [
        os.environ["JUDGESMITH_CHROMIUM"],
        *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        f"--blink-settings=preferredColorScheme={0 if name == 'dark' else 1}",
        *(f"--user-data-dir={page.with_name('profile')}", "--virtual-time-budget=10000"),
        *(f"--window-size={max(width, 500)},{HEIGHT}", f"--screenshot={shot}", frame.as_uri()),
    ]
    subprocess.run(call, check=True, capture_output=True, timeout=120)
    content = io.BytesIO()
    with Image.open(shot) as taken:
        own = taken.convert("RGB").crop((0, 0, width, HEIGHT))
        own.quantize(COLOURS, dither=Image.Dither.NONE).save(content, "PNG", optimize=True)
    place.write_bytes(content.getvalue())
    print(f"{place}: {len(content.getvalue()) / 1000:.0f} kB")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        page = report(Path(made))
        for name in WIDTHS:
            picture(page, name, target / f"report-{name}.png")
