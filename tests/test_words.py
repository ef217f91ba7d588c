"""Pages use one term for one idea; lines fit, and the length of sentences is reported.

The terms are those of ``words.yaml`` beside the tests: the phrase, and what to write instead.
``python tests/test_words.py`` prints the average length of the sentences of each page.
"""

import re
import sys
from itertools import chain
from pathlib import Path
from statistics import mean

import pytest
import yaml
from looping import for_each

from judgesmith.cli import main
from judgesmith.cli.main import COMMANDS

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TERMS = yaml.safe_load((ROOT / "tests" / "words.yaml").read_text(encoding="utf-8"))
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!-- benchmark: .*?<!-- /benchmark.*?-->|<!--.*?-->", re.DOTALL)
CODE = re.compile(r"(?<!`)`[^`]+`(?!`)|\]\([^)]*\)")
WIDEST = 120
LONGEST_AVERAGE = 24  # of one page
USUAL_AVERAGE = 20  # of all of them


def prose(text):
    """Return a page without code, tables and the targets of links."""
    text = CODE.sub("x", COMMENT.sub("", FENCE.sub("", text)))
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("|", "#")))


def pattern(phrase):
    """Return a pattern for a phrase that may go over the end of a line."""
    return r"\s+".join(map(re.escape, phrase.split()))


def phrases(text):
    """Return the phrases of a page that have a better term, with the term."""
    plain = CODE.sub("x", COMMENT.sub("", FENCE.sub("", text)))
    return [
        (phrase, better)
        for phrase, better in TERMS.items()
        if re.search(rf"\b{pattern(phrase)}\b", plain, re.IGNORECASE)
    ]


def sentence_lengths(text):
    """Return the number of words of each sentence."""
    parts = re.split(r"(?<=[.!?])\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", prose(text))
    return [n for part in parts if (n := len(part.split())) > 2]


@for_each("page", PAGES)
def test_a_page_uses_the_terms(page):
    assert phrases(page.read_text(encoding="utf-8")) == []


@for_each("page", PAGES)
def test_lines_fit_and_sentences_are_short(page):
    text = page.read_text(encoding="utf-8")
    long = [
        line
        for line in COMMENT.sub("", FENCE.sub("", text)).splitlines()
        if len(CODE.sub("x", line)) > WIDEST and not line.lstrip().startswith("|")
    ]
    assert long == []
    lengths = sentence_lengths(text)
    assert not lengths or mean(lengths) <= LONGEST_AVERAGE


def test_sentences_are_short_on_average():
    assert (
        mean(chain(*(sentence_lengths(one.read_text("utf-8")) for one in PAGES))) <= USUAL_AVERAGE
    )


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_uses_the_terms(command, capsys):
    assert main([command, "--help"]) == 0
    assert phrases(capsys.readouterr().out) == []


def test_a_phrase_and_a_long_sentence_are_noticed():
    assert ("nobody", TERMS["nobody"]) in phrases("So that\nNobody waits.")
    assert ("on record", TERMS["on record"]) in phrases("Answers on\nrecord are free.")
    assert phrases("`answers on record`") == []
    assert sentence_lengths("One two three. `a b` four five six.\n\n- Seven eight nine") == [
        3,
        4,
        4,
    ]


if __name__ == "__main__":
    lines = []
    for page in PAGES:
        lengths = sentence_lengths(page.read_text(encoding="utf-8")) or [0]
        lines.append(f"{mean(lengths):6.1f} {sum(lengths):7,}  {page.relative_to(ROOT)}\n")
    sys.stdout.writelines(["average words  page\n", *sorted(lines, reverse=True)])
