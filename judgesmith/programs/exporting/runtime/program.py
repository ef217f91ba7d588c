"""The judge as a function, and as a program: items as JSON lines in, scores as JSON lines out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import NoneType
from typing import Any

import openai

from judgesmith.errors import InputError
from judgesmith.programs.exporting.runtime.asking import TRIES, Asked
from judgesmith.programs.exporting.runtime.judged import ABOUT, JUDGE
from judgesmith.programs.exporting.runtime.rows import row_of
from judgesmith.programs.models.errors import ModelError

BAD_INPUT = 2
_TEXTS = ("source", "context", "response")
_IDS = ("source_id", "system_id")


def judge(
    source: str,
    response: str,
    context: str | None = None,
    *,
    client: Any = None,
    model: str = "",
) -> dict[str, Any]:
    """Judge one response.

    Parameters
    ----------
    source, response : str
        What was answered, and the answer under judgement, verbatim.
    context : str or None
        Further material the response may draw on.
    client : openai.OpenAI or None
        None makes one: key and address as the openai client takes them from the environment.
    model : str
        Asked instead of the model that the judge was compiled with.

    Returns
    -------
    dict
        ``score`` (None where there is none, and never 0 for that), ``explanation``,
        ``criteria``, ``errors`` and ``problem`` (None, or why there is no score).

    Raises
    ------
    ModelError
        If the model cannot be asked at all, such as with a wrong key.
    """
    to = Asked(client=client or _client(), model=model)
    return row_of(JUDGE.judgement({"source": source, "context": context, "response": response}, to))


def main(arguments: list[str] | None = None) -> int:
    """Judge every line of standard input, or of a file, and return the exit status.

    0 is done, also with rows without a score; 2 is input or a set-up that cannot be.
    """
    parser = argparse.ArgumentParser(description=ABOUT["says"])
    parser.add_argument("items", nargs="?", default="-", help="file of JSON lines [default: -]")
    usual = ABOUT["model"].replace("%", "%%")
    parser.add_argument("--model", default="", help=f"model to ask [default: {usual}]")
    parser.add_argument("--base-url", help="address of a server with OpenAI's protocol")
    parser.add_argument("--concurrency", type=int, default=8, help="texts at the same time")
    options = parser.parse_args(arguments)
    if options.concurrency < 1:
        parser.error("--concurrency is 1 or more.")
    unscored: list[dict[str, Any]] = []
    try:
        items = list(_items(options.items))
        to = Asked(client=_client(options.base_url), model=options.model)
        for row in _rows(items, to, options.concurrency):
            sys.stdout.write(json.dumps(row) + "\n")
            if row["score"] is None:
                unscored.append(row)
    except BrokenPipeError:  # whoever reads the rows has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ModelError, openai.OpenAIError) as fault:
        sys.stderr.write(f"error: {' '.join(str(fault).split())}\n")
        return BAD_INPUT
    if unscored:
        told = f"{len(unscored)} of {len(items)} rows without a score; the first, because"
        sys.stderr.write(f"{told} {' '.join(unscored[0]['problem'].split())}\n")
    return 0


def _client(address: str | None = None) -> Any:
    if not os.environ.get("OPENAI_API_KEY"):
        raise InputError(
            "set OPENAI_API_KEY in the environment; any text will do for a server "
            "that needs no key."
        )
    return openai.OpenAI(base_url=address, max_retries=TRIES - 1)


def _items(place: str) -> Iterator[dict[str, Any]]:
    """Yield the items of a file, each checked before any is judged."""
    file = sys.stdin.buffer if place == "-" else open(place, "rb")  # noqa: PTH123, SIM115
    with file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                # Some programs begin a file with a mark that it is UTF-8.
                item = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError:
                raise InputError(f"line {number}: expected UTF-8; convert the file.") from None
            except (ValueError, RecursionError):
                item = None
            if not isinstance(item, dict):
                raise InputError(f"line {number}: expected a JSON object with {_wanted()}.")
            for name in _TEXTS:
                value = item.get(name)
                missing = value is None and name != "context"
                if missing or not isinstance(value, str | None):
                    got = "nothing" if value is None else type(value).__name__
                    raise InputError(f"line {number}: {name}: expected a text; got {got}.")
            for name in _IDS:
                value = item.get(name)
                if isinstance(value, float) and value.is_integer():
                    value = int(value)  # table libraries make 3.0 of 3
                if type(value) not in (str, int, NoneType):
                    got = type(value).__name__
                    raise InputError(f"line {number}: {name}: expected an id; got {got}.")
                item[name] = "" if value is None else str(value)
            yield item


def _wanted() -> str:
    return "source, response and perhaps context"


def _rows(items: list[dict[str, Any]], to: Asked, concurrency: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of all items, in order, so many under way at a time."""
    waiting = deque(items)
    begun: deque[tuple[dict[str, Any], Future[dict[str, Any]]]] = deque()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            while waiting or begun:
                while waiting and len(begun) < 4 * concurrency:
                    item = waiting.popleft()
                    texts = {name: item.get(name) for name in _TEXTS}
                    begun.append((item, pool.submit(_row, texts, to)))
                item, row = begun.popleft()
                ids = {name: item[name] for name in _IDS}
                yield {**ids, **row.result(), **{n: ABOUT[n] for n in ("judge", "target")}}
        finally:
            pool.shutdown(cancel_futures=True)


def _row(texts: dict[str, Any], to: Asked) -> dict[str, Any]:
    return row_of(JUDGE.judgement(texts, to))
