"""What threads access in a region of OpenMP: the shared variables and elements that the text names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pgasrob.frontends.c.compiler.canonical_loops import CanonicalLoop, canonical
from pgasrob.frontends.c.compiler.scopes import Constant, Context
from pgasrob.frontends.c.openmp import LOOPS, Directive, directive
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.stop_points import stop_point

Polynomial = dict[tuple[str, ...], int]
"""From products of names to their factors; () is the constant."""
Part = str | Node
"""Of a path: a member, or an index."""
SYNCHRONISES = re.compile(r"(^|_)(un|try)?lock|mutex|^(pthread|sem|mtx|cnd)_|^__sync|atomic_|futex")
"""Names of functions with which threads synchronise."""
ONE_THREAD = "one thread"
"""What guards what only one thread of a team executes."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access to ``name`` and, of that, to the element or member that ``path`` says, by ``node`` in ``statement``.

    ``guard``: what excludes accesses with the same one. ``sure``: every thread or iteration comes here. ``loops``:
    those in the region around it, each with its variable. ``operator``: of the assignment. ``phase``: how many
    barriers, or sections, stand before it.
    """

    node: Node
    name: str
    path: tuple[Part, ...]
    writes: bool
    reads: bool
    operator: str
    statement: Node
    guard: frozenset[str]
    sure: bool
    loops: tuple[CanonicalLoop, ...]
    phase: int


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around a piece of the text, as of an :class:`Access`; ``private``: names that are not shared here."""

    statement: Node
    guard: frozenset[str] = frozenset()
    sure: bool = True
    loops: tuple[CanonicalLoop, ...] = ()
    private: frozenset[str] = frozenset()


@dataclass
class Accesses:
    """Collects in ``found`` the accesses in ``body``, which stands ``under`` directives of its own; ``is_shared`` says
    which names outside of it are. Those that are not known well enough leave their nodes in ``unknown``.

    ``calls``: a function is called that is not looked into; ``synchronises``: threads may be ordered by locks or in
    other ways that are not followed; ``spins``: a loop may wait.
    """

    context: Context
    body: Node
    is_shared: Callable[[str], bool]
    is_pointer: Callable[[str], bool]
    constant: Callable[[str], object]
    under: Sequence[Directive] = ()
    found: list[Access] = field(default_factory=list)
    unknown: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.phase = 0
        self.calls = self.synchronises = self.spins = False
        self.declared: set[str] = set()
        self.pointers: set[str] = set()
        self.written: set[str] = set()
        jumps = False
        for node in nodes_in(self.body):
            match node.type:
                case "declaration":
                    self._declared(node)
                case "assignment_expression" | "update_expression":
                    self._written(node.get("left") or node["argument"])
                case "pointer_expression" if node["operator"].type == "&":
                    self._written(node["argument"])
                case "continue_statement" | "goto_statement":
                    jumps = True
                case "while_statement" | "do_statement":
                    self.spins = True
        # Behind a jump perhaps not every thread comes to what follows.
        around = self._inside(self.body, _Around(self.body, sure=not jumps), self.under)
        if around is not None:
            self._walk(self.body, around)

    def _word(self, node: Node) -> str:
        return self.context.word(node)

    def _names(self, node: Node) -> Iterator[str]:
        return (self._word(each) for each in nodes_in(node) if each.type == "identifier")

    def _written(self, target: Node) -> None:
        place = self._place(target)
        self.written |= set(self._names(target)) if place is None else {place[0]}

    def _declared(self, node: Node) -> None:
        for each in node.fields.get("declarator", ()):
            pointer = False
            while each.type != "identifier" and (each.children or each.get("declarator")):
                pointer |= each.type == "pointer_declarator"
                each = each.get("declarator") or each.children[0]
            self.declared.add(self._word(each))
            if pointer:
                self.pointers.add(self._word(each))

    # Statements

    def _walk(self, node: Node, around: _Around) -> None:
        stop_point()
        if node.type.endswith("_statement") or node.type == "declaration":
            if node is not self.body and (pragmas := self.context.token(node).parts):
                inner = self._inside(node, around, [directive(each) for each in pragmas])
                if inner is None:
                    self.phase += 1
                    return
                around = inner
            around = replace(around, statement=around.statement if node.type == "compound_statement" else node)
        match node.type:
            case "if_statement":
                self._walk(node["condition"], around)
                inner = replace(around, sure=around.sure and self.is_uniform(node["condition"], around))
                for each in node.children:
                    if each is not node["condition"]:
                        self._walk(each, inner)
            case "for_statement":
                self._for(node, around)
            case "while_statement" | "switch_statement":
                self._walk(node.get("condition") or node["value"], around)
                self._walk(node["body"], replace(around, sure=False))
            case "compound_statement" | "else_clause" | "do_statement" | "labeled_statement" | "case_statement":
                for each in node.children:
                    self._walk(each, around)
            case _:
                self._expression(node, around)
        if node.type.endswith("_statement") and self.context.token(node).parts and node is not self.body:
            self.phase += any(_waits(directive(each)) for each in self.context.token(node).parts)

    def _inside(self, node: Node, around: _Around, directives: Sequence[Directive]) -> _Around | None:
        """What is around ``node`` under ``directives``; None where other threads than here may execute it."""
        for each in directives:
            private = set(each.variables("private", "firstprivate", "lastprivate", "reduction", "linear"))
            if each.leaves & LOOPS and (loop := canonical(self.context, node)) is not None:
                private.add(loop.name)
            around = replace(around, private=around.private | private)
            match each.name:
                case "critical":
                    name = each.list[0].text if each.list else ""
                    around = replace(around, guard=around.guard | {f"critical {name}"})
                case "atomic" | "ordered":
                    around = replace(around, guard=around.guard | {each.name})
                case "single" | "master" | "masked":
                    around = replace(around, guard=around.guard | {ONE_THREAD})
                case "barrier" | "section":
                    self.phase += 1
                case "flush":
                    self.synchronises = True
                case "simd" | "taskgroup":
                    pass
                case _ if each.takes_statement:
                    return None
        return around

    def _for(self, node: Node, around: _Around) -> None:
        loop = canonical(self.context, node)
        for part in ("initializer", "condition", "update"):
            if (each := node.get(part)) is not None:
                self._walk_part(each, around)
        header = [each for each in (node.get("initializer"), node.get("condition"), node.get("update")) if each]
        if loop is None:
            self._walk(node["body"], replace(around, sure=False))
            return
        others = replace(around, loops=(*around.loops, loop), private=around.private | {loop.name})
        same = all(self.is_uniform(each, others) for each in header)
        # In the body the variable is a private one where it has been set by every thread for itself.
        inner = replace(around, loops=(*around.loops, loop)) if same else replace(around, sure=False)
        self._walk(node["body"], inner)

    def _walk_part(self, node: Node, around: _Around) -> None:
        if node.type == "declaration":
            for each in node.children:
                self._expression(each, around)
        else:
            self._expression(node, around)

    # Expressions

    def _expression(self, node: Node, around: _Around) -> None:
        match node.type:
            case "identifier" | "subscript_expression" | "field_expression":
                self._access(node, around, reads=True)
            case "pointer_expression" if node["operator"].type == "*":
                self._access(node, around, reads=True)
            case "pointer_expression":
                if any(self._shared(name, around) for name in self._names(node)):
                    self.unknown.append(node)
            case "assignment_expression":
                sign = node["operator"].type
                self._expression(node["right"], around)
                self._access(node["left"], around, writes=True, reads=sign != "=", operator=sign)
            case "update_expression":
                self._access(node["argument"], around, writes=True, reads=True, operator="+=")
            case "binary_expression" if node["operator"].type in ("&&", "||"):
                self._expression(node["left"], around)
                self._expression(node["right"], replace(around, sure=False))
            case "conditional_expression":
                self._expression(node["condition"], around)
                for part in ("consequence", "alternative"):
                    if (each := node.get(part)) is not None:
                        self._expression(each, replace(around, sure=False))
            case "call_expression":
                self._call(node, around)
            case "sizeof_expression" | "alignof_expression" | "offsetof_expression" | "type_descriptor":
                pass
            case "init_declarator":
                self._expression(node["value"], around)
            case _ if node.type.endswith("declarator"):
                pass
            case "compound_statement":
                self._walk(node, around)
            case _:
                for each in node.children:
                    self._expression(each, around)

    def _call(self, node: Node, around: _Around) -> None:
        function = self.context.inside(node["function"])
        name = self._word(function) if function.type == "identifier" else ""
        known = name in self.context.pure or (
            name not in self.context.defined and any(api.handler(name) is not None for api in self.context.apis)
        )
        if not known:
            self.unknown.append(node)
            self.calls = True
        if SYNCHRONISES.search(name) or (not known and self._somewhere()):
            self.synchronises = True
        for each in node["arguments"].children:
            if each.type == "identifier" and self.is_pointer(self._word(each)):
                self.unknown.append(each)
            else:
                self._expression(each, around)

    def _somewhere(self) -> bool:
        """Whether a function that is called may synchronise threads."""
        return self.context.elsewhere or any(
            each.kind == "name" and SYNCHRONISES.search(each.text) for each in self.context.tokens
        )

    def _access(
        self, node: Node, around: _Around, *, writes: bool = False, reads: bool = False, operator: str = ""
    ) -> None:
        place = self._place(node)
        if place is None:
            if writes:
                self.unknown.append(node)
            for each in node.children:
                self._expression(each, around)
            return
        name, path = place
        for part in path:
            if isinstance(part, Node):
                self._expression(part, around)
        if "*" in path[1:] and writes:
            self.unknown.append(node)  # through a pointer that lies in memory
        if not self._shared(name, around):
            private_pointer = name in self.pointers or (name not in self.declared and self.is_pointer(name))
            if writes and path and private_pointer:
                self.unknown.append(node)
            return
        self.found.append(
            Access(node, name, path, writes, reads, operator, around.statement, around.guard, around.sure,
                   around.loops, self.phase)
        )  # fmt: skip

    def _place(self, node: Node) -> tuple[str, tuple[Part, ...]] | None:
        """The variable that ``node`` names, or a part of; None for what is none."""
        more: tuple[Part, ...]
        match node.type:
            case "identifier":
                return self._word(node), ()
            case "parenthesized_expression":
                return self._place(self.context.inside(node))
            case "subscript_expression":
                base, more = self._place(node["argument"]), (node["index"],)
            case "field_expression":
                arrow = ("*",) if node["operator"].type == "->" else ()
                base, more = self._place(node["argument"]), (*arrow, f".{self._word(node['field'])}")
            case "pointer_expression" if node["operator"].type == "*":
                base, more = self._place(node["argument"]), ("*",)
            case _:
                return None
        return None if base is None else (base[0], (*base[1], *more))

    def _shared(self, name: str, around: _Around) -> bool:
        return name not in self.declared | around.private and self.is_shared(name)

    # What is the same for all threads

    def is_uniform(self, node: Node, around: _Around) -> bool:
        """Whether ``node`` certainly has the same value for every thread or iteration."""
        own = {loop.name for loop in around.loops}
        for each in nodes_in(node):
            if each.type in ("call_expression", "subscript_expression", "field_expression", "pointer_expression"):
                return False
            if each.type == "identifier" and (name := self._word(each)) not in own:
                known = self._shared(name, around) and name not in self.written and not self.is_pointer(name)
                if not known and not isinstance(self.constant(name), Constant):
                    return False
        return True

    def polynomial(self, node: Node, variables: set[str]) -> Polynomial | None:
        """``node`` as a sum of products of ``variables`` and names that nothing in the region writes."""
        node = self.context.inside(node)
        match node.type:
            case "number_literal" if (text := self._word(node)).isdecimal():
                return {(): int(text)} if int(text) else {}
            case "identifier":
                name = self._word(node)
                if isinstance(enumerator := self.constant(name), Constant):
                    return {(): enumerator.value} if enumerator.value else {}
                fixed = self.is_shared(name) and not {name} & (self.written | self.declared)
                return {(name,): 1} if name in variables or (fixed and not self.is_pointer(name)) else None
            case "unary_expression" if node["operator"].type == "-":
                inner = self.polynomial(node["argument"], variables)
                return None if inner is None else {names: -factor for names, factor in inner.items()}
            case "binary_expression" if (sign := node["operator"].type) in ("+", "-", "*"):
                left, right = self.polynomial(node["left"], variables), self.polynomial(node["right"], variables)
                if left is None or right is None:
                    return None
                if sign == "*":
                    return _product(left, right)
                return _product({(): 1}, left, {(): 1 if sign == "+" else -1}, right)
        return None


def _product(*factors: Polynomial) -> Polynomial:
    """The sum of the products of each two of ``factors``."""
    found: Polynomial = {}
    for left, right in zip(factors[::2], factors[1::2], strict=True):
        for names, factor in left.items():
            for others, other in right.items():
                key = tuple(sorted((*names, *others)))
                found[key] = found.get(key, 0) + factor * other
    return {names: factor for names, factor in found.items() if factor}


def difference(left: Polynomial, right: Polynomial) -> Polynomial:
    """``left`` - ``right``."""
    return _product({(): 1}, left, {(): -1}, right)


def nodes_in(node: Node) -> Iterator[Node]:
    """``node`` and all nodes in it."""
    pending = [node]
    while pending:
        stop_point()
        each = pending.pop()
        yield each
        pending.extend(each.children)


def _waits(directive: Directive) -> bool:
    """Whether the threads of a team wait for each other at the end of it."""
    shared = directive.name in ("for", "for simd", "sections", "single")
    return (shared and not directive.has("nowait")) or "parallel" in directive.leaves
