"""``judgesmith init``: a specification of an experiment, to be edited and run."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from judgesmith.cli.shared.faults import blaming
from judgesmith.cli.shared.options import json_option
from judgesmith.cli.shared.places import file_place
from judgesmith.cli.shared.printing import print_json, say
from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import ExistingFileError, InputError


@click.command("init")
@click.argument("spec", metavar="SPEC.yaml")
@click.option(
    "--template",
    default="start",
    show_default=True,
    metavar="NAME",
    help="What it holds: a small commented experiment on bundled texts (start), recorded judges "
    "beside one's own (replay), or the grid of a paper: dhp, exemplars, "
    "dual-perspective, openlgauge, active-critic.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def command(spec: str, template: str, force: bool, as_json: bool) -> None:
    """Write SPEC.yaml, a commented specification of an experiment.

    It says which judges are compiled how, on which data, by which models, and what that may cost.
    'judgesmith experiment' runs it. Nothing is asked.
    """
    from judgesmith.experiments.specs import cells_of, spec_of
    from judgesmith.experiments.specs.templates import template_text

    with blaming("--template"):
        text = template_text(template)
    with blaming(spec or "SPEC.yaml"):
        place = _place(spec, force=force)
    with draft_beside(place) as draft:
        write_synced(draft, text)
        put(draft, place)
    written = spec_of(text, file=spec)
    cells = cells_of(written)
    if as_json:
        print_json({"spec": spec, "template": template, "name": written.name, "cells": len(cells)})
        return
    sets = ", ".join(one.path for one in written.data.values())
    say(f"{spec}: {written.name}, {len(cells)} cells on {sets}")
    say(f"Edit it, then: judgesmith experiment {shlex.quote(spec)} -o RUN")


def _place(spec: str, *, force: bool) -> Path:
    """Return where the specification is to be written."""
    place = file_place(spec, like="spec.yaml", option=spec or "SPEC.yaml")
    if place.suffix not in (".yaml", ".yml"):
        raise InputError("a specification is YAML.", hint=f"name a file in .yaml, not {spec}.")
    if place.exists() and not force:
        raise ExistingFileError(
            f"{spec} is there already.", hint="name another file, or replace it with --force."
        )
    return place
