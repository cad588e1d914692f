"""The functions of <omp.h> (OpenMP 5.2, 18): as in a team of one thread. And races that the compiler has found."""

from __future__ import annotations

from typing import cast

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Look, Outcome
from pgasrob.frontends.c.libc.library_calls import TABLE, VALUE, machine_of
from pgasrob.frontends.c.libc.team_calls import in_task, size_of_team, threads_of
from pgasrob.frontends.c.libc.thread_locks import LOCKS, give_back, take, try_to_take
from pgasrob.frontends.c.rank_threads import ASKED, USUAL_THREADS
from pgasrob.frontends.c.values import Address, Known
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import Rule

calls = TABLE.calls
ONE_THREAD = "C.one thread"
"""Noted while the program may have asked for teams of one thread."""
DATA_RACE = Rule(
    "openmp-data-race",
    "threads of a rank access no memory at once that one of them writes, unless by atomics",
    "OpenMP 5.2, 1.4.1",
    "order the accesses, or give each thread its own memory",
)
LOCK_TWICE = Rule(
    "openmp-lock-twice",
    "a task sets no simple lock that it has set already",
    "OpenMP 5.2, 18.9.4",
    "unset the lock first, or use a nestable one",
)
NOT_LOCKED = Rule(
    "openmp-not-locked",
    "a task unsets only a lock that it has set",
    "OpenMP 5.2, 18.9.5",
    "set the lock on every path to this point, or leave the unset out",
)


def has_teams(call: Call) -> bool:
    """Whether there are regions whose threads are processes of their own."""
    functions = machine_of(call).machine.world.program.unit.functions.values()
    return any(each.own is not None for function in functions for each in function.regions)


def _not_in_task(call: Call) -> None:
    if in_task(call):
        call.fail(
            Wrong.CALL_LIMIT,
            f"`{call.name}` in a task, which any thread of the team may execute",
            "ask before the task is made",
        )


def _in_team(call: Call) -> bool:
    return size_of_team(call) > 1 and not machine_of(call).machine.position.teams


@calls(
    """
    int omp_get_num_threads(void); int omp_get_max_threads(void); int omp_get_num_procs(void);
    int omp_get_thread_limit(void);
    """
)
def one(call: Call) -> Outcome:
    _not_in_task(call)
    if _in_team(call):
        return Outcome(result=Known(size_of_team(call)))
    if has_teams(call) and call.name != "omp_get_num_threads":
        return Outcome(result=Known(cast(int, call.state.get(ASKED, USUAL_THREADS))))
    call.rests_on(Kind.THREADS_INDEPENDENT, f"{call.name}()")
    return Outcome(result=Known(1))


@calls("int omp_get_thread_num(void); int omp_in_parallel(void); int omp_get_dynamic(void); int omp_get_nested(void);")
def none(call: Call) -> Outcome:
    _not_in_task(call)
    if _in_team(call) and call.name in ("omp_get_thread_num", "omp_in_parallel"):
        return Outcome(result=Known(threads_of(call).number if call.name == "omp_get_thread_num" else 1))
    if has_teams(call):
        return Outcome(result=VALUE)
    call.rests_on(Kind.THREADS_INDEPENDENT, f"{call.name}()")
    return Outcome(result=VALUE)


@calls("double omp_get_wtime(void); double omp_get_wtick(void);")
def clock(call: Call) -> Outcome:
    return Outcome(result=call.clock())


@calls(
    """
    void omp_set_dynamic(int on); void omp_set_nested(int on); void omp_set_schedule(int kind, int chunk);
    void omp_set_max_active_levels(int levels);
    void omp_init_lock(omp_lock_t *lock); void omp_init_nest_lock(omp_nest_lock_t *lock);
    void omp_destroy_lock(omp_lock_t *lock); void omp_destroy_nest_lock(omp_nest_lock_t *lock);
    """
)
def nothing(call: Call) -> Outcome:
    return Outcome()


@calls("void omp_set_num_threads(int threads);")
def set_threads(call: Call) -> Outcome:
    asked = call.arguments[0]
    if has_teams(call):
        return Outcome(state={ASKED: call.known(0)})
    return Outcome(state={ONE_THREAD: None if isinstance(asked, Known) and asked.value > 1 else True})


@calls(
    """
    void omp_set_lock(omp_lock_t *lock); void omp_unset_lock(omp_lock_t *lock); int omp_test_lock(omp_lock_t *lock);
    void omp_set_nest_lock(omp_nest_lock_t *lock); void omp_unset_nest_lock(omp_nest_lock_t *lock);
    int omp_test_nest_lock(omp_nest_lock_t *lock);
    """
)
def lock(call: Call) -> Outcome | Look:
    """One thread gets every lock that it has not set itself."""
    if has_teams(call):
        return _of_team(call)
    call.rests_on(Kind.THREADS_INDEPENDENT, f"{call.name}()")
    steps, at = Steps(call), call.pointer(0)
    if at is None or not isinstance(at.offset, int):
        call.fail(Wrong.UNKNOWN_LIMIT, "a lock whose address is not known here", "pass the address of a variable")
    held = cast("tuple[Address, ...]", steps.recall(LOCKS, ()))
    count = held.count(at)
    if "unset" in call.name:
        if not count:
            steps.illegal(NOT_LOCKED, f"`{call.name}` of a lock that is not set")
        _note(steps, held, at, max(count - 1, 0))
        return steps.outcome()
    if count and "nest" not in call.name:
        if "set" in call.name:
            steps.illegal(
                LOCK_TWICE, f"`{call.name}` of a lock that is set already, by this thread: it waits for itself"
            )
        return steps.outcome(0)
    _note(steps, held, at, count + 1)
    return steps.outcome(count + 1) if "test" in call.name else steps.outcome()


def _of_team(call: Call) -> Outcome | Look:
    if "nest" in call.name:
        call.fail(Wrong.CALL_LIMIT, "a nestable lock of threads that communicate", "use a simple lock")
    if "test" in call.name:
        return try_to_take(call, 1, 0)
    return give_back(call, NOT_LOCKED) if "unset" in call.name else take(call, LOCK_TWICE)


def _note(steps: Steps, held: tuple[Address, ...], at: Address, count: int) -> None:
    """``at`` is set ``count`` times now. Nothing is noted where no lock is, so that ways come together again."""
    now = [each for each in held if each != at] + [at] * count
    steps.note(LOCKS, tuple(sorted(now, key=repr)) or None)


@calls("void __omp_race(int allowed);")
def race(call: Call) -> Outcome:
    """What the compiler has found in a region: a race, unless the argument is true, where there is a team. One in a
    team has one thread, unless the program says otherwise (OpenMP 5.2, 2.2: max-active-levels-var)."""
    steps, teams = Steps(call), machine_of(call).machine.position.teams
    if len(teams) != 1 or not teams[0].several or call.state.get(ONE_THREAD) or call.arguments[0] == Known(1):
        return Outcome()
    if size_of_team(call) > 1:
        return Outcome()
    steps.illegal(DATA_RACE, call.texts[0], remedy=call.texts[1], unless=call.expression(0))
    return steps.outcome()


__all__ = ["race"]
