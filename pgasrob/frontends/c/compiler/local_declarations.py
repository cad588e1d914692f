"""Compiles declarations inside functions, and the parameters of functions."""

from __future__ import annotations

from dataclasses import replace

from pgasrob.frontends.c.code import Object, Set, Slot
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.expression_code import Expressions
from pgasrob.frontends.c.compiler.operands import Operand, constant
from pgasrob.frontends.c.compiler.scopes import (
    Body,
    FunctionName,
    GlobalVariable,
    LocalVariable,
    SizedVariable,
    SlotVariable,
    Symbol,
    TypeName,
)
from pgasrob.frontends.c.compiler.type_names import Declarator
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import SIZE, Array, CType, Function, Pointer, Struct
from pgasrob.frontends.c.values import UNDEFINED, Value


class Declarations:
    """Declares names: of types, of variables in slots, and of objects; and compiles initialisers."""

    def __init__(self, emitter: Emitter, body: Body, expressions: Expressions) -> None:
        self.emitter = emitter
        self.context = emitter.context
        self.body = body
        self.expressions = expressions
        self.conversions = expressions.conversions
        self.operations = expressions.operations
        self.types = expressions.types
        self.initialisers = expressions.initialisers

    def typedef(self, node: Node) -> None:
        for declared, name, _, whole in self.types.declared(node):
            if declared.length is not None:
                raise self.context.error("PG124", "the length of an array type must be a constant", whole)
            self._declare(name, TypeName(declared.type))

    def declaration(self, node: Node) -> None:
        storage = self.types.storage(node)
        for declared, name, initial, whole in self.types.declared(node):
            with self.emitter.at(whole):
                self._local(declared, name, storage, initial, whole)

    def _declare(self, node: Node, symbol: Symbol) -> None:
        name = self.context.word(node)
        names = self.emitter.scope.names
        before = names.get(name)
        if before is not None and before != symbol and not isinstance(symbol, FunctionName | GlobalVariable):
            raise self.context.error("PG121", f"`{name}` is declared twice in this block", node)
        names[name] = symbol

    def _local(self, declared: Declarator, name: Node, storage: set[str], initial: Node | None, node: Node) -> None:
        """Declare a name in a block: in a slot unless it needs an address (C11, 6.7)."""
        type = self.context.complete(declared.type)
        word = self.context.word(name)
        if isinstance(type, Function):
            self._declare(name, FunctionName(word, type))
        elif declared.length is not None:
            if initial is not None or storage:
                raise self.context.error("PG124", "an array with a length that is no constant has no initialiser", node)
            self._sized_array(name, declared.length, type)
        elif "extern" in storage:
            self._extern(name, type, node)
        elif "static" in storage:
            self._declare(name, self._static(f"{self.emitter.name}.{word}", type, initial, node))
        elif isinstance(type, Array | Struct) or word in self.body.addressed:
            self._object(name, type, initial, node)
        else:
            self.types.need_complete(type, node)
            slot = self.emitter.new_slot(type, word)
            self._declare(name, SlotVariable(slot, type))
            if initial is not None:
                if initial.type == "initializer_list":
                    initial = self.initialisers.leaves(type, initial)[0][0].node if initial.children else None
                operand = constant(0) if initial is None else self.expressions.value(initial)
                self.emitter.move(slot, self.conversions.convert(operand, type, node))
            elif self.emitter.loops_open or self.body.targets:
                self.emitter.emit(Set(slot, UNDEFINED, type))

    def another(self, name: Node, type: CType) -> None:
        """Declare a variable of ``type`` that has no value yet in the block at hand, whose name may be that of one
        outside."""
        type = self.context.complete(type)
        if isinstance(type, Array | Struct) or self.context.word(name) in self.body.addressed:
            self._object(name, type, None, name)
        else:
            slot = self.emitter.new_slot(type, self.context.word(name))
            self._declare(name, SlotVariable(slot, type))
            self.emitter.emit(Set(slot, UNDEFINED, type))

    def _extern(self, name: Node, type: CType, node: Node) -> None:
        word = self.context.word(name)
        known = self.context.file_scope.names.get(word)
        if known is None:
            self.context.unit.objects[word] = Object(word, type, span=self.context.span(node))
            self.context.declared_only.add(word)
            known = GlobalVariable(word, type)
        self._declare(name, known)

    def _static(self, name: str, type: CType, initial: Node | None, node: Node) -> GlobalVariable:
        """Declare an object that exists for the whole run."""
        objects = self.context.unit.objects
        unique = self.context.unique(name, objects, node)
        values: tuple[tuple[int, Value, CType], ...] = ()
        if initial is not None:
            values, type = self.initialisers.static_initial(type, initial)
        self.types.need_complete(type, node)
        objects[unique] = Object(unique, type, values, self.context.span(node))
        self.context.unit.statics.add(unique)
        return GlobalVariable(unique, type)

    def _object(self, name: Node, type: CType, initial: Node | None, node: Node) -> None:
        unique = self.emitter.new_object(self.context.word(name), type, node)
        if initial is not None and isinstance(type, Array) and type.length is None:
            type = self.initialisers.leaves(type, initial)[1]
            self.emitter.objects[unique] = replace(self.emitter.objects[unique], type=type)
        self.types.need_complete(type, node)
        self._declare(name, LocalVariable(unique, type))
        if initial is not None:
            self.initialisers.initialise(self.emitter.address_of_local(unique), initial)

    def _sized_array(self, name: Node, length: Node, type: CType) -> None:
        measured = self.types.measured(type, length)
        word = self.context.word(name)
        slot = self.emitter.allocate(Operand(SIZE, measured.bytes), Pointer(measured.of), word, word)
        self.emitter.new_sized(word, slot)
        self._declare(name, SizedVariable(slot, measured))

    def measure_parameters(self, parameters: Node) -> None:
        """Compute the lengths of arrays that ``parameters``, which have been declared, point to (C11, 6.7.6.3)."""
        for declared in self.types.parameters(parameters, measures=True)[0]:
            if declared.name is not None:
                name = self.context.word(declared.name)
                symbol = self.emitter.scope.names[name]
                assert isinstance(symbol, SlotVariable | LocalVariable)
                self.emitter.scope.names[name] = replace(symbol, type=self.context.complete(declared.type))

    def parameter(self, name: Node | None, type: CType) -> Slot:
        """A parameter: its slot. What is in memory is stored there at once."""
        passed = Pointer(type) if isinstance(type, Struct) else type
        if name is None:
            return self.emitter.new_slot(passed)
        word = self.context.word(name)
        if not isinstance(type, Struct) and word not in self.body.addressed:
            slot = self.emitter.new_slot(type, word)
            self._declare(name, SlotVariable(slot, type))
            return slot
        slot = self.emitter.new_slot(passed)
        unique = self.emitter.new_object(word, type, name)
        self.operations.assign(self.emitter.address_of_local(unique), Operand(type, slot), name)
        self._declare(name, LocalVariable(unique, type))
        return slot
