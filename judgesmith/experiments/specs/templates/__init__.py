"""Specifications that come with the package: a start, the grids of five papers, a replay."""

from importlib import resources
from pathlib import Path

from judgesmith.errors import InputError
from judgesmith.experiments.specs.faults import unknown_name

__all__ = ["START", "template_names", "template_text"]

START = "start"
"""The commented one, which runs on the bundled sample."""


def template_names() -> tuple[str, ...]:
    """Return the names of all, the one to start from first.

    Examples
    --------
    >>> template_names()[:3]
    ('start', 'active-critic', 'dhp')
    """
    names = sorted(path.stem for path in _folder().glob("*.yaml"))
    return (START, *(name for name in names if name != START))


def template_text(name: str = START) -> str:
    """Return a specification as it is to be written to a file.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> template_text().splitlines()[0].partition(":")[0]
    '# An experiment'
    """
    if name not in template_names():
        raise InputError(unknown_name("template", name, template_names()))
    return (_folder() / f"{name}.yaml").read_text(encoding="utf-8")


def _folder() -> Path:
    return Path(str(resources.files(__name__)))
