"""``judgesmith studio``: label, review and compile in the browser, over a project folder."""

from __future__ import annotations

import json

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import json_option, shown_option
from judgesmith.cli.shared.printing import say
from judgesmith.cli.use.serve import is_loopback, listening


@tool("studio")
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option(
    "--rater",
    "raters",
    multiple=True,
    metavar="NAME",
    help="Also print a link with which this rater may label, and nothing else. Repeatable.",
)
@shown_option("--host", str, "127.0.0.1", "Address to listen on.")
@shown_option("--port", click.IntRange(0, 65535), 8765, "Port to listen on; 0 takes a free one.")
@click.option(
    "--behind-tls",
    "name",
    metavar="NAME",
    help="Host name of a proxy with TLS in front of the studio; needed for any other --host than "
    "this machine's own.",
)
@json_option
def command(
    folder: str, raters: tuple[str, ...], host: str, port: int, name: str | None, as_json: bool
) -> int:
    """Label, review, improve and compile in the browser, over the project in FOLDER.

    FOLDER has a judgesmith.yaml, as 'judgesmith init' writes it. Ratings go to ratings.sqlite in
    it, judges to judges/v1, v2, …; the data is never changed. Each printed link lets one browser
    in, once. Nothing leaves this machine but what a compilation asks its model.
    """
    from judgesmith.programs.extras import library
    from judgesmith.programs.serving import address_of, run

    library("fastapi", extra="serve")
    from judgesmith.studio.access import OWNER, rater_of
    from judgesmith.studio.application import studio_app
    from judgesmith.studio.project import Project

    if name is None and not is_loopback(host):
        raise OptionError(
            f"{host} may be reached from other machines, and labels and links would cross the "
            "network unencrypted.",
            option="--host",
            hint="listen on 127.0.0.1, or name the proxy with TLS: --behind-tls NAME.",
        )
    with blaming("--rater"):
        people = [OWNER, *map(rater_of, raters)]
    reading = "reading and indexing all rows, once for this data …"
    project = Project(folder, on_index=lambda: say(reading, err=True))
    app = studio_app(project, hosts=[name.lower()] if name else [])
    bound = listening(host, port)
    address = address_of(bound) if name is None else f"https://{name}"
    links = {one.name: address + app.state.service.people.link(one) for one in people}

    def ready() -> None:
        if as_json:
            click.echo(json.dumps({"address": address, "links": links}))
            return
        say(f"{len(project)} rows; open this link once, then the browser is known:")
        for who, link in links.items():
            say(f"  {who}: {link}")
        say("Ctrl-C stops.")

    run(app, bound, ready=ready, say=lambda text: say(text, err=True))
    return 0
