"""How a column map is written on one line, names with commas and plus signs included."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from judgesmith.errors import InputError

_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"\s*')

Pairs = list[tuple[str, list[str]]]


def read_pairs(text: str) -> Pairs:
    """Return (name, columns) as ``source=article,score=r1+"r 2+3"`` writes them.

    A name in double quotes, with quotes inside it doubled as in CSV, is taken as it stands.

    Raises
    ------
    ValueError
        If a part is not ``NAME=COLUMN``, or a quote is not closed where the name ends.

    Examples
    --------
    >>> read_pairs('source=article,score="nota (1+2)"+b')
    [('source', ['article']), ('score', ['nota (1+2)', 'b'])]
    """
    pairs: Pairs = []
    start = 0
    while start <= len(text):
        name, given, place = _word(text, start, ",=")
        if not given or text[place : place + 1] != "=":
            part = text[start:].partition(",")[0].strip()
            more = "; give names that hold a comma or + in double quotes." if start else "."
            raise InputError(
                "a column map is written NAME=COLUMN,…, as in response=summary,score=rating; "
                f"got {part!r}{more}"
            )
        columns = []
        stop = "="
        while stop in ("=", "+"):
            column, given, place = _word(text, place + 1, ",+")
            columns += [column] if given else []
            stop = text[place : place + 1]
        pairs.append((name, columns))
        start = place + 1
    return pairs


def written_pairs(pairs: Iterable[tuple[str, Sequence[str]]]) -> str:
    r"""Return (name, columns) on one line that ``read_pairs`` reads back the same.

    Examples
    --------
    >>> written_pairs([("source", ["article"]), ("overall", ["a, b", "c"])])
    'source=article,overall="a, b"+c'
    """
    return ",".join(
        f"{_written(name, ',=')}={'+'.join(written_column(one) for one in columns)}"
        for name, columns in pairs
    )


def written_column(column: str) -> str:
    """Return a column's name as it stands in a map: in double quotes where it must.

    Examples
    --------
    >>> written_column("nota 1"), written_column("nota (1+2)")
    ('nota 1', '"nota (1+2)"')
    """
    return _written(column, ",+")


def pieces(column: str) -> list[str]:
    """Return what a map without quotes makes of a column's name.

    Examples
    --------
    >>> pieces("nota (1+2)")
    ['nota (1', '2)']
    """
    return [piece.strip() for piece in re.split("[,+]", column)]


def _written(name: str, special: str) -> str:
    plain = name and name == name.strip() and not any(one in name for one in (*special, '"'))
    return name if plain else '"{}"'.format(name.replace('"', '""'))


def _word(text: str, start: int, stops: str) -> tuple[str, bool, int]:
    """Return the name that begins at ``start``, whether there is one, and where it ends."""
    quoted = _QUOTED.match(text, start)
    if quoted:
        end = quoted.end()
        if end == len(text) or text[end] in stops:
            return quoted[1].replace('""', '"'), True, end
    elif not text[start:].lstrip().startswith('"'):
        end = next((n for n in range(start, len(text)) if text[n] in stops), len(text))
        word = text[start:end].strip()
        return word, bool(word), end
    raise InputError(
        f"a name in double quotes ends with one, and a quote inside it is doubled; got "
        f"{text[start:].strip()!r}."
    )
