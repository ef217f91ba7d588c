"""The rated dataset that comes with the package, to try everything at once.

They were written for this project and are no benchmark; the README beside the file says more.
"""

from importlib import resources
from pathlib import Path

from judgesmith.errors import InputError

__all__ = ["sample_path"]


def sample_path(name: str = "answers") -> Path:
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
    folder = Path(str(resources.files(__name__)))
    names = sorted(path.stem for path in folder.glob("*.jsonl"))
    if name not in names:
        raise InputError(f"no bundled sample is called {name!r}; there is: {', '.join(names)}.")
    return folder / f"{name}.jsonl"
