"""The assumptions on which verdicts rest: each kind with its code in JSON and its sentence.

The C front end notes each assumption where it makes it (`Call.rests_on`, `Writer.rests_on`) and stores them with the
program (`Declared.assumptions`); `robustness/rests_on.py` adds those of every verdict. `assumption_texts.py` explains
each kind at length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal, assert_never

from pgasrob.program.reading import Conflicts, FailedPolls

Scope = Literal["every", "all numbers", "C", "construct"]


class Kind(Enum):
    """The kinds of assumptions, in the order in which they are listed. Each has a code, its value, and

    - ``scope``: what needs it: every verdict, those about all numbers of nodes, those on C, or some construct of
      the program;
    - ``shapes_runs``: whether a run that is shown may be none of the real program, or no violation, where the
      assumption is false. Where the others are false there are only more runs, and the one shown is among them;
    - ``sentence``, with places for the names that an assumption is about, ``{names}``, and for a verb that agrees with
      their number, ``{is|are}``.
    """

    scope: Scope
    shapes_runs: bool
    sentence: str

    def __new__(cls, code: str, scope: Scope, shapes_runs: bool, sentence: str) -> Kind:
        self = object.__new__(cls)
        self._value_ = code
        self.scope, self.shapes_runs, self.sentence = scope, shapes_runs, sentence
        return self

    # fmt: off
    # What every verdict rests on
    FAILED_POLLS = "failed-polls", "every", True, "{names}"
    CONFLICTS = "conflicts", "every", True, "{names}"
    PROGRAM_ORDER = ("program-order", "every", False,
        "a rank's loads and stores reach its memory, and its peers, in program order (--cpu tso: with store buffers)")
    ONE_COPY = ("one-copy", "every", False,
        "each cell has one copy, accessed as a whole: what has arrived is seen by all ranks at once")
    NO_FAILURES = ("no-failures", "every", False,
        "no rank or transfer fails: every operation completes in the end, whatever its target does meanwhile")
    CLOSED_PROGRAM = ("closed-program", "every", False,
        "all ranks run this program from its beginning, and nothing else accesses their memory")
    # and every one about all numbers of nodes
    NODE_RANGE = "node-range", "all numbers", False, "every number of nodes means each number from {names}"
    # and every one on C
    SPECIFICATION = "specification", "C", True, "calls keep what {names} promises, and may do all that it allows"
    CALLS_ALLOWED = ("calls-allowed", "C", False,
        "calls keep the rules of their API that are not checked: about buffers, and about what ranks have to do alike")
    SIZES = "sizes", "C", True, "arrays, loops and transfers are as long as the text says"
    PLATFORM = ("platform", "C", True,
        "types have the sizes, layout and byte order of 64-bit Unix on x86, and so do the compiler's macros")
    ARITHMETIC = ("arithmetic", "C", True,
        "signed integers wrap round; floating-point operations are those of IEEE 754, one by one, "
        "and <math.h> is that of this machine")
    COMPILER = ("compiler", "C", False,
        "the compiler keeps accesses to memory that ranks share, in the order of the text, left to right")
    WHOLE_SCALARS = ("whole-scalars", "C", False,
        "a scalar is moved as a whole, and so are 8 bytes of a transfer where the program names no scalar")
    UNSET_MEMORY = "unset-memory", "C", False, "variables and memory that have not been set hold 0"
    CALLS_SUCCEED = ("calls-succeed", "C", False,
        "no call fails: each returns its code for success, and errno stays 0")
    ONE_THREAD = ("one-thread", "C", False,
        "a rank runs the threads that the text starts: no signal handler, active message or other thread")
    # What only some constructs need, those first that say most about a program
    WAITS = ("waits", "construct", False,
        "an await conflicts with changes that turn its condition (--waits value: with every change of its cell)")
    UNKNOWN_VALUES = "unknown-values", "construct", True, "{names} may give any value, and a different one each time"
    UNKNOWN_MEMORY = "unknown-memory", "construct", True, "any value may be loaded from {names}"
    PARTS = ("parts", "construct", True,
        "an access to a part of a scalar of {names} counts as one to all of it, and setting a part also reads it")
    ASSUMED_PURE = ("assumed-pure", "construct", True,
        "{names} {accesses|access} none of the program's memory, and may return any value")
    SEPARATE_MEMORY = ("separate-memory", "construct", True,
        "no two ranks reach each other's memory by loads and stores, as {names} {says|say} (--shared-memory)")
    SHARED_MEMORY = ("shared-memory", "construct", True,
        "{names} share memory: accesses of one of them there take effect at once for all, and in program order")
    ATOMIC_TO_ALL = ("atomic-to-all", "construct", False,
        "{names} {is|are} atomic to all other accesses, not only to atomics of one kind")
    EPOCHS_WAIT = "epochs-wait", "construct", False, "{names} {returns|return} only when access is granted"
    FENCE_BARRIER = "fence-barrier", "construct", False, "MPI_Win_fence is a barrier, even if it ends no epoch"
    MODES_HOLD = ("modes-hold", "construct", False,
        "the MPI_MODE_... assertions given to {names} are true, and no call does less because of them")
    UNIFIED_WINDOWS = "unified-windows", "construct", False, "windows have one copy of their memory (MPI_WIN_UNIFIED)"
    WINDOW_SYNC = ("window-sync", "construct", False,
        "after a barrier all ranks see what windows of {names} hold, even without MPI_Win_sync (MPI-4.1, 12.2.3)")
    BUFFERED_SENDS = ("buffered-sends", "construct", True,
        "messages are copied when {names} {is|are} called, and the sender continues")
    NOT_SYNCHRONISING = ("not-synchronising", "construct", False,
        "no rank waits in {names} for more than the data that it receives, though it may")
    WAITING_ALIKE = ("waiting-alike", "construct", False,
        "if {names} may wait for other ranks, they do so in every call or in none")
    THREADS_INDEPENDENT = ("threads-independent", "construct", True,
        "one thread does the work of a team, in the order of the text, and other executions end alike: {names}")
    THREADS_SERIALIZED = ("threads-serialized", "construct", False,
        "no two threads of a rank are in {names} and another call at once, if the thread level forbids it")
    THREADS_COMPLETE = ("threads-complete-their-own", "construct", True,
        "{names} {completes|complete} the operations of the calling thread, and not those of its rank's other threads")
    BOUNDED_LEAD = ("bounded-lead", "construct", False,
        "no rank makes {names} more than 4 times before a rank that receives from it has reached the first call")
    QUEUE_ROOM = ("queue-room", "construct", False,
        "no queue is full: there is always room for what {names} {posts|post}")
    CREATION_WAITS = "creation-waits", "construct", False, "no rank returns from {names} before all ranks have called"
    SAME_ADDRESSES = ("same-addresses", "construct", False,
        "a segment and a static variable have the same address on every rank")
    REDUCTION_ORDER = ("reduction-order", "construct", True,
        "{names} {combines|combine} floating-point numbers in the order of the ranks")
    SAME_RANKS = "same-ranks", "construct", True, "{names} number the ranks alike and see each other's effects"
    WORK_ARRAYS = ("work-arrays", "construct", False,
        "the arrays pSync and pWrk of {names} are set and used as the specification requires")
    NOT_CALLED = "not-called", "construct", True, "functions given to {names} are never called"
    TASKS_AT_ONCE = ("tasks-at-once", "construct", False,
        "some thread takes every task that is created, however many others are waiting")
    GUIDED_CHUNKS = ("guided-chunks", "construct", False,
        "`schedule(guided)` gives a thread the iterations that are left divided by the number of threads, rounded up")
    FIXED_ANSWERS = ("fixed-answers", "construct", True,
        "{names} always {gives|give} the same answer: 0, or the usual one")
    RANKS_KEPT = "ranks-kept", "construct", True, "{names} {keeps|keep} every rank's number, though another is allowed"
    THREAD_LEVEL = "thread-level", "construct", False, "{names} {grants|grant} the thread level that is asked for"
    HINTS = "hints", "construct", False, "hints and options given to {names} change nothing"
    UNREAD_HEADERS = ("unread-headers", "construct", True,
        "the text does not depend on macros of {names}, which {is|are} not read")
    UNREAD_FUNCTIONS = ("unread-functions", "construct", False,
        "no run calls {names}, in which something is wrong or not supported")
    ARGUMENTS = "arguments", "construct", True, "the program is started without arguments: argc is 1"
    ENVIRONMENT = "environment", "construct", True, "the environment is empty"
    ENDS_ALL_RANKS = "ends-all-ranks", "construct", True, "{names} {ends|end} the run of all ranks, some time later"
    KILLED_RANK = "killed-rank", "construct", True, "a rank that {names} has killed continues, or no rank waits for it"
    ASSERT_GOES_ON = "assert-goes-on", "construct", True, "a run continues when an assertion is false"
    FREED_MEMORY = ("freed-memory", "construct", False,
        "no memory is used after {names}, and the next allocation of the same size gets its place")
    ALLOCATION = "allocation", "construct", False, "there is as much memory as {names} {asks|ask} for"
    NO_EFFECT = ("no-effect", "construct", True,
        "{names} {changes|change} nothing that the program sees, and {returns|return} 0")
    OUTPUT_ORDER = "output-order", "construct", False, "{names}"
    MODEL_CHECKER = ("model-checker", "construct", False,
        "SPIN and the C compiler work correctly, and SPIN has searched all states")
    # fmt: on


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption ``about`` these names, which fill the sentence of its kind; ``lines`` of the source need it, where
    they are known. ``str`` gives its sentence, without a capital or a full stop."""

    kind: Kind
    about: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        names = _listed(self.about)
        if self.about and self.kind is Kind.PROGRAM_ORDER:
            empty = "atomics, barriers, mfence and waits for later transfers empty it"
            return f"loads overtake stores in a store buffer, as on {names}; {empty}"
        if self.about and self.kind is Kind.ARGUMENTS:
            return f"the program is started with {f'the arguments `{names}`' if names else 'no arguments: argc is 1'}"
        if self.about and self.kind is Kind.SIZES:
            return f"{self.kind.sentence}, with {names}"
        verb = 1 if len(self.about) == 1 else 2
        agreeing = re.sub(r"\{(\w+)\|(\w+)\}", lambda match: match[verb], self.kind.sentence)
        return agreeing.replace("{names}", names)


def failed_polls(reading: FailedPolls) -> Assumption:
    match reading:
        case "wait":
            sentence = "a poll that fails is a wait: it is no event of a run (--failed-polls count: it is one)"
        case "count":
            sentence = "a poll that fails is an access like others, so one that comes too early may be a violation"
        case _:
            assert_never(reading)
    return Assumption(Kind.FAILED_POLLS, (sentence,))


def conflicts(reading: Conflicts) -> Assumption:
    match reading:
        case "commuting":
            sentence = "updates by one operation that fetch nothing do not conflict (--conflicts all: they do)"
        case "all":
            sentence = "two accesses to a cell conflict when one of them writes, also where updates commute"
        case _:
            assert_never(reading)
    return Assumption(Kind.CONFLICTS, (sentence,))


def output_order(free: bool) -> Assumption:
    """``free``: output of several ranks to the terminal may come in any order."""
    if free:
        sentence = (
            "accesses to files are seen in the order of the calls, and output to the terminal may come in any "
            "order (--output-order free)"
        )
    else:
        sentence = (
            "accesses to files and output to the terminal are seen in the order of the calls "
            "(--output-order free: output in any order)"
        )
    return Assumption(Kind.OUTPUT_ORDER, (sentence,))


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names or ("",)
    return f"{', '.join(others)} and {last}" if others else last


class Noted:
    """Collects the assumptions of one program, and joins those of one kind."""

    def __init__(self) -> None:
        self._about: dict[Kind, dict[str, None]] = {}
        self._lines: dict[Kind, set[int]] = {}

    def add(self, kind: Kind, *about: str, line: int = 0) -> None:
        """Note an assumption ``about`` these names; ``line`` is where it is needed, 0 for no place of the text."""
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
