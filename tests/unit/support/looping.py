"""Tests that go through all their cases at once, and tell of every one that fails."""

import functools
import inspect

import pytest


def for_each(names, cases):
    """Run a test for each of some cases, as ``pytest.mark.parametrize`` does, but as one test.

    Finding, setting up and reporting a test takes longer than most cases do.
    """
    wanted = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
    several = len(wanted) > 1
    named = type(pytest.param())
    cases = [
        one.values if isinstance(one, named) else tuple(one) if several else (one,) for one in cases
    ]
    assert cases

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **given):
            faults = []
            for case in cases:
                try:
                    test(*args, **given, **dict(zip(wanted, case, strict=True)))
                except (Exception, BaseExceptionGroup, pytest.fail.Exception) as fault:
                    fault.add_note(f"where {', '.join(wanted)} = {case!r}")
                    faults.append(fault)
            if faults:
                raise BaseExceptionGroup(f"{len(faults)} of {len(cases)} cases failed", faults)

        own = inspect.signature(test)
        others = [one for name, one in own.parameters.items() if name not in wanted]
        run.__signature__ = own.replace(parameters=others)
        return run

    return decorate
