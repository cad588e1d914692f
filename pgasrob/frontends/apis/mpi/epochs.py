"""Which calls on windows are allowed where (MPI-4.1, 12.5): the epochs that a rank has open, and the rules they break.

What is noted of a rank and window: the targets that it has locked ("held"), the groups of `MPI_Win_start` and
`MPI_Win_post` ("started", "posted"), the latest fence if its epoch may still be going on ("fence"), the call that has
ended the latest epoch ("closed").
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from pgasrob.frontends.apis.call_steps import NEVER, Alike, Steps
from pgasrob.frontends.apis.mpi import rules
from pgasrob.frontends.apis.mpi.targets import Closed, Target, Window, named, shown
from pgasrob.program.expressions import Expr
from pgasrob.program.illegal_calls import Opened, Rule


class Caller(Protocol):
    """Who makes a call of that ``name``."""

    @property
    def name(self) -> str: ...
    @property
    def rank(self) -> int: ...


class Noting(Protocol):
    """What the rules need of :class:`~pgasrob.frontends.apis.call_steps.Steps`; recorded calls have it, too."""

    @property
    def call(self) -> Caller: ...
    def note(self, key: str, value: Hashable) -> None: ...
    def recall(self, key: str, default: Hashable = None) -> Hashable: ...
    def opened(self) -> Opened: ...
    def illegal(
        self, rule: Rule, sentence: str, opened: Opened | None = None, remedy: str = "", unless: Expr = NEVER
    ) -> None: ...


ALL = "all"
"""The name under which all targets are locked at once."""
Held = tuple[tuple[int | str, tuple[int, Opened]], ...]
"""The targets that are locked by their names (`named`), each with the kind of lock and the call that took it."""


@dataclass(frozen=True, slots=True)
class Group:
    """The group of a start or post, and the ``call``."""

    ranks: tuple[int, ...]
    call: Opened


@dataclass(frozen=True, slots=True)
class Fence(Alike):
    """A fence, after which an epoch may go on. ``nosucceed``: it says that none does. ``used``: there has been
    communication, the ``first`` of which is this."""

    call: Opened
    nosucceed: bool = False
    used: bool = False
    first: Opened | None = field(default=None, compare=False)


def held(steps: Noting, of: Window) -> Held:
    return cast(Held, steps.recall(of.key("held"), ()))


def hold(steps: Noting, of: Window, targets: Held) -> None:
    steps.note(of.key("held"), tuple(sorted(targets, key=lambda each: str(each[0]))))


def started(steps: Noting, of: Window) -> Group | None:
    return cast("Group | None", steps.recall(of.key("started")))


def posted(steps: Noting, of: Window) -> Group | None:
    return cast("Group | None", steps.recall(of.key("posted")))


def fenced(steps: Noting, of: Window) -> Fence | None:
    return cast("Fence | None", steps.recall(of.key("fence")))


def close(steps: Noting, of: Window) -> None:
    """The call ends an epoch."""
    steps.note(of.key("closed"), Closed(steps.opened()))


def _ended(steps: Noting, of: Window) -> tuple[Opened | None, str]:
    """The call that has ended the latest epoch, if one has, and " after" it."""
    closed = cast("Closed | None", steps.recall(of.key("closed")))
    ended = None if closed is None else closed.call
    return ended, "" if ended is None else f" after {ended.name}"


# Communication


def communicates(steps: Noting, of: Window, target: Target, request: bool) -> None:
    """The call communicates with ``target``, with a ``request`` or not: it has to be in an epoch for it."""
    name, locked = named(target), dict(held(steps, of))
    fence, group = fenced(steps, of), started(steps, of)
    # Where the number of ranks is not known what is locked may be this target under another name: then it is left open
    # whether the call is allowed.
    if name in locked or ALL in locked:
        return
    call = f"{steps.call.name} with rank {shown(target)}"
    if (group is not None and {*of.ranks(target)} <= {*group.ranks}) or (fence is not None and not fence.nosucceed):
        if request:
            epoch = fence.call if group is None and fence is not None else group.call  # type: ignore[union-attr]
            steps.illegal(rules.REQUEST_OUTSIDE, f"{call} in an epoch of {epoch.name}", epoch)
        if group is None and fence is not None and not fence.used:
            steps.note(of.key("fence"), replace(fence, used=True, first=steps.opened()))
    elif group is not None:
        steps.illegal(rules.NO_EPOCH, f"{call}, which is not in the group of {group.call.name}", group.call)
    elif fence is not None:
        why = f"{call} after {fence.call.name} with MPI_MODE_NOSUCCEED"
        steps.illegal(rules.FALSE_ASSERTION, why, fence.call)
    elif locked:
        others = next(iter(locked.values()))[1]
        only = f"while {', '.join(f'rank {each}' for each in locked)} alone is locked"
        steps.illegal(rules.NO_EPOCH, f"{call}, {only}", others)
    else:
        ended, after = _ended(steps, of)
        rule = rules.REQUEST_OUTSIDE if request else rules.NO_EPOCH
        steps.illegal(rule, f"{call} outside of an epoch{after}", ended)


def flushes(steps: Noting, of: Window, target: Target | None, rule: Rule = rules.FLUSH_UNLOCKED) -> None:
    """The call is a flush of ``target``, or of all (None); or MPI_Win_sync, by its own ``rule``."""
    locked = dict(held(steps, of))
    if locked and (target is None or named(target) in locked or ALL in locked):
        return
    fence, group = fenced(steps, of), started(steps, of)
    which = "" if target is None else f" of rank {shown(target)}"
    if locked:
        steps.illegal(rule, f"{steps.call.name}{which}, which is not locked", next(iter(locked.values()))[1])
        return
    if group is not None or (fence is not None and fence.used):
        epoch = group.call if group is not None else fence.call  # type: ignore[union-attr]
        steps.illegal(rule, f"{steps.call.name}{which} in an epoch of {epoch.name}", epoch)
        return
    ended, after = _ended(steps, of)
    steps.illegal(rule, f"{steps.call.name}{which} outside of a lock{after}", ended)


# Epochs


def begins(steps: Noting, of: Window) -> None:
    """The call begins an access epoch by a lock or a start, so that no epoch of another kind may be open."""
    lock, fence, group = "lock" in steps.call.name, fenced(steps, of), started(steps, of)
    if group is not None:
        rule = rules.OVERLAP if lock else rules.START_TWICE
        steps.illegal(rule, f"{steps.call.name} in an epoch of {group.call.name}", group.call)
    elif fence is not None and fence.used:
        steps.illegal(rules.OVERLAP, f"{steps.call.name} in an epoch of {fence.call.name}", fence.first)
    elif not lock and (locked := held(steps, of)):
        opened = locked[0][1][1]
        steps.illegal(rules.OVERLAP, f"{steps.call.name} between {opened.name} and its unlock", opened)
    steps.note(of.key("fence"), None)


def may_lock(steps: Noting, of: Window, target: Target) -> bool:
    """Whether the call, a lock of ``target``, is of one that is not locked."""
    locks_own(steps, of, target)
    already = dict(held(steps, of))
    name = named(target) if named(target) in already else ALL
    if name in already:
        why = f"{steps.call.name} of rank {shown(target)}, which is locked already"
        steps.illegal(rules.LOCK_TWICE, why, already[name][1])
    return name not in already


def may_lock_all(steps: Noting, of: Window) -> bool:
    """Whether the call, a lock of all targets, comes where none is locked."""
    locks_own(steps, of)
    if already := held(steps, of):
        steps.illegal(rules.LOCK_TWICE, f"{steps.call.name} of a window that is locked already", already[0][1][1])
    return not already


def unlocks(steps: Noting, of: Window, target: Target) -> int | None:
    """The kind of the lock of ``target`` that the call gives back; None where it may not."""
    locked, name = dict(held(steps, of)), named(target)
    if ALL in locked:
        _, opened = locked[ALL]
        why = f"{steps.call.name} of rank {shown(target)} alone, after {opened.name}"
        steps.illegal(rules.UNLOCK_UNLOCKED, why, opened, "call MPI_Win_unlock_all")
        return None
    if name not in locked:
        steps.illegal(rules.UNLOCK_UNLOCKED, f"{steps.call.name} of rank {shown(target)}, which is not locked")
        return None
    kind, _ = locked.pop(name)
    hold(steps, of, tuple(locked.items()))
    close(steps, of)
    return kind


def unlocks_all(steps: Noting, of: Window) -> list[tuple[int | str, int]]:
    """The targets whose locks the call, an unlock of all, gives back, with their kinds: `ALL` for all."""
    locked = held(steps, of)
    if ALL not in dict(locked):
        steps.illegal(rules.UNLOCK_UNLOCKED, f"{steps.call.name} without MPI_Win_lock_all")
    if locked:
        hold(steps, of, ())
        close(steps, of)
    return [(target, kind) for target, (kind, _) in locked]


def fences(steps: Noting, of: Window, noprecede: bool, nosucceed: bool) -> None:
    """The call is a fence."""
    locked, group, fence = held(steps, of), started(steps, of), fenced(steps, of)
    if locked or group is not None:
        opened = group.call if group is not None else locked[0][1][1]
        steps.illegal(rules.OVERLAP, f"{steps.call.name} in an epoch of {opened.name}", opened)
    if noprecede and fence is not None and fence.used:
        why = f"{steps.call.name} with MPI_MODE_NOPRECEDE ends an epoch with communication"
        steps.illegal(rules.FALSE_ASSERTION, why, fence.first)
    steps.note(of.key("fence"), Fence(steps.opened(), nosucceed))


def posts(steps: Noting, of: Window, origins: tuple[int, ...]) -> None:
    """The call exposes the window to ``origins``."""
    already, name = posted(steps, of), of.members.index(steps.call.rank)
    if already is not None:
        steps.illegal(rules.POST_TWICE, f"{steps.call.name} in an epoch of {already.call.name}", already.call)
    locked = dict(held(steps, of))
    if (own := locked.get(name, locked.get(ALL))) is not None:
        steps.illegal(rules.LOCKED_AND_EXPOSED, f"{steps.call.name} while the rank's own window is locked", own[1])
    steps.note(of.key("posted"), Group(origins, steps.opened()))


def locks_own(steps: Noting, of: Window, target: Target | None = None) -> None:
    """The call locks ``target``, or all: not the rank's own window while it is exposed."""
    exposed = posted(steps, of)
    if exposed is not None and (target is None or steps.call.rank in of.ranks(target)):
        steps.illegal(
            rules.LOCKED_AND_EXPOSED, f"{steps.call.name} of the rank's own window while it is exposed", exposed.call
        )


def agrees_on_checks(steps: Steps, of: Window, other: str, ranks: tuple[int, ...], unchecked: bool) -> None:
    """The call is a start or post with MPI_MODE_NOCHECK (``unchecked``) or without, which the ``other`` calls of
    ``ranks`` that match it have to give, too (12.5.5). That they do not is known where none of them does."""
    call = steps.call
    own, others = (of.key(f"unchecked.{name}") for name in (call.name, other))
    given = cast("frozenset[bool]", call.published_here(own) or frozenset())
    call.publish(own, given | {unchecked})
    for rank in ranks:
        if call.published(rank, others) == frozenset((not unchecked,)):
            one, another = ("with", "has none") if unchecked else ("without", "has it")
            why = f"{call.name} {one} MPI_MODE_NOCHECK, where {other} of rank {rank} {another}"
            steps.illegal(rules.FALSE_ASSERTION, why, remedy="give it to both calls, or to none")


def frees(steps: Noting, of: Window) -> None:
    """The call frees the window."""
    for note in (started(steps, of), posted(steps, of), held(steps, of), fenced(steps, of)):
        for opened, how in _open(note):
            steps.illegal(rules.FREE_IN_EPOCH, f"{steps.call.name} {how}", opened)
    for what in ("started", "posted", "held", "fence"):
        steps.note(of.key(what), None)
    steps.note(of.key("freed"), Closed(steps.opened()))


def left_open(notes: Mapping[str, Hashable]) -> list[tuple[Opened, str]]:
    """The calls by which epochs of any window are open, each with how it is."""
    keys = tuple(f"mpi.{what}." for what in ("started", "posted", "held", "fence"))
    return [found for key, note in notes.items() if key.startswith(keys) for found in _open(note)]


def _open(note: Hashable) -> list[tuple[Opened, str]]:
    """The call by which an epoch is open, by what is noted, and how it is; nothing if none is."""
    match note:
        case Group(_, call):
            return [(call, f"in an epoch of {call.name}")]
        case ((_, (_, Opened() as call)), *_):
            return [(call, f"between {call.name} and its unlock")]
        case Fence(call, used=True, first=first):
            return [(first or call, "before a fence has completed the communication")]
        case _:
            return []
