"""Atomic memory operations (1.5, section 9.7), and their names before 1.4 (`shmem_int_fadd`).

Those that give the old value are blocking. The others, and all nonblocking ones, may happen any time until the next
quiet.
"""

from __future__ import annotations

from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.openshmem.contexts import SIGNAL, Arguments
from pgasrob.frontends.apis.openshmem.header import ALL, FUNCTIONS, INTEGERS, typed
from pgasrob.frontends.apis.transfers import Steps, int_type, is_plain
from pgasrob.frontends.c.types import ULONG
from pgasrob.program.commands import CompareSwap, Fetch, FetchAdd, FetchUpdate, Swap, Update, UpdateFrom
from pgasrob.program.expressions import Const, Expr


@typed("{C} shmem_{ctx}{N}_atomic_fetch({ctx_t}const {C} *source, int pe)")
@typed("{C} shmem_{N}_fetch(const {C} *source, int pe)")
def fetch(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    register = call.register("old")
    steps.do(Fetch(register, at.pe(1), _cell(at, 0), atomic=at.atomic(0)))
    return steps.outcome(register)


@typed("{C} shmem_{ctx}{N}_atomic_swap({ctx_t}{C} *dest, {C} value, int pe)")
@typed("{C} shmem_{N}_swap({C} *dest, {C} value, int pe)")
def swap(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    register = call.register("old")
    steps.do(Swap(register, at.pe(2), _cell(at, 0), at.expression(1), atomic=at.atomic(0)))
    return steps.outcome(register)


@typed("{C} shmem_{ctx}{N}_atomic_compare_swap({ctx_t}{C} *dest, {C} cond, {C} value, int pe)", INTEGERS)
@typed("{C} shmem_{N}_cswap({C} *dest, {C} cond, {C} value, int pe)", INTEGERS)
def compare_swap(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    register = call.register("old")
    expected, new = at.expression(1), at.expression(2)
    steps.do(CompareSwap(register, at.pe(3), _cell(at, 0, expected), expected, new, atomic=at.atomic(0)))
    return steps.outcome(register)


@typed("{C} shmem_{ctx}{N}_atomic_fetch_add({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@typed("{C} shmem_{N}_fadd({C} *dest, {C} value, int pe)", INTEGERS)
def fetch_add(call: Call) -> Outcome:
    at = Arguments(call)
    return _fetch_add(at, at.expression(1), at.pe(2))


@typed("{C} shmem_{ctx}{N}_atomic_fetch_inc({ctx_t}{C} *dest, int pe)", INTEGERS)
@typed("{C} shmem_{N}_finc({C} *dest, int pe)", INTEGERS)
def fetch_inc(call: Call) -> Outcome:
    at = Arguments(call)
    return _fetch_add(at, Const(1), at.pe(1))


def _fetch_add(at: Arguments, amount: Expr, rank: Expr) -> Outcome:
    steps, register = Steps(at.call), at.call.register("old")
    steps.do(FetchAdd(register, rank, _cell(at, 0), amount, int_type(at.target(0)), atomic=at.atomic(0)))
    return steps.outcome(register)


@typed("{C} shmem_{ctx}{N}_atomic_fetch_and({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@typed("{C} shmem_{ctx}{N}_atomic_fetch_or({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@typed("{C} shmem_{ctx}{N}_atomic_fetch_xor({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
def fetch_bits(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    register, operation = call.register("old"), call.name.rpartition("_")[2]
    type, atomic = int_type(at.target(0)), at.atomic(0)
    steps.do(FetchUpdate(operation, register, at.pe(2), _cell(at, 0), at.expression(1), type, atomic=atomic))
    return steps.outcome(register)


@typed("void shmem_{ctx}{N}_atomic_set({ctx_t}{C} *dest, {C} value, int pe)")
@typed("void shmem_{N}_set({C} *dest, {C} value, int pe)")
@typed("void shmem_{ctx}{N}_atomic_add({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{N}_add({C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{ctx}{N}_atomic_and({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{ctx}{N}_atomic_or({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{ctx}{N}_atomic_xor({ctx_t}{C} *dest, {C} value, int pe)", INTEGERS)
def update(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    operation = call.name.rpartition("_")[2]
    type, atomic = int_type(at.target(0)), at.atomic(0)
    steps.do(Update(operation, at.expression(1), at.pe(2), _cell(at, 0), at.queue, type=type, atomic=atomic))
    return steps.outcome()


@typed("void shmem_{ctx}{N}_atomic_inc({ctx_t}{C} *dest, int pe)", INTEGERS)
@typed("void shmem_{N}_inc({C} *dest, int pe)", INTEGERS)
def inc(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    type, atomic = int_type(at.target(0)), at.atomic(0)
    steps.do(Update("add", Const(1), at.pe(1), _cell(at, 0), at.queue, type=type, atomic=atomic))
    return steps.outcome()


# Nonblocking ones (1.5, section 9.7.2): the old value arrives in local memory.


@typed("void shmem_{ctx}{N}_atomic_fetch_nbi({ctx_t}{C} *fetch, const {C} *source, int pe)")
def fetch_nbi(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    type, result = int_type(at.target(0)), _result(at, 0)
    steps.do(UpdateFrom("fetch", None, at.pe(2), _cell(at, 1), at.queue, result, type=type, atomic=at.atomic(1)))
    return steps.outcome()


@typed(
    "void shmem_{ctx}{N}_atomic_compare_swap_nbi({ctx_t}{C} *fetch, {C} *dest, {C} cond, {C} value, int pe)", INTEGERS
)
def compare_swap_nbi(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    steps.do(
        Update(
            "compare_swap", at.expression(3), at.pe(4), _cell(at, 1, at.expression(2)), at.queue, _result(at, 0),
            expected=at.expression(2), type=int_type(at.target(0)), atomic=at.atomic(1),
        )
    )  # fmt: skip
    return steps.outcome()


@typed("void shmem_{ctx}{N}_atomic_swap_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)", ALL)
@typed("void shmem_{ctx}{N}_atomic_fetch_add_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{ctx}{N}_atomic_fetch_and_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{ctx}{N}_atomic_fetch_or_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)", INTEGERS)
@typed("void shmem_{ctx}{N}_atomic_fetch_xor_nbi({ctx_t}{C} *fetch, {C} *dest, {C} value, int pe)", INTEGERS)
def fetch_update_nbi(call: Call) -> Outcome:
    at = Arguments(call)
    operation = call.name.split("_")[-2]
    return _fetch_update_nbi(at, "set" if operation == "swap" else operation, at.expression(2), at.pe(3))


@typed("void shmem_{ctx}{N}_atomic_fetch_inc_nbi({ctx_t}{C} *fetch, {C} *dest, int pe)", INTEGERS)
def fetch_inc_nbi(call: Call) -> Outcome:
    at = Arguments(call)
    return _fetch_update_nbi(at, "add", Const(1), at.pe(2))


def _fetch_update_nbi(at: Arguments, operation: str, operand: Expr, rank: Expr) -> Outcome:
    steps = Steps(at.call)
    type, atomic = int_type(at.target(0)), at.atomic(1)
    steps.do(Update(operation, operand, rank, _cell(at, 1), at.queue, _result(at, 0), type=type, atomic=atomic))
    return steps.outcome()


@FUNCTIONS.calls("""
    void shmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
    void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
    void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
    void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
""")
def signal(call: Call) -> Outcome:
    """A signal without a payload (1.6)."""
    at, steps = Arguments(call), Steps(call)
    operation, cell = call.name.rpartition("_")[2], call.cell(at.symmetric(0), 8)
    atomic = f"{SIGNAL} by signal {operation}"
    steps.do(Update(operation, at.expression(1), at.pe(2), cell, at.queue, type=int_type(ULONG), atomic=atomic))
    return steps.outcome()


def _result(at: Arguments, index: int) -> Expr:
    """The cell here that an old value goes to."""
    return at.call.number(at.pointer(index), at.target(index))


def _cell(at: Arguments, index: int, expected: Expr | None = None) -> Expr:
    """The cell of a pointer; it is compared with ``expected``, if with anything."""
    type = at.target(index)
    return at.call.number(at.symmetric(index), type, compared=expected is not None and not is_plain(expected, type))
