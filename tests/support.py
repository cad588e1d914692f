"""What several test files share: numbers of examples, small explicit automata, programs, and all words or computations.

Nothing here is clever: the enumerations are what the code under test is compared with.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar
from zlib import crc32

from hypothesis import settings
from hypothesis import strategies as st

from pgasrob import api
from pgasrob.batch.checker import convert_each
from pgasrob.batch.job import Checked, Job
from pgasrob.frontends.options import FrontEnd
from pgasrob.models.store_buffers import tso_check as on_tso
from pgasrob.program.core import Operands
from pgasrob.program.expressions import Binary, Const, Expr, Register
from pgasrob.program.instance import Instance, Registers
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.normal_form import NormalForm
from pgasrob.robustness.question import Asked, ProgramFile, Question, RobustnessOnTso
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Verdict
from pgasrob.semantics.computation import POPS, Computation, Event
from pgasrob.semantics.replay import Run
from pgasrob.semantics.state_space import State, StateSpace, computation_of
from tests.oracle import strategies as oracle_strategies
from tests.oracle.syntax import Program as OracleProgram
from tests.oracle.syntax import to_pgas

T = TypeVar("T")

Word = tuple[Any, ...]
Path = list[Word]


def is_nightly() -> bool:
    """Whether the nightly profile of ``tests/conftest.py`` is in force, which tries this many examples."""
    return settings().max_examples >= 1_000


def examples(few: int, nightly: int = 1_000) -> int:
    """How many random examples a test tries: ``few``, or with --nightly ``nightly``."""
    return nightly if is_nightly() else few


def sampled(paths: Sequence[pathlib.Path], one_in: int) -> list[pathlib.Path]:
    """One in so many of ``paths``, by a checksum of the name, so that a new one moves no other; with --nightly all."""
    return [path for path in paths if is_nightly() or crc32(path.stem.encode()) % one_in == 0]


# Automata


@dataclass(frozen=True)
class Explicit:
    """An automaton given by its edges (source, word, target); 0 is the initial state."""

    edges: tuple[tuple[int, tuple[Hashable, ...], int], ...]
    finals: frozenset[int]
    initial: int = 0

    def successors(self, state: int) -> Iterator[tuple[tuple[Hashable, ...], int]]:
        return ((word, target) for source, word, target in self.edges if source == state)

    def is_final(self, state: int) -> bool:
        return state in self.finals


def headed(text: str) -> tuple[tuple[int, str], ...]:
    """``"1a 2b"`` as a word over pairs (head, letter)."""
    return tuple((int(item[0]), item[1:]) for item in text.split())


def language(automaton: Any, heads: int, length: int) -> set[Word]:
    """The words of a multiheaded automaton with up to ``length`` letters, found by following every path."""
    start = (automaton.initial, ((),) * heads)
    seen, stack, words = {start}, [start], set()
    while stack:
        state, tapes = stack.pop()
        if automaton.is_final(state):
            words.add(sum(tapes, ()))
        for word, target in automaton.successors(state):
            after = list(tapes)
            for head, letter in word:
                after[head - 1] += (letter,)
            node = (target, tuple(after))
            if sum(map(len, after)) <= length and node not in seen:
                seen.add(node)
                stack.append(node)
    return words


def sizes(automaton: Any) -> tuple[int, int]:
    """The numbers of reachable states and of their transitions, counted without any code under test."""
    seen, stack, transitions = {automaton.initial}, [automaton.initial], 0
    while stack:
        for _, target in automaton.successors(stack.pop()):
            transitions += 1
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return len(seen), transitions


# Programs

DECLARATIONS = "memory x = 1, y, z, w; register r, s; queue q, u unordered, v unordered;"


def calls(work: Callable[[], T]) -> tuple[int, T]:
    """How many functions are called by ``work``, the same on every machine, and what it returns."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        return_value = work()
    finally:
        sys.setprofile(before)
    return count, return_value


def alternating(depth: int) -> Expr:
    """A condition in which && and || alternate, ``depth`` registers in all: `((r0 > 9 || r1 > 9) && r2 > 9) || ...`."""
    found: Expr = Binary(">", Register("r", 0), Const(9))
    for index in range(1, depth):
        found = Binary("||" if index % 2 else "&&", found, Binary(">", Register("r", index), Const(9)))
    return found


def program(*blocks: str, nodes: int | None = None, declarations: str = DECLARATIONS) -> Program:
    """One block: every rank runs it. Several: rank i runs block i.

    Cells x = 1, y, z, w have the addresses 0 to 3; queue q is FIFO, u and v are unordered.
    """
    if len(blocks) == 1:
        return parse(f"{declarations} nodes {nodes or 1}; process {{ {blocks[0]} }}")
    processes = " ".join(f"process {rank} {{ {block} }}" for rank, block in enumerate(blocks))
    return parse(f"{declarations} nodes {nodes or len(blocks)}; {processes}")


def instance(
    *blocks: str, nodes: int | None = None, declarations: str = DECLARATIONS, reading: Reading = DEFAULT_READING
) -> Instance:
    return program(*blocks, nodes=nodes, declarations=declarations).instantiate(reading=reading)


def session_about(path: pathlib.Path, asked: Asked, *defines: str) -> Session:
    """A session in which ``asked`` is asked about the C program in ``path``, on the nodes that its first line gives and
    with these macros defined as 1."""
    nodes = re.match(r"// nodes: (\d+)", path.read_text())
    assert nodes is not None, path
    front_end = FrontEnd(defines=tuple((each, "1") for each in defines))
    return Session(Question(ProgramFile(str(path), front_end), int(nodes[1]), asked))


def operands(command: str, registers: Registers = (0, 0), nodes: int = 1) -> Operands:
    """The operands of ``command``, of :func:`program`, at rank 0 with these registers."""
    found = instance(f"{command};", nodes=nodes)
    return found.operands(0, found.automata[0].out[0][0], registers)


ONE_TO_ONE = "write(x, (me + 1) % nodes, y, q); {} barrier; r <- mem[y];"
"""Program 1to1 (the paper, Figure 1a), with something between the write and the barrier or nothing."""


def one_to_one(between: str = "", nodes: int = 2) -> Instance:
    return instance(ONE_TO_ONE.format(between), nodes=nodes, declarations="memory x = 1, y; register r; queue q;")


BY_VALUE = DEFAULT_READING.by_value


@dataclass(frozen=True)
class Drawn:
    """A random program of the oracle's, and the same as read by the parser."""

    oracle: OracleProgram
    program: Program

    @property
    def instance(self) -> Instance:
        """With waits read by value, as all engines can."""
        return self.program.instantiate(reading=BY_VALUE)


def translated(drawn: OracleProgram) -> Drawn:
    return Drawn(drawn, parse(to_pgas(drawn)))


def drawn_programs(**choices: Any) -> st.SearchStrategy[Drawn]:
    """The oracle's random programs (`tests.oracle.strategies.programs`), parsed."""
    return oracle_strategies.programs(**choices).map(translated)


COMMANDS = (
    "r <- mem[x];", "r <- mem[y];", "mem[x] <- 1;", "mem[y] <- me + 2;",
    "write(x, OTHER, x, q);", "write(x, OTHER, y, q);", "write(y, OTHER, x, u);", "write(x, OTHER, y, u);",
    "read(x, OTHER, y, q);", "read(y, OTHER, x, u);", "write(y, me, x, u);",
    "fence(u);", "fence(u, OTHER);", "wait(q);", "wait(u);", "wait_local(q);", "wait_local(u);",
    "barrier;", "await(mem[x] == 1);", "await(mem[y] != 0);", "r <- fetch_add(OTHER, x, 1);",
    "r <- compare_swap(OTHER, y, 0, 1);", "assume(r == 1);", "choose { mem[x] <- 2; } or { r <- mem[y]; }",
)  # fmt: skip
"""Commands for tiny programs; OTHER stands for the next rank."""


FURTHER = (
    "put(x, OTHER, y, q);", "put(y, OTHER, x, u);", "put(x, OTHER, x, u);", "update(add, 1, OTHER, x, q);",
    "update(add, 2, OTHER, x, u, y);", "update(compare_swap, 2, 1, OTHER, x, u, y);",
    "update_located(add, 1, OTHER, x, u);", "update_located(set, 3, OTHER, x, v);",
    "update_from(or, y, OTHER, x, q, y);", "update_from(fetch, OTHER, x, u, y);",
    "update_from_located(fetch, OTHER, x, v, y);", "update_from(compare_swap, x, y, OTHER, x, q, y);",
    "update_from(set, y, OTHER, x, u);", "notify(set, 1, OTHER, y, u);", "notify(add, 1, OTHER, y, q);",
    "notify_all(set, 2, OTHER, x, v);", "bundle;", "signal(set, 1, OTHER, y, u);", "signal(add, 1, OTHER, x, q);",
    "r <- fetch(OTHER, x);", "r <- fetch_update(xor, OTHER, y, 3);", "await_add(OTHER, mem[x] == 1, 1);",
    "await_add(me, mem[y] != 0, -1);", "r <- mem[x @ OTHER];", "mem[y @ OTHER] <- 1;",
)  # fmt: skip
"""Commands beyond those of the paper and the design's first ones: captured, updating, notifying, bundled."""


SHARING = (
    "write(x, OTHER, x, q);", "write(x, OTHER, x, u);", "read(x, OTHER, x, u);", "write(x, me, x, u);", "fence(u);",
    "r <- mem[x];", "r <- mem[x];", "mem[x] <- 2;", "r <- fetch_add(OTHER, x, 1);", "await(mem[x] != 0);", "wait(q);",
    "wait_local(u);", "write(x, OTHER, y, q);", "r <- mem[y];", "barrier;",
)  # fmt: skip
"""The same for programs that nearly always have conflicts, about half of them with a violation."""


@st.composite
def tiny_instances(draw: st.DrawFn, most: int = 5, commands: tuple[str, ...] = COMMANDS) -> Instance:
    """Loop-free programs of 1 to 3 ranks with up to ``most`` commands in all: their computations can be listed."""
    nodes = draw(st.integers(1, 3))
    chosen = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.sampled_from(commands)), max_size=most))
    blocks = [
        " ".join(command.replace("OTHER", str((rank + 1) % nodes)) for owner, command in chosen if owner == rank)
        for rank in range(nodes)
    ]
    return instance(*blocks, reading=BY_VALUE)


UNFENCED = [
    "write(x, 1, y, u); write(x, 0, y, u); fence(u, 1); write(x, 0, z, u);",
    "write(x, 1, y, u); read(y, 0, x, u); fence(u); write(x, 0, z, u);",
    "write(x, 1, y, u); write(x, 0, y, u); fence(u); read(z, 0, x, u);",
    "write(x, 1, y, u); read(y, 0, x, u); fence(u); read(z, 0, x, u);",
    "write(x, 0, y, v); write(x, 0, z, u); fence(v); write(x, 0, w, u);",
]
"""A fence that holds something back, but nothing of the other two operations, which it stands between."""


# Computations


def layers(instance: Instance, most: int, longest: int = 20) -> Iterator[list[tuple[State, Path]]]:
    """The paths of X(P, N) by length, as state reached and words, until a layer has more than ``most`` of them or they
    are the longest wanted."""
    space = StateSpace(instance)
    layer: list[tuple[State, Path]] = [(space.initial, [])]
    for _ in range(longest + 1):
        if not layer or len(layer) > most:
            return
        yield layer
        layer = [(target, [*path, word]) for state, path in layer for word, target in space.successors(state)]


class TooMany(Exception):
    """More computations than a test can look at."""


def computations(instance: Instance, most: int = 1_000_000) -> set[Computation]:
    """All computations of a loop-free instance: C(P, N). Raises `TooMany` beyond ``most`` paths of X(P, N)."""
    space = StateSpace(instance)
    stack: list[tuple[State, Path]] = [(space.initial, [])]
    found, seen = set(), 0
    while stack:
        state, path = stack.pop()
        seen += 1
        if seen > most:
            raise TooMany
        if space.is_final(state):
            found.add(computation_of(path))
        stack += [(target, [*path, word]) for word, target in space.successors(state)]
    return found


def longest(found: set[Computation]) -> set[Computation]:
    """The computations that are no proper prefix of another one of them: control states are all final, so that a
    computation can end anywhere."""
    prefixes = {computation[:end] for computation in found for end in range(len(computation))}
    return found - prefixes


def spelled(computation: Computation, *kinds: str) -> str:
    """``"write0 popa0"``: kinds and operations, of all events or those of some kinds; ``1:popa0`` for rank 1."""
    return " ".join(
        f"{f'{event.rank}:' if event.rank else ''}{event.kind}{event.operation}"
        for event in computation
        if not kinds or event.kind in kinds
    )


def orders(instance: Instance, *kinds: str) -> set[str]:
    """The longest computations, spelled."""
    return {spelled(computation, *kinds) for computation in longest(computations(instance))}


def follow(instance: Instance, computation: Computation) -> list[State]:
    """The states of X(P, N) that paths with this computation lead to, found by trying every transition."""
    space = StateSpace(instance)
    nodes: list[tuple[State, Path]] = [(space.initial, [])]
    done = 0
    while done < len(computation) and nodes:
        width = instance.nodes if computation[done].kind == "barrier" else 1
        expected = computation[: done + width]
        nodes = [
            (target, [*path, word])
            for state, path in nodes
            for word, target in space.successors(state)
            if computation_of([*path, word]) == expected
        ]
        done += width
    return [state for state, _ in nodes]


@st.composite
def walks(draw: st.DrawFn, instance: Instance, most: int = 16) -> Path:
    """A random path of X(P, N) from its initial to a final state: ``most`` transitions, then the pending steps."""
    space = StateSpace(instance)
    state, path = space.initial, []
    for turn in range(10 * most):
        if turn >= most and space.is_final(state):
            break
        edges = [edge for edge in space.successors(state) if turn < most or edge[0][0].kind in POPS]
        if not edges:
            break
        word, state = edges[draw(st.integers(0, len(edges) - 1))]
        path.append(word)
    assert space.is_final(state)
    return path


# Normal forms


def _command(event: Event, computation: Computation) -> tuple[object, ...]:
    """What identity makes one: a command, or the events of one barrier."""
    if event.kind != "barrier":
        return event.issued
    earlier = [other for other in computation if other.rank == event.rank and other.operation < event.operation]
    return ("barrier", sum(other.kind == "barrier" for other in earlier))


def is_normal_form(computation: Computation, parts: int) -> bool:
    """Definition 4, naively: whether ``computation`` is tau_1 ... tau_parts with steps alone after tau_1, and (NF)."""
    issued: dict[tuple[object, ...], int] = {}
    for place, event in enumerate(computation):
        issued.setdefault(_command(event, computation), place)
    order = [issued[_command(event, computation)] for event in computation]

    def in_order(start: int, end: int) -> bool:
        """(NF): events of two commands stand in the order in which the commands were issued."""
        return all(first <= second for first, second in combinations(order[start:end], 2))

    def splits(start: int, left: int) -> bool:
        if left == 1:
            return in_order(start, len(order))
        return any(in_order(start, cut) and splits(cut, left - 1) for cut in range(start, len(order) + 1))

    first = max((place + 1 for place, event in enumerate(computation) if not event.is_step), default=0)
    if parts == 1:
        return in_order(0, len(order))
    return any(in_order(0, cut) and splits(cut, parts - 1) for cut in range(first, len(order) + 1))


def generated(program: Instance, heads: int, most: int = 200_000) -> set[Computation]:
    """The language of Y, by following every path; events are numbered here, apart from `numbered`."""
    automaton = NormalForm(program, heads)
    start = (automaton.initial, (-1,) * program.nodes, ((),) * heads)
    seen, stack, found = {start}, [start], set()
    while stack:
        state, issued, tapes = stack.pop()
        if automaton.is_final(state):
            found.add(sum(tapes, ()))
        for word, target in automaton.successors(state):
            counts, after = list(issued), list(tapes)
            for head, letter in word:
                counts[letter.rank] += letter.kind not in POPS
                kind, rank, cell, occurrence, commutes, home = letter
                event = Event(kind, rank, counts[rank], cell, occurrence, commutes, home)
                after[head - 1] += (event,)
            node = (target, tuple(counts), tuple(after))
            if node not in seen:
                seen.add(node)
                stack.append(node)
        if len(seen) > most:
            raise TooMany
    return found


# Comparing with the oracle


def flat(events: Any) -> tuple[tuple[str, int, int, int | None], ...]:
    """Events without their occurrence, to compare with those of the oracle."""
    return tuple((event.kind, event.rank, event.operation, event.cell) for event in events)


def json_events(run: Run) -> list[dict[str, Any]]:
    """The events of a replayed run as the oracle's `check_run` wants them (the design, section 6)."""
    instance = run.instance

    def address(event: Event) -> dict[str, Any] | None:
        if event.cell is None:
            return None
        index = instance.index(event.cell)
        return {"rank": instance.owner(event.cell), "index": index, "name": instance.program.cell_name(index)}

    return [
        {
            "event": replayed.event.kind,
            "rank": replayed.event.rank,
            "operation": replayed.event.operation,
            "address": address(replayed.event),
            "line": replayed.span.line,
        }
        for replayed in run.events
    ]


def check_every_count(program: Any, **options: Any) -> Verdict:
    """The verdict on every number of nodes."""
    return api.check(program, "all", **options)


def check_on_tso(program: Program, nodes: int | None = None, limits: Limits | None = None) -> Verdict:
    """The verdict where processors have store buffers."""
    question = Question(program, nodes, RobustnessOnTso(), limits=limits or Limits())
    return on_tso.check_on_tso(Session(question))


def check_all(files: Sequence[str], job: Job) -> Iterator[Checked]:
    """Check every file at every node count of ``job``, in order, each result as it comes."""
    return convert_each(files, job, lambda checked: checked)


def violation_alone(result: Any) -> Any:
    """``result`` without the run that goes on from its violation to an effect, and without what is said of that."""
    witness = result["witness"] and {
        key: each for key, each in result["witness"].items() if key not in ("title", "effect")
    }
    return {**result, "witness": witness, "effect_run": None}
