"""Memoises analyses of an instance, for which several engines and reductions ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from pgasrob.program.instance import Instance

P = ParamSpec("P")
T = TypeVar("T")


def remembered(analysis: Callable[Concatenate[Instance, P], T]) -> Callable[Concatenate[Instance, P], T]:
    """``analysis``, which gives the same object when asked the same again about the same instance."""
    name = f"{analysis.__module__}.{analysis.__qualname__}"

    @wraps(analysis)
    def asked(instance: Instance, /, *args: P.args, **named: P.kwargs) -> T:
        key, known = f"{name}{args}{named}", instance.analyses
        if key not in known:
            known[key] = analysis(instance, *args, **named)
        return cast(T, known[key])

    return asked
