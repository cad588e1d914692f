"""The code of a function."""

from __future__ import annotations

from pgasrob.frontends.c.code import CompiledFunction, Return, Set
from pgasrob.frontends.c.compiler.bodies import survey
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.scopes import Context, Scope
from pgasrob.frontends.c.compiler.statement_code import Statements
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import VOID, CType, Integer, Pointer, Struct, Void
from pgasrob.frontends.c.values import UNDEFINED, Known


def compiled(context: Context, name: str, result: CType, node: Node) -> CompiledFunction:
    """The code of the definition ``node`` of the function ``name``, which returns a ``result``."""
    emitter = Emitter(context, name, Scope(context.file_scope))
    body = survey(node["body"], emitter)
    emitter.span = context.span(node["declarator"])
    pointer = emitter.new_slot(Pointer(result)) if isinstance(result, Struct) else None
    statements = Statements(emitter, body, result, pointer)
    types = statements.expressions.types
    declared = types.declarator(node["declarator"], VOID)
    assert declared.function is not None
    slots = [] if pointer is None else [pointer]
    for parameter in types.parameters(declared.function["parameters"])[0]:
        slots.append(statements.declarations.parameter(parameter.name, context.complete(parameter.type)))
    for child in node["body"].children:
        statements.statement(child)
    emitter.span = context.span(node["declarator"])
    _end(emitter, result)
    returned = VOID if isinstance(result, Struct) else result
    code = emitter.finished()
    lasting = emitter.ending(())
    return CompiledFunction(
        name, tuple(slots), returned, emitter.slots, emitter.objects, code, emitter.spans, lasting, emitter.sized
    )


def _end(emitter: Emitter, result: CType) -> None:
    """The end of the body."""
    if isinstance(result, Void | Struct):
        emitter.emit(Return(None))
    else:
        value = Known(0) if emitter.name == "main" and isinstance(result, Integer) else UNDEFINED
        emitter.emit(Return(emitter.compute(result, Set, value, result)))
