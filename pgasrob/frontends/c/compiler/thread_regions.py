"""Compiles what stands under directives of OpenMP: as one thread executes it that is alone in its team.

That is one of the executions that the specification allows. Private variables are others inside (OpenMP 5.2, 5.4), and
where the text shows that threads race, a call of `RACE` stands before the statement that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

from pgasrob.frontends.c.code import Branch, Call, Copy, Region
from pgasrob.frontends.c.compiler.canonical_loops import CanonicalLoop, canonical
from pgasrob.frontends.c.compiler.communicating_code import communicates, is_team
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.expression_code import Expressions
from pgasrob.frontends.c.compiler.local_declarations import Declarations
from pgasrob.frontends.c.compiler.operands import MemoryPlace, Operand, Place, constant
from pgasrob.frontends.c.compiler.scopes import (
    Body,
    GlobalVariable,
    LocalVariable,
    Scope,
    SizedVariable,
    SlotVariable,
)
from pgasrob.frontends.c.compiler.thread_accesses import Accesses, nodes_in
from pgasrob.frontends.c.compiler.thread_races import Race, Races
from pgasrob.frontends.c.openmp import DECLARATIVE, LOOPS, STANDALONE, TASKS, Directive
from pgasrob.frontends.c.openmp import directive as read
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.tokens import Token, error
from pgasrob.frontends.c.types import INT, LONG, VOID, Array, CType, Integer, Pointer
from pgasrob.program.statements import Span

RACE = "__omp_race"
"""The function that is called with whether there is no race, and as texts with what is wrong and what would help."""
_FIRST = {"+": 0, "-": 0, "|": 0, "^": 0, "*": 1, "&": -1}
"""What the private copy of a reduction begins with (OpenMP 5.2, 5.5.5). With other operators it may begin with the
value outside, for it makes no difference how often that is combined."""
_ONE_TEAM = frozenset(["for", "sections", "single", "master", "masked", "critical", "ordered", "task", "taskloop"])
"""In these no barrier stands, and no loop or sections for the team (OpenMP 5.2, 17.1)."""


class TeamCode(Protocol):
    """Compiles directives for teams whose threads are processes.

    Attributes: ``guarded`` (by the `id` of statements that only some threads execute, what compiles them), ``open``
    (how many regions of teams are open).
    """

    guarded: dict[int, Callable[[Node], None]]
    open: int

    def barrier(self, directive: Directive) -> None: ...

    def construct(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None: ...


class Regions:
    """Compiles the statements of one function that stand under directives; ``statement`` compiles others."""

    def __init__(
        self, emitter: Emitter, body: Body, expressions: Expressions, declarations: Declarations,
        statement: Callable[[Node], None], teams: Callable[[Regions], TeamCode],
    ) -> None:  # fmt: skip
        self.emitter = emitter
        self.context = emitter.context
        self.body = body
        self.expressions = expressions
        self.operations = expressions.operations
        self.declarations = declarations
        self.statement = statement
        self.open: list[Directive] = []
        self.teams: list[Scope] = []
        """The blocks around the parallel regions that are open."""
        self.races: dict[int, list[Race]] = {}  # by the id of the statements
        self.of_team = teams(self)
        self._under_way: set[int] = set()  # the `id` of directives
        self._kept: list[Node] = []  # whose ids may be remembered

    def begins(self, node: Node) -> bool:
        """Whether ``node`` stands under directives; then it is compiled with them. Also says which races it has."""
        pragmas = [each for each in self.context.token(node).parts if id(each) not in self._under_way]
        if not pragmas:
            if (compile := self.of_team.guarded.pop(id(node), None)) is not None:
                compile(node)
                return True
            for race in self.races.get(id(node), ()):
                self._tell(race)
            return False
        found = {id(each) for each in pragmas}
        self.context.pragmas |= found
        self._under_way |= found
        self._under([read(each) for each in pragmas], node)
        self._under_way -= found  # what is in an expression may be compiled once more, for its type
        return True

    def _under(self, directives: Sequence[Directive], node: Node) -> None:
        if not directives:
            self.statement(node)
            return
        first, *rest = directives
        self._check_nesting(first)
        if first.takes_statement:
            self._construct(first, rest, node)
        else:
            if first.name in ("barrier", "taskwait") and self.in_team:
                self.of_team.barrier(first)
            if first.name == "threadprivate":
                self.context.threadprivate.update(each.text for each in first.list)
            self._under(rest, node)

    @property
    def in_team(self) -> bool:
        """Whether the threads that come here are processes, if there are any."""
        return self.context.has_teams and len(self.teams) == self.of_team.open

    def closes(self, node: Node) -> None:
        """Compile the directives that stand at the end of the block ``node``."""
        for each in map(read, self.context.tokens[node.last].parts if self.in_team else ()):
            if each.name in ("barrier", "taskwait"):
                self._check_nesting(each)
                self.of_team.barrier(each)

    def _construct(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None:
        forks = "parallel" in directive.leaves
        of_threads = self.teams or not directive.leaves & TASKS or communicates(self.context, node)
        if self.in_team and (is_team(self.context, node) if forks else of_threads):
            self.of_team.construct(directive, rest, node)
            return
        loop = self._checked(directive, rest, node)
        start, parallel = len(self.emitter.code), "parallel" in directive.leaves
        races = dict(self.races)
        with self.emitter.block(node) as around, self._inside(directive, around if parallel else None):
            with self._at(directive.pragma.span):
                inner = self._share(directive, loop, node, around)
            unchecked = self._look_for_races(directive, rest, loop, node)
            if not rest and node.type != "compound_statement":
                with self.emitter.block(node):
                    self._under(rest, node)
            else:
                self._under(rest, node)
            with self._at(directive.pragma.span):
                for give_back in inner:
                    give_back()
        self.races = races
        lines = sorted({self.context.span(each).line for each in unchecked})
        one = directive.has("num_threads") and (directive.number("num_threads") or 1) == 1
        several = parallel and not directive.has("if") and not one
        self.emitter.regions.append(
            Region(start, len(self.emitter.code), directive.name, directive.pragma.span, parallel, several,
                   tuple(lines))
        )  # fmt: skip

    @contextmanager
    def _inside(self, directive: Directive, team: Scope | None) -> Iterator[None]:
        self.open.append(directive)
        if team is not None:
            self.teams.append(team)
        try:
            yield
        finally:
            self.open.pop()
            if team is not None:
                self.teams.pop()

    @contextmanager
    def _at(self, span: Span) -> Iterator[None]:
        before, self.emitter.span = self.emitter.span, span
        try:
            yield
        finally:
            self.emitter.span = before

    # What is not allowed

    def _check_nesting(self, directive: Directive) -> None:
        inner = self.open[-1] if self.open else None
        if directive.name == "section":
            if inner is None or "sections" not in inner.leaves:
                raise self._wrong(directive, "a `section` stands in `sections`")
            return
        leaves = directive.leaves
        if "parallel" in leaves or not leaves & {"barrier", "for", "sections", "single"}:
            return
        for each in reversed(self.open):
            if each.leaves & _ONE_TEAM or each.name == "section":
                what = f"`{directive.shown}` stands in the region of `{each.shown}` in line {each.pragma.span.line}"
                raise self._wrong(directive, f"{what}, to which not all threads of the team come")
            if "parallel" in each.leaves:
                return

    def _wrong(self, directive: Directive, message: str, hint: str = "") -> Exception:
        return error("PG110", message, directive.pragma, hint)

    def _checked(self, directive: Directive, rest: Sequence[Directive], node: Node) -> CanonicalLoop | None:
        """The loop that ``directive`` is for, if it is for one; an error where ``node`` is nothing for it."""
        self._check_jumps(directive, node)
        if "atomic" in directive.leaves and node.type not in (
            "expression_statement", "compound_statement", "if_statement",
        ):  # fmt: skip
            raise self._wrong(directive, f"behind `{directive.shown}` stands an assignment")
        if "sections" in directive.leaves and (rest or node.type != "compound_statement"):
            raise self._wrong(directive, f"behind `{directive.shown}` stands a block, with a `section` in it for each")
        if not directive.leaves & LOOPS:
            return None
        loop = None if rest else canonical(self.context, node)
        if loop is None:
            message = f"behind `{directive.shown}` stands a loop like `for (i = a; i < b; i += c)`"
            raise self._wrong(directive, message, "write the loop so, with one variable that it alone changes")
        return loop

    def _check_jumps(self, directive: Directive, node: Node) -> None:
        """No jump leaves the region (OpenMP 5.2, 1.2.2: structured blocks)."""
        labels = {self.context.word(each["label"]) for each in nodes_in(node) if each.type == "labeled_statement"}
        loop = bool(directive.leaves & LOOPS)
        pending = [(node, not loop, True)]
        while pending:
            each, breaks, continues = pending.pop()
            inner = each.type in ("while_statement", "do_statement", "for_statement")
            leaves = (
                each.type == "return_statement"
                or (each.type == "break_statement" and breaks)
                or (each.type == "continue_statement" and continues)
                or (each.type == "goto_statement" and self.context.word(each["label"]) not in labels)
            )
            if leaves:
                word = self.context.word(each)
                message = f"this `{word}` leaves the region of `{directive.shown}` in line {directive.pragma.span.line}"
                raise self.context.error("PG110", message, each, "a region is left at its end")
            if inner and not (loop and each is node):
                breaks = continues = False
            elif inner:
                breaks, continues = True, False
            elif each.type == "switch_statement":
                breaks = False
            pending.extend((child, breaks, continues) for child in each.children)

    # Variables

    def _share(
        self, directive: Directive, loop: CanonicalLoop | None, node: Node, around: Scope
    ) -> list[Callable[[], None]]:
        """Declare what is another variable inside; what is to be done at the end."""
        given_back: list[Callable[[], None]] = []
        own = directive.variables("private", "lastprivate")
        copied = directive.variables("firstprivate")
        for token in directive.variables("shared", "copyin", "copyprivate", "linear", "aligned").values():
            self._type_of(token, around)
        listed = directive.variables("private", "lastprivate", "firstprivate", "shared", "linear", "reduction")
        if loop is not None and "simd" not in directive.leaves:
            depth = directive.number("collapse") or 1
            for each in self._nest(loop, depth):
                if not each.declared and each.name not in listed:
                    own[each.name] = self.context.token(each.variable)
        if directive.leaves & {"task", "taskloop"} and not directive.has("default"):
            copied |= {name: token for name, token in self._own_of_task(node).items() if name not in listed | own}
        for token in {**own, **copied}.values():
            self._declare(token, around, copies=token.text in copied)
        for token in () if self.in_team else directive.variables("lastprivate").values():
            given_back.append(partial(self._give, token, around, ""))
        for clause in directive.all("reduction"):
            for token in clause.variables:
                type = self._type_of(token, around)
                if token.text in clause.parts or isinstance(type, Array):
                    continue
                number = _FIRST.get(clause.operator)
                if number is None and self.in_team:
                    number = self._first_of_team(clause.operator, type)
                identifier = self._declare(token, around, copies=number is None)
                if number is not None:
                    first = self.expressions.conversions.convert(constant(number), type, identifier)
                    self.operations.assign(self.expressions.places.of(identifier), first, identifier)
                sign = clause.operator.replace("-", "+")
                given_back.append(partial(self._give, token, around, sign))
        return given_back

    def _first_of_team(self, operator: str, type: CType) -> int | None:
        """What the private copy of a reduction begins with where others may have set the variable outside already."""
        if operator in ("&&", "||"):
            return int(operator == "&&")
        if not isinstance(type, Integer):
            return None
        bits = type.type.bits - type.type.signed
        lowest, highest = -(1 << bits) if type.type.signed else 0, (1 << bits) - 1
        return highest if operator == "min" else lowest

    def _nest(self, loop: CanonicalLoop, depth: int) -> Iterator[CanonicalLoop]:
        """``loop`` and those in it, as many as ``depth`` says (OpenMP 5.2, 4.4.3)."""
        yield loop
        for _ in range(depth - 1):
            body = loop.node["body"]
            while body.type == "compound_statement" and len(body.children) == 1:
                body = body.children[0]
            inner = canonical(self.context, body)
            if inner is None:
                raise self.context.error("PG110", f"`collapse({depth})` needs {depth} loops in each other", loop.node)
            yield (loop := inner)

    def _own_of_task(self, node: Node) -> dict[str, Token]:
        """The variables that the task ``node`` sets and that are its own without a clause (OpenMP 5.2, 5.1.1)."""
        found: dict[str, Token] = {}
        for each in nodes_in(node):
            if each.type in ("assignment_expression", "update_expression"):
                target = each.get("left") or each["argument"]
                while target.type in ("subscript_expression", "parenthesized_expression"):
                    target = target.children[0]
                name = self.context.word(target)
                symbol = self.emitter.scope.find(name)
                whole = target is (each.get("left") or each.get("argument"))
                known = isinstance(symbol, SlotVariable | LocalVariable) and (whole or isinstance(symbol.type, Array))
                if target.type == "identifier" and known and not self._is_shared(name):
                    found[name] = self.context.token(target)
        return found

    def _is_shared(self, name: str) -> bool:
        """Whether the threads of the innermost team have one variable ``name``."""
        scope = next((each for each in self.emitter.scope.outwards() if name in each.names), None)
        if scope is None or name in self.context.threadprivate:
            return False
        for each in reversed(self.open):
            if name in each.variables("reduction", "linear"):
                return False
            if "parallel" in each.leaves:
                break
        symbol = scope.names[name]
        if isinstance(symbol, GlobalVariable):
            return True
        if not isinstance(symbol, SlotVariable | LocalVariable | SizedVariable):
            return False
        return bool(self.teams) and scope in [*self.teams[-1].outwards()]

    def _identifier(self, token: Token) -> Node:
        self.context.tokens.append(replace(token, parts=()))
        self._kept.append(Node("identifier", len(self.context.tokens) - 1, len(self.context.tokens) - 1))
        return self._kept[-1]

    def _type_of(self, token: Token, around: Scope) -> CType:
        symbol = around.find(token.text) or self.context.variable(token.text)
        if symbol is None:
            raise self.context.unknown("variable", self._identifier(token), around)
        if isinstance(symbol, SizedVariable):
            hint = "declare another one inside, or give it a constant length"
            raise error("PG104", f"`{token.text}` has a length that is no constant, and cannot be listed", token, hint)
        if not isinstance(symbol, SlotVariable | LocalVariable | GlobalVariable):
            raise error("PG110", f"`{token.text}` is no variable", token)
        return self.context.complete(symbol.type)

    def _place(self, identifier: Node, around: Scope) -> Place:
        """The variable that ``identifier`` names outside."""
        inside, self.emitter.scope = self.emitter.scope, around
        try:
            return self.expressions.places.of(identifier)
        finally:
            self.emitter.scope = inside

    def _declare(self, token: Token, around: Scope, *, copies: bool = False) -> Node:
        type, identifier = self._type_of(token, around), self._identifier(token)
        outside = self._place(identifier, around)
        self.declarations.another(identifier, type)
        if copies:
            self._assign(self.expressions.places.of(identifier), outside, identifier)
        return identifier

    def _assign(self, to: Place, of: Place, node: Node) -> None:
        if isinstance(to.type, Array):
            assert isinstance(to, MemoryPlace) and isinstance(of, MemoryPlace)
            self.emitter.emit(Copy(self.operations.pointer_to(to), self.operations.pointer_to(of), to.type))
        else:
            self.operations.assign(to, self.operations.load(of, node), node)

    def _give(self, token: Token, around: Scope, sign: str) -> None:
        """The variable outside gets the value inside, or is combined with it."""
        identifier = self._identifier(token)
        outside, inside = self._place(identifier, around), self.expressions.places.of(identifier)
        if not sign:
            self._assign(outside, inside, identifier)
            return
        left, right = self.operations.load(outside, identifier), self.operations.load(inside, identifier)
        if sign in ("min", "max"):
            yes, end = self.emitter.new_labels(2)
            better = self.operations.binary("<" if sign == "min" else ">", right, left, identifier)
            self.emitter.emit(Branch(self.emitter.slot_of(better), yes, end))
            self.emitter.place(yes)
            self.operations.assign(outside, right, identifier)
            self.emitter.place(end)
            self.emitter.join()
            return
        if sign in ("&&", "||"):
            left, right = map(self.expressions.conversions.truth, (left, right))
            sign = sign[0]
        self.operations.assign(outside, self.operations.binary(sign, left, right, identifier), identifier)

    # Races

    def _look_for_races(
        self, directive: Directive, rest: Sequence[Directive], loop: CanonicalLoop | None, node: Node
    ) -> list[Node]:
        """Note the races of the region by their statements; the accesses that cannot be checked."""
        leaves = directive.leaves
        for_team = leaves & {"for", "sections", "taskloop"} or leaves == {"parallel"}
        chunk = next((each.text.partition(",")[2].strip() for each in directive.all("schedule")), "")
        alone = directive.number("num_threads") == 1
        if not for_team or alone:
            return [node] if leaves == {"task"} else []
        body = node["body"] if loop is not None else node
        if loop is not None:
            rest = [read(each) for each in self.context.token(body).parts]
        accesses = Accesses(self.context, body, self._is_shared, self._is_pointer, self.emitter.scope.find, rest)
        unsure = any(directive.all("if", "final", "grainsize", "num_tasks"))
        if (
            unsure
            or chunk not in ("", "1")
            or (directive.has("num_threads") and directive.number("num_threads") is None)
        ):
            return [each.node for each in accesses.found if each.writes]
        races, unchecked = Races(self.context, directive, accesses, loop).found()
        for race in races:
            place = id(race.access.statement)
            self.races[place] = [*self.races.get(place, ()), race]
        return unchecked

    def _is_pointer(self, name: str) -> bool:
        return isinstance(getattr(self.emitter.scope.find(name), "type", None), Pointer | Array)

    def _tell(self, race: Race) -> None:
        with self.emitter.at(race.access.node):
            allowed = constant(0)
            if race.loop is not None:
                near = [self._in_range(race.loop, shift) for shift in race.shifts]
                some = near[0] if len(near) == 1 else self._binary("|", *near)
                allowed = self._binary("==", some, constant(0))
            slot = self.emitter.slot_of(allowed)
            self.emitter.emit(Call(None, RACE, (slot,), (INT,), VOID, (race.sentence, race.remedy)))

    def _in_range(self, loop: CanonicalLoop, shift: int) -> Operand:
        """Whether there is an iteration ``shift`` away from this one."""
        value = self.expressions.integer
        moved = self._binary("+", value(loop.variable), constant(shift, LONG))
        up = loop.step is not None and loop.step > 0
        relation = loop.relation if loop.relation != "!=" else "<" if up else ">"
        before = self._binary(relation, moved, value(loop.upper))
        return self._binary("&", before, self._binary(">=" if up else "<=", moved, value(loop.lower)))

    def _binary(self, sign: str, left: Operand, right: Operand) -> Operand:
        node = self._kept[-1] if self._kept else Node("identifier", 0, 0)
        convert = self.expressions.conversions.convert
        if isinstance(left.type, Integer) and isinstance(right.type, Integer):
            left, right = convert(left, LONG, node), convert(right, LONG, node)
        return self.operations.binary(sign, left, right, node)


def check_pragmas(tokens: Sequence[Token], compiled: set[int]) -> None:
    """Raises `SourceError` for a directive before one of these ``tokens`` that no statement belongs to."""
    for token in tokens:
        for pragma in token.parts:
            if id(pragma) not in compiled:
                found = read(pragma)
                if found.name not in STANDALONE or token.text != "}":
                    raise error("PG110", f"`{found.shown}` stands before no statement", pragma)


def declared_outside(tokens: Sequence[Token], threadprivate: set[str]) -> None:
    """Read the directives outside of functions, before one of these ``tokens``."""
    for token in tokens:
        for pragma in token.parts:
            found = read(pragma)
            if found.name not in DECLARATIVE:
                raise error("PG110", f"`{found.shown}` stands outside of functions", pragma)
            threadprivate.update(each.text for each in found.list)
