"""What a conversion is: the name of a data set, what it is made of, and who reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from judgesmith.experiments.converting.files import PublishedFiles
from judgesmith.experiments.converting.records import Record

_FILE = re.compile(r"[\w.-]+\.(?:jsonl|json|csv)\b")

ConvertedRow = tuple[Record, dict[str, Any]]
"""A row, and what in the files it was made of, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A data set whose published files can be read.

    Parameters
    ----------
    name : str
        As it is called on the command line.
    task : str
        What was rated.
    files : str
        Which files, in a few words.
    home : str
        Where they are published.
    rows : callable
        Yields rows in the canonical form; what cannot be read becomes a problem of the files.
    one_panel : bool
        Whether the raters of a row rated it on every criterion, so that fewer ratings on one of
        them are worth a note.
    """

    name: str
    task: str
    files: str
    home: str
    rows: Callable[[Conversion, PublishedFiles], Iterator[ConvertedRow]]
    one_panel: bool = True

    @property
    def dataset(self) -> str:
        """Return the name that rows state."""
        return self.name.replace("-", "_")

    @property
    def file_names(self) -> frozenset[str]:
        """Return the names of published files that ``files`` gives."""
        return frozenset(_FILE.findall(self.files))
