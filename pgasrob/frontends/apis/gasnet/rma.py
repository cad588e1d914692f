"""GASNet 1.8's extended API: puts, gets, single values, memsets; blocking, with a handle, or implicit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import no_handle
from pgasrob.frontends.apis.call_steps import NotAllowed, Steps
from pgasrob.frontends.apis.gasnet import queues, rules
from pgasrob.frontends.apis.gasnet.header import FUNCTIONS
from pgasrob.frontends.apis.interface import Address, Call
from pgasrob.frontends.apis.transfers import Transfer, pairs
from pgasrob.frontends.c.types import Integer
from pgasrob.frontends.c.values import Handle, Value
from pgasrob.program.commands import Fetch, Load, Put, Read, Update, Wait, Write
from pgasrob.program.expressions import Const, Expr, IntType, Unary


@dataclass(frozen=True, slots=True)
class Mode:
    """How an operation is begun and completed: ``name`` is part of the function's name, ``result`` its C type."""

    name: str
    result: str


BLOCKING, EXPLICIT, IMPLICIT = Mode("", "void"), Mode("_nb", "gasnet_handle_t"), Mode("_nbi", "void")
MODES = (BLOCKING, EXPLICIT, IMPLICIT)


def begin(steps: Steps, mode: Mode, kind: str, operation: Callable[[Const], None]) -> Value | None:
    """Do ``operation`` in the queue that ``mode`` asks for; the handle that the call returns, None for void."""
    if mode == BLOCKING:
        where = queues.blocking_queue(steps.call)
        operation(where)
        steps.do(Wait(where))
        return None
    if mode == IMPLICIT:
        operation(queues.implicit(steps, kind))
        return None
    number = queues.new_handle(steps)
    operation(queues.handle_queue(steps, number))
    return queues.value_of(number)


def transfer(
    steps: Steps,
    mode: Mode,
    implicit: str,
    kind: type[Put] | type[Read] | type[Write],
    indexes: tuple[int, int, int, int],
) -> Value | None:
    """Move memory; ``indexes`` are those of the arguments: the address on the other rank, that rank, the address here,
    and how many bytes. ``implicit``: the implicit set that the operation belongs to in that ``mode``."""
    call, (there, rank, here, bytes) = steps.call, indexes
    remote, node = queues.remote(call, there, rank)

    def issue(where: Const) -> None:
        Transfer(queues.local_argument(call, here), node, remote, call.known(bytes)).issue(steps, kind, where)

    return begin(steps, mode, implicit, issue)


# Puts and gets of memory. A put captures its source, unless it is a bulk one: that reads it until it is complete.


def _put(call: Call, steps: Steps, mode: Mode, bulk: bool) -> Value | None:
    return transfer(steps, mode, "put", Write if bulk or mode == BLOCKING else Put, (1, 0, 2, 3))


def _get(call: Call, steps: Steps, mode: Mode) -> Value | None:
    return transfer(steps, mode, "get", Read, (2, 1, 0, 3))


def _memset(call: Call, steps: Steps, mode: Mode) -> Value | None:
    remote, node = queues.remote(call, 1, 0)
    if call.known(2) != 0:
        call.fail(Wrong.CALL_LIMIT, "gasnet_memset with a value that is not 0", "set a local buffer and put it")

    def clear(where: Const) -> None:
        for cell, _ in pairs(call, remote, remote, call.known(3)):
            steps.do(Update("set", Const(0), node, cell, where, atomic=""))

    return begin(steps, mode, "put", clear)


def _put_value(call: Call, steps: Steps, mode: Mode) -> Value | None:
    remote, node = queues.remote(call, 1, 0)
    return begin(steps, mode, "put", lambda where: set_value(steps, remote, node, (2, 3), where))


for _mode in MODES:
    for _bulk in ("", "_bulk"):
        FUNCTIONS.does(
            f"{_mode.result} gasnet_put{_mode.name}{_bulk}(gasnet_node_t node, void *dest, void *src, size_t bytes)"
        )(partial(_put, mode=_mode, bulk=bool(_bulk)))
        FUNCTIONS.does(
            f"{_mode.result} gasnet_get{_mode.name}{_bulk}(void *dest, gasnet_node_t node, void *src, size_t bytes)"
        )(partial(_get, mode=_mode))
    FUNCTIONS.does(
        f"{_mode.result} gasnet_memset{_mode.name}(gasnet_node_t node, void *dest, int value, size_t bytes)"
    )(partial(_memset, mode=_mode))
    FUNCTIONS.does(
        f"{_mode.result} gasnet_put{_mode.name}_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,"
        " size_t bytes)"
    )(partial(_put_value, mode=_mode))


# Single values: the low-order bytes of a register value


def value_type(call: Call, index: int, signed: bool) -> tuple[int, IntType]:
    size = call.known(index)
    if size not in (1, 2, 4, 8):
        call.fail(Wrong.ARGUMENT, f"a value of {size} bytes", "values have 1, 2, 4 or 8 bytes")
    return size, IntType(8 * size, signed)


def set_value(steps: Steps, remote: Address, node: Expr, arguments: tuple[int, int], where: Const) -> None:
    """Set the scalar at ``remote`` to the value in the first of ``arguments``, of as many bytes as the second says."""
    call, (value, bytes) = steps.call, arguments
    _, type = value_type(call, bytes, True)
    expression = call.expression(value)
    narrow = Const(type.wrap(expression.value)) if isinstance(expression, Const) else Unary("cast", expression, type)
    steps.do(Update("set", narrow, node, call.number(remote, Integer(type)), where, type=type, atomic=""))


def get_value(steps: Steps, remote: Address, node: Expr, bytes: int) -> Expr:
    """The scalar at ``remote`` without a sign, got by a blocking call."""
    call = steps.call
    _, type = value_type(call, bytes, False)
    register = call.register("value")
    steps.do(Fetch(register, node, call.number(remote, Integer(type)), atomic=""))
    return Unary("cast", register, type)


@FUNCTIONS.does("gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void *src, size_t bytes)")
def get_val(call: Call, steps: Steps) -> Expr:
    remote, node = queues.remote(call, 1, 0)
    return get_value(steps, remote, node, 2)


VALGET = "gasnet.valget"


def _landing(call: Call, number: int) -> Expr:
    """The cell here that a value with a handle arrives in."""
    return call.own_cell("gasnet", "value", number, name=f"value_{number}")


@FUNCTIONS.does("gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void *src, size_t bytes)")
def get_nb_val(call: Call, steps: Steps) -> Handle:
    remote, node = queues.remote(call, 1, 0)
    size, _ = value_type(call, 2, False)
    number = queues.new_handle(steps)
    where = queues.handle_queue(steps, number)
    steps.do(Read(_landing(call, number), node, call.cell(remote, size), where))
    return Handle(VALGET, (number, size))


@FUNCTIONS.does("gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle)")
def wait_valget(call: Call, steps: Steps) -> Expr:
    handle = call.arguments[0]
    if not isinstance(handle, Handle) or handle.kind != VALGET:
        call.fail(
            no_handle(handle),
            f"{call.texts[0]} is not a known handle here",
            "set the variable of the handle on each path to this call",
        )
    number, size = handle.data
    assert isinstance(number, int) and isinstance(size, int)
    if number not in queues.open_handles(steps):
        raise NotAllowed(rules.HANDLE_TWICE, f"{call.name} of a handle that has been waited for")
    queues.complete(steps, number)
    register = call.register("value")
    steps.do(Load(register, _landing(call, number)))
    return Unary("cast", register, IntType(8 * size, False))


# Completion


@FUNCTIONS.does("void gasnet_wait_syncnb(gasnet_handle_t handle)")
def wait_handle(call: Call, steps: Steps) -> None:
    queues.wait_once(steps, call.arguments[0], call.texts[0])


def _implicit(call: Call, steps: Steps, kinds: tuple[str, ...]) -> int:
    queues.complete_implicit(steps, kinds)
    return 0


IMPLICIT_KINDS = {"puts": ("put", "group"), "gets": ("get",), "all": ("put", "group", "get")}
for _name, _kinds in IMPLICIT_KINDS.items():
    FUNCTIONS.does(f"void gasnet_wait_syncnbi_{_name}(void)")(partial(_implicit, kinds=_kinds))


@FUNCTIONS.does("void gasnet_begin_nbi_accessregion(void); void gex_NBI_BeginAccessRegion(gex_Flags_t flags)")
def begin_region(call: Call, steps: Steps) -> None:
    if isinstance(steps.recall("gasnet.region"), int):
        raise NotAllowed(rules.REGION, f"{call.name} within an access region")
    steps.note("gasnet.region", queues.new_handle(steps))


@FUNCTIONS.does("""
    gasnet_handle_t gasnet_end_nbi_accessregion(void); gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags)
""")
def end_region(call: Call, steps: Steps) -> Handle:
    """The handle of all implicit operations of the region, which the calls for implicit ones do not cover."""
    region = steps.recall("gasnet.region")
    if not isinstance(region, int):
        raise NotAllowed(rules.REGION, f"{call.name}, and no access region has begun")
    steps.note("gasnet.region", None)
    return queues.value_of(region)
