"""A few elements for all that are alike: the verdict is the same, and a run without the others is one of the whole."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pgasrob.analysis import sites as module
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Engine
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.reduction.elements import represented
from pgasrob.robustness.reduction.unused import without_unused
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.state_space import Letter, Operation, State, StateSpace, computation_of
from pgasrob.twins import available
from tests.support import examples

MOST_STATES = 8_000


class Lifting:
    """A run of an instance in which elements are left out as one of the ``whole``: what was left out is done at once,
    each command when its rank comes to it and each step as soon as it may be."""

    def __init__(self, whole: Instance) -> None:
        self.space = StateSpace(whole)
        self.state: State = self.space.initial
        self.words: list[tuple[Letter, ...]] = []
        self.tags: list[list[int | None]] = [[] for _ in range(whole.nodes)]
        """Of what is pending, the operation of the run."""

    def of(self, computation: Computation) -> Computation:
        self.first: dict[tuple[int, int], int | None] = {}
        for event in computation:
            if self.first.get(event.issued) is None:
                self.first[event.issued] = event.cell
        for event in computation:
            if event.is_step:
                self.step(event.rank, self.tags[event.rank].index(event.operation))
            elif event.kind == "barrier":
                if event.rank == 0:
                    self.meet()
            else:
                while not self.issue(event):
                    self.hurry()
            self.hurry()
        return computation_of(self.words)

    def take(self, word: tuple[Letter, ...], after: State) -> None:
        self.words.append(word)
        self.state = after

    def issue(self, event: Event) -> bool:
        """Issue the command of ``event`` or, where that is further on, the next one that is left out."""
        edges = list(self.space.issues_of(self.state, event.rank))
        wanted = (event.kind, self.first[event.issued], event.occurrence)
        for word, after in edges:
            (letter,) = word
            cell = letter.cell
            if cell is None and len(after.pending[event.rank]) > len(self.state.pending[event.rank]):
                latest = after.pending[event.rank][-1]
                cell = latest.left[0].access.cell if isinstance(latest, Operation) else None
            if (letter.kind, cell, letter.which) == wanted:
                self.note(event.rank, word, after, event.operation)
                return True
        (edge,) = edges
        self.note(event.rank, *edge, None)
        return False

    def note(self, rank: int, word: tuple[Letter, ...], after: State, tag: int | None) -> None:
        count = sum(isinstance(entry, Operation) for entry in after.pending[rank])
        if count > len(self.tags[rank]):
            self.tags[rank].append(tag)
        self.take(word, after)

    def meet(self) -> None:
        while not any(word[0].kind == "barrier" for word, _ in self.space.issues(self.state)):
            for rank in range(self.space.instance.nodes):
                edges = list(self.space.issues_of(self.state, rank))
                if edges:
                    (edge,) = edges
                    self.note(rank, *edge, None)
                    self.hurry()
        self.take(*next(edge for edge in self.space.issues(self.state) if edge[0][0].kind == "barrier"))

    def step(self, rank: int, number: int) -> bool:
        positions = [place for place, entry in enumerate(self.state.pending[rank]) if isinstance(entry, Operation)]
        edge = self.space.step(self.state, rank, positions[number])
        if edge is None:
            return False
        if edge[0][0].last:
            del self.tags[rank][number]
        self.take(*edge)
        return True

    def hurry(self) -> None:
        while any(
            self.step(rank, number)
            for rank, tags in enumerate(self.tags)
            for number, tag in enumerate(tags)
            if tag is None
        ):
            pass


class Drawing:
    """A random program of two ranks that copy arrays to each other, element by element."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.size = self.random.choice((4, 4, 5, 6))

    def text(self) -> str:
        blocks = [self.process(rank) for rank in range(2)]
        return (
            f"nodes 2; memory a[{self.size}], b[{self.size}], f, g; register t, r, i; queue q, p unordered;\n"
            + "\n".join(blocks)
        )

    def process(self, rank: int) -> str:
        draw = self.random
        self.barriers = getattr(self, "barriers", draw.choice((0, 0, 1)))
        items = [self.item(rank) for _ in range(draw.randint(2, 4))]
        for _ in range(self.barriers):
            items.insert(draw.randint(0, len(items)), "barrier;")
        if draw.random() < 0.4:
            items.append("t <- mem[f]; assert(t == 0);" if draw.random() < 0.5 else "await(mem[f] == 1);")
        return f"process {rank} {{ {' '.join(items)} }}"

    def item(self, rank: int) -> str:
        draw = self.random
        queue = draw.choice(("q", "p"))
        kind = draw.choices(
            ("transfer", "loads", "stores", "one", "wait", "fence", "flag", "await"), (6, 3, 2, 4, 3, 1, 3, 2)
        )[0]
        low = draw.choice((0, 0, 0, 1))
        high = self.size - draw.choice((0, 0, 0, 1))
        array = draw.choice("ab")
        match kind:
            case "transfer":
                other, shift = draw.choice("ab"), draw.choices((0, 1, -1), (8, 1, 1))[0]
                command, to = draw.choice(("put", "write", "read")), draw.choice((1 - rank, 1 - rank, rank))
                places = [x for x in range(low, high) if 0 <= x + shift < self.size]
                if draw.random() < 0.2:
                    return self.loop(
                        min(places), max(places) + 1, f"{command}({array} + i, {to}, {other} + i + {shift}, {queue});"
                    )
                if draw.random() < 0.1:
                    places.reverse()
                there = [x + shift for x in places]
                if draw.random() < 0.1:
                    there.reverse()
                pairs = zip(places, there, strict=True)
                return " ".join(f"{command}({array} + {x}, {to}, {other} + {y}, {queue});" for x, y in pairs)
            case "loads":
                use = draw.choices(("", "r <- r + t;", "assert(t == 0);"), (12, 1, 1))[0]
                end = draw.choices(("", "assert(t == 0);", "if (t == 0) { mem[g] <- 1; }"), (8, 1, 1))[0]
                if draw.random() < 0.4:
                    return self.loop(low, high, f"t <- mem[{array} + i]; {use}") + end
                return " ".join(f"t <- mem[{array} + {x}]; {use}" for x in range(low, high)) + end
            case "stores":
                if draw.random() < 0.4:
                    return self.loop(low, high, f"mem[{array} + i] <- i == {high - 1};")
                return " ".join(f"mem[{array} + {x}] <- {int(x == high - 1)};" for x in range(low, high))
            case "one":
                at = f"{array} + {self.size - 1 - draw.choice((0, 0, 1))}"
                return draw.choice((f"t <- mem[{at}];", f"t <- mem[{at}];", f"r <- fetch_add({1 - rank}, {at}, 1);"))
            case "wait":
                return f"{draw.choice(('wait', 'wait', 'wait_local'))}({queue});"
            case "fence":
                return f"fence({queue});"
            case "flag":
                return f"{draw.choice(('notify', 'notify_all', 'update'))}(set, 1, {1 - rank}, f, {queue});"
            case _:
                return "await(mem[f] == 1);"

    def loop(self, low: int, high: int, body: str) -> str:
        if self.random.random() < 0.2:
            return f"i <- {high - 1}; while (i >= {low}) {{ {body} i <- i - 1; }}"
        return f"i <- {low}; while (i < {high}) {{ {body} i <- i + 1; }}"


def decided(search: Engine) -> bool | None:
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None


def facts(search: NativeSearch) -> tuple[bool, bool, bool]:
    known = search.facts
    return known.fault is not None, known.failed.get(None) is not None, known.deadlock is not None


def compare(text: str, told: Counter[str], definition: int = 300) -> None:
    whole = parse(text).instantiate()
    found = represented(whole, worthwhile=2)
    if found is None:
        told["nothing is left out"] += 1
        return
    search = (NativeSearch if available() else AttackSearch)(whole)
    less = (NativeSearch if available() else AttackSearch)(found.instance)
    expected, answer = decided(search), decided(less)
    told["too large"] += expected is None
    if expected is None or answer is None:
        return
    assert expected == answer, text
    smaller = without_unused(found.instance)
    told["memory is left out"] += smaller is not found.instance
    assert decided((NativeSearch if available() else AttackSearch)(smaller)) == answer, text
    told["robust" if not answer else "not robust"] += 1
    if isinstance(search, NativeSearch) and isinstance(less, NativeSearch) and not answer:
        assert facts(search) == facts(less), text
    by_definition = DefinitionSearch(whole)
    for _ in by_definition.run():
        if by_definition.states > definition or by_definition.gave_up:
            break
    else:
        if not by_definition.gave_up:
            told["by definition"] += 1
            assert (by_definition.violation is not None) == answer, text
    if less.violation is not None:
        run = replay(whole, Lifting(whole).of(less.violation.computation))
        assert run.complete and HappensBefore(run.computation).cycle is not None, text
        told["lifted"] += 1


HEAD = "nodes 2; memory a[6], b[6], f; register t, r, i; queue q, p unordered;"


def row(pattern: str, places: str = "012345") -> str:
    return " ".join(pattern.replace("#", place) for place in places)


PUT, LOADS, STORES = row("put(a + #, 1, b + #, q);"), row("t <- mem[b + #];"), row("mem[a + #] <- 1;")
SENDS = f"process 0 {{ {STORES} {PUT} barrier; }} process 1 {{ barrier; %s }}"

CASES: dict[str, tuple[str, tuple[int, int] | None]] = {
    "six elements, of which two stand for all": (SENDS % LOADS, (6, 2)),
    "a loop": (SENDS % "i <- 0; while (i < 6) { t <- mem[b + i]; i <- i + 1; }", (6, 2)),
    "a loop that goes down": (SENDS % "i <- 5; while (i >= 0) { t <- mem[b + i]; i <- i - 1; }", (6, 2)),
    "a loop that is come to by two ways": (
        SENDS % "if (t) { i <- 0; } else { i <- 1; } while (i < 6) { t <- mem[b + i]; i <- i + 1; }",
        None,
    ),
    "a loop that is come to from behind it": (
        SENDS % "loop { while (i < 6) { t <- mem[b + i]; i <- i + 1; } i <- i - 1; }",
        None,
    ),
    "some are read": (SENDS % row("t <- mem[b + #];", "45"), (4, 2)),
    "one is read by itself": (SENDS % (LOADS + "t <- mem[b + 5];"), (5, 2)),
    "one is told of by an atomic": (SENDS % (LOADS + "r <- fetch_add(0, a, 1);"), (5, 2)),
    "what is read says what is read": (SENDS % (LOADS + "r <- mem[b]; t <- mem[b + r];"), (4, 2)),
    "what is read last is used": (SENDS % (LOADS + "assert(t == 0);"), (5, 2)),
    "what is read is summed up": (SENDS % row("t <- mem[b + #]; r <- r + t;"), None),
    "what is read decides": (SENDS % row("t <- mem[b + #]; assert(t == 1);"), None),
    "a division": (SENDS.replace("<- 1", "<- 1 / t") % LOADS, None),
    "neighbours": (SENDS % row("write(b + #, 0, a + #, q);", "01234").replace("a + ", "a + 1 + "), None),
    "backwards at one end": (
        SENDS.replace(PUT, " ".join(f"put(a + {x}, 1, b + {5 - x}, q);" for x in range(6))) % LOADS,
        None,
    ),
    "every other element": (
        SENDS.replace(PUT, "put(a, 1, b, q); put(a + 2, 1, b + 2, q); put(a + 4, 1, b + 4, q);") % LOADS,
        None,
    ),
    "a wait after each": (SENDS.replace(PUT, PUT.replace(";", "; wait(q);")) % LOADS, None),
    "two transfers in a round": (
        "process 0 { i <- 0; while (i < 6) { put(a + i, 1, b + i, q); write(b + i, 1, a + i, q); i <- i + 1; } }"
        "process 1 { }",
        None,
    ),
    "beyond the memory": ("process 0 { i <- 0; while (i < 8) { t <- mem[b + i]; i <- i + 1; } } process 1 { }", None),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_left_out(case: str, short_rows: None) -> None:
    text, expected = CASES[case]
    found = represented(parse(HEAD + text).instantiate(), worthwhile=2)
    assert (found and (found.alike, found.kept)) == expected
    compare(HEAD + text, Counter(), definition=0)


@pytest.fixture
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_ROUNDS", 1)


@pytest.mark.usefixtures("short_rows")
def test_random_programs() -> None:
    told: Counter[str] = Counter()
    for seed in range(examples(25, nightly=20_000)):
        compare(Drawing(seed).text(), told)
    assert told["memory is left out"] > 8
    assert told["robust"] > 3 and told["not robust"] > 2 and told["lifted"] == told["not robust"]
