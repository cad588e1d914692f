"""Makes the program of a litmus text: resolves names, and translates statements to instructions.

A name that is declared is a location. Another one is a location of its thread's node when it is the local end of an
operation of the adapter in that thread (``a = z^2``), and otherwise a register of its thread. The adapter works on
locations alone: a constant that it puts is held by a location that no outcome shows. An expression that reads locations
becomes a load for each of these mentions, from left to right, into registers `$1`, `$2`...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.diagnostics.suggestions import closest, did_you_mean
from pgasrob.models.litmus.grammar import UNKNOWN_NODE
from pgasrob.models.litmus.instructions import (
    ON_NODES,
    Assign,
    Assume,
    Cell,
    CompareAndSet,
    Get,
    GetAccumulate,
    Instruction,
    Load,
    MemoryFence,
    NicCompareAndSet,
    NicFetchAdd,
    Put,
    RemoteCompareAndSet,
    Store,
)
from pgasrob.models.litmus.litmus_program import Block, Choose, Location, Loop, Program, Thread, graph_of
from pgasrob.models.litmus.litmus_words import FORMS
from pgasrob.models.litmus.syntax import Call, Choice, Mention, Operand, Part, Repeat, Set, Text, ThreadText
from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    Register,
    Symbol,
    Unary,
    evaluator,
    parts,
)
from pgasrob.program.report import Report, short
from pgasrob.program.statements import Span

MAX_EDGES = 20_000
"""Instructions of a thread with its loops written out, counted with the ways into each."""


class Naming:
    """Builds the program of ``text``; what is wrong goes into ``report``."""

    def __init__(self, text: Text, report: Report) -> None:
        self.text = text
        self.report = report
        self.locations: dict[str, Location] = {}
        self.implied: dict[str, int] = {}  # locations that are not declared, with the thread that makes them
        self.registers: dict[str, int] = {}  # with the thread whose they are
        targets = [item.target for thread in text.threads for item in statements(thread.body) if item.target]
        self.written = {mention.name for mention in (*text.mentions, *targets)}
        self.temporaries = 0
        self.thread: _ThreadNaming
        for declared in text.locations:
            if declared.name in self.locations:
                first = next(each for each in text.locations if each.name == declared.name)
                where = f"in line {first.span.line}" if first.span.line != declared.span.line else "before"
                self.report.add(
                    "PG172", f"`{short(declared.name)}` is declared twice, {where} too", declared.span,
                    "names of locations are unique over all nodes; drop it or choose another name",
                )  # fmt: skip
                continue
            self.locations[declared.name] = Location(declared.name, declared.node, declared.initial)

    def program(self) -> Program:
        """The program; it is of no use when something was reported."""
        threads = [_ThreadNaming(self, number, thread) for number, thread in enumerate(self.text.threads)]
        for thread in threads:
            thread.find_locations()
        for thread in threads:
            thread.find_registers()
        for thread in threads:
            thread.find_misspelled()
        made = tuple(thread.made() for thread in threads)
        return Program(tuple(self.locations.values()), made)

    def hidden(self, value: int, node: int) -> Cell:
        """The location on ``node`` that holds a constant."""
        name = f"${value}@{node}"
        self.locations.setdefault(name, Location(name, node, value, shown=False))
        return Cell(name)

    def temporary(self) -> str:
        while True:
            self.temporaries += 1
            name = f"${self.temporaries}"
            if name not in self.written:
                return name


class _ThreadNaming:
    """Names and instructions of one thread of the text."""

    def __init__(self, naming: Naming, number: int, text: ThreadText) -> None:
        self.naming = naming
        self.report = naming.report
        self.mentions = naming.text.mentions
        self.number = number
        self.node = text.node
        self.text = text
        self.registers: dict[str, int] = {}
        self.set: set[str] = set()

    # Which names are what

    def find_locations(self) -> None:
        """Make locations of the undeclared names that are the local end of an operation of the adapter."""
        for statement in statements(self.text.body):
            for mention in self.local_ends(statement):
                name = mention.name
                if mention.node is not None or name.startswith("$") or name in self.naming.locations:
                    self.implied_elsewhere(mention)
                    continue
                self.naming.locations[name] = Location(name, self.node)
                self.naming.implied[name] = self.number

    def local_ends(self, statement: Set | Call) -> Iterator[Mention]:
        match statement:
            case Set(target, Operand(_, mention)):
                if mention and mention.node is not None and target.node is None:
                    yield target
                elif target.node is not None and mention:
                    yield mention
            case Call("get" | "rcas" | "rfaa", _, target) if target:
                yield target
            case Call("put", (_, Operand(_, mention)), _) if mention:
                yield mention
            case Call("rga" | "cas", (_, *operands), target):
                if target:
                    yield target
                yield from (operand.mention for operand in operands if operand.mention)

    def implied_elsewhere(self, mention: Mention) -> None:
        """Report a location that another thread has made without declaring it."""
        name = mention.name
        if self.naming.implied.get(name, self.number) != self.number:
            node = self.naming.locations[name].node
            self.report.add(
                "PG172", f"`{short(name)}` is a location of another thread that is not declared", mention.span,
                f"declare it, `{short(name)}@{node}=0`, or choose another name",
            )  # fmt: skip

    def find_registers(self) -> None:
        for statement in statements(self.text.body):
            for mention, sets in self.mentioned(statement):
                name = mention.name
                if name in self.naming.locations:
                    self.implied_elsewhere(mention)
                    continue
                if mention.node is not None:
                    continue  # an unknown location, which is reported where the statement is made
                owner = self.naming.registers.setdefault(name, self.number)
                if owner != self.number:
                    node = self.naming.text.threads[owner].node
                    self.report.add(
                        "PG172", f"`{short(name)}` is a register of another thread", mention.span,
                        "registers are private: choose another name, or declare a location of a node, "
                        f"`{short(name)}@{node}=0`",
                    )  # fmt: skip
                    continue
                if not name.startswith("$"):  # those come last, in the order of use, for some are made on the way
                    self.registers.setdefault(name, len(self.registers))
                if sets:
                    self.set.add(name)

    def find_misspelled(self) -> None:
        """Report a misspelled store: of a constant, to a name that is never read and that looks like a location."""
        named = {name for line in self.naming.text.lines for name, _, _ in line.values or ()}
        read = {
            mention.name for each in statements(self.text.body) for mention, sets in self.mentioned(each) if not sets
        }
        for statement in statements(self.text.body):
            match statement:
                case Set(target, Operand(expr, _)) if target.name in self.registers and target.name not in read | named:
                    constant = not any(isinstance(part, Symbol) for part in parts(expr))
                    likely = closest(target.name, self.naming.locations, 0.7)
                    same = likely is not None and likely.casefold() == target.name.casefold()
                    if constant and likely and (same or len(target.name) > 2):
                        what = f"`{short(target.name)}` is no location, and a register that nothing reads"
                        hint = f"did you mean `{likely}`? A register that is meant is read or named in an expectation"
                        self.report.add("PG173", what, target.span, hint)

    def mentioned(self, statement: Set | Call) -> Iterator[tuple[Mention, bool]]:
        """The names in ``statement`` in order, each with whether the statement sets it."""
        match statement:
            case Set(target, operand):
                yield target, True
                yield from self.in_operand(operand)
            case Call(_, operands, target):
                if target:
                    yield target, True
                for operand in operands:
                    yield from self.in_operand(operand)

    def in_operand(self, operand: Operand) -> Iterator[tuple[Mention, bool]]:
        for part in parts(operand.expr):
            if isinstance(part, Symbol):
                yield self.mentions[part.value], False

    # Instructions

    def made(self) -> Thread:
        body = tuple(self.block(self.text.body))
        if self.too_large(body):
            return Thread(self.node, tuple(self.registers), graph_of(()))
        return Thread(self.node, tuple(self.registers), graph_of(body), body)

    def too_large(self, body: Block) -> bool:
        if _edges(body, 1)[0] <= MAX_EDGES:
            return False
        loops = [item.span for item in _items(self.text.body) if isinstance(item, Repeat)]
        self.report.add(
            "PG179", f"the thread has more than {MAX_EDGES} instructions with its loops written out",
            loops[0] if loops else self.text.span, "let the loops run less often",
        )  # fmt: skip
        return True

    def block(self, body: Part) -> Iterator[Instruction | Choose | Loop]:
        for item in body:
            match item:
                case Choice(branches):
                    yield Choose(tuple(tuple(self.block(branch)) for branch in branches))
                case Repeat(most, inner):
                    yield Loop(most, tuple(self.block(inner)))
                case Set() | Call():
                    made = tuple(self.assignment(item) if isinstance(item, Set) else self.call(item))
                    if not made and not (isinstance(item, Call) and item.word == "skip") and self.report.empty:
                        # If the rules above have missed a case, the statement is reported and not dropped.
                        self.report.add("PG175", "this statement has no meaning here", item.span, "write it otherwise")
                    yield from made

    def assignment(self, item: Set) -> Iterator[Instruction]:
        target, value, span = item.target, item.value, item.span
        if target.node is not None:
            remote, local = self.remote(target), self.source(value, "a put")
            if remote and local:
                yield Put(remote, local, span=span)
            return
        if value.mention and value.mention.node is not None:
            local, remote = self.local(target), self.remote(value.mention)
            if local and remote:
                yield Get(local, remote, span=span)
            return
        location = self.location(target)
        if location is None and value.mention and self.location(value.mention):
            if (register := self.register(target)) is not None and (cell := self.local(value.mention)):
                yield Load(register, cell, span=span)
            return
        loads, expr = self.read(value, span)
        yield from loads
        if location is not None:
            if cell := self.local(target):
                yield Store(cell, expr, span=span)
        elif (register := self.register(target)) is not None:
            yield Assign(register, expr, span=span)

    def call(self, item: Call) -> Iterator[Instruction]:
        word, target, span = item.word, item.target, item.span
        match word, item.arguments:
            case "mfence", ():
                yield MemoryFence(span=span)
            case "skip", ():
                pass
            case word, (node,) if word in ON_NODES:
                if (number := self.node_number(word, node)) is not None:
                    yield ON_NODES[word](number, span=span)
            case "assume", (condition,):
                loads, expr = self.read(condition, span)
                yield from loads
                yield Assume(expr, span=span)
            case "get", (place,) if target:
                local, remote = self.local(target), self.remote_operand(word, place)
                if local and remote:
                    yield Get(local, remote, span=span)
            case "put", (place, value):
                remote, local = self.remote_operand(word, place), self.source(value, "a put")
                if local and remote:
                    yield Put(remote, local, span=span)
            case "rga", (place, operand) if target:
                local, remote = self.local(target), self.remote_operand(word, place)
                if local and remote and (added := self.source(operand, "`rga`")):
                    yield GetAccumulate(local, remote, added, span=span)
            case "cas", (place, first, second) if target:
                local, remote = self.local(target), self.remote_operand(word, place)
                expected, new = self.source(first, "`cas`"), self.source(second, "`cas`")
                if local and remote and expected and new:
                    yield RemoteCompareAndSet(local, remote, expected, new, span=span)
            case (("rcas" | "rfaa"), (place, *operands)) if target:
                yield from self.nic_atomic(word, place, operands, target, span)
            case "CAS", (place, first, second):
                yield from self.compare_and_set(place, first, second, target, span)
            case _:
                raise AssertionError(word)

    def nic_atomic(
        self, word: str, place: Operand, operands: Sequence[Operand], target: Mention, span: Span
    ) -> Iterator[Instruction]:
        local, remote = self.local(target), self.remote_operand(word, place)
        read = [self.read(operand, span) for operand in operands]
        for loads, _ in read:
            yield from loads
        if local and remote:
            made: type[NicCompareAndSet | NicFetchAdd] = NicCompareAndSet if word == "rcas" else NicFetchAdd
            yield made(local, remote, *(expr for _, expr in read), span=span)

    def compare_and_set(
        self, place: Operand, first: Operand, second: Operand, target: Mention | None, span: Span
    ) -> Iterator[Instruction]:
        if place.mention is None or (place.mention.node is None and self.location(place.mention) is None):
            what = "`CAS` works on a location of the thread's node"
            hint = did_you_mean(place.mention.name, self.naming.locations) if place.mention else ""
            hint = hint or f"write {FORMS['CAS']}; `rcas(z^2, 0, 1)` works on another node"
            self.report.add("PG175", what, place.span, hint)
            return
        if place.mention.node is not None:
            name = short(place.mention.name)
            hint = f"the adapter's is `x = rcas({name}^{place.mention.node}, 0, 1)`"
            self.report.add("PG175", "`CAS` works on a location of the thread's node", place.span, hint)
            return
        cell = self.local(place.mention)
        loads, expected = self.read(first, span)
        more, new = self.read(second, span)
        yield from (*loads, *more)
        if cell is None:
            return
        if target is None:
            yield CompareAndSet(None, cell, expected, new, span=span)
        elif target.node is not None or self.location(target):
            written = self.local(target)
            name = self.naming.temporary()
            register = self.registers.setdefault(name, len(self.registers))
            if written:
                yield CompareAndSet(register, cell, expected, new, span=span)
                yield Store(written, Register(name, register), span=span)
        elif (number := self.register(target)) is not None:
            yield CompareAndSet(number, cell, expected, new, span=span)

    # Operands

    def location(self, mention: Mention) -> Location | None:
        return self.naming.locations.get(mention.name)

    def register(self, mention: Mention) -> int | None:
        if not mention.atomic:
            what = f"`{short(mention.name)}` is a register, and only accesses to locations are non-atomic"
            hint = did_you_mean(mention.name, self.naming.locations) or "drop `.n`"
            self.report.add("PG175", what, mention.span, hint)
        if mention.name.startswith("$"):
            self.registers.setdefault(mention.name, len(self.registers))
        return self.registers.get(mention.name)

    def local(self, mention: Mention) -> Cell | None:
        """A location of the thread's node, which is read or written without the adapter or at its near end."""
        location = self.location(mention)
        name = short(mention.name)
        if location is None:
            what = f"a location is needed here, and `{name}` is a register"
            self.report.add("PG175", what, mention.span, "names that begin with `$` are registers; choose another one")
            return None
        if mention.node is not None:
            hint = f"let it go through a location of node {self.node}: get it there, then put it"
            what = "a remote location stands where one of the thread's node is needed"
            self.report.add("PG174", f"{what}: `{name}^{mention.node}`", mention.span, hint)
            return None
        if location.node != self.node and UNKNOWN_NODE not in (location.node, self.node):
            self.report.add(
                "PG174",
                f"`{name}` is a location of node {location.node}, and this thread runs on node {self.node}",
                mention.span,
                f"the adapter reads and writes it as `{name}^{location.node}`",
            )
            return None
        return Cell(mention.name, mention.atomic)

    def remote_operand(self, word: str, operand: Operand) -> Cell | None:
        mention = operand.mention
        if mention is None or mention.node is None:
            name = short(mention.name) if mention else "z"
            location = self.location(mention) if mention else None
            node = location.node if location else 2
            hint = f"write `{name}^{node}` for `{name}` of node {node}"
            if mention is None or location is None:
                hint = f"write {FORMS[word]}, with a location that is declared"
            what = f"the first argument of `{word}` is a location with its node"
            self.report.add("PG175", what, operand.span, hint)
            return None
        return self.remote(mention)

    def remote(self, mention: Mention) -> Cell | None:
        location = self.location(mention)
        name = short(mention.name)
        if location is None:
            hint = did_you_mean(mention.name, self.naming.locations) or (
                f"declare it before `::`, `{name}@{mention.node}=0`"
            )
            self.report.add("PG173", f"unknown location `{name}`", mention.span, hint)
            return None
        if location.node not in (mention.node, UNKNOWN_NODE):
            what = f"`{name}` is a location of node {location.node}, not of node {mention.node}"
            self.report.add("PG174", what, mention.span, f"write `{name}^{location.node}`")
            return None
        return Cell(mention.name, mention.atomic)

    def source(self, operand: Operand, what: str) -> Cell | None:
        """The location that the adapter reads on the thread's node: the one named, or the hidden one that holds a
        constant."""
        if operand.mention:
            if operand.mention.node is None and self.location(operand.mention) is None:
                name = short(operand.mention.name)
                message = f"{what} reads a location, and `{name}` is a register"
                self.report.add("PG175", message, operand.span, "store its value in a location of the node first")
                return None
            return self.local(operand.mention)
        if any(isinstance(part, Symbol) for part in parts(operand.expr)):
            hint = "store the value in a location of the node first"
            self.report.add("PG175", f"{what} reads a location or a constant, and computes nothing", operand.span, hint)
            return None
        try:
            return self.naming.hidden(evaluator(operand.expr)(()), self.node)
        except Fault as fault:
            self.report.add("PG175", f"the constant has no value: {fault}", operand.span, "write another one")
            return None

    def node_number(self, word: str, operand: Operand) -> int | None:
        if isinstance(operand.expr, Const) and operand.expr.value >= 0:
            return operand.expr.value
        hint = f"write {FORMS[word]}"
        location = self.location(operand.mention) if operand.mention else None
        if location:
            hint = f"`{short(location.name)}` is on node {location.node}: write `{word}({location.node})`"
        self.report.add("PG175", f"`{word}` takes the number of a node", operand.span, hint)
        return None

    def read(self, operand: Operand, span: Span) -> tuple[list[Instruction], Expr]:
        """The loads that an expression needs, and the expression over registers."""
        loads: list[Instruction] = []

        def converted(expr: Expr) -> Expr:
            match expr:
                case Symbol(_, number):
                    return value(self.mentions[number])
                case Unary(symbol, inner, type):
                    return Unary(symbol, converted(inner), type)
                case Binary("^", Symbol(_, number), Const(node)) if self.unknown(self.mentions[number]):
                    self.report_unknown(self.mentions[number], node)
                    return Const(0)
                case Binary(symbol, left, right, type):
                    return Binary(symbol, converted(left), converted(right), type)
                case Conditional(condition, then, otherwise):
                    return Conditional(converted(condition), converted(then), converted(otherwise))
            return expr

        def value(mention: Mention) -> Expr:
            if mention.node is not None:
                if self.remote(mention):
                    name = f"{short(mention.name)}^{mention.node}"
                    hint = f"get it into a location of the node first, `t = {name}`, and read that once it has arrived"
                    self.report.add("PG176", f"`{name}` is read in an expression", mention.span, hint)
                return Const(0)
            if self.location(mention):
                cell = self.local(mention)
                if cell is None:
                    return Const(0)
                name = self.naming.temporary()
                number = self.registers.setdefault(name, len(self.registers))
                loads.append(Load(number, cell, span=span))
                return Register(name, number)
            if self.unknown(mention):
                self.report_unknown(mention, None)
                return Const(0)
            number_or_none = self.register(mention)
            return Const(0) if number_or_none is None else Register(mention.name, number_or_none)

        return loads, converted(operand.expr)

    def unknown(self, mention: Mention) -> bool:
        """Whether it is a register that is never set: most likely another name is meant."""
        name = mention.name
        mine = self.naming.registers.get(name) == self.number
        return mine and name not in self.set

    def report_unknown(self, mention: Mention, node: int | None) -> None:
        name = short(mention.name)
        likely = did_you_mean(mention.name, (*self.naming.locations, *self.set))
        if node is not None:
            what = f"unknown location `{name}`"
            hint = likely or f"declare it before `::`, `{name}@{node}=0`"
        else:
            what = f"`{name}` is no location, and a register that nothing sets"
            hint = likely or f"declare a location before `::`, `{name}@{self.node}=0`, or set the register first"
        self.report.add("PG173", what, mention.span, hint)


def statements(body: Part) -> Iterator[Set | Call]:
    """The statements of ``body`` and of the blocks in it."""
    for item in _items(body):
        if isinstance(item, Set | Call):
            yield item


def _items(body: Part) -> Iterator[Set | Call | Choice | Repeat]:
    for item in body:
        yield item
        match item:
            case Choice(branches):
                for branch in branches:
                    yield from _items(branch)
            case Repeat(_, inner):
                yield from _items(inner)


def _edges(block: Block, fronts: int) -> tuple[int, int]:
    """How many edges the graph of ``block`` has at most, and in how many states it may end, when it is entered from
    ``fronts``; counted until there are too many."""
    edges = 0
    for item in block:
        match item:
            case Choose(branches):
                counted = [_edges(branch, fronts) for branch in branches]
                edges += sum(count for count, _ in counted)
                fronts = sum(ends for _, ends in counted)
            case Loop(most, body):
                latest = fronts
                # A loop without a bound has edges back to its first instructions, as if it ran a second time.
                for _ in range(min(2 if most is None else most, MAX_EDGES) if body else 0):
                    more, latest = _edges(body, latest)
                    edges, fronts = edges + more + 1, fronts + latest
                    if edges > MAX_EDGES:
                        break
            case _:
                edges, fronts = edges + fronts, 1
        if edges > MAX_EDGES or fronts > MAX_EDGES:
            return MAX_EDGES + 1, 1
    return edges, fronts
