"""The rated and the labelled dataset that come with the package, to try everything at once.

They were written for this project and are no benchmark; the README beside the file says more.
"""

from importlib import resources
from pathlib import Path

from judgesmith.errors import InputError

__all__ = ["SAMPLES", "sample_path"]

SAMPLES = {"sample": "answers.jsonl", "sample-verdicts": "verdicts.jsonl"}
"""The file of each bundled sample, by the name that every command and function takes."""


def sample_path(name: str = "sample") -> Path:
    """Return the JSON Lines file of a bundled sample.

    Raises
    ------
    ValueError
        If there is no sample of that name.

    Examples
    --------
    >>> sample_path().name
    'answers.jsonl'
    """
    if name not in SAMPLES:
        raise InputError(f"no bundled sample is called {name!r}; there is: {', '.join(SAMPLES)}.")
    return Path(str(resources.files(__name__))) / SAMPLES[name]
