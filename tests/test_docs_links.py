"""Links between pages lead to a file that is there, and to a heading where they name one."""

import functools
import re
from urllib.parse import unquote

import pytest
from sessions import EVERY_PAGE, ROOT

pytestmark = pytest.mark.no_cover

CODE = re.compile(r"^ *```.*?^ *```|(?<!`)`[^`\n]+`(?!`)", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")


@functools.cache
def headings(page):
    """Return the addresses of a page's headings, as GitHub makes them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found, times = set(), {}
    for head in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        times[slug] = times.get(slug, -1) + 1
        found.add(f"{slug}-{times[slug]}" if times[slug] else slug)
    return found


def broken(page):
    """Return the links of a page that lead nowhere."""
    wrong = []
    for link in LINK.findall(CODE.sub("``", page.read_text(encoding="utf-8"))):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, heading = unquote(link).partition("#")
        target = page.parent / path if path else page
        lost = (
            heading
            and target.is_file()
            and target.suffix == ".md"
            and heading not in headings(target)
        )
        if lost or not target.exists():
            wrong.append(link)
    return wrong


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE]
)
def test_every_link_of_a_page_leads_somewhere(page):
    assert broken(page) == []


def test_every_page_can_be_reached_from_the_index():
    docs = ROOT / "docs"
    reached, new = set(), {docs / "index.md"}
    while new:
        page = new.pop()
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        found = {(page.parent / link.partition("#")[0]).resolve() for link in links}
        new |= {one for one in found if one.suffix == ".md" and one.is_file()} - reached
    assert {page.name for page in docs.rglob("*.md") if page not in reached} == set()


def test_a_link_to_nothing_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` (c)\n\n[x](#a-b-c) [x](#a) [x](page.md#a-b-c) [x](other.md) `[x](no.md)`\n"
        "```\n# Not a heading\n[x](no.md)\n```\n[x](#not-a-heading) [x](https://example.org/no)\n"
    )
    assert broken(page) == ["#a", "other.md", "#not-a-heading"]
