"""ARMCI's puts, gets and accumulates: contiguous, strided, vectors and single values; blocking or with a handle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.armci import queues
from pgasrob.frontends.apis.armci.header import DONE, FUNCTIONS, GIOV
from pgasrob.frontends.apis.call_arguments import integers, limited, local, target
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Address, Call
from pgasrob.frontends.apis.transfers import Transfer, blocking_queue, element, int_type, value_at
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.types import DOUBLE, FLOAT, INT, LONG, VOID, CType, Floating, Pointer
from pgasrob.frontends.c.values import Known
from pgasrob.program.commands import Fence, Fetch, Put, Read, Update, UpdateFrom, Wait, Write
from pgasrob.program.expressions import Binary, Const, Expr, Register, float_bits


@dataclass(frozen=True, slots=True)
class Piece:
    """``bytes`` contiguous bytes to move from ``source`` to ``target``."""

    source: Address
    target: Address
    bytes: int


# The pieces that the arguments from ``first`` on name, and the index of the process, which is the argument after them.


def contiguous(call: Call, first: int) -> tuple[list[Piece], int]:
    source, destination = (target(call, first + index, of_others=True) for index in (0, 1))
    return [Piece(source, destination, call.known(first + 2))], first + 3


def strided(call: Call, first: int) -> tuple[list[Piece], int]:
    """``count[0]`` bytes at a time, ``count[k]`` times along stride k - 1."""
    source, destination = (target(call, first + index, of_others=True) for index in (0, 2))
    levels = call.known(first + 5)
    if not 0 <= levels <= 7:
        call.fail(Wrong.ARGUMENT, f"{levels} levels of strides", "ARMCI takes 0 to 7 levels")
    from_strides = integers(call, first + 1, levels, INT)
    to_strides = integers(call, first + 3, levels, INT)
    bytes, *counts = integers(call, first + 4, levels + 1, INT)
    limited(call, prod(max(count, 0) for count in counts), "pieces")
    pieces = []
    for places in product(*map(range, reversed(counts))):
        at = places[::-1]
        here = sum(place * stride for place, stride in zip(at, from_strides, strict=True))
        there = sum(place * stride for place, stride in zip(at, to_strides, strict=True))
        pieces.append(Piece(call.moved(source, here), call.moved(destination, there), bytes))
    return pieces, first + 6


def vectors(call: Call, first: int) -> tuple[list[Piece], int]:
    """An array of `armci_giov_t`, each with arrays of source and destination addresses."""
    array, count = target(call, first), limited(call, call.known(first + 1), "descriptors")
    pieces: list[Piece] = []
    for index in range(count):
        pieces += _vector(call, first, call.moved(array, index * GIOV.size))
    return pieces, first + 2


def _vector(call: Call, index: int, descriptor: Address) -> Iterator[Piece]:
    def field(name: str) -> object:
        where = next(field for field in GIOV.fields if field.name == name)
        return call.load(call.moved(descriptor, where.offset), where.type)

    sources, targets, bytes, length = map(field, ("src_ptr_array", "dst_ptr_array", "bytes", "ptr_array_len"))
    if not (isinstance(sources, Address) and isinstance(targets, Address)):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"the arrays of {call.texts[index]} are not known here",
            "set them to arrays of the program",
        )
    if not (isinstance(bytes, Known) and isinstance(length, Known)):
        call.fail(
            Wrong.UNKNOWN_LIMIT,
            f"the sizes in {call.texts[index]} are not known here",
            "set them to constants on each rank",
        )
    for place in range(limited(call, length.value, "pieces")):
        source = call.load(call.moved(sources, 8 * place), Pointer(VOID))
        goal = call.load(call.moved(targets, 8 * place), Pointer(VOID))
        if not (isinstance(source, Address) and isinstance(goal, Address)):
            call.fail(
                Wrong.UNKNOWN_LIMIT,
                f"address {place} in {call.texts[index]} is not known here",
                "set it to a known address",
            )
        yield Piece(source, goal, bytes.value)


SHAPES = {"": contiguous, "S": strided, "V": vectors}
ARGUMENTS = {
    "": "void *src, void *dst, int bytes, int proc",
    "S": "void *src, int *src_stride, void *dst, int *dst_stride, int *count, int levels, int proc",
    "V": "armci_giov_t *vectors, int len, int proc",
}


def _put(
    steps: Steps, pieces: list[Piece], goal: int, process: Expr, where: Const, kind: type[Put] | type[Write]
) -> None:
    """Issue a put of ``pieces`` to ``process``; argument ``goal`` names the destination."""
    for piece in pieces:
        source = local(steps.call, 0, piece.source)
        target = queues.remote(steps.call, goal, piece.target, process)
        Transfer(source, process, target, piece.bytes).issue(steps, kind, where)


def _puts(call: Call, steps: Steps, shape: str, nonblocking: bool) -> None:
    """Blocking: the source is captured, and puts come after earlier ones to the same process."""
    pieces, index = SHAPES[shape](call, 0)
    process = queues.process_in(call, index)
    where = _put_queue(steps, process, index + 1, nonblocking)
    _put(steps, pieces, _goal(shape), process, where, Write if nonblocking else Put)


def _put_queue(steps: Steps, process: Expr, handle: int, nonblocking: bool) -> Const:
    """The queue of a put or accumulate: of the handle in that argument, or of blocking calls."""
    if nonblocking:
        return queues.use(steps, (*queues.handle(steps.call, handle), "put"), process, True)
    return ordered(steps, process)


def _gets(call: Call, steps: Steps, shape: str, nonblocking: bool) -> None:
    pieces, index = SHAPES[shape](call, 0)
    process = queues.process_in(call, index)
    key = (*queues.handle(call, index + 1), "get") if nonblocking else queues.BLOCKING
    for piece in pieces:
        source, goal = queues.remote(call, 0, piece.source, process), local(call, _goal(shape), piece.target)
        where = queues.use(steps, key, process, True) if nonblocking else blocking_queue(call, "armci")
        Transfer(goal, process, source, piece.bytes).issue(steps, Read, where)
    if steps.commands and not nonblocking:
        steps.do(Wait(blocking_queue(call, "armci")))


def _goal(shape: str) -> int:
    """The index of the argument that names the destination."""
    return {"": 1, "S": 2, "V": 0}[shape]


def ordered(steps: Steps, process: Expr) -> Const:
    """The queue of blocking puts to ``process``, with everything in it ordered before what comes now."""
    if queues.used(steps, queues.BLOCKING, process):
        steps.do(Fence(queues.queue(steps, queues.BLOCKING, queues.named(process)), process))
    return queues.use(steps, queues.BLOCKING, process, False)


def _with_and_without_handle(declaration: str, doing: Callable[..., None]) -> None:
    """Add the function that ``declaration`` is of, and the one with `Nb` in its name and a handle at its end."""
    with_handle = declaration.replace("{Nb}", "Nb").replace(")", ", armci_hdl_t *handle)")
    DONE.does(declaration.replace("{Nb}", ""))(partial(doing, nonblocking=False))
    DONE.does(with_handle)(partial(doing, nonblocking=True))


for _shape, _arguments in ARGUMENTS.items():
    _with_and_without_handle(f"int ARMCI_{{Nb}}Put{_shape}({_arguments})", partial(_puts, shape=_shape))
    _with_and_without_handle(f"int ARMCI_{{Nb}}Get{_shape}({_arguments})", partial(_gets, shape=_shape))


# Accumulates: destination += scale * source, each element by itself

DATA: tuple[CType, ...] = (INT, LONG, FLOAT, DOUBLE)
"""By the numbers of ARMCI_ACC_INT and so on; the complex types are not there."""


def _accumulates(call: Call, steps: Steps, shape: str, nonblocking: bool) -> None:
    data = call.known(0)
    if not 0 <= data < len(DATA):
        call.fail(Wrong.CALL_LIMIT, "accumulating complex numbers", "accumulate ARMCI_ACC_INT, _LNG, _FLT or _DBL")
    type = DATA[data]
    scale = value_at(steps, target(call, 1), type)
    pieces, index = SHAPES[shape](call, 2)
    process = queues.process_in(call, index)
    where = _put_queue(steps, process, index + 1, nonblocking)
    if nonblocking and scale != Const(_one(type)):
        call.fail(
            Wrong.CALL_LIMIT,
            "a nonblocking accumulate with a scale",
            "scale the source before, or use the blocking call",
        )
    # Accumulates exclude each other. That they are atomic with ARMCI_Rmw nobody promises.
    operation, atomic = "add." if isinstance(type, Floating) else "add", f"{shown(type)} by accumulate"
    for piece in pieces:
        source = local(call, 2, piece.source)
        goal = queues.remote(call, 2 + _goal(shape), piece.target, process)
        for place in range(limited(call, piece.bytes // call.size_of(type), "elements")):
            there = call.number(element(call, goal, place, type), type)
            if type == FLOAT:  # cells hold doubles, and these sums are rounded
                call.become_unknown([there])
            mine = element(call, source, place, type)
            if nonblocking:
                here = call.number(mine, type)
                steps.do(UpdateFrom(operation, here, process, there, where, type=int_type(type), atomic=atomic))
            else:
                value = _scaled(scale, value_at(steps, mine, type), type)
                steps.do(Update(operation, value, process, there, where, type=int_type(type), atomic=atomic))


def _one(type: CType) -> int:
    return float_bits(1.0) if isinstance(type, Floating) else 1


def _scaled(scale: Expr, value: Expr, type: CType) -> Expr:
    if scale == Const(_one(type)):
        return value
    return Binary("*." if isinstance(type, Floating) else "*", scale, value, int_type(type))


for _shape, _arguments in ARGUMENTS.items():
    _with_and_without_handle(
        f"int ARMCI_{{Nb}}Acc{_shape}(int type, void *scale, {_arguments})", partial(_accumulates, shape=_shape)
    )


# Single values


def _put_value(call: Call, steps: Steps, type: CType, nonblocking: bool) -> None:
    process = queues.process_in(call, 2)
    cell = call.number(queues.remote_argument(call, 1, process), type)
    where = _put_queue(steps, process, 3, nonblocking)
    steps.do(Update("set", call.expression(0), process, cell, where, type=int_type(type), atomic=""))


def _get_value(call: Call, steps: Steps, type: CType) -> Register:
    process, register = queues.process_in(call, 1), call.register("value")
    cell = call.number(queues.remote_argument(call, 0, process), type)
    steps.do(Fetch(register, process, cell, atomic=""))
    return register


for _name, _type in (("Int", INT), ("Long", LONG), ("Float", FLOAT), ("Double", DOUBLE)):
    _c = _name.lower()
    _with_and_without_handle(
        f"int ARMCI_{{Nb}}PutValue{_name}({_c} value, void *dst, int proc)", partial(_put_value, type=_type)
    )
    FUNCTIONS.does(f"{_c} ARMCI_GetValue{_name}(void *src, int proc)")(partial(_get_value, type=_type))


def _put_flag(call: Call, steps: Steps, shape: str) -> None:
    """A blocking put and then the flag, which comes after it as every put to that process does."""
    pieces, index = SHAPES[shape](call, 0)
    process = queues.process_in(call, index + 2)
    where = ordered(steps, process)
    _put(steps, pieces, _goal(shape), process, where, Put)
    cell = call.number(queues.remote_argument(call, index, process), INT)
    flag = Update("set", call.expression(index + 1), process, cell, where, atomic="")
    steps.do(Fence(where, process), flag)


for _name, _shape in (("Put_flag", ""), ("PutS_flag", "S"), ("PutS_flag_dir", "S")):
    _arguments = ARGUMENTS[_shape].replace("int proc", "int *flag, int value, int proc")
    DONE.does(f"int ARMCI_{_name}({_arguments})")(partial(_put_flag, shape=_shape))
