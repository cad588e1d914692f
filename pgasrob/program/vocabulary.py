"""The words of the language: keywords, and the commands in call syntax with what they take."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.program.commands import (
    Assert,
    Assume,
    Command,
    CompareSwap,
    Fence,
    FetchAdd,
    Read,
    Swap,
    Wait,
    WaitLocal,
    Write,
)

KEYWORDS = frozenset((
    "program", "nodes", "memory", "register", "queue", "unordered", "process", "mem", "me", "assume", "assert", "skip",
    "barrier", "read", "write", "wait", "wait_local", "fence", "await", "fetch_add", "swap", "compare_swap", "if",
    "else", "while", "choose", "or", "loop", "goto",
))  # fmt: skip

# What a command in call syntax takes; the last argument of a fence may be left out.
OPERATIONS: dict[str, tuple[Callable[..., Command], tuple[str, ...]]] = {
    "assume": (Assume, ("condition",)),
    "assert": (Assert, ("condition",)),
    "read": (Read, ("local", "rank", "remote", "queue")),
    "write": (Write, ("local", "rank", "remote", "queue")),
    "wait": (Wait, ("queue",)),
    "wait_local": (WaitLocal, ("queue",)),
    "fence": (Fence, ("queue", "rank")),
    "fetch_add": (FetchAdd, ("rank", "address", "operand")),
    "swap": (Swap, ("rank", "address", "value")),
    "compare_swap": (CompareSwap, ("rank", "address", "expected", "new")),
}
