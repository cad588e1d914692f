"""Atomic memory operations (1.5, section 9.7), and their names before 1.4 (`shmem_int_fadd`).

Those that return the old value are blocking. The others, and all nonblocking ones, may happen any time until the next
quiet.
"""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.openshmem.contexts import SIGNAL, Arguments, does, does_typed
from pgasrob.frontends.apis.openshmem.header import INTEGERS
from pgasrob.frontends.apis.transfers import int_type, is_plain
from pgasrob.frontends.c.types import ULONG
from pgasrob.program.commands import Command, CompareSwap, Fetch, FetchAdd, FetchUpdate, Swap, Update, UpdateFrom
from pgasrob.program.expressions import Const, Expr, Register


def _fetched(at: Arguments, steps: Steps, command: Callable[[Register], Command]) -> Register:
    """Issue the ``command`` that puts the old value into a register, which the call returns."""
    register = at.call.register("old")
    steps.do(command(register))
    return register


@does_typed("{C} shmem_{ctx}{N}_atomic_fetch({ctx_t}const {C} *source, int pe)")
@does_typed("{C} shmem_{N}_fetch(const {C} *source, int pe)")
def fetch(at: Arguments, steps: Steps) -> Register:
    return _fetched(at, steps, lambda old: Fetch(old, at.pe(1), _cell(at, 0), atomic=at.atomic(0)))


@does_typed("{C} shmem_{ctx}{N}_atomic_swap({ctx_t}{C} *dest, {C} value, int pe)")
@does_typed("{C} shmem_{N}_swap({C} *dest, {C} value, int pe)")
def swap(at: Arguments, steps: Steps) -> Register:
    return _fetched(at, steps, lambda old: Swap(old, at.pe(2), _cell(at, 0), at.expression(1), atomic=at.atomic(0)))


@does_typed("{C} shmem_{ctx}{N}_atomic_compare_swap({ctx_t}{C} *dest, {C} cond, {C} value, int pe)", INTEGERS)
@does_typed("{C} shmem_{N}_cswap({C} *dest, {C} cond, {C} value, int pe)", INTEGERS)
def compare_swap(at: Arguments, steps: Steps) -> Register:
    expected, new = at.expression(1), at.expression(2)
    return _fetched(
        at, steps,
        lambda old: CompareSwap(old, at.pe(3), _cell(at, 0, expected), expected, new, atomic=at.atomic(0)),
    )  # fmt: skip


@does_typed("{C} shmem_{ctx}{N}_atomic_fetch_add({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@does_typed("{C} shmem_{N}_fadd({C} *dest, {C} value, int pe)", INTEGERS)
def fetch_add(at: Arguments, steps: Steps) -> Register:
    return _fetch_add(at, steps, at.expression(1), at.pe(2))


@does_typed("{C} shmem_{ctx}{N}_atomic_fetch_inc({ctx_t}{C} *dest, int pe)", INTEGERS)
@does_typed("{C} shmem_{N}_finc({C} *dest, int pe)", INTEGERS)
def fetch_inc(at: Arguments, steps: Steps) -> Register:
    return _fetch_add(at, steps, Const(1), at.pe(1))


def _fetch_add(at: Arguments, steps: Steps, amount: Expr, rank: Expr) -> Register:
    type, atomic = int_type(at.target(0)), at.atomic(0)
    return _fetched(at, steps, lambda old: FetchAdd(old, rank, _cell(at, 0), amount, type, atomic=atomic))


@does_typed("{C} shmem_{ctx}{N}_atomic_fetch_[and|or|xor]({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
def fetch_bits(at: Arguments, steps: Steps) -> Register:
    operation = at.call.name.rpartition("_")[2]
    type, atomic = int_type(at.target(0)), at.atomic(0)
    return _fetched(
        at, steps,
        lambda old: FetchUpdate(operation, old, at.pe(2), _cell(at, 0), at.expression(1), type, atomic=atomic),
    )  # fmt: skip


@does_typed("void shmem_{ctx}{N}_atomic_set({ctx_t}{C} *dest, {C} value, int pe)")
@does_typed("void shmem_{N}_set({C} *dest, {C} value, int pe)")
@does_typed("void shmem_{N}_add({C} *dest, {C} value, int pe)", INTEGERS)
@does_typed("void shmem_{ctx}{N}_atomic_[add|and|or|xor]({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
def update(at: Arguments, steps: Steps) -> None:
    _update(at, steps, at.call.name.rpartition("_")[2], at.expression(1), at.pe(2))


@does_typed("void shmem_{ctx}{N}_atomic_inc({ctx_t}{C} *dest, int pe)", INTEGERS)
@does_typed("void shmem_{N}_inc({C} *dest, int pe)", INTEGERS)
def inc(at: Arguments, steps: Steps) -> None:
    _update(at, steps, "add", Const(1), at.pe(1))


def _update(at: Arguments, steps: Steps, operation: str, operand: Expr, rank: Expr) -> None:
    type, atomic = int_type(at.target(0)), at.atomic(0)
    steps.do(Update(operation, operand, rank, _cell(at, 0), at.queue, type=type, atomic=atomic))


# Nonblocking ones (1.5, section 9.7.2): the old value arrives in local memory.


@does_typed("void shmem_{ctx}{N}_atomic_fetch_nbi({ctx_t}{C} *fetch, const {C} *source, int pe)")
def fetch_nbi(at: Arguments, steps: Steps) -> None:
    type, result = int_type(at.target(0)), _result(at, 0)
    steps.do(UpdateFrom("fetch", None, at.pe(2), _cell(at, 1), at.queue, result, type=type, atomic=at.atomic(1)))


@does_typed(
    "void shmem_{ctx}{N}_atomic_compare_swap_nbi({ctx_t}{C} *fetch, {C} *dest, {C} cond, {C} value, int pe)", INTEGERS
)
def compare_swap_nbi(at: Arguments, steps: Steps) -> None:
    steps.do(
        Update(
            "compare_swap", at.expression(3), at.pe(4), _cell(at, 1, at.expression(2)), at.queue, _result(at, 0),
            expected=at.expression(2), type=int_type(at.target(0)), atomic=at.atomic(1),
        )
    )  # fmt: skip


@does_typed("void shmem_{ctx}{N}_atomic_swap_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)")
@does_typed(
    "void shmem_{ctx}{N}_atomic_fetch_[add|and|or|xor]_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)", INTEGERS
)
def fetch_update_nbi(at: Arguments, steps: Steps) -> None:
    operation = at.call.name.split("_")[-2]
    _fetch_update_nbi(at, steps, "set" if operation == "swap" else operation, at.expression(2), at.pe(3))


@does_typed("void shmem_{ctx}{N}_atomic_fetch_inc_nbi({ctx_t}{C} *fetch, {C} *dest, int pe)", INTEGERS)
def fetch_inc_nbi(at: Arguments, steps: Steps) -> None:
    _fetch_update_nbi(at, steps, "add", Const(1), at.pe(2))


def _fetch_update_nbi(at: Arguments, steps: Steps, operation: str, operand: Expr, rank: Expr) -> None:
    type, atomic = int_type(at.target(0)), at.atomic(1)
    steps.do(Update(operation, operand, rank, _cell(at, 1), at.queue, _result(at, 0), type=type, atomic=atomic))


@does("""
    void shmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
    void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
    void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
    void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
""")
def signal(at: Arguments, steps: Steps) -> None:
    """A signal without a payload (1.6)."""
    operation, cell = at.call.name.rpartition("_")[2], at.call.cell(at.symmetric(0), 8)
    atomic = f"{SIGNAL} by signal {operation}"
    steps.do(Update(operation, at.expression(1), at.pe(2), cell, at.queue, type=int_type(ULONG), atomic=atomic))


def _result(at: Arguments, index: int) -> Expr:
    """The cell here that an old value goes to."""
    return at.call.number(at.pointer(index), at.target(index))


def _cell(at: Arguments, index: int, expected: Expr | None = None) -> Expr:
    """The cell of a pointer; it is compared with ``expected``, if with anything."""
    type = at.target(index)
    return at.call.number(at.symmetric(index), type, compared=expected is not None and not is_plain(expected, type))
