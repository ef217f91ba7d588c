"""``judgesmith show``: a judge as people read it, or what changed between two."""

from __future__ import annotations

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.options import json_option
from judgesmith.cli.shared.printing import print_json, say


@tool("show")
@click.argument("judge")
@click.option("--diff", "other", metavar="OTHER", help="Show the differences to another judge.")
@click.option("--prompts", is_flag=True, help="Show every prompt.")
@json_option
def command(judge: str, other: str | None, prompts: bool, as_json: bool) -> None:
    """Print the judge in the folder JUDGE as people read it."""
    from judgesmith.programs.artifacts.card import judge_card
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    saved = load_saved(judge)
    if other is not None:
        from judgesmith.programs.artifacts.differences import difference

        lines = difference(saved, load_saved(other))
        if as_json:
            print_json({"judge": judge, "other": other, "differences": lines})
        else:
            say("\n".join(lines) if lines else "the two judges are the same.")
        return
    if as_json:
        print_json({"fingerprint": saved.fingerprint, **saved.model_dump(mode="json")})
        return
    say(judge_card(saved))
    if prompts:
        for name, question in saved.asked_questions():
            say(f"\n===== {name} =====\n\n{question.as_text()}")
