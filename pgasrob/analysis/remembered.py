"""Memoises analyses of an instance, for which several engines and reductions ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from pgasrob.program.instance import Instance

T = TypeVar("T")


def remembered(analysis: Callable[[Instance], T]) -> Callable[[Instance], T]:
    """``analysis``, which gives the same object when asked again about the same instance."""
    name = f"{analysis.__module__}.{analysis.__qualname__}"

    @wraps(analysis)
    def asked(instance: Instance) -> T:
        known = instance.analyses
        if name not in known:
            known[name] = analysis(instance)
        return cast(T, known[name])

    return asked
