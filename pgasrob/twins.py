"""The table of searches that exist twice: in the native kernel (Rust), and as readable references in Python.

Each function makes one search: by the kernel where it has been built, else by the reference (`reference/`), which has
the same states, answers and protocol and is some 50 times slower. Nothing else in the package asks whether there is a
kernel, and nothing but explanations of the theory imports references. Imports stand in functions, so that the command
line starts fast.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Reading
    from pgasrob.races.found import RaceSearch
    from pgasrob.recording.events import Recording
    from pgasrob.recording.native_recordings import NativeExact
    from pgasrob.reference.exploration import Exploration
    from pgasrob.robustness.engine import Engine, Facts, TraceEngine
    from pgasrob.robustness.trace_parts import Elsewhere


def available() -> bool:
    """Whether the kernel has been built."""
    try:
        import pgasrob._kernel  # noqa: F401
    except ImportError:
        return False
    return True


def kernel_file() -> Path | None:
    """The library that the kernel is; None when it has not been built."""
    if not available():
        return None
    from pgasrob import _kernel

    return Path(_kernel.__file__)


def kernel_format() -> int | None:
    """The version of the tables that the kernel takes; None when it has not been built."""
    if not available():
        return None
    from pgasrob import _kernel

    return _kernel.FORMAT


class MissingKernelWarning(RuntimeWarning):
    """A search runs in Python since there is no native kernel beside the package."""


MISSING_KERNEL = (
    f"{Path(__file__).parent} has no native kernel; searching in Python, some 50 times slower (it is "
    "built if a Rust toolchain is there when pgasrob is installed; in the folder of its sources, `python -P` imports "
    "the installed package)"
)


def missing_kernel() -> str | None:
    """A message that the kernel is missing, with what to do; None when it is there."""
    return None if available() else MISSING_KERNEL


@cache
def warn_of_a_missing_kernel() -> None:
    """Warn, once."""
    warnings.warn(MISSING_KERNEL, MissingKernelWarning, stacklevel=3)


def _native() -> bool:
    """Whether the kernel is there; warns when it is not."""
    there = available()
    if not there:
        warn_of_a_missing_kernel()
    return there


def attack_search(
    instance: Instance,
    reductions: Collection[str],
    memory: int | None = None,
    threads: int = 1,
    sources: Sequence[int] | None = None,
) -> Engine:
    """The `attack` engine. ``memory`` (bytes), ``threads`` and ``sources`` (what infeasibility has left, by transition,
    as bits) save the kernel time; the reference uses none of them."""
    if _native():
        from pgasrob.robustness.native_attack import NativeSearch

        return NativeSearch(instance, reductions, memory, threads, sources)
    from pgasrob.reference.attack_search import AttackSearch

    return AttackSearch(instance, reductions)


def search_of_sc_runs(instance: Instance, reductions: Collection[str], memory: int | None, threads: int = 1) -> Facts:
    """A search of the SC runs alone for faults, assertions and deadlocks; the one in Python has no reductions."""
    if _native():
        from pgasrob.robustness.native_attack import NativeFacts

        return NativeFacts(instance, reductions, memory, threads)
    from pgasrob.semantics.sequential import SequentialFacts

    return SequentialFacts(instance)


def trace_search(
    instance: Instance,
    memory: int | None = None,
    threads: int = 1,
    sources: Sequence[int] | None = None,
    longest: int | None = None,
    elsewhere: Elsewhere | None = None,
    by_name: bool = False,
) -> TraceEngine:
    """The `traces` engine. ``threads`` and ``sources`` are as for :func:`attack_search`, ``elsewhere`` are processes
    that help as threads do; beyond ``longest`` events the kernel takes a run to have no end (None: its own bound; the
    reference has a lower one). ``by_name``: traces that differ in the names of ranks alone are all gone through."""
    from pgasrob.robustness.engine import refuse_unknown_to_traces

    refuse_unknown_to_traces(instance)
    if _native():
        from pgasrob.robustness.native_traces import MOST_EVENTS, NativeTraceSearch

        most = MOST_EVENTS if longest is None else longest
        return NativeTraceSearch(instance, sources, memory, most, threads, elsewhere, by_name)
    from pgasrob.reference.reduced_search import by_command
    from pgasrob.reference.trace_search import TraceSearch

    return TraceSearch(instance, None if sources is None else by_command(instance, sources), by_name)


def race_search(instance: Instance, strict: bool, memory: int | None, threads: int) -> RaceSearch:
    """The search for races state by state, with all reductions."""
    from pgasrob.robustness.reduction import REDUCTIONS

    if _native():
        from pgasrob.races.native_races import NativeRaceSearch

        return NativeRaceSearch(instance, strict, REDUCTIONS, memory, threads)
    from pgasrob.reference.race_search import RaceSearch

    return RaceSearch(instance, strict, REDUCTIONS)


def race_trace_search(instance: Instance, strict: bool, memory: int | None) -> RaceSearch:
    """The search for races trace by trace."""
    from pgasrob.robustness.engine import longest_run, refuse_unknown_to_traces

    refuse_unknown_to_traces(instance)
    if _native():
        from pgasrob.races.native_races import NativeTracesRaceSearch

        return NativeTracesRaceSearch(instance, strict, memory, longest=longest_run(instance))
    from pgasrob.reference.race_traces import TracesRaceSearch

    return TracesRaceSearch(instance, strict)


def reads_traces() -> bool:
    """Whether the kernel reads trace files; one that was built from older sources does not."""
    if not available():
        return False
    from pgasrob import _kernel

    return hasattr(_kernel, "Streamed")


def recorded_answers(recording: Recording, reading: Reading, strict: bool = False) -> NativeExact:
    """The answers for a recorded trace. Only the kernel has them: a recording has too many events for the reference,
    which it asks for short ones alone."""
    from pgasrob.recording.native_recordings import NativeExact
    from pgasrob.reference.recordings import attack_in

    return NativeExact(recording, strict, reading, attack_in)


def traces_without_idle_rounds(instance: Instance) -> Exploration:
    """The traces from which executions of MPI are made; there is no native one, for they are few."""
    from pgasrob.reference.idle_rounds import WithoutIdleRounds

    return WithoutIdleRounds(instance)
