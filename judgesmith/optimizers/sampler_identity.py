"""What tells a function from another of its name, in every process that has the same code."""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any

from judgesmith.optimizers.proposing import MakeSampler, tpe

_PLAIN = (str, bytes, int, float, complex, bool, type(None), Enum)


def sampler_identity(sampler: MakeSampler) -> str:
    """Return what tells a way to make a sampler from others; the usual one has its name alone."""
    return tpe.__qualname__ if sampler is tpe else identity_of(sampler)


def identity_of(function: object) -> str:
    """Return a text that is equal for equal functions, and different where anything differs.

    Of a function its code, defaults and what it closes over count, of a partial or bound method
    also what it is bound to, and of any other object its class and attributes.

    Examples
    --------
    >>> def made(n, seed):
    ...     return None
    >>> first, again, other = (functools.partial(made, n) for n in (3, 3, 4))
    >>> identity_of(first) == identity_of(again), identity_of(first) == identity_of(other)
    (True, False)
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    text = repr(_plain(function, ()))
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _plain(one: Any, above: tuple[int, ...]) -> Any:
    """Return an object as nested tuples whose text says nothing of addresses."""
    if isinstance(one, _PLAIN):
        return (type(one).__name__, repr(one))
    if id(one) in above:
        return ("again", above.index(id(one)))
    inside = (*above, id(one))

    def plain(part: Any) -> Any:
        return _plain(part, inside)

    if isinstance(one, type | types.BuiltinFunctionType | types.ModuleType):
        return (getattr(one, "__module__", ""), getattr(one, "__qualname__", one.__name__))
    if isinstance(one, functools.partial):
        return ("partial", plain(one.func), plain(one.args), plain(one.keywords))
    if isinstance(one, types.MethodType):
        return ("method", plain(one.__func__), plain(one.__self__))
    if isinstance(one, types.FunctionType):
        cells = tuple(_cell(cell) for cell in one.__closure__ or ())
        given = (one.__defaults__, one.__kwdefaults__, cells)
        return (one.__module__, one.__qualname__, plain(one.__code__), plain(given))
    if isinstance(one, types.CodeType):
        return (one.co_code, one.co_names, one.co_varnames, plain(one.co_consts))
    if isinstance(one, Mapping):
        return ("mapping", *sorted(repr((plain(k), plain(v))) for k, v in one.items()))
    if isinstance(one, set | frozenset):
        return ("set", *sorted(repr(plain(part)) for part in one))
    if isinstance(one, tuple | list):
        return (type(one).__name__, *map(plain, one))
    of_class = (type(one).__module__, type(one).__qualname__)
    if hasattr(one, "__dict__"):
        return (*of_class, plain(vars(one)))
    slots = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
    if slots:
        return (*of_class, *(plain(getattr(one, name, None)) for name in slots))
    # What has no attributes says what it is itself, unless all it says is where it lies.
    said = repr(one)
    return (*of_class, "" if hex(id(one)) in said else said)


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is bound later
        return None
