"""Compiles what stands under directives of OpenMP where the threads of a team are processes of their own: in regions in
which a rank communicates, and in functions that these may call.

Every thread executes the code of the region. What the specification shares out among them is guarded by calls of
functions whose names begin with `__omp_`, which know the thread (`libc/team_calls.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pgasrob.frontends.c.code import Branch, Call, Region, Set, Slot
from pgasrob.frontends.c.compiler.canonical_loops import CanonicalLoop
from pgasrob.frontends.c.compiler.operands import MemoryPlace, Operand, constant
from pgasrob.frontends.c.compiler.scopes import LocalVariable, SlotVariable
from pgasrob.frontends.c.openmp import TASKS, Directive
from pgasrob.frontends.c.syntax_tree import Node, expression
from pgasrob.frontends.c.tokens import Token, error
from pgasrob.frontends.c.types import INT, LONG, VOID, Array, CType, Integer, Pointer, Struct
from pgasrob.frontends.c.values import Known

if TYPE_CHECKING:
    from pgasrob.frontends.c.compiler.scopes import Scope
    from pgasrob.frontends.c.compiler.thread_regions import Regions

TEAM_CLAUSES = {
    "copyin": "give the variable to the region by `firstprivate`",
    "linear": "compute the variable from that of the loop",
    "ordered": "order the iterations by their numbers, or give the loop to one thread",
    "copyprivate": "store the value in a shared variable",
}
"""Clauses that are not supported where the threads of a team are processes, and what to do instead."""
_COMPOUND = {"+=": "add_fetch", "-=": "sub_fetch", "&=": "and_fetch", "|=": "or_fetch", "^=": "xor_fetch"}


class Teams:
    """Compiles the directives of one function for teams whose threads are processes, with what ``regions`` has for
    all directives."""

    def __init__(self, regions: Regions) -> None:
        self.regions = regions
        self.context = regions.context
        self.emitter = regions.emitter
        self.guarded: dict[int, Callable[[Node], None]] = {}
        """By the `id` of statements that only some threads execute: what compiles them."""
        self.open = 0
        """How many regions of teams are open: 1 in one."""
        self._sections: list[Callable[[Node], None]] = []
        self._last: Slot | None = None
        """Whether the thread has executed the last iteration or section, where that has to be known."""

    # Regions

    def _parallel(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None:
        loop = self.regions._checked(directive, rest, node)
        self._check_clauses(directive)
        for each in self._tokens(node):  # what threads share is in memory: `shared_names` finds it
            if each.kind == "name" and isinstance(self.emitter.scope.find(each.text), SlotVariable):
                raise error("PG104", f"`{each.text}` cannot be shared by threads that communicate", each)
        start, before = len(self.emitter.code), {*self.emitter.objects, *self.emitter.sized}
        with self.regions._at(directive.pragma.span):
            several = next((each.given for each in directive.all("if")), ())
            wanted = self._truth(several) if several else self._constant(1)
            self._call("fork", (self._threads(directive), wanted), text=directive.shown)
        with self.emitter.block(node) as around, self.regions._inside(directive, around):
            self._shared(directive, loop, rest, node, around)
        own = frozenset({*self.emitter.objects, *self.emitter.sized} - before)
        with self.regions._at(directive.pragma.span):
            self._call("join")
        self.emitter.regions.append(
            Region(start, len(self.emitter.code), directive.name, directive.pragma.span, False, True, (), own)
        )

    def construct(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None:
        """A construct in a team, or in a function that a team may call; or the region of a team."""
        if "parallel" in directive.leaves:
            self.open += 1
            self._parallel(directive, rest, node)
            self.open -= 1
            return
        if directive.name == "task":
            self._task(directive, rest, node)
            return
        if directive.leaves & TASKS:
            raise self._refused(directive, f"`{directive.name}`", "make each task by `task`, and wait by `taskwait`")
        if directive.leaves & {"ordered"}:
            raise self._refused(directive, "`ordered`", TEAM_CLAUSES["ordered"])
        if "atomic" in directive.leaves:
            self._atomic(directive, rest, node)
            return
        loop = self.regions._checked(directive, rest, node)
        self._check_clauses(directive)
        if directive.name == "section":
            self._sections[-1](node)
            return
        with self.emitter.block(node) as around, self.regions._inside(directive, None):
            self._shared(directive, loop, rest, node, around)
        if directive.leaves & {"for", "sections", "single"} and not directive.has("nowait"):
            self.barrier(directive)

    def barrier(self, directive: Directive) -> None:
        """A barrier, or a `taskwait`."""
        with self.regions._at(directive.pragma.span):
            self._call("barrier" if directive.name != "taskwait" else "taskwait")

    def _task(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None:
        """A thread of its own executes the task, with values of when it is created."""
        self.regions._checked(directive, rest, node)
        given, scope = self._given_to_task(directive, node), self.emitter.scope
        start, before = len(self.emitter.code), {*self.emitter.objects, *self.emitter.sized}
        with self.regions._at(directive.pragma.span):
            places = [self.regions._place(self.regions._identifier(token), scope) for token in given]
            values = [self.emitter.slot_of(self.regions.operations.load(each, node)) for each in places]
            condition = next((each.given for each in directive.all("if")), ())
            wanted = self._truth(condition) if condition else self._constant(1)
            mine = self._call("task", (wanted, *values), INT, directive.shown)
        with self._only_if(mine):
            with self.emitter.block(node) as around, self.regions._inside(directive, None):
                with self.regions._at(directive.pragma.span):
                    for token in directive.variables("private").values():
                        self.regions._declare(token, around)
                    for token, value in zip(given, values, strict=True):
                        identifier = self.regions._declare(token, around)
                        type = self.regions._type_of(token, around)
                        place = self.regions.expressions.places.of(identifier)
                        self.regions.operations.assign(place, Operand(type, value), identifier)
                self._inner(rest, node)
            own = frozenset({*self.emitter.objects, *self.emitter.sized} - before)
            with self.regions._at(directive.pragma.span):
                self._call("task_end")
        self.emitter.regions.append(
            Region(start, len(self.emitter.code), directive.name, directive.pragma.span, False, True, (), own)
        )

    def _given_to_task(self, directive: Directive, node: Node) -> list[Token]:
        """The variables that a task gets copies of: those of a clause, and those that the threads of a team have each
        for itself (OpenMP 5.2, 5.1.1)."""
        found = directive.variables("firstprivate")
        listed = directive.variables("private", "shared", "firstprivate")
        for token in self._tokens(node):
            symbol = self.emitter.scope.find(token.text) if token.kind == "name" else None
            known = isinstance(symbol, SlotVariable | LocalVariable) and token.text not in listed
            if known and not self.regions._is_shared(token.text):
                found.setdefault(token.text, token)
        for name, token in directive.variables("shared").items():
            if not self.regions._is_shared(name):
                raise error("PG104", f"`{name}`, which a thread of the team has for itself, cannot be shared", token,
                            "declare it outside of the region of the team")  # fmt: skip
        for name, token in found.items():
            if isinstance(self.regions._type_of(token, self.emitter.scope), Array | Struct):
                raise error("PG104", f"`{name}` is copied for a task, which is not supported where threads communicate",
                            token, "declare it in the task, or outside of the region of the team")  # fmt: skip
        return [*found.values()]

    def _shared(
        self, directive: Directive, loop: CanonicalLoop | None, rest: Sequence[Directive], node: Node, around: Scope
    ) -> None:
        with self.regions._at(directive.pragma.span):
            given_back = self.regions._share(directive, loop, node, around)
            last = self._last = self.emitter.new_slot(LONG) if directive.has("lastprivate") else None
            if last is not None:
                self.emitter.emit(Set(last, Known(0), LONG))
        self._work(directive, loop, rest, node)
        if last is not None:
            with self.regions._at(directive.pragma.span), self._only_if(last):
                for token in directive.variables("lastprivate").values():
                    self.regions._give(token, around, "")
        if given_back:
            with self.regions._at(directive.pragma.span), self._locked("reduction"):
                for give in given_back:
                    give()

    def _work(self, directive: Directive, loop: CanonicalLoop | None, rest: Sequence[Directive], node: Node) -> None:
        leaves, place = directive.leaves, self._place_of(directive)
        with self.regions._at(directive.pragma.span):
            if "critical" in leaves:
                name = next((each.text for each in directive.list), "")
                self._call("lock", text=f"critical {name}".strip())
            guard: Slot | None = None
            if leaves & {"master", "masked"}:
                guard = self._call("masked", (self._filter(directive),), INT)
            elif "single" in leaves:
                guard = self._call("single", text=place + (" nowait" if directive.has("nowait") else ""), result=INT)
        if loop is not None and "for" in leaves:
            self._loop(directive, loop, node)
        elif "sections" in leaves:
            self._all_sections(directive, rest, node)
        elif guard is not None:
            with self._only_if(guard):
                self._inner(rest, node)
                if "single" in leaves:
                    with self.regions._at(directive.pragma.span):
                        if not directive.has("nowait"):
                            self._call("taskwait")  # what its tasks change is a change of the block for all
                        self._call("single_done", text=place)
            if "single" in leaves:
                with self.regions._at(directive.pragma.span):
                    self._call("single_end", text=place)
        else:
            self._inner(rest, node)
        if "critical" in leaves:
            with self.regions._at(directive.pragma.span):
                name = next((each.text for each in directive.list), "")
                self._call("unlock", text=f"critical {name}".strip())

    def _inner(self, rest: Sequence[Directive], node: Node) -> None:
        if not rest and node.type != "compound_statement":
            with self.emitter.block(node):
                self.regions._under(rest, node)
        else:
            self.regions._under(rest, node)

    # Loops and sections

    def _loop(self, directive: Directive, loop: CanonicalLoop, node: Node) -> None:
        """Every thread goes through all iterations, and executes the body in those that are its own."""
        (kind, chunk), last_one = self._schedule(directive), self._last
        with self.regions._at(directive.pragma.span):
            number = self.emitter.new_slot(LONG)
            self.emitter.emit(Set(number, Known(0), LONG))
            nest = [*self.regions._nest(loop, directive.number("collapse") or 1)]
            shared = kind == "guided" or (kind == "static" and not chunk) or last_one is not None
            total = self.emitter.slot_of(self._iterations(nest)) if shared else None
            claims = None if kind == "static" else _Claims(self, directive, total if kind == "guided" else None)

        def guarded(body: Node) -> None:
            with self.regions._at(directive.pragma.span):
                last = None
                if claims is None:
                    given = number if total is None else total
                    own = self._call("own", (number, given, self._constant(chunk)), INT)
                else:
                    own, last = claims.own(number, chunk)
                self.emitter.move(number, self._sum(number, 1))
            with self._only_if(own):
                if last_one is not None and total is not None:
                    with self.regions._at(directive.pragma.span):
                        is_last = self.regions._binary("==", Operand(LONG, number), Operand(LONG, total))
                        self.emitter.move(last_one, self.regions._binary("+", is_last, constant(0, LONG)))
                if claims is None or last is None:
                    self.regions.statement(body)
                else:
                    claims.use(number, last, body)

        self.guarded[id(nest[-1].node["body"])] = guarded
        self.regions.statement(node)
        if claims is not None:
            with self.regions._at(directive.pragma.span):
                claims.end()

    def _schedule(self, directive: Directive) -> tuple[str, int]:
        text = next((each.text for each in directive.all("schedule")), "static")
        kind, _, chunk = (each.strip() for each in text.rpartition(":")[2].partition(","))
        if kind not in ("static", "dynamic", "guided") or (chunk and not (chunk.isdecimal() and int(chunk))):
            raise self._refused(directive, f"`schedule({text})`", "use `static`, `dynamic` or `guided`, with a number")
        return kind, int(chunk or (0 if kind == "static" else 1))

    def _iterations(self, nest: Sequence[CanonicalLoop]) -> Operand:
        """How many there are of all loops of ``nest`` together (OpenMP 5.2, 4.4.2)."""
        total = constant(1, LONG)
        for place, loop in enumerate(nest):
            bounds = {each.text for of in (loop.lower, loop.upper) for each in self._tokens(of)}
            if bounds & {each.name for each in nest[:place]}:
                message = "the bounds of this loop depend on the loop around it"
                raise self.context.error("PG104", message, loop.node, "write `schedule(static, 1)`")
            total = self.regions._binary("*", total, self._iterations_of(loop))
        return total

    def _tokens(self, node: Node) -> Sequence[Token]:
        return self.context.tokens[node.first : node.last + 1]

    def _iterations_of(self, loop: CanonicalLoop) -> Operand:
        lower, upper = (self.regions.expressions.integer(each) for each in (loop.lower, loop.upper))
        if loop.step is None:
            message = "the step of this loop, which threads share, is no plain number"
            raise self.context.error("PG104", message, loop.node, "write `schedule(static, 1)`")
        first, last = (lower, upper) if loop.step > 0 else (upper, lower)
        size = abs(loop.step)
        more = size if loop.relation in ("<=", ">=") else size - 1
        binary = self.regions._binary
        return binary("/", binary("+", binary("-", last, first), constant(more, LONG)), constant(size, LONG))

    def _all_sections(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None:
        last_one = self._last
        with self.regions._at(directive.pragma.span):
            claims, number = _Claims(self, directive), self.emitter.new_slot(LONG)
            self.emitter.emit(Set(number, Known(0), LONG))

        def section(body: Node) -> None:
            with self.regions._at(directive.pragma.span):
                own, last = claims.own(number, 1)
                self.emitter.move(number, self._sum(number, 1))
                if last_one is not None:  # unless there is a later one
                    self.emitter.emit(Set(last_one, Known(0), LONG))
            with self._only_if(own):
                if last_one is not None:
                    self.emitter.emit(Set(last_one, Known(1), LONG))
                claims.use(number, last, body)

        self._sections.append(section)
        if node.children and not any(each.parts[:1] and each.parts[0].text == "section"
                                     for each in self.context.token(node.children[0]).parts):  # fmt: skip
            self.guarded[id(node.children[0])] = section
        self._inner(rest, node)
        self._sections.pop()
        with self.regions._at(directive.pragma.span):
            claims.end()

    # Atomics

    def _atomic(self, directive: Directive, rest: Sequence[Directive], node: Node) -> None:
        """One event where it is a load, a store or an update of an integer; those of floating-point numbers, as all
        accesses to them that are atomic, have a lock."""
        found = self._form(node, reads=directive.has("read"))
        if found is None:
            hint = "write `x = e`, `v = x`, `x++`, `x += e` or the like, or use `critical`"
            raise self._refused(directive, "this form of `atomic`", hint)
        kind, place, operand, to = found
        type = self.regions.expressions.type_of_place(place)
        if not isinstance(type, Integer):
            with self._locked("atomic"):
                self._inner(rest, node)
            return
        with self.emitter.at(node.children[0]):
            memory = self.regions.expressions.places.of(place)
            if not isinstance(memory, MemoryPlace):
                self._inner(rest, node)  # a variable of the thread's own
                return
            pointer = self.regions.operations.pointer_to(memory)
            given: list[tuple[Slot, CType]] = [(pointer, Pointer(type))]
            if operand is not None:
                value = self.regions.expressions.value(operand) if isinstance(operand, Node) else constant(operand)
                converted = self.regions.expressions.conversions.convert(value, type, node)
                given.append((self.emitter.slot_of(converted), type))
            result = None if kind == "store_n" else self.emitter.new_slot(type)
            slots, types = zip(*given, strict=True)
            name = f"__atomic_{kind}" if kind.endswith("_n") else f"__sync_{kind}"
            text = self.context.text(place)
            self.emitter.emit(Call(result, name, slots, types, VOID if result is None else type, (f"&{text}",)))
            if to is not None and result is not None:
                self.regions.operations.assign(self.regions.expressions.places.of(to), Operand(type, result), node)

    def _form(self, node: Node, *, reads: bool) -> tuple[str, Node, Node | int | None, Node | None] | None:
        """What an atomic statement does, where, with what, and where the value goes to."""
        if node.type == "compound_statement" and len(node.children) == 1:
            node = node.children[0]
        if node.type != "expression_statement" or not node.children:
            return None
        each = self.context.inside(node.children[0])
        if each.type == "update_expression":
            return self._update(each, None)
        if each.type != "assignment_expression":
            return None
        if (sign := each["operator"].type) != "=":
            return (_COMPOUND[sign], each["left"], each["right"], None) if sign in _COMPOUND else None
        right = self.context.inside(each["right"])
        if self._is_capture(right):
            return self._update(right, each["left"])
        name = self.context.text(each["left"])
        if right.type == "binary_expression" and self.context.text(right["left"]) == name:
            found = _COMPOUND.get(f"{right['operator'].type}=")
            return None if found is None else (found, each["left"], right["right"], None)
        if reads:
            return "load_n", right, None, each["left"]
        words = {each.text for each in self._tokens(right)}
        return None if self.context.word(each["left"]) in words else ("store_n", each["left"], right, None)

    def _is_capture(self, node: Node) -> bool:
        return node.type == "update_expression" or (
            node.type == "assignment_expression" and node["operator"].type in _COMPOUND
        )

    def _update(self, node: Node, to: Node | None) -> tuple[str, Node, Node | int | None, Node | None]:
        if node.type == "assignment_expression":
            return _COMPOUND[node["operator"].type], node["left"], node["right"], to
        kind = "add" if node["operator"].type == "++" else "sub"
        before = node["operator"].first > node["argument"].first
        return f"fetch_and_{kind}" if before else f"{kind}_and_fetch", node["argument"], 1, to

    # Parts

    def _check_clauses(self, directive: Directive) -> None:
        for name, hint in TEAM_CLAUSES.items():
            if directive.has(name):
                raise self._refused(directive, f"the clause `{name}`", hint)

    def _refused(self, directive: Directive, what: str, hint: str) -> Exception:
        message = f"{what} in `{directive.shown}` is not supported where threads communicate"
        return error("PG104", message, directive.pragma, hint)

    def _threads(self, directive: Directive) -> Slot:
        """The number in the clause, 0 where there is none."""
        clause = next(directive.all("num_threads"), None)
        if clause is None:
            return self._constant(0)
        return self.emitter.slot_of(self.regions.expressions.integer(self._expression(clause.given)))

    def _expression(self, given: Sequence[Token]) -> Node:
        """The tree of an expression in a clause."""
        node, tokens = expression(given, given[0].source, len(self.context.tokens))
        self.context.tokens += tokens
        self.regions._kept.append(node)
        return node

    def _truth(self, given: Sequence[Token]) -> Slot:
        expressions = self.regions.expressions
        return self.emitter.slot_of(expressions.conversions.truth(expressions.value(self._expression(given))))

    def _filter(self, directive: Directive) -> Slot:
        text = next((each.text for each in directive.all("filter")), "0")
        if not text.isdecimal():
            raise self._refused(directive, f"`filter({text})`", "write a number")
        return self._constant(int(text))

    def _place_of(self, directive: Directive) -> str:
        span = directive.pragma.span
        return f"{span.line}.{span.column}"

    def _constant(self, number: int) -> Slot:
        return self.emitter.slot_of(constant(number, LONG))

    def _sum(self, slot: Slot, more: int) -> Operand:
        return self.regions._binary("+", Operand(LONG, slot), constant(more, LONG))

    def _call(self, name: str, slots: Sequence[Slot] = (), result: CType = VOID, text: str = "") -> Slot:
        """A call of `__omp_` and ``name``; the slot of its result, if it has one."""
        target = None if result is VOID else self.emitter.new_slot(result)
        types = tuple(self.emitter.slots[each].type for each in slots)
        self.emitter.emit(Call(target, f"__omp_{name}", tuple(slots), types, result, (text,) if text else ()))
        return -1 if target is None else target

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        self._call("lock", text=name)
        yield
        self._call("unlock", text=name)

    @contextmanager
    def _only_if(self, condition: Slot) -> Iterator[None]:
        yes, end = self.emitter.new_labels(2)
        self.emitter.emit(Branch(condition, yes, end))
        self.emitter.place(yes)
        yield
        self.emitter.place(end)
        self.emitter.join()


class _Claims:
    """Threads claim pieces of work, one after the other, when they come to one that may be theirs."""

    def __init__(self, teams: Teams, directive: Directive, total: Slot | None = None) -> None:
        """``total``: how many pieces there are, where fewer are claimed at once the fewer are left."""
        self.teams, self.total = teams, total
        self.place = teams._place_of(directive) + (" nowait" if directive.has("nowait") else "")
        self.claimed, self.has = (teams.emitter.new_slot(LONG) for _ in range(2))
        teams.emitter.emit(Set(self.claimed, Known(0), LONG))
        teams.emitter.emit(Set(self.has, Known(0), LONG))

    def own(self, number: Slot, chunk: int) -> tuple[Slot, Slot]:
        """Whether piece ``number``, one of ``chunk`` that are claimed at once, is this thread's; and whether it is the
        last one of these."""
        teams, emitter = self.teams, self.teams.emitter
        claim, end = emitter.new_labels(2)
        emitter.emit(Branch(self.has, end, claim))
        emitter.place(claim)
        emitter.move(self.claimed, Operand(LONG, teams._call("claim", result=LONG, text=self.place)))
        emitter.emit(Set(self.has, Known(1), LONG))
        emitter.place(end)
        emitter.join()
        binary, value = teams.regions._binary, Operand(LONG, number)
        if self.total is not None:
            given = number, self.total, teams._constant(chunk)
            claim, last = (teams._call("guided", given, INT, text=each) for each in ("", "last"))
            return emitter.slot_of(binary("==", Operand(INT, claim), Operand(LONG, self.claimed))), last
        own = emitter.slot_of(binary("==", binary("/", value, constant(chunk, LONG)), Operand(LONG, self.claimed)))
        last = emitter.slot_of(
            binary("==", binary("%", value, constant(chunk, LONG)), constant(chunk - 1, LONG))
        )  # fmt: skip
        return own, last

    def use(self, after: Slot, last: Slot, body: Node) -> None:
        """This thread executes ``body``, the piece before the one with the number ``after``; it may be the ``last`` one
        of a claim."""
        with self.teams._only_if(last):
            self.teams.emitter.emit(Set(self.has, Known(0), LONG))
        number = self.teams.emitter.slot_of(self.teams._sum(after, -1))
        self.teams._call("piece", (number,), text=self.place)
        self.teams.regions.statement(body)
        self.teams._call("piece_done", (number,), text=self.place)

    def end(self) -> None:
        self.teams._call("claimed", text=self.place)


__all__ = ["Teams"]
