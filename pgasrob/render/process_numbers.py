"""The processes of a program whose ranks have several threads, as outputs number and name them.

In the JSON of a run the rank of an event is the number of its process: below the number of nodes that of a rank, its
thread 0, and from there on a further thread. Texts and pictures have `0.1` for thread 1 of rank 0, and put the threads
of a rank beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import total_ordering
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from pgasrob.program.instance import Instance


class ThreadOf(TypedDict):
    """A process that is a further thread: which one of its rank."""

    rank: int
    thread: int


@total_ordering
class ProcessNumber(int):
    """The number of a process, which prints as its name, and as a number where that is asked for (``:d``), and is
    ordered by its rank and thread."""

    home: int
    thread: int

    def __new__(cls, number: int, home: int, thread: int) -> ProcessNumber:
        made = super().__new__(cls, number)
        made.home, made.thread = home, thread
        return made

    def __getnewargs__(self) -> tuple[int, int, int]:  # type: ignore[override]
        return int(self), self.home, self.thread

    def __str__(self) -> str:
        return f"{self.home}.{self.thread}"

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec.endswith("d") else format(str(self), spec)

    def __lt__(self, other: int) -> bool:
        return (self.home, self.thread) < (home_of(other), getattr(other, "thread", 0))

    __eq__ = int.__eq__
    __hash__ = int.__hash__


def numbered(instance: Instance, process: int) -> int:
    """The number of ``process`` as outputs have it."""
    thread = instance.thread(process)
    return process if thread is None else ProcessNumber(process, instance.home[process], thread)


def threads_of(instance: Instance) -> list[ThreadOf]:
    """The processes that are further threads, in the order of their numbers, which follow those of the ranks."""
    processes = range(instance.nodes, instance.processes)
    return [{"rank": instance.home[each], "thread": instance.thread(each) or 0} for each in processes]


def numbers_of(nodes: int, threads: Sequence[ThreadOf]) -> dict[int, ProcessNumber]:
    """The processes of ranks with several threads, as outputs number them; ``threads``: the further ones."""
    ranks = {each["rank"] for each in threads}
    found = {rank: ProcessNumber(rank, rank, 0) for rank in range(nodes) if rank in ranks}
    return found | {
        number: ProcessNumber(number, each["rank"], each["thread"]) for number, each in enumerate(threads, nodes)
    }


def home_of(process: int) -> int:
    """The rank of a process."""
    return process.home if isinstance(process, ProcessNumber) else process
