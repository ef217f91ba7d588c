"""``judgesmith compile take``: another judge on the Pareto front of a compiled one."""

from __future__ import annotations

from pathlib import Path

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import WholeNumber, json_option
from judgesmith.cli.shared.places import OUTPUT, judge_place, refuse_existing
from judgesmith.cli.shared.printing import print_json, say


@tool("take")
@click.argument("judge")
@click.argument("number", type=WholeNumber(0))
@click.option("-o", "--output", required=True, metavar="OTHER", help="Folder for the judge.")
@click.option("--force", is_flag=True, help="Replace an existing judge.")
@json_option
def command(judge: str, number: int, output: str, force: bool, as_json: bool) -> None:
    """Save judge NUMBER of the front of JUDGE in a folder of its own.

    'judgesmith show JUDGE' lists the front. No model is asked: the judge is in the folder JUDGE
    already. It was not judged on the rows held out; 'judgesmith evaluate OTHER DATA' does that.
    """
    from judgesmith.programs.artifacts.saved import SavedJudge, taken

    folder = judge_place(output)
    found = SavedJudge.load(judge)
    with blaming(judge):
        other = taken(found, number)
    own = Path(judge).resolve()
    if folder.resolve() == (own.parent if own.is_file() else own):
        raise OptionError(
            f"{output} is the judge that this one is taken from, with its whole front.",
            option=OUTPUT,
            hint="name another folder.",
        )
    refuse_existing(folder, folder, force=force, what="folder")
    with blaming(OUTPUT):
        other.save(folder, overwrite=force)
    if as_json:
        print_json(
            {
                "judge": str(folder),
                "number": number,
                "model": other.model,
                "fingerprint": other.fingerprint,
            }
        )
        return
    say(f"number {number} is saved in {folder} (fingerprint {other.fingerprint}).")
