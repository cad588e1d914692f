"""What is wrong where ranks wait at the end of a run before barriers, each by one thread or more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pgasrob.render.english import ranks
from pgasrob.render.process_numbers import home_of

if TYPE_CHECKING:
    from pgasrob.render.run_json import NextCommand, Standing, Witness


def why_it_waits(command: NextCommand, all_ranks: Sequence[Standing]) -> str:
    """Clauses that say which ranks are missing before the barrier ``command``, and which stand before other ones."""
    text = ""
    absent = [rank for rank, own in _by_rank(all_ranks).items() if not own]
    text += f"; it waits for {ranks(absent)}" if absent else ""
    for rank, other in unlike(command, all_ranks):
        text += f"; it does not match line {other['line']} of rank {rank}"
        if other["command"] == command["command"]:
            text += f": {_barrier(command)} is not {_barrier(other)}"
    return text


def _barrier(command: NextCommand) -> str:
    name = command.get("barrier", "")
    return f"`{name}`" if name else "a barrier without a name"


def unlike(command: NextCommand, all_ranks: Sequence[Standing]) -> Iterator[tuple[int, NextCommand]]:
    """The first barrier of each rank that waits before barriers of other names than the barrier ``command``."""
    for own in _by_rank(all_ranks).values():
        if own and all(each.get("barrier", "") != command.get("barrier", "") for _, each in own):
            yield own[0]


def _by_rank(all_ranks: Sequence[Standing]) -> dict[int, list[tuple[int, NextCommand]]]:
    """For each rank the barriers that its threads stand before."""
    found: dict[int, list[tuple[int, NextCommand]]] = {}
    for each in all_ranks:
        barriers = [(each["rank"], command) for command in each["next"] if command["event"] == "barrier"]
        found.setdefault(home_of(each["rank"]), []).extend(barriers)
    return found


def mismatch(run: Witness | None) -> bool:
    """Whether ranks wait at the end of ``run`` before barriers that do not match."""
    standing = run["standing"] if run else []
    commands = [each for rank in standing for each in rank["next"] if each["event"] == "barrier"]
    return any(True for each in commands for _ in unlike(each, standing))
