"""Make the pictures of the page to try a judge that ``docs/serving.md`` shows.

``.ci/services/chromium .venv/bin/python benchmarks/page_pictures.py docs/pictures`` compiles a
judge that marks errors on the bundled sample with the offline model, serves it, has an example
judged, and lets Chromium take the pictures: wide with two judgements, dark, and on a phone.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from judgesmith.cli import main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))

from devtools import Chromium
from serving_page import served

SCREENS = {"wide": (1280, 1180), "dark": (1280, 1180), "phone": (390, 1500)}
COLOURS = 64
BETTER = "The bridge over the Aare opened in May 1998. It carries two lanes of traffic in Paris."


def judge(page, response: str | None = None) -> None:
    """Have the example judged, or another response to its source."""
    page.do("document.getElementById('example').click()")
    if response:
        page.do("document.activeElement.select()")
        page.write(response)
    before = page.do("document.querySelectorAll('article').length")
    page.press("Enter", "Control")
    page.wait(f"document.querySelectorAll('article').length > {before}")


def picture(page, place: Path, top: str) -> None:
    """Take a picture with few colours, from an element of the page on."""
    page.do("document.activeElement.blur()")
    page.do(f"document.querySelector('{top}').scrollIntoView()")
    content = io.BytesIO()
    with Image.open(io.BytesIO(page.picture())) as taken:
        few = taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(content, "PNG", optimize=True)
    place.write_bytes(content.getvalue())
    print(f"{place}: {len(content.getvalue()) / 1000:.0f} kB")


def pictures(folder: Path, target: Path) -> None:
    """Make a judge in a folder, and pictures in another."""
    made = ["compile", "sample", "-o", str(folder / "errors"), "--judge", "annotator"]
    if status := main([*made, "--optimizer", "none", "--ledger", str(folder / "ledger.sqlite")]):
        sys.exit(status)
    chromium = Chromium(folder)
    with served({"errors": folder / "errors"}, folder) as address:
        for name, (width, height) in SCREENS.items():
            page = chromium.opened(address, width=width, height=height, dark=name == "dark")
            page.wait("!document.getElementById('judging').hidden")
            judge(page)
            if name == "wide":
                page.do("document.getElementById('keep-1').click()")
                judge(page, BETTER)
            top = "#texts" if name == "phone" else "body"
            picture(page, target / f"serve-{name}.png", top)
    chromium.close()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        pictures(Path(made), target)
