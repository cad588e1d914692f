"""Tables of remedies against late operations, by library: calls to insert, and calls to use instead.

The tables follow the specifications of the libraries, as the handlers in `frontends.apis` do. Nothing relies on them:
each repaired program is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["order", "local completion", "completion", "notification", "barrier"]
"""The effect of a candidate: it orders operations, makes sources reusable, makes operations complete, notifies a
target, or synchronises all ranks."""

SIGN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[][(){},]""", re.DOTALL)
"""The tokens by which calls are read; comments, strings and characters are tokens as a whole."""


@dataclass(frozen=True, slots=True)
class CallText:
    """A call as it is written; ``result``: the variable that its result is assigned to, if it is; ``end``: where it
    ends in the text that it was read from."""

    name: str
    arguments: tuple[str, ...]
    result: str = ""
    end: int = 0

    @classmethod
    def read(cls, text: str, before: str = "") -> CallText | None:
        """The call that ``text`` begins with; ``before`` is the part of its statement before the call."""
        match = re.match(r"\s*([A-Za-z_]\w*)\s*\(", text)
        if match is None:
            return None
        arguments, depth, start = [], 0, match.end()
        for found in SIGN.finditer(text, match.end() - 1):
            place, sign = found.start(), found[0]
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0 or (depth == 1 and sign == ","):
                arguments.append(text[start:place].strip())
                start = place + 1
            if depth == 0:
                result = re.search(r"([A-Za-z_][\w.\[\]>-]*)\s*=\s*$", before)
                return cls(match[1], tuple(arguments), result[1] if result else "", place + 1)
        return None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"


Remedy = tuple[Kind, str]


def insertions(call: CallText, text: str) -> Iterator[Remedy]:
    """The statements that complete or order the operation of ``call``, with their kinds; ``text`` is the source."""
    name, given = call.name, call.arguments
    if name.startswith("shmem"):
        context = name.startswith(("shmem_ctx_", "shmemx_ctx_"))
        yield "order", f"shmem_ctx_fence({given[0]});" if context else "shmem_fence();"
        yield "completion", f"shmem_ctx_quiet({given[0]});" if context else "shmem_quiet();"
    elif name.startswith("MPI_"):
        yield from _mpi(name, given, text)
    elif name.startswith("gaspi_") and len(given) > 4:
        yield "completion", f"gaspi_wait({given[-2]}, GASPI_BLOCK);"
    elif name.startswith("ARMCI_"):
        handle = given[-1] if name.startswith("ARMCI_Nb") and not name.startswith("ARMCI_NbPutValue") else ""
        if handle not in ("", "NULL", "0"):
            yield "local completion", f"ARMCI_Wait({handle});"
        elif handle:
            yield "local completion", "ARMCI_WaitAll();"
        if "Get" not in name:
            yield "completion", f"ARMCI_Fence({given[-2] if handle else given[-1]});"
            yield "completion", "ARMCI_AllFence();"
    elif name.startswith("gasnet_") and "_nbi" in name:
        yield "completion", f"gasnet_wait_syncnbi_{'gets' if '_get_' in name else 'puts'}();"
    elif name.startswith("gasnet_") and "_nb" in name and call.result:
        yield "completion", f"gasnet_wait_syncnb({call.result});"
    elif name.startswith("gex_RMA_") and "NBI" in name:
        yield "completion", f"gex_NBI_Wait({'GEX_EC_GET' if 'Get' in name else 'GEX_EC_PUT'}, 0);"
    elif name.startswith("gex_RMA_") and "NB" in name and call.result:
        yield "completion", f"gex_Event_Wait({call.result});"
    elif name in ("writeDmaGPI", "readDmaGPI"):
        yield "completion", f"waitDmaGPI({given[-1]});"


def for_hidden_calls(text: str, queue: str) -> Iterator[Remedy]:
    """The statements that complete or order all operations, or those of ``queue``: for an operation whose call is
    hidden in a macro of the source ``text``."""
    number = re.match(r"queue_(\d+)", queue)
    if re.search(r"\bshmem_\w+\s*\(", text):
        yield "order", "shmem_fence();"
        yield "completion", "shmem_quiet();"
    if re.search(r"\bARMCI_\w+\s*\(", text):
        yield "local completion", "ARMCI_WaitAll();"
        yield "completion", "ARMCI_AllFence();"
    if re.search(r"\bgasnet_\w+_nbi\w*\s*\(", text):
        yield "completion", "gasnet_wait_syncnbi_all();"
    if number and re.search(r"\bgaspi_\w+\s*\(", text):
        yield "completion", f"gaspi_wait({number[1]}, GASPI_BLOCK);"
    if number and re.search(r"\b(read|write)DmaGPI\s*\(", text):
        yield "completion", f"waitDmaGPI(GPIQueue{number[1]});"


MPI_TARGET = {
    "Put": 3, "Get": 3, "Accumulate": 3, "Get_accumulate": 6, "Fetch_and_op": 3, "Compare_and_swap": 4,
    "Rput": 3, "Rget": 3, "Raccumulate": 3, "Rget_accumulate": 6,
}  # fmt: skip
"""The argument that says the target rank."""


def _mpi(name: str, given: tuple[str, ...], text: str) -> Iterator[Remedy]:
    """Flushes belong to the epochs that locks open, and fences to those between fences: of the same window."""
    operation = name.removeprefix("MPI_")
    if operation not in MPI_TARGET:
        return
    requested = operation.startswith("R")
    window, target = given[-2 if requested else -1], given[MPI_TARGET[operation]]
    if requested:
        yield "local completion", f"MPI_Wait({given[-1]}, MPI_STATUS_IGNORE);"
    fenced = re.search(rf"\bMPI_Win_fence\s*\([^;]*\b{re.escape(window.split('.')[-1].split('>')[-1])}\s*\)", text)
    if "MPI_Win_lock" in text and not fenced:
        yield "local completion", f"MPI_Win_flush_local({target}, {window});"
        yield "completion", f"MPI_Win_flush({target}, {window});"
        yield "completion", f"MPI_Win_flush_all({window});"
    if "MPI_Win_fence" in text:
        yield "barrier", f"MPI_Win_fence(0, {window});"


CHANGED_BARRIERS = {"shmem_sync_all": "shmem_barrier_all()", "armci_msg_barrier": "ARMCI_Barrier()"}
"""Barriers, and those that complete operations besides."""


def changes(call: CallText) -> Iterator[Remedy]:
    """The calls that do what ``call`` does, and complete more."""
    name, given = call.name, call.arguments
    if name.startswith("shmem") and name.endswith("_nbi"):
        yield "local completion", str(CallText(name.removesuffix("_nbi"), given))
    elif name in CHANGED_BARRIERS:
        yield "completion", CHANGED_BARRIERS[name]
    elif name.startswith("ARMCI_Nb"):
        kept = given if name.startswith("ARMCI_NbPutValue") else given[:-1]
        yield "local completion", str(CallText(name.replace("ARMCI_Nb", "ARMCI_"), kept))
    elif name in ("MPI_Win_flush_local", "MPI_Win_flush_local_all"):
        yield "completion", str(CallText(name.replace("_local", ""), given))
    elif name == "wait_local":
        yield "completion", str(CallText("wait", given))
    elif re.fullmatch(r"gasnet_(put|get)_nbi(_bulk|_val)?", name):
        yield "completion", str(CallText(name.replace("_nbi", ""), given))


WAITS: tuple[tuple[str, str, Kind], ...] = (
    (r"shmem\w*", r"shmem_(ctx_)?quiet", "completion"),
    (r"MPI_R\w+", r"MPI_Wait(all)?|MPI_Win_flush_local(_all)?", "local completion"),
    (r"MPI_\w+", r"MPI_Win_flush(_all)?", "completion"),
    (r"gaspi_\w+", r"gaspi_wait", "completion"),
    (r"ARMCI_Nb\w+", r"ARMCI_Wait(All|Proc)?", "local completion"),
    (r"ARMCI_\w+", r"ARMCI_(All)?Fence", "completion"),
    (r"gasnet_\w+_nbi\w*", r"gasnet_wait_syncnbi\w*", "completion"),
    (r"gasnet_\w+_nb(_\w+)?", r"gasnet_wait_syncnb(_all|_some)?", "completion"),
    (r"gex_RMA_\w+NBI\w*", r"gex_NBI_Wait", "completion"),
    (r"gex_RMA_\w+NB\w*", r"gex_Event_Wait(All|Some)?", "completion"),
    (r"(read|write)DmaGPI", r"waitDmaGPI", "completion"),
    (r"write|read|put|update\w*|notify", r"wait_local", "local completion"),
    (r"write|read|put|update\w*|notify", r"wait", "completion"),
)
"""Patterns of operations and of the calls that wait for them, with the kind; the last two for the core language."""


def waits(call: CallText) -> Iterator[tuple[Kind, str, str]]:
    """The kinds of calls that may wait for the operation of ``call``, each with the pattern of all operations that such
    a call waits for, and that of its own name."""
    for name, waiting, kind in WAITS:
        if re.fullmatch(name, call.name):
            yield kind, rf"(?!(?:{waiting})\b)(?:{name})", waiting


ONCE = ("gasnet_wait_syncnb", "gex_Event_Wait")
"""Calls that must not be made twice for a handle, which the first frees."""
STATUS = re.compile(r"\b((?:MPI_|gaspi_|ARMCI_Wait)\w*\(.*\));")
"""Statements whose result says whether there was an error."""


def checked(remedy: str, macro: str) -> str:
    """``remedy`` with its status passed to ``macro``, as the source does with statuses."""
    return STATUS.sub(rf"{macro}(\1);", remedy) if macro else remedy


def reset(call: CallText) -> Remedy | None:
    """The reset that may be missing after a wait for a notification, so that the next wait is for a new one."""
    if call.name == "gaspi_notify_waitsome" and call.arguments[3].startswith("&"):
        number = call.arguments[3][1:].strip()
        was = f"was_{number}" if number.isidentifier() else "was"
        text = f"gaspi_notify_reset({call.arguments[0]}, {number}, &{was});"
        return "notification", f"{{ gaspi_notification_t {was}; {text} }}"
    return None


BARRIERS = (
    ("shmem", "shmem_barrier_all();"),
    ("MPI_", "MPI_Barrier(MPI_COMM_WORLD);"),
    ("gaspi_", "gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);"),
    ("ARMCI_", "ARMCI_Barrier();"),
    ("writeDmaGPI", "barrierGPI();"),
    ("readDmaGPI", "barrierGPI();"),
)
"""The barriers of all ranks, by the prefixes of the names of the library's operations."""


def barrier(call: CallText) -> str | None:
    return next((text for name, text in BARRIERS if call.name.startswith(name)), None)


def mark(inserted: str) -> str:
    """The statement that marks the way to a barrier ``inserted`` in C: a barrier, which needs no window."""
    call = CallText.read(inserted)
    return (call and barrier(call)) or inserted


SET = re.compile(r"shmem_(?:u?int|u?long|u?longlong|u?int64|u?int32|size)_(?:p|atomic_set)")


def signalled(put: CallText, flag: CallText, text: str) -> str | None:
    """The put that sets ``flag`` as its signal; None unless the library has one and the flag can be a signal: a
    `uint64_t` that is set on the same PE."""
    if not re.fullmatch(r"shmem_\w*put\w*", put.name) or "signal" in put.name or put.name.startswith("shmem_ctx"):
        return None
    if not SET.fullmatch(flag.name) or len(flag.arguments) != 3 or len(put.arguments) != 4:
        return None
    (*where, pe), (cell, value, other) = put.arguments, flag.arguments
    name = re.match(r"&?\s*(\w+)", cell)
    if pe != other or name is None or not re.search(rf"\buint64_t\b[^;()]*\b{name[1]}\b", text):
        return None
    nonblocking = "_nbi" if put.name.endswith("_nbi") else ""
    call = CallText(
        f"{put.name.removesuffix('_nbi')}_signal{nonblocking}", (*where, cell, value, "SHMEM_SIGNAL_SET", pe)
    )
    return str(call)


def notified(call: CallText, text: str) -> tuple[str, str] | None:
    """The call that does what ``call`` does and notifies its target, and the statements that wait there; ``text`` is
    the source, which must not use the notification yet. None where the library has no such call."""
    if call.name != "gaspi_write" or len(call.arguments) != 8:
        return None
    used = {int(each) for each in re.findall(r"\b\d{1,4}\b", text)} if "notify" in text else set()
    number = next(each for each in range(len(used) + 1) if each not in used)
    *where, queue, timeout = call.arguments
    write = CallText("gaspi_write_notify", (*where, str(number), "1", queue, timeout))
    variable = f"arrived_{number}"
    wait = f"gaspi_notify_waitsome({where[3]}, {number}, 1, &{variable}, GASPI_BLOCK);"
    return str(write), f"{{ gaspi_notification_id_t {variable}; {wait} }}"


def with_queue_number(call: CallText, queue: str) -> CallText:
    """``call`` with the number of its ``queue`` in the core language in place of an argument with variables."""
    place, number = queue_argument(call), re.match(r"queue_(\d+)", queue)
    if place is None or number is None or not re.search(r"\b[a-z]", call.arguments[place]):
        return call
    text = f"GPIQueue{number[1]}" if "Dma" in call.name else number[1]
    return CallText(call.name, (*call.arguments[:place], text, *call.arguments[place + 1 :]))


WITH_QUEUE = r"gaspi_(?:read|write)\w*|gaspi_notify|(?:read|write)DmaGPI"
"""The operations that are put into a queue."""


def queue_argument(call: CallText) -> int | None:
    """The argument that names the queue of the operation, in libraries that have queues."""
    if not re.fullmatch(WITH_QUEUE, call.name):
        return None
    return len(call.arguments) - (1 if call.name.endswith("DmaGPI") else 2)
