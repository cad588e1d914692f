"""The programs that requests are about, of which a process keeps those that it has read last."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.explore.asked_run import AskedRun
from pgasrob.explore.request_bounds import MOST_NODES
from pgasrob.frontends.lower import CProgram
from pgasrob.program.program import Program
from pgasrob.robustness.limits import resident_memory
from pgasrob.robustness.load import load

if TYPE_CHECKING:
    from pgasrob.explore.asked_run import Reads
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Reading


@dataclass(frozen=True, eq=False)
class _Kept:
    """A program as a key of a cache: compared by identity, for what it was read from is a key already."""

    program: Program | CProgram


@lru_cache(maxsize=8)
def _read(text: str, language: str, reads: Reads) -> _Kept:
    asked = AskedRun(text, language, None, (), True, reads)
    return _Kept(load(asked.file, reads.front_end, asked.files))


@lru_cache(maxsize=8)
def _instantiated(kept: _Kept, nodes: int | None, reading: Reading) -> Instance:
    return kept.program.instantiate(nodes, reading)


def instance_of(asked: AskedRun) -> tuple[Program | CProgram, Instance]:
    """The program of ``asked``, and its instance. Raises :class:`SourceError`."""
    kept = _read(asked.text, asked.language, asked.reads)
    nodes = asked.nodes or kept.program.nodes
    if nodes is not None and nodes > MOST_NODES:
        raise _too_many(nodes, "nodes", asked)
    instance = _instantiated(kept, asked.nodes, asked.reads.reading)
    if instance.processes > MOST_NODES:
        raise _too_many(instance.processes, "threads" if instance.has_threads else "nodes", asked)
    return kept.program, instance


def forget_if_larger(most: int) -> None:
    """Keep no programs where the process has more bytes than this in memory: the next request needs them."""
    if resident_memory() > most:
        _instantiated.cache_clear()
        _read.cache_clear()
        gc.collect()


def _too_many(number: int, what: str, asked: AskedRun) -> SourceError:
    message, hint = f"{number} {what} are too many to look at", f"take at most {MOST_NODES}"
    return SourceError([Diagnostic("PG039", message, asked.file, hint=hint)])
