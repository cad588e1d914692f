"""Messages between two processes, which come with ARMCI: armci_msg_snd and armci_msg_rcv."""

from __future__ import annotations

from typing import cast

from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.armci.setup import everyone, shaped
from pgasrob.frontends.apis.call_arguments import target
from pgasrob.frontends.apis.flags import Group
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.apis.transfers import Steps
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Load, Store
from pgasrob.program.expressions import Expr

PROTOTYPES = Prototypes()


def _channel(call: Call, sender: int, receiver: int) -> Group:
    """Messages between two processes arrive in their order, those of each tag by itself."""
    return flags.channel(everyone(call), sender, receiver, "tag", call.known(0))


@PROTOTYPES.calls("void armci_msg_snd(int tag, void *data, int bytes, int to);")
def send(call: Call) -> Outcome:
    call.rests_on(Kind.BUFFERED_SENDS, call.name)
    steps, receiver, size = Steps(call), call.known(3), call.known(2)
    key = _sizes(call, call.rank, receiver)
    call.publish(key, tuple(sorted({*_sent(call, call.rank, key), size})))
    values: list[Expr] = []
    for cell in shaped(call, target(call, 1), size):
        register = call.register("message")
        steps.do(Load(register, cell))
        values.append(register)
    flags.send(steps, _channel(call, call.rank, receiver), values)
    return steps.outcome()


@PROTOTYPES.calls("void armci_msg_rcv(int tag, void *data, int room, int *bytes, int from);")
def receive(call: Call) -> Outcome:
    """As many bytes as the other process sends with that tag, always the same; a null pointer does not ask."""
    steps, sender, room = Steps(call), call.known(4), call.known(2)
    sizes, length = _sent(call, sender, _sizes(call, sender, call.rank)), call.pointer(3)
    size = sizes[0] if sizes else room
    if len(sizes) > 1:
        call.fail(f"messages of {', '.join(map(str, sizes))} bytes have one tag", "give each size a tag of its own")
    if size > room:
        call.fail(f"a message of {size} bytes comes to a buffer of {room}", "make room for it")
    cells = shaped(call, target(call, 1), size)
    values = flags.receive(steps, _channel(call, sender, call.rank), len(cells))
    steps.do(*(Store(cell, value) for cell, value in zip(cells, values, strict=True)))
    if length is not None:
        steps.store(length, Known(size), INT)
    return steps.outcome()


def _sizes(call: Call, sender: int, receiver: int) -> str:
    return f"armci.message.{call.known(0)}.{sender}.{receiver}"


def _sent(call: Call, sender: int, key: str) -> tuple[int, ...]:
    """The sizes of the messages that ``sender`` sends under ``key``, as far as is known."""
    return cast("tuple[int, ...]", call.published(sender, key) or ())
