"""What a verdict rests on beside the node count: data, each kind with its sentence and its code in JSON.

What the front end of C takes for granted is noted where it does so (`Call.rests_on`, `Writer.rests_on`), and lies with
the program (`Declared.assumptions`); what every verdict takes for granted is added to it (`robustness/rests_on.py`).
`assumption_texts.py` explains each kind at length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal, assert_never

from pgasrob.program.reading import Conflicts, FailedPolls


class Kind(Enum):
    """The kinds of assumptions, by their codes, in the order in which they are listed."""

    # What every verdict rests on
    FAILED_POLLS = "failed-polls"
    CONFLICTS = "conflicts"
    PROGRAM_ORDER = "program-order"
    ONE_COPY = "one-copy"
    NO_FAILURES = "no-failures"
    CLOSED_PROGRAM = "closed-program"
    # and every one on C
    SPECIFICATION = "specification"
    CALLS_ALLOWED = "calls-allowed"
    SIZES = "sizes"
    PLATFORM = "platform"
    ARITHMETIC = "arithmetic"
    COMPILER = "compiler"
    WHOLE_SCALARS = "whole-scalars"
    UNSET_MEMORY = "unset-memory"
    CALLS_SUCCEED = "calls-succeed"
    ONE_THREAD = "one-thread"
    # What only some constructs need, those first that say most about a program
    UNKNOWN_VALUES = "unknown-values"
    UNKNOWN_MEMORY = "unknown-memory"
    PARTS = "parts"
    ASSUMED_PURE = "assumed-pure"
    SEPARATE_MEMORY = "separate-memory"
    SHARED_MEMORY = "shared-memory"
    ATOMIC_TO_ALL = "atomic-to-all"
    EPOCHS_WAIT = "epochs-wait"
    FENCE_BARRIER = "fence-barrier"
    MODES_HOLD = "modes-hold"
    UNIFIED_WINDOWS = "unified-windows"
    BUFFERED_SENDS = "buffered-sends"
    QUEUE_ROOM = "queue-room"
    CREATION_WAITS = "creation-waits"
    SAME_ADDRESSES = "same-addresses"
    REDUCTION_ORDER = "reduction-order"
    SAME_RANKS = "same-ranks"
    WORK_ARRAYS = "work-arrays"
    NOT_CALLED = "not-called"
    FIXED_ANSWERS = "fixed-answers"
    THREAD_LEVEL = "thread-level"
    HINTS = "hints"
    UNREAD_HEADERS = "unread-headers"
    ARGUMENTS = "arguments"
    ENVIRONMENT = "environment"
    ENDS_ALL_RANKS = "ends-all-ranks"
    KILLED_RANK = "killed-rank"
    ASSERT_GOES_ON = "assert-goes-on"
    FREED_MEMORY = "freed-memory"
    ALLOCATION = "allocation"
    NO_EFFECT = "no-effect"
    MODEL_CHECKER = "model-checker"


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption; ``about`` fills the sentence of its kind, ``lines`` are those of the source that need it, where
    they are known. ``str`` gives its sentence, without a capital or a full stop."""

    kind: Kind
    about: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        return _sentence(self.kind, self.about)


def scope(kind: Kind) -> Literal["every", "C", "construct"]:
    """What needs an assumption of ``kind``: every verdict, every one on C, or some construct of the program."""
    match kind:
        case (
            Kind.FAILED_POLLS
            | Kind.CONFLICTS
            | Kind.PROGRAM_ORDER
            | Kind.ONE_COPY
            | Kind.NO_FAILURES
            | Kind.CLOSED_PROGRAM
        ):
            return "every"
        case (
            Kind.SPECIFICATION
            | Kind.CALLS_ALLOWED
            | Kind.SIZES
            | Kind.PLATFORM
            | Kind.ARITHMETIC
            | Kind.COMPILER
            | Kind.WHOLE_SCALARS
            | Kind.UNSET_MEMORY
            | Kind.CALLS_SUCCEED
            | Kind.ONE_THREAD
        ):
            return "C"
        case _:
            return "construct"


def matters_to_a_run(kind: Kind) -> bool:
    """Whether a run that is shown may be none of the real program, or no violation, where the assumption is false.

    The others only leave runs out: without them there are more, and the one that is shown is still among them.
    """
    match kind:
        case (
            Kind.FAILED_POLLS
            | Kind.CONFLICTS
            | Kind.SPECIFICATION
            | Kind.SIZES
            | Kind.PLATFORM
            | Kind.ARITHMETIC
            | Kind.UNKNOWN_VALUES
            | Kind.UNKNOWN_MEMORY
            | Kind.PARTS
            | Kind.ASSUMED_PURE
            | Kind.SEPARATE_MEMORY
            | Kind.SHARED_MEMORY
            | Kind.BUFFERED_SENDS
            | Kind.REDUCTION_ORDER
            | Kind.SAME_RANKS
            | Kind.NOT_CALLED
            | Kind.FIXED_ANSWERS
            | Kind.UNREAD_HEADERS
            | Kind.ARGUMENTS
            | Kind.ENVIRONMENT
            | Kind.ENDS_ALL_RANKS
            | Kind.KILLED_RANK
            | Kind.ASSERT_GOES_ON
            | Kind.NO_EFFECT
        ):
            return True
        case (
            Kind.PROGRAM_ORDER
            | Kind.ONE_COPY
            | Kind.NO_FAILURES
            | Kind.CLOSED_PROGRAM
            | Kind.CALLS_ALLOWED
            | Kind.COMPILER
            | Kind.WHOLE_SCALARS
            | Kind.UNSET_MEMORY
            | Kind.CALLS_SUCCEED
            | Kind.ONE_THREAD
            | Kind.ATOMIC_TO_ALL
            | Kind.EPOCHS_WAIT
            | Kind.FENCE_BARRIER
            | Kind.MODES_HOLD
            | Kind.UNIFIED_WINDOWS
            | Kind.QUEUE_ROOM
            | Kind.CREATION_WAITS
            | Kind.SAME_ADDRESSES
            | Kind.WORK_ARRAYS
            | Kind.THREAD_LEVEL
            | Kind.HINTS
            | Kind.FREED_MEMORY
            | Kind.ALLOCATION
            | Kind.MODEL_CHECKER
        ):
            return False
        case _:
            assert_never(kind)


def failed_polls(reading: FailedPolls) -> Assumption:
    match reading:
        case "wait":
            said = "a poll that fails is a wait: it is no event of a run (--failed-polls count: it is one)"
        case "count":
            said = "a poll that fails is an access like others, so one that comes too early may be a violation"
        case _:
            assert_never(reading)
    return Assumption(Kind.FAILED_POLLS, (said,))


def conflicts(reading: Conflicts) -> Assumption:
    match reading:
        case "commuting":
            said = "updates by one operation that fetch nothing do not conflict (--conflicts all: they do)"
        case "all":
            said = "two accesses to a cell conflict when one of them writes, also where updates commute"
        case _:
            assert_never(reading)
    return Assumption(Kind.CONFLICTS, (said,))


def _sentence(kind: Kind, about: tuple[str, ...]) -> str:
    names = _listed(about)
    match kind:
        case Kind.FAILED_POLLS | Kind.CONFLICTS:
            return names
        case Kind.PROGRAM_ORDER:
            if about:
                empty = "atomics, barriers, mfence and waits for later transfers empty it"
                return f"loads pass stores in a buffer, as on {names}; {empty}"
            return "a rank's loads and stores reach its memory, and its peers, in program order (else --cpu tso)"
        case Kind.ONE_COPY:
            return "each cell has one copy, accessed as a whole: what has arrived is seen by all ranks at once"
        case Kind.NO_FAILURES:
            return "no rank or transfer fails: what is issued is done in the end, whatever its target does meanwhile"
        case Kind.CLOSED_PROGRAM:
            return "all ranks run this program from its beginning, and nothing else accesses their memory"
        case Kind.SPECIFICATION:
            return f"calls keep what {names} promises, and may do all that it allows"
        case Kind.CALLS_ALLOWED:
            return "calls are made where their API allows them: in epochs, and collectives by all, in one order"
        case Kind.SIZES:
            return "arrays, loops and transfers are as long as the text says" + (f", with {names}" if about else "")
        case Kind.PLATFORM:
            return "types have the sizes, layout and byte order of 64-bit Unix on x86, and so do the compiler's macros"
        case Kind.ARITHMETIC:
            return "signed integers wrap round; floating-point operations are those of IEEE 754, one by one"
        case Kind.COMPILER:
            return "the compiler keeps accesses to memory that ranks share, in the order of the text, left to right"
        case Kind.WHOLE_SCALARS:
            return "a scalar is moved as a whole, and so are 8 bytes of a transfer where no scalar is named"
        case Kind.UNSET_MEMORY:
            return "variables and memory that nobody has set hold 0"
        case Kind.CALLS_SUCCEED:
            return "no call fails: each returns what stands for success, and errno stays 0"
        case Kind.ONE_THREAD:
            return "a rank is one thread: no signal handler, active message or other thread runs beside it"
        case Kind.UNKNOWN_VALUES:
            return f"any value may come of {names}, each time another"
        case Kind.UNKNOWN_MEMORY:
            return f"any value may be loaded from {names}"
        case Kind.PARTS:
            return f"an access to a part of a scalar of {names} is one to all of it, and to set a part reads it, too"
        case Kind.ASSUMED_PURE:
            return (
                f"{names} {_verb(about, 'accesses', 'access')} none of the program's memory, and may return any value"
            )
        case Kind.SEPARATE_MEMORY:
            told = _verb(about, "says", "say")
            return f"no two ranks reach each other's memory by loads and stores, as {names} {told} (--shared-memory)"
        case Kind.SHARED_MEMORY:
            return f"{names} share memory: what one loads and stores there, all others see in that order, and at once"
        case Kind.ATOMIC_TO_ALL:
            return f"{names} {_verb(about, 'is', 'are')} atomic to all other accesses, not only to atomics of one kind"
        case Kind.EPOCHS_WAIT:
            return f"{names} {_verb(about, 'returns', 'return')} when access is granted, and not before"
        case Kind.FENCE_BARRIER:
            return "MPI_Win_fence is a barrier, also where it ends no epoch"
        case Kind.MODES_HOLD:
            return f"the MPI_MODE_... given to {names} are true, and no call does less for them"
        case Kind.UNIFIED_WINDOWS:
            return "windows have one copy of their memory (MPI_WIN_UNIFIED)"
        case Kind.BUFFERED_SENDS:
            return f"messages are copied when {names} {_verb(about, 'is', 'are')} called, and the sender goes on"
        case Kind.QUEUE_ROOM:
            return f"there is room in its queue for what {names} {_verb(about, 'posts', 'post')}: none is full"
        case Kind.CREATION_WAITS:
            return f"no rank returns from {names} before all have called"
        case Kind.SAME_ADDRESSES:
            return "a segment and a static variable have the same address on every rank"
        case Kind.REDUCTION_ORDER:
            return f"{names} {_verb(about, 'combines', 'combine')} floating-point numbers in the order of the ranks"
        case Kind.SAME_RANKS:
            return f"{names} number the ranks alike and see each other's effects"
        case Kind.WORK_ARRAYS:
            return f"the arrays pSync and pWrk of {names} are set and used as they must be"
        case Kind.NOT_CALLED:
            return f"functions given to {names} are never called"
        case Kind.FIXED_ANSWERS:
            return f"what {names} {_verb(about, 'tells', 'tell')} is fixed: 0, or what stands for the usual"
        case Kind.THREAD_LEVEL:
            return f"{names} {_verb(about, 'grants', 'grant')} the thread level that is asked for"
        case Kind.HINTS:
            return f"hints and options given to {names} change nothing"
        case Kind.UNREAD_HEADERS:
            return f"the text does not depend on macros of {names}, which {_verb(about, 'is', 'are')} not read"
        case Kind.ARGUMENTS:
            return "the program is started without arguments: argc is 1"
        case Kind.ENVIRONMENT:
            return "the environment is empty"
        case Kind.ENDS_ALL_RANKS:
            return f"{names} {_verb(about, 'ends', 'end')} the run of all ranks, some time after"
        case Kind.KILLED_RANK:
            return f"a rank that {names} has killed goes on, or nothing waits for it"
        case Kind.ASSERT_GOES_ON:
            return "a run goes on when an assertion is false"
        case Kind.FREED_MEMORY:
            return f"no memory is used after {names}, and what is allocated next of its size lies there"
        case Kind.ALLOCATION:
            return f"there is as much memory as {names} {_verb(about, 'asks', 'ask')} for"
        case Kind.NO_EFFECT:
            return f"{names} {_verb(about, 'changes', 'change')} nothing that the program sees, and 0 is returned"
        case Kind.MODEL_CHECKER:
            return "SPIN and the C compiler do what they should, and SPIN has searched all states"
        case _:
            assert_never(kind)


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def _verb(about: tuple[str, ...], one: str, several: str) -> str:
    return one if len(about) == 1 else several


class Noted:
    """The assumptions of one program while they are noted, those of a kind together."""

    def __init__(self) -> None:
        self._about: dict[Kind, dict[str, None]] = {}
        self._lines: dict[Kind, set[int]] = {}

    def add(self, kind: Kind, *about: str, line: int = 0) -> None:
        """Note one; ``line`` is where it is needed, 0 when that is no place of the text."""
        self._about.setdefault(kind, {}).update(dict.fromkeys(about))
        lines = self._lines.setdefault(kind, set())
        if line:
            lines.add(line)

    def __iter__(self) -> Iterator[Assumption]:
        """In the order of their kinds."""
        for kind in Kind:
            if kind in self._about:
                yield Assumption(kind, tuple(self._about[kind]), tuple(sorted(self._lines[kind])))


def together(assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """``assumptions`` of several programs as those of one."""
    noted = Noted()
    for each in assumptions:
        for line in each.lines or (0,):
            noted.add(each.kind, *each.about, line=line)
    return tuple(noted)
