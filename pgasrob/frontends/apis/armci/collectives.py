"""ARMCI's collectives, and the messages between two processes that come with it (armci_msg_...)."""

from __future__ import annotations

from functools import partial
from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.armci.header import FUNCTIONS
from pgasrob.frontends.apis.call_arguments import limited, target
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.transfers import element, loaded, message_cells
from pgasrob.frontends.c.types import CHAR, DOUBLE, FLOAT, INT, LONG, CType
from pgasrob.frontends.c.values import Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Store


def everyone(call: Call) -> Group:
    return Group(("armci", "all"), call.everyone)


def barrier_of_all(steps: Steps) -> None:
    """All arrive; nothing is completed."""
    flags.barrier(steps, everyone(steps.call))


OPERATIONS = {"+": "sum", "*": "prod", "max": "max", "min": "min", "or": "or"}


def reduction(steps: Steps, group: Group, type: CType) -> None:
    """Every member contributes to every result, in place."""
    call, text = steps.call, _text(steps.call, 2)
    if text not in OPERATIONS:
        call.fail(
            Wrong.ARGUMENT, f'the operation "{text}"', "use one of " + ", ".join(f'"{known}"' for known in OPERATIONS)
        )
    data, count = target(call, 0), limited(call, call.known(1), "elements")
    for index, value in enumerate(flags.reduce(steps, group, OPERATIONS[text], data, type, count)):
        steps.store(element(call, data, index, type), value, type)


def _text(call: Call, index: int) -> str:
    """The string that argument ``index`` points to, as far as it is known."""
    address, text = target(call, index), ""
    while isinstance(letter := call.load(call.moved(address, len(text)), CHAR), Known) and letter.value > 0:
        text += chr(letter.value)
    return text


def _reduction(call: Call, steps: Steps, type: CType) -> None:
    reduction(steps, everyone(call), type)


REDUCED = (
    ("i", INT, "int"),
    ("l", LONG, "long"),
    ("ll", LONG, "long long"),
    ("d", DOUBLE, "double"),
    ("f", FLOAT, "float"),
)
"""The types of reductions: the letters in the names of functions, the type, and how C writes it."""
for _letter, _type, _c in REDUCED:
    FUNCTIONS.does(f"void armci_msg_{_letter}gop({_c} *x, int n, char *op)")(partial(_reduction, type=_type))


@FUNCTIONS.does("""
    void armci_msg_bcast(void *data, int bytes, int root); void armci_msg_brdcst(void *data, int bytes, int root)
""")
def broadcast(call: Call, steps: Steps) -> None:
    """Everyone waits for the root's data, and the root for no one."""
    root, cells = call.known(2), message_cells(call, "armci", "broadcast", target(call, 0), call.known(1))
    values = loaded(steps, cells, "data") if call.rank == root else []
    received = flags.scatter(steps, everyone(call), root, len(cells), lambda place: values)
    if call.rank != root:
        steps.do(*(Store(cell, value) for cell, value in zip(cells, received, strict=True)))


# Messages between two processes


def _channel(call: Call, sender: int, receiver: int) -> Group:
    """Messages between two processes arrive in their order, those of each tag by itself."""
    return flags.channel(everyone(call), sender, receiver, "tag", call.known(0))


@FUNCTIONS.does("void armci_msg_snd(int tag, void *data, int bytes, int to)")
def send(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.NOT_SYNCHRONISING if call.strict else Kind.BUFFERED_SENDS, call.name)
    receiver, size = call.known(3), call.known(2)
    key = _sizes(call, call.rank, receiver)
    call.publish(key, tuple(sorted({*_sent(call, call.rank, key), size})))
    values = loaded(steps, message_cells(call, "armci", "broadcast", target(call, 1), size), "message")
    flags.send(steps, _channel(call, call.rank, receiver), values, until_received=call.strict)


@FUNCTIONS.does("void armci_msg_rcv(int tag, void *data, int room, int *bytes, int from)")
def receive(call: Call, steps: Steps) -> None:
    """Receive as many bytes as the other process sends with that tag, always the same; the length is not stored where
    its pointer is null."""
    sender, room = call.known(4), call.known(2)
    sizes = _sent(call, sender, _sizes(call, sender, call.rank))
    size = sizes[0] if sizes else room
    if len(sizes) > 1:
        call.fail(
            Wrong.CALL_LIMIT,
            f"messages of {', '.join(map(str, sizes))} bytes have one tag",
            "give each size a tag of its own",
        )
    if size > room:
        call.fail(Wrong.BOUNDS, f"a message of {size} bytes comes to a buffer of {room}", "make room for it")
    cells = message_cells(call, "armci", "broadcast", target(call, 1), size)
    values = flags.receive(steps, _channel(call, sender, call.rank), len(cells))
    steps.do(*(Store(cell, value) for cell, value in zip(cells, values, strict=True)))
    steps.answer(3, size, INT)


def _sizes(call: Call, sender: int, receiver: int) -> str:
    """Key of the published sizes of the messages with the tag of this call."""
    return f"armci.message.{call.known(0)}.{sender}.{receiver}"


def _sent(call: Call, sender: int, key: str) -> tuple[int, ...]:
    """The sizes of messages that ``sender`` is known to send under ``key``."""
    return cast("tuple[int, ...]", call.published(sender, key) or ())
