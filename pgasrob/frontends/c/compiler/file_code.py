"""Compiles a file: its declarations in their order, then the code of its functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pgasrob.diagnostics import MAX_ERRORS, Diagnostic, SourceError, in_order
from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.c.code import MAIN, CompiledFunction, Object, Return, Set, Unit
from pgasrob.frontends.c.compiler.atomic_variables import check_atomics
from pgasrob.frontends.c.compiler.communicating_code import communicating, shared_names, teams_in
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.scopes import Body, Context, FunctionName, GlobalVariable, Scope, Target
from pgasrob.frontends.c.compiler.statement_code import Statements
from pgasrob.frontends.c.compiler.thread_regions import check_pragmas, declared_outside
from pgasrob.frontends.c.compiler.type_names import Declarator
from pgasrob.frontends.c.layout import alike, shown
from pgasrob.frontends.c.syntax_tree import Node, Parsed, parse
from pgasrob.frontends.c.tokens import Source, error, tokenise
from pgasrob.frontends.c.types import VOID, Array, CType, Function, Integer, Pointer, Struct, Void
from pgasrob.frontends.c.values import UNDEFINED, Known
from pgasrob.stop_points import stop_point


class File:
    """Compiles the declarations outside of functions. Its own emitter is only for constant expressions."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.names = context.file_scope.names
        statements = Statements(Emitter(context, "", context.file_scope), Body(), VOID)
        self.declarations = statements.declarations
        self.constants = statements.constants
        self.types = statements.expressions.types
        self.initialisers = statements.expressions.initialisers
        self.bodies: list[tuple[Node, str, CType]] = []
        self.errors: list[Diagnostic] = []

    def compile(self, parsed: Parsed, further: bool = False) -> None:
        """Compile the file. Errors in a function matter only where it is called, unless that is `main`, or the file,
        which is no ``further`` one, has none."""
        unit, root = self.context.unit, parsed.root
        self.errors += parsed.wrong
        self.context.mistaken |= parsed.mistaken.get("", set())
        with self._gathered():
            check_atomics(self.context.tokens)
        with self._gathered():
            self._pragmas_outside(root)
        for node in root.children:
            with self._gathered(node):
                self._external(node)
        self._look_for_teams()
        for node, name, result in self.bodies:
            try:
                with self._all_of(parsed, name):
                    code = compiled(self.context, name, result, node)
                unit.functions[name] = code
            except SourceError as found:
                unit.broken[name] = found
        if not further and MAIN not in {*unit.functions, *(unit.broken if self.errors else ())}:
            self.errors += [each for found in unit.broken.values() for each in found.diagnostics]
        if self.errors:
            self.errors += [each for name in self._called(parsed) for each in unit.broken[name].diagnostics]
            raise SourceError(in_order(self.errors))
        for name, object in unit.objects.items():
            if name.rpartition(".")[2] in self.context.threadprivate:
                unit.objects[name] = replace(object, of_thread=True)
        for name in self.context.declared_only:
            del unit.objects[name]
        for name in unit.needs.keys() & (unit.functions.keys() | unit.objects.keys()):
            del unit.needs[name]

    @contextmanager
    def _all_of(self, parsed: Parsed, name: str) -> Iterator[None]:
        """A context that goes on after mistakes in the function ``name``, and raises them all in the order of the
        text."""
        context, mistakes = self.context, parsed.broken.get(name)
        mistaken = set(context.mistaken)
        context.mistaken |= parsed.mistaken.get(name, set())
        context.found = [] if mistakes is None else [*mistakes.diagnostics]
        try:
            yield
        except SourceError as wrong:
            context.found += wrong.diagnostics
        finally:
            found, context.found, context.mistaken = context.found, None, mistaken
        if found:
            raise SourceError(in_order(found))

    def _look_for_teams(self) -> None:
        if any(each.parts for each in self.context.tokens):
            bodies = [(name, node["body"]) for node, name, _ in self.bodies]
            self.context.communicating = communicating(self.context, bodies)
            self.context.has_teams = any(True for _, body in bodies for _ in teams_in(self.context, body))

    def _pragmas_outside(self, root: Node) -> None:
        """The directives of OpenMP that are in no function."""
        start, tokens = 0, self.context.tokens
        bodies = [each["body"] for each in root.children if each.type == "function_definition"]
        for body in (*bodies, Node("", len(tokens), len(tokens))):
            declared_outside(tokens[start : body.first + 1], self.context.threadprivate)
            start = body.last + 1

    @contextmanager
    def _kept(self, name: str | None) -> Iterator[None]:
        """A context that keeps errors of the function ``name``."""
        try:
            yield
        except SourceError as found:
            if name is None or name in self.names:
                raise
            self.context.unit.broken[name] = found

    def _name_in(self, declarator: Node) -> str | None:
        """The name that ``declarator`` declares, whatever its type is."""
        node: Node | None = declarator
        while node is not None and node.type != "identifier":
            node = node.get("declarator")
        return None if node is None else self.context.word(node)

    @contextmanager
    def _gathered(self, node: Node | None = None) -> Iterator[None]:
        """A context that collects errors, so that the compiler goes on after them, up to `MAX_ERRORS`. Nothing is said
        of the names in ``node`` that it does not declare then."""
        try:
            yield
        except SourceError as found:
            self.errors.extend(found.diagnostics)
            if len(self.errors) >= MAX_ERRORS:
                raise SourceError(in_order(self.errors)) from None
            tokens = [] if node is None else self.context.tokens[node.first : node.last + 1]
            self.context.mistaken |= {each.text for each in tokens if each.kind != "sign"}

    def _called(self, parsed: Parsed) -> list[str]:
        """The functions with mistakes that `main` may call."""
        bodies = {name: node for node, name, _ in self.bodies}
        found, left = {MAIN}, [MAIN]
        while left:
            name = left.pop()
            node = bodies.get(name)
            tokens = [] if node is None else self.context.tokens[node.first : node.last + 1]
            named = {each.text for each in tokens} | parsed.mistaken.get(name, set())
            new = named & (bodies.keys() | self.context.unit.broken.keys()) - found
            found |= new
            left += new
        return [name for name in self.context.unit.broken if name in found]

    def _external(self, node: Node) -> None:
        match node.type:
            case "function_definition":
                self._definition(node)
            case "declaration" if (of := node.get("declarator")) is not None and of.type == "function_declarator":
                with self._kept(self._name_in(of)):
                    self._file_declaration(node)
            case "declaration":
                self._file_declaration(node)
            case "type_definition":
                self.declarations.typedef(node)
            case "struct_specifier" | "union_specifier" | "enum_specifier":
                self.types.base_type(node)
            case "expression_statement" if not node.children:
                pass
            case "expression_statement" if self._is_static_assertion(node):
                self.constants.assertion(node.children[0])
            case _:
                raise self.context.error("PG107", "a declaration or a function was expected here", node)

    def _is_static_assertion(self, node: Node) -> bool:
        call = node.children[0]
        return call.type == "call_expression" and self.context.word(call["function"]) == "_Static_assert"

    def _function_type(self, declared: Declarator, node: Node) -> Function:
        type = declared.type
        if not isinstance(type, Function) or declared.name is None:
            raise self.context.error("PG107", "a function with its parameters was expected here", node)
        return Function(self.context.complete(type.result), type.parameters, type.variadic)

    def _definition(self, node: Node) -> None:
        """Declare a function; its body is compiled after all declarations of the file, which it may need."""
        if node.get("type") is None or any(child.type == "declaration" for child in node.children):
            raise self.context.error("PG120", "functions of the old style, without types, are not supported", node)
        between = node["declarator"].last + 1
        if between != node["body"].first:
            raise error("PG107", f"syntax error at `{self.context.tokens[between].text}`", self.context.tokens[between])
        declared: Declarator | None = None
        with self._kept(self._name_in(node["declarator"])):
            declared = self.types.declarator(node["declarator"], self.types.base_type(node["type"]))
        if declared is None:
            return
        type = self._function_type(declared, node["declarator"])
        assert declared.name is not None
        name = self.context.word(declared.name)
        if name in self.context.defined:
            raise self.context.error("PG121", f"the function `{name}` is defined twice", declared.name)
        if isinstance(before := self.names.get(name), GlobalVariable):
            raise self.context.error("PG121", f"`{before.name}` is a variable already", declared.name)
        self.context.defined.add(name)
        if "static" in self.types.storage(node):
            self.context.unit.statics.add(name)
        self.names[name] = FunctionName(name, type)
        self.bodies.append((node, name, type.result))

    def _file_declaration(self, node: Node) -> None:
        storage = self.types.storage(node)
        for declared, node_of_name, initial, whole in self.types.declared(node):
            if declared.length is not None:
                raise self.context.error(
                    "PG124", "the length of an array outside of functions must be a constant", whole
                )
            type = self.context.complete(declared.type)
            name = self.context.word(node_of_name)
            if "static" in storage:
                self.context.unit.statics.add(name)
            if isinstance(type, Function):
                if not isinstance(self.names.get(name), FunctionName) or name not in self.context.defined:
                    self.names[name] = FunctionName(name, type)
            else:
                self._variable_of_file(name, type, initial, "extern" in storage, node_of_name, whole)

    def _variable_of_file(
        self, name: str, type: CType, initial: Node | None, extern: bool, node: Node, whole: Node
    ) -> None:
        """Declare a variable of the file, perhaps again: tentative definitions are one object (C11, 6.9.2)."""
        objects = self.context.unit.objects
        before = objects.get(name)
        if not isinstance(self.names.get(name), GlobalVariable | None):
            raise self.context.error("PG121", f"`{name}` is declared twice", node)
        if before is not None and not alike(before.type, type):
            raise self.context.error(
                "PG121", f"`{name}` is declared as {shown(before.type)} and as {shown(type)}", node
            )
        if isinstance(type, Array) and type.length is None and before is not None:
            type = before.type
        only = extern and initial is None
        if before is None or name in self.context.declared_only:
            self.context.declared_only.discard(name)
            if only:
                self.context.declared_only.add(name)
        self.names[name] = GlobalVariable(name, type)  # an initialiser may name its own variable
        values = before.initial if before is not None else ()
        if initial is not None:
            if values:
                raise self.context.error("PG121", f"`{name}` has two initialisers", node)
            objects[name] = Object(name, type, (), self.context.span(whole))
            values, type = self.initialisers.static_initial(type, initial)
        if not only:
            self.types.need_complete(type, node)
        self.names[name] = GlobalVariable(name, type)
        objects[name] = Object(name, type, values, self.context.span(whole))


# Functions


def compiled(context: Context, name: str, result: CType, node: Node) -> CompiledFunction:
    """The code of the definition ``node`` of the function ``name``, which returns a ``result``."""
    emitter = Emitter(context, name, Scope(context.file_scope))
    body = survey(node["body"], emitter)
    if context.has_teams:
        body.addressed.update(shared_names(context, node))
    emitter.span = context.span(node["declarator"])
    pointer = emitter.new_slot(Pointer(result)) if isinstance(result, Struct) else None
    statements = Statements(emitter, body, result, pointer)
    types = statements.expressions.types
    declared = types.declarator(node["declarator"], VOID)
    assert declared.function is not None
    slots = [] if pointer is None else [pointer]
    parameters = types.parameters(declared.function["parameters"])[0]
    for parameter in parameters:
        slots.append(statements.declarations.parameter(parameter.name, context.complete(parameter.type)))
    if any(isinstance(each.type, Pointer) and isinstance(each.type.to, Array) for each in parameters):
        statements.declarations.measure_parameters(declared.function["parameters"])
    for child in node["body"].children:
        statements.statement(child)
    statements.regions.closes(node["body"])
    check_pragmas(context.tokens[node["body"].first + 1 : node["body"].last + 1], context.pragmas)
    emitter.span = context.span(Node("", node["body"].last, node["body"].last))
    _end(emitter, result)
    returned = VOID if isinstance(result, Struct) else result
    code = emitter.finished()
    lasting = emitter.ending(())
    regions = tuple(emitter.regions)
    return CompiledFunction(
        name,
        tuple(slots),
        returned,
        emitter.slots,
        emitter.objects,
        code,
        emitter.spans,
        lasting,
        emitter.sized,
        regions,
    )


def _end(emitter: Emitter, result: CType) -> None:
    """The end of the body."""
    if isinstance(result, Void | Struct):
        emitter.emit(Return(None))
    else:
        value = Known(0) if emitter.name == "main" and isinstance(result, Integer) else UNDEFINED
        emitter.emit(Return(emitter.compute(result, Set, value, result)))


def survey(root: Node, emitter: Emitter) -> Body:
    """Look at the whole body ``root``; its labels are those of ``emitter``."""
    context = emitter.context
    body = Body()
    gotos: list[tuple[str, int]] = []
    labels: list[tuple[str, Node]] = []
    pending = [root]
    while pending:
        stop_point()
        node = pending.pop()
        if node.type == "pointer_expression" and node["operator"].type == "&":
            inner = context.inside(node["argument"])
            if inner.type == "identifier":
                body.addressed.add(context.word(inner))
        elif node.type == "goto_statement":
            gotos.append((context.word(node["label"]), node.first))
        elif node.type == "labeled_statement":
            labels.append((context.word(node["label"]), node))
        pending.extend(node.children)
    for name, node in labels:
        if name in body.targets:
            raise context.error("PG121", f"the label `{name}` is defined twice", node)
        jumps = [first for target, first in gotos if target == name]
        loops, forward = any(first > node.first for first in jumps), any(first < node.first for first in jumps)
        body.targets[name] = Target(emitter.new_label(), loops, forward)
    return body


def declared_function(text: str, name: str, apis: Sequence[Api]) -> Function:
    """The type of the function that a declaration of an API, as text, declares."""
    source = Source(f"<declaration of {name}>", text if text.rstrip().endswith(";") else f"{text};")
    parsed = parse(tokenise(source), source, {name for api in apis for name in api.types})
    unit = Unit(source.file, text, ())
    context = Context(parsed.tokens, apis, lambda name: None, declared_function, "", frozenset(), unit, Scope())
    File(context).compile(parsed)
    for symbol in context.file_scope.names.values():
        if isinstance(symbol, FunctionName):
            return symbol.type
    raise AssertionError(f"{text} declares no function")
