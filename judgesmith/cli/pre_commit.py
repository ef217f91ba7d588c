"""The hook ``judgesmith-check`` of pre-commit, which names all files to be committed at once.

``judgesmith check`` takes one file, for a rated dataset is described as a whole.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Check each file that is named, with the options that are, and return the worst status.

    Parameters
    ----------
    arguments : sequence of str or None
        Options of ``judgesmith check``, then ``--``, then files; without ``--`` all are files.
        None takes those of the process.

    Examples
    --------
    >>> main([])
    0
    """
    from judgesmith.cli import main as judgesmith

    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else 0
    options, files = given[:cut], given[cut + 1 :] if "--" in given else given
    return max((judgesmith(["check", file, *options]) for file in files), default=0)


if __name__ == "__main__":
    sys.exit(main())
