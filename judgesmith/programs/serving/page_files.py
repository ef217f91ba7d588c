"""The page to try a judge: files that ship with the code, under a policy that trusts no others."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import Response

from judgesmith.programs.serving.refusals import Refusal

PAGE = Path(__file__).with_name("page")

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\.[a-z]+")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_file(name: str = "index.html") -> Response:
    """Return a file of the page.

    Raises
    ------
    Refusal
        If there is none of that name.

    Examples
    --------
    >>> page_file("../served.py")
    Traceback (most recent call last):
    ...
    judgesmith.programs.serving.refusals.Refusal: there is no such file.
    """
    place = PAGE / name
    kind = _KINDS.get(place.suffix)
    if kind is None or not _NAME.fullmatch(name) or not place.is_file():
        raise Refusal(404, "unknown", "there is no such file.", where="page")
    headers = {"content-security-policy": _POLICY, "cache-control": "no-cache"}
    return Response(place.read_bytes(), media_type=kind, headers=headers)
