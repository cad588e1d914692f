"""The compiler's atomics (`__sync_...`, `__atomic_...`) on memory that the rank reaches by loads and stores."""

from __future__ import annotations

from pgasrob.frontends.apis.call_arguments import reached
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.transfers import owner_of
from pgasrob.frontends.c import arithmetic
from pgasrob.frontends.c.arithmetic import expression
from pgasrob.frontends.c.layout import shown, size_of
from pgasrob.frontends.c.types import INT, CType, Floating, Integer, Pointer
from pgasrob.frontends.c.values import UNDEFINED, Known, Unknown, Value
from pgasrob.program import commands
from pgasrob.program.expressions import Const, IntType

SEQ_CST = 5
"""`memory_order_seq_cst` and `__ATOMIC_SEQ_CST`; the orders below it are weaker."""
UPDATES = {"+": "add", "-": "add", "&": "and", "|": "or", "^": "xor"}


def own_atomic(call: Call, operation: str, result: str) -> Outcome:
    """``operation`` (one of ``+ - & | ^``, ``=`` set, ``0`` clear, ``?`` compare and swap, "" read) on what argument 0
    points to; ``result`` is the old value, the new one, whether it was swapped, or nothing."""
    address = reached(call, 0)
    pointed = call.types[0].to if isinstance(call.types[0], Pointer) else INT
    type = pointed.type if isinstance(pointed, Integer) else IntType(8 * size_of(pointed), True)
    taken = {"": 0, "0": 0, "?": 2}.get(operation, 1)
    operands = [call.expression(index) for index in range(1, 1 + taken)]
    held = call.load(address, pointed)
    if isinstance(held, Known) and all(isinstance(value, Known) for value in call.arguments[1:]):
        return _at_once(call, operation, result, held, pointed)
    owner = owner_of(call, address)
    rank, cell = owner or call.me, call.cell(address, size_of(pointed))
    register = call.register("old")
    # The processor's, which no library knows of; it does not matter as what the bits are seen.
    atomic = f"{commands.OF_THE_CPU} {shown(Integer(IntType(8 * size_of(pointed), True)))}"
    match operation:
        case "":
            command: commands.Command = commands.Load(register, cell, owner, atomic=atomic)
        case "=" | "0" if not result and _released(call, operation):
            value = Const(0) if operation == "0" else operands[0]
            command = commands.Store(cell, value, owner, atomic=atomic)
        case "=" | "0":
            value = Const(0) if operation == "0" else operands[0]
            command = commands.Swap(register, rank, cell, value, atomic=atomic)
        case "?":
            command = commands.CompareSwap(register, rank, cell, operands[0], operands[1], atomic=atomic)
        case _:
            operand = arithmetic.unary("-", call.arguments[1], pointed) if operation == "-" else call.arguments[1]
            command = commands.FetchUpdate(
                UPDATES[operation], register, rank, cell, call.value_expression(operand), type, atomic=atomic
            )
    old = Unknown(register)
    given: Value = UNDEFINED
    if result == "old":
        given = old
    elif result == "new":
        given = arithmetic.binary(operation, old, call.arguments[1], pointed)
    elif result == "bool":
        given = arithmetic.binary("==", old, call.arguments[1], pointed)
    return Outcome(call.do(command), given)


def _released(call: Call, operation: str) -> bool:
    """Whether a store to memory is a plain one on x86, because no more than release is asked of it."""
    return operation == "0" or (len(call.arguments) > 2 and call.arguments[2] in tuple(map(Known, range(SEQ_CST))))


def _at_once(call: Call, operation: str, result: str, held: Known, type: CType) -> Outcome:
    """The same on memory whose contents are known. What is a locked instruction has the store that it makes in memory
    when it is over."""
    address = call.pointer(0)
    assert address is not None
    operands = call.arguments[1:]
    new: Value = held
    match operation:
        case "=":
            new = operands[0]
        case "0":
            new = Known(0)
        case "?":
            new = operands[1] if operands[0] == held else held
        case "":
            pass
        case _:
            new = arithmetic.binary(operation, held, operands[0], type)
    given: Value = {"old": held, "new": new, "": UNDEFINED}.get(
        result, Known(int(bool(operands) and operands[0] == held))
    )
    locked = operation and not (operation in "=0" and not result and _released(call, operation))
    fence = call.do(commands.Mark(Const(1), commands.FULL_FENCE)) if locked else ()
    return Outcome(result=given, stores=((address, new, type),), after=fence)


def written(type: CType) -> str:
    """``type`` as C writes it."""
    match type:
        case Integer(integer):
            name = {8: "char", 16: "short", 32: "int", 64: "long"}[integer.bits]
            return f"{'signed' if integer.signed else 'unsigned'} {name}"
        case Floating(bits):
            return {32: "float", 64: "double", 128: "long double"}[bits]
        case Pointer():
            return "void *"
    return "int"


__all__ = ["expression", "own_atomic", "written"]
