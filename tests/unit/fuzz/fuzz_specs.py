"""Specifications of experiments: cells with names for folders, or ``SpecError``; nothing else."""

import re

from draws import TEXTS, Draws, mutated

from judgesmith.experiments.specs import SpecError, cells_of, spec_of
from judgesmith.experiments.specs.templates import template_names, template_text

PIECES = (
    *TEXTS,
    "name: a\n", "data: {a: {path: sample}}\n", "judges:\n", "  a: {}\n", "  b: {from: a}\n",
    "  a: {from: b}\n", "  c: {panel: [a, c]}\n", "  d: {recorded: x}\n", "optimizers: [none]\n",
    "optimizers: {none: {trials: 1}}\n", "models: [offline, openai/m]\n", "seeds: [0]\n",
    "holdout: .nan\n", "objective: q - \n", "budget: {calls: 0}\n", "leave_out: [{}]\n",
    "leave_out: [{seed: 0}]\n", "perspectives: [global]\n", "choose: {a: 1}", "without: [mcs]",
    "targets: [[a, b]]", "&a ", "*a", "<<: *a\n", "null", "[", "{", "- ", ".inf", "1e999", "~",
)  # fmt: skip


def fuzz_one(data: bytes) -> None:
    """Read one specification."""
    draws = Draws(data)
    if draws.flag():
        text = draws.text(12, among=PIECES)
    else:
        whole = template_text(draws.of(template_names())).encode()
        text = mutated(draws, whole).decode("utf-8", "replace")
    try:
        spec = spec_of(text)
    except SpecError as fault:
        assert fault.problems
        assert all(re.fullmatch(r"specification:\d+", one.where) for one in fault.problems)
    else:
        ids = [cell.id for cell in cells_of(spec)]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,119}", one) for one in ids)
