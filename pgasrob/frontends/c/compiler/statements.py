"""Statements and local declarations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pgasrob.frontends.c.code import Binary, Branch, Call, Copy, Join, Local, Object, Return, Set
from pgasrob.frontends.c.compiler.emitter import NOTHING, MemoryPlace, Operand
from pgasrob.frontends.c.compiler.initialisers import Initialisers
from pgasrob.frontends.c.compiler.scopes import (
    Context,
    FunctionName,
    GlobalVariable,
    LocalVariable,
    Scope,
    SizedVariable,
    SlotVariable,
    Symbol,
    TypeName,
)
from pgasrob.frontends.c.compiler.types import Declarator
from pgasrob.frontends.c.layout import shown, size_of
from pgasrob.frontends.c.parser import Node
from pgasrob.frontends.c.types import INT, SIZE, VOID, Array, CType, Function, Integer, Pointer, Struct, Void
from pgasrob.frontends.c.values import UNDEFINED, Value


@dataclass(slots=True)
class _Label:
    label: int
    loops: bool  # something behind it jumps to it
    forward: bool  # something before it does
    placed: Node | None = None


class Statements(Initialisers):
    """Compiles the body of one function."""

    def __init__(self, context: Context, name: str, scope: Scope) -> None:
        super().__init__(context, name, scope)
        self.result: CType = VOID
        self.result_pointer: int | None = None
        self.addressed: frozenset[str] = frozenset()
        self.breaks: list[int] = []
        self.continues: list[int] = []
        self.cases: dict[int, int] = {}  # by the id of their nodes
        self.goto_labels: dict[str, _Label] = {}
        self.depth = 0  # of loops

    def statement(self, node: Node) -> None:
        compile = _STATEMENTS.get(node.type)
        if compile is None:
            raise self.context.error("PG120", f"`{self.context.text(node)[:60]}` is not supported", node)
        compile(self, node)

    def block(self, node: Node) -> None:
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            for child in node.children:
                self.statement(child)
        finally:
            self.scope = outer

    def statement_expression(self, node: Node) -> Operand:
        """GNU C's `({ ... })`: its value is that of its last expression."""
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            for child in node.children[:-1]:
                self.statement(child)
            if not node.children:
                return NOTHING
            last = node.children[-1]
            if last.type == "expression_statement" and last.children:
                value = self.value(last.children[0])
                if value.slot is not None and self.slots[value.slot].name is not None:
                    kept = self.new_slot(self.slots[value.slot].type)
                    self.move(kept, value)
                    return Operand(value.type, kept)
                return value
            self.statement(last)
            return NOTHING
        finally:
            self.scope = outer

    def _expression(self, node: Node) -> None:
        if node.children:
            with self.at(node.children[0]):
                self.effect(node.children[0])

    # Choices

    def _if(self, node: Node) -> None:
        condition, alternative = node["condition"], node.get("alternative")
        mixed = self._short_circuit(condition)
        yes, end = self.new_label(), self.new_label()
        no = end if alternative is None else self.new_label()
        self.branch(condition, yes, no)
        self.place(yes)
        if mixed:
            self.join()
        self._scoped(node["consequence"])
        if alternative is not None:
            self.jump(end)
            self.place(no)
            if mixed:
                self.join()
            self._scoped(alternative)
        self.place(end)
        with self.at(condition):
            self.join()

    def _short_circuit(self, node: Node) -> bool:
        inner = self.inside(node)
        while inner.type == "unary_expression" and inner["operator"].type == "!":
            inner = self.inside(inner["argument"])
        return inner.type == "binary_expression" and inner["operator"].type in ("&&", "||")

    def _else(self, node: Node) -> None:
        for child in node.children:
            self.statement(child)

    def _scoped(self, node: Node) -> None:
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            self.statement(node)
        finally:
            self.scope = outer

    def _switch(self, node: Node) -> None:
        with self.at(node["condition"]):
            value = self.promoted(self.integer(node["condition"]), node["condition"])
            slot = self.slot_of(value)
            type = value.type
            assert isinstance(type, Integer)
            cases = _cases(node["body"])
            default, end = None, self.new_label()
            seen: set[int] = set()
            for case in cases:
                label = self.cases[id(case)] = self.new_label()
                constant = case.get("value")
                if constant is None:
                    if default is not None:
                        raise self.context.error("PG121", "a switch has one `default`", case)
                    default = label
                    continue
                number = type.type.wrap(self.constant_value(constant, "the value of a case"))
                if number in seen:
                    raise self.context.error("PG121", f"the case {number} stands twice", case)
                seen.add(number)
                with self.at(constant):
                    expected = self.slot_of(self.constant(number, type))
                    matches = self.new_slot(INT)
                    self.emit(Binary(matches, "==", slot, expected, type))
                    further = self.new_label()
                    self.emit(Branch(matches, label, further))
                    self.place(further)
            self.jump(end if default is None else default)
        self.breaks.append(end)
        self._scoped(node["body"])
        self.breaks.pop()
        self.place(end)
        with self.at(node["condition"]):
            self.join()

    def _case(self, node: Node) -> None:
        label = self.cases.get(id(node))
        if label is None:
            raise self.context.error("PG121", "a `case` stands in a `switch`", node)
        self.place(label)
        self.join()
        constant = node.get("value")
        for child in node.children:
            if child is not constant:
                self.statement(child)

    # Loops

    def _body(self, node: Node, leave: int, repeat: int) -> None:
        self.breaks.append(leave)
        self.continues.append(repeat)
        self._scoped(node)
        self.breaks.pop()
        self.continues.pop()

    def _while(self, node: Node) -> None:
        condition = node["condition"]
        enter, leave, repeat = self.new_label(), self.new_label(), self.new_label()
        with self.at(condition):
            self.place(repeat)
            loop = self.begin_loop()
            self.depth += 1
            self.branch(condition, enter, leave)
        self.place(enter)
        if self._short_circuit(condition):
            self.join()
        self._body(node["body"], leave, repeat)
        self.jump(repeat)
        self.end_loop(loop)
        self.depth -= 1
        self.place(leave)
        with self.at(condition):
            self.join()

    def _do(self, node: Node) -> None:
        condition = node["condition"]
        enter, leave, repeat = self.new_label(), self.new_label(), self.new_label()
        with self.at(condition):
            self.place(enter)
            loop = self.begin_loop()
            self.depth += 1
        self._body(node["body"], leave, repeat)
        self.place(repeat)
        with self.at(condition):
            known = self.try_known(condition)
            if known == 0:
                self.jump(leave)
            else:
                self.branch(condition, enter, leave)
        self.end_loop(loop)
        if known == 0:
            self._no_loop(loop)
        self.depth -= 1
        self.place(leave)
        with self.at(condition):
            self.join()

    def _no_loop(self, loop: tuple[int, int]) -> None:
        """`do { ... } while (0)` is no loop: what looks like its head is a place like any other."""
        self.loop_ranges = [known for known in self.loop_ranges if known[0] != loop[0]]
        self.code[loop[1]] = Join()

    def _for(self, node: Node) -> None:
        outer, self.scope = self.scope, Scope(self.scope)
        initial, condition, update = node.get("initializer"), node.get("condition"), node.get("update")
        if initial is not None:
            if initial.type == "declaration":
                self._declaration(initial)
            else:
                with self.at(initial):
                    self.effect(initial)
        enter, again, leave, repeat = (self.new_label() for _ in range(4))
        with self.at(condition or node):
            self.place(again)
            loop = self.begin_loop()
            self.depth += 1
            if condition is not None:
                self.branch(condition, enter, leave)
        self.place(enter)
        if condition is not None and self._short_circuit(condition):
            self.join()
        self._body(node["body"], leave, repeat)
        self.place(repeat)
        if update is not None:
            with self.at(update):
                self.effect(update)
        self.jump(again)
        self.end_loop(loop)
        self.depth -= 1
        self.place(leave)
        with self.at(condition or node):
            self.join()
        self.scope = outer

    # Jumps

    def _break(self, node: Node) -> None:
        if not self.breaks:
            raise self.context.error("PG121", "a `break` stands in a loop or a `switch`", node)
        self.jump(self.breaks[-1])

    def _continue(self, node: Node) -> None:
        if not self.continues:
            raise self.context.error("PG121", "a `continue` stands in a loop", node)
        self.jump(self.continues[-1])

    def _goto(self, node: Node) -> None:
        name = self.context.word(node["label"])
        known = self.goto_labels.get(name)
        if known is None or known.label < 0:
            raise self.context.error("PG122", f"there is no label `{name}` in this function", node)
        self.jump(known.label)
        if known.placed is not None:
            at = self.labels[known.label]
            loop = getattr(self.code[at], "loop", None)
            if loop is not None:
                self.loop_ranges = [each for each in self.loop_ranges if each[0] != loop]
                self.loop_ranges.append((loop, at, len(self.code)))

    def _labelled(self, node: Node) -> None:
        name = self.context.word(node["label"])
        known = self.goto_labels[name]
        if known.placed is not None:
            raise self.context.error("PG121", f"the label `{name}` stands twice", node)
        known.placed = node
        with self.at(node["label"]):
            self.place(known.label)
            if known.loops:
                self.begin_loop()
            elif known.forward:
                self.join()
        for child in node.children[1:]:
            self.statement(child)

    def _return(self, node: Node) -> None:
        with self.at(node):
            if not node.children:
                if not isinstance(self.result, Void):
                    raise self.context.error("PG123", f"`{self.name}` returns a {shown(self.result)}", node)
                self.emit(Return(None))
                return
            operand = self.value(node.children[0])
            if isinstance(self.result, Void):
                if not isinstance(operand.type, Void):
                    raise self.context.error("PG123", f"`{self.name}` returns nothing", node)
                self.emit(Return(None))
                return
            operand = self.convert(operand, self.result, node)
            if isinstance(self.result, Struct):
                assert self.result_pointer is not None
                self.emit(Copy(self.result_pointer, self.slot_of(operand), self.result))
                self.emit(Return(None))
                return
            self.emit(Return(self.slot_of(operand)))

    # Declarations

    def _typedef(self, node: Node) -> None:
        base = self.base_type(node["type"])
        for child in node.fields.get("declarator", []):
            declared = self.declarator(child, base)
            if declared.length is not None or declared.name is None:
                raise self.context.error("PG124", "the length of an array type must be a constant", child)
            self.declare(declared.name, TypeName(declared.type))

    def declare(self, node: Node, symbol: Symbol) -> None:
        name = self.context.word(node)
        before = self.scope.names.get(name)
        if before is not None and before != symbol and not isinstance(symbol, FunctionName | GlobalVariable):
            raise self.context.error("PG121", f"`{name}` is declared twice in this block", node)
        self.scope.names[name] = symbol

    def _specifier_only(self, node: Node) -> None:
        self.base_type(node)

    def storage(self, node: Node) -> set[str]:
        return {self.context.word(child) for child in node.children if child.type == "storage_class_specifier"}

    def _declaration(self, node: Node) -> None:
        if node.get("type") is None:
            raise self.context.error("PG120", "a declaration without a type is not supported", node)
        storage = self.storage(node)
        base = self.base_type(node["type"])
        for child in node.fields.get("declarator", []):
            with self.at(child):
                initial = child.get("value") if child.type == "init_declarator" else None
                inner = child["declarator"] if child.type == "init_declarator" else child
                declared = self.declarator(inner, base)
                if declared.name is None:
                    raise self.context.error("PG107", "a name was expected here", child)
                self._local(declared, declared.name, storage, initial, child)

    def _local(self, declared: Declarator, name: Node, storage: set[str], initial: Node | None, node: Node) -> None:
        type = self.context.complete(declared.type)
        word = self.context.word(name)
        if isinstance(type, Function):
            self.declare(name, FunctionName(word, type))
        elif declared.length is not None:
            if initial is not None or storage:
                raise self.context.error("PG124", "an array with a length that is no constant has no initialiser", node)
            self._sized_array(name, declared.length, type)
        elif "extern" in storage:
            self._extern(name, type, node)
        elif "static" in storage:
            self.declare(name, self.static_variable(f"{self.name}.{word}", type, initial, node))
        elif isinstance(type, Array | Struct) or word in self.addressed:
            self._local_object(name, type, initial, node)
        else:
            self._need_complete(type, node)
            slot = self.new_slot(type, word)
            self.declare(name, SlotVariable(slot, type))
            if initial is not None:
                if initial.type == "initializer_list":
                    initial = self.leaves(type, initial)[0][0].node if initial.children else None
                operand = self.constant(0) if initial is None else self.value(initial)
                self.move(slot, self.convert(operand, type, node))
            elif self.depth or self.goto_labels:
                self.emit(Set(slot, UNDEFINED, type))

    def _extern(self, name: Node, type: CType, node: Node) -> None:
        word = self.context.word(name)
        scope = self.context.file_scope
        known = scope.names.get(word)
        if known is None:
            self.context.unit.objects[word] = Object(word, type, span=self.context.span(node))
            self.context.declared_only.add(word)
            known = GlobalVariable(word, type)
        self.declare(name, known)

    def static_variable(self, unique: str, type: CType, initial: Node | None, node: Node) -> GlobalVariable:
        """An object for the whole run."""
        objects = self.context.unit.objects
        count, first = 1, unique
        while unique in objects and unique != self.context.text(node):
            count += 1
            unique = f"{first}@{self.context.token(node).place.line}" + (f".{count}" if count > 2 else "")
        values: tuple[tuple[int, Value], ...] = ()
        if initial is not None:
            values, type = self.static_initial(type, initial)
        self._need_complete(type, node)
        objects[unique] = Object(unique, type, values, self.context.span(node))
        return GlobalVariable(unique, type)

    def _local_object(self, name: Node, type: CType, initial: Node | None, node: Node) -> None:
        word = self.context.word(name)
        unique = self.new_object(word, type, node)
        if initial is None:
            self._need_complete(type, node)
            self.declare(name, LocalVariable(unique, type))
            return
        if isinstance(type, Array) and type.length is None:
            type = self.leaves(type, initial)[1]
            self.objects[unique] = replace(self.objects[unique], type=type)
        self._need_complete(type, node)
        self.declare(name, LocalVariable(unique, type))
        slot = self.new_slot(Pointer(type))
        self.emit(Local(slot, unique))
        self.initialise(MemoryPlace(slot, type), initial)

    def _sized_array(self, name: Node, length: Node, type: CType) -> None:
        assert isinstance(type, Array)
        size = self.new_slot(SIZE, None)
        count = self.convert(self.integer(length), SIZE, length)
        bytes = self.binary("*", count, self.constant(size_of(type.of), SIZE), length)
        self.move(size, bytes)
        word = self.context.word(name)
        slot = self.new_slot(Pointer(type.of), word)
        self.emit(Call(slot, "__alloca", (size,), (SIZE,), Pointer(VOID), (word,)))
        self.declare(name, SizedVariable(slot, size, type.of))

    # Functions

    def prepare(self, body: Node) -> None:
        """Look at the whole body first: which variables are addressed, which labels are jumped to."""
        addressed: set[str] = set()
        gotos: list[tuple[str, int]] = []
        labels: list[tuple[str, Node]] = []
        pending = [body]
        while pending:
            node = pending.pop()
            if node.type == "pointer_expression" and node["operator"].type == "&":
                inner = self.inside(node["argument"])
                if inner.type == "identifier":
                    addressed.add(self.context.word(inner))
            elif node.type == "goto_statement":
                gotos.append((self.context.word(node["label"]), node.first))
            elif node.type == "labeled_statement":
                labels.append((self.context.word(node["label"]), node))
            pending.extend(node.children)
        self.addressed = frozenset(addressed)
        for name, node in labels:
            jumps = [first for target, first in gotos if target == name]
            if name in self.goto_labels:
                raise self.context.error("PG121", f"the label `{name}` stands twice", node)
            self.goto_labels[name] = _Label(
                self.new_label(), any(first > node.first for first in jumps), any(first < node.first for first in jumps)
            )

    def parameter(self, name: Node | None, type: CType) -> int:
        """A parameter: its slot. What is in memory is stored there at once."""
        if name is None:
            return self.new_slot(Pointer(type) if isinstance(type, Struct) else type)
        word = self.context.word(name)
        if isinstance(type, Struct):
            slot = self.new_slot(Pointer(type))
            place = self.address_of_local(self.new_object(word, type, name))
            self.emit(Copy(place.slot, slot, type))
            self.declare(name, LocalVariable(word, type))
        elif word in self.addressed:
            slot = self.new_slot(type)
            place = self.address_of_local(self.new_object(word, type, name))
            self.assign(place, Operand(type, slot), name)
            self.declare(name, LocalVariable(word, type))
        else:
            slot = self.new_slot(type, word)
            self.declare(name, SlotVariable(slot, type))
        return slot

    def end(self) -> None:
        """The end of the body."""
        if self.name == "main" and isinstance(self.result, Integer):
            self.emit(Return(self.slot_of(self.constant(0, self.result))))
        else:
            if not isinstance(self.result, Void | Struct):
                slot = self.new_slot(self.result)
                self.emit(Set(slot, UNDEFINED, self.result))
                self.emit(Return(slot))
                return
            self.emit(Return(None))


def _cases(node: Node) -> list[Node]:
    """The cases of a switch, without those of switches inside it, in their order."""
    found: list[Node] = []
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type == "case_statement":
            found.append(each)
        if each.type != "switch_statement":
            pending.extend(reversed(each.children))
    return found


_STATEMENTS: dict[str, Callable[[Statements, Node], None]] = {
    "expression_statement": Statements._expression,
    "compound_statement": Statements.block,
    "if_statement": Statements._if,
    "else_clause": Statements._else,
    "switch_statement": Statements._switch,
    "case_statement": Statements._case,
    "while_statement": Statements._while,
    "do_statement": Statements._do,
    "for_statement": Statements._for,
    "break_statement": Statements._break,
    "continue_statement": Statements._continue,
    "goto_statement": Statements._goto,
    "labeled_statement": Statements._labelled,
    "return_statement": Statements._return,
    "declaration": Statements._declaration,
    "type_definition": Statements._typedef,
    "struct_specifier": Statements._specifier_only,
    "union_specifier": Statements._specifier_only,
    "enum_specifier": Statements._specifier_only,
}
