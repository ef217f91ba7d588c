"""Rubrics in YAML: one that reads back as itself, or ``ValueError``; nothing else."""

import math

from draws import TEXTS, Draws, mutated

from judgesmith.signatures import Rubric
from judgesmith.signatures.plain_data import read_yaml, write_yaml

WHOLE = (
    b"task: Judge a summary.\ncriteria:\n  brevity: Is it short?\n  truth:\n"
    b"    definition: Is it true?\n    worst: invented\n    best: supported\n",
    b"task: |-\n  Two\n  lines.\ntask_type: dialogue\ncriteria:\n- {name: a, definition: b}\n"
    b"provenance: {made: 2025-01-31, batches: [[1, 2], [3]]}\n",
)
PIECES = (
    *TEXTS,
    "task: ",
    "criteria:\n",
    "  brevity: Is it?\n",
    "provenance:\n  ",
    "a: &a [x, x]\n",
    "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n",
    "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n",
    "d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n",
    "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\n",
    "f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n",
    "g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]\n",
    "h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]\n",
    "provenance: {x: *h}\n",
    "&r {r: *r}",
    "!!int ",
    "!!float ",
    "!!bool ",
    "!!timestamp ",
    "!!binary ",
    "!!set ",
    "!!omap ",
    "!!pairs ",
    "!!null ",
    "!!str ",
    "!!map ",
    "!!seq ",
    "!!python/object/apply:os.getcwd []",
    "!<tag:yaml.org,2002:int> ",
    "? ",
    "? [a]\n: b\n",
    "<<: *a\n",
    "<<: [1]\n",
    "- ",
    "--- ",
    "...\n",
    "%YAML 1.1\n",
    "|\n ",
    ">-\n ",
    "0x",
    "0o9",
    "1:30",
    "0b2",
    "1_0",
    ".inf",
    "~",
    "yes",
    "# ",
)


def fuzz_one(data: bytes) -> None:
    """Read one rubric; write and read plain data."""
    draws = Draws(data)
    if draws.flag():
        text = draws.text(12, among=PIECES)
    else:
        text = mutated(draws, draws.of(WHOLE)).decode("utf-8", "replace")
    try:
        rubric = Rubric.from_yaml(text)
    except ValueError as fault:
        assert str(fault).startswith("rubric: ")
        assert len(str(fault)) < 5_000
    else:
        assert Rubric.from_yaml(rubric.to_yaml()) == rubric
    value = _kept(draws.plain())
    try:
        spelled = write_yaml(value)
    except ValueError:
        return
    assert read_yaml(spelled) == value


def _kept(value):
    """Return plain data as rubrics hold it: keys that are texts, whole characters, numbers."""
    if isinstance(value, dict):
        return {_kept(name): _kept(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_kept(one) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return None if isinstance(value, float) and math.isnan(value) else value
