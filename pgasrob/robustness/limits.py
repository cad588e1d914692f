"""The limits of a check (stored states, seconds, memory), and how much memory and how many cores the machine has."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

DEFAULT_MAX_STATES = 1_000_000
DEFAULT_SC_STATES = 50_000
"""Nearly always all SC states, and never for long."""
USUAL_PROCESSES = 64
"""So many processes, or fewer, have all :data:`DEFAULT_SC_STATES`."""
LEAST_MEMORY = 100_000_000
"""What a check gets though the memory be exhausted: most need less, and would else be refused for no reason."""
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spare_memory(shares: int = 1) -> int | None:
    """Three quarters of the memory available now, in bytes, divided by ``shares``; None where that is not known.

    A search that ends there has an answer, though it is `unknown`, and leaves the machine alone.
    """
    known = [free for free in (_free_in_the_machine(), _free_in_the_group()) if free is not None]
    return max(min(known) * 3 // 4 // shares, LEAST_MEMORY) if known else None


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up with verdict `unknown`; None is never.

    ``max_states``: stored states, of the engine and of the SC runs each. ``timeout``: wall-clock seconds. ``memory``:
    bytes by which the check may make the process grow, three quarters of what is available unless given.
    ``max_sc_states``: states of a search for what SC runs show (assertions, deadlocks) when that cannot change the
    verdict any more, which is then the verdict all the same.
    """

    max_states: int | None = DEFAULT_MAX_STATES
    timeout: float | None = None
    memory: int | None = field(default_factory=spare_memory)
    max_sc_states: int | None = DEFAULT_SC_STATES

    def sc_states(self, processes: int) -> int | None:
        """``max_sc_states`` where there are so many ``processes``: fewer where there are more than usual, since to look
        at a state takes longer then."""
        if self.max_sc_states is None:
            return None
        return max(1, self.max_sc_states * USUAL_PROCESSES // max(processes, USUAL_PROCESSES))

    def __post_init__(self) -> None:
        for states in (self.max_states, self.max_sc_states):
            if states is not None and states < 1:
                raise ValueError(f"a limit of {states} states; it takes 1 or more, or None")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"a time limit of {self.timeout} s; it takes more than 0, or None")
        if self.memory is not None and self.memory < 1:
            raise ValueError(f"a memory limit of {self.memory} bytes; it takes 1 or more, or None")


def resident_memory() -> int:
    """The bytes of this process that are in memory; 0 where that is not known."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)  # of which `open` would make more than there is to read
        try:
            return int(os.read(file, 100).split()[1]) * os.sysconf("SC_PAGE_SIZE")
        finally:
            os.close(file)
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    # The most there has been, which is as good while a search grows.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def size_text(count: int) -> str:
    """``count`` bytes for people: ``500 MB``, ``1.5 GB``."""
    size, unit = float(count), 0
    while size >= 999.5 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {UNITS[unit]}"


def _free_in_the_machine() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:
        # All there is, where the system does not say what is free: a worse guess, but a guess.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_the_group() -> int | None:
    """What the control group (a container, a batch job) leaves; what it caches of files can be given back."""
    group = "/sys/fs/cgroup"
    try:
        with open(f"{group}/memory.max", encoding="ascii") as file:
            limit = int(file.read())
        with open(f"{group}/memory.stat", encoding="ascii") as file:
            used = next(int(line.split()[1]) for line in file if line.startswith("anon "))
    except (OSError, StopIteration, ValueError):  # ValueError: the limit is `max`, which is none
        return None
    return max(limit - used, 0)
