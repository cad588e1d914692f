"""The C library and POSIX, as far as programs that communicate need them.

Output reads its arguments, which have been evaluated by then, and what they point to (`libc.reads`), and does nothing
else. Times and random numbers are unknown values (see `nondeterminism.py`). There are no arguments of the
program, no environment and no input: programs use their defaults.
"""

from __future__ import annotations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import elements
from pgasrob.frontends.apis.call_steps import Steps, ends_all
from pgasrob.frontends.apis.interface import Api, Call, Handler, Outcome
from pgasrob.frontends.apis.transfers import copied, owner_of, pairs
from pgasrob.frontends.c import arithmetic, code, nondeterminism
from pgasrob.frontends.c.libc import (
    callbacks,
    command_line,
    numbers,
    openmp_calls,
    outside,
    scanning,
    team_calls,
    thread_calls,
    thread_conditions,
)
from pgasrob.frontends.c.libc.file_calls import SHOWS, STREAM
from pgasrob.frontends.c.libc.library_calls import FILE, TABLE, VALUE, machine_of, text_of
from pgasrob.frontends.c.libc.reads import careful
from pgasrob.frontends.c.libc.shared_strings import in_cells, read_string, refuse_cells
from pgasrob.frontends.c.rank_tables import for_each_rank
from pgasrob.frontends.c.standard import STANDARD_HEADERS
from pgasrob.frontends.c.symbolic import Extent
from pgasrob.frontends.c.types import CHAR, INT, LONG, CType, Integer, Opaque, Pointer
from pgasrob.frontends.c.values import NULL, Address, Known, Undefined, Unknown, Value, no_pointer
from pgasrob.program import commands
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Binary, Const, IntType, Unary, float_bits

RAND_MAX = (1 << 31) - 1
calls = TABLE.calls

FREED = "C.freed"
"""What the state holds the freed objects of the heap under: size and number of each."""

OUTPUT = """
    int printf(const char *format, ...); int puts(const char *s); int putchar(int c); int fputs(const char *s, FILE *f);
    int fputc(int c, FILE *f); int putc(int c, FILE *f); int fprintf(FILE *f, const char *format, ...);
    int dprintf(int fd, const char *format, ...); int vprintf(const char *format, va_list list);
    int vfprintf(FILE *f, const char *format, va_list list); int fflush(FILE *f); void perror(const char *s);
    void setbuf(FILE *f, char *buffer); int setvbuf(FILE *f, char *buffer, int mode, size_t size);
    void setlinebuf(FILE *f); int fclose(FILE *f); long write(int fd, const void *buffer, size_t size);
    void syslog(int priority, const char *format, ...); int fsync(int fd); void warn(const char *format, ...);
    void warnx(const char *format, ...); int vdprintf(int fd, const char *format, va_list list);
"""
"""Functions that read their arguments, and nothing comes of it that a program can see."""


@calls(OUTPUT)
def output(call: Call) -> Outcome:
    call.rests_on(Kind.NO_EFFECT, call.name)
    return Outcome(result=VALUE)


CHANGES_ENVIRONMENT = ("setenv", "putenv", "unsetenv")
NOT_JUST_IDLE = {
    "atexit": Kind.NOT_CALLED, **dict.fromkeys(CHANGES_ENVIRONMENT, Kind.ENVIRONMENT),
}  # fmt: skip
"""What calls that do nothing here rest on otherwise than that they do nothing."""


@calls(
    """
    int usleep(unsigned int microseconds); unsigned int sleep(unsigned int seconds); int sched_yield(void);
    int nanosleep(const struct timespec *wanted, struct timespec *left); int pause(void);
    void srand(unsigned int seed); void srandom(unsigned int seed); void srand48(long seed);
    void _mm_pause(void); void __builtin_ia32_pause(void);
    void _mm_sfence(void); void _mm_lfence(void); void __atomic_signal_fence(int order);
    int atexit(void (*function)(void)); int setenv(const char *name, const char *value, int overwrite);
    int feenableexcept(int excepts); void tzset(void); int putenv(char *text); int unsetenv(const char *name);
    int fseek(FILE *f, long offset, int from); void rewind(FILE *f); int close(int fd);
    int sigaddset(void *set, int number);
    int sigprocmask(int how, const void *set, void *old); int setitimer(int which, const void *new, void *old);
    int clock_nanosleep(int clock, int flags, const struct timespec *wanted, struct timespec *left);
    int mlockall(int flags);
    int setpriority(int which, unsigned int who, int value);
    int ftruncate(int fd, long size); void backtrace_symbols_fd(void *const *of, int size, int fd);
    void clearerr(FILE *f);
    """
)
def nothing(call: Call) -> Outcome:
    """Nothing that a program can see, and the result 0."""
    call.rests_on(NOT_JUST_IDLE.get(call.name, Kind.NO_EFFECT), call.name)
    return Outcome(result=VALUE)


@calls(
    """
    void __sync_synchronize(void); void _mm_mfence(void);
    void __atomic_thread_fence(int order); void atomic_thread_fence(int order);
    """
)
def full_fence(call: Call) -> Outcome:
    """Stores reach memory in program order in any case (the assumption says so); where they go through a store buffer,
    this empties it. A fence of a weaker order than seq_cst, which is no instruction on x86, leaves it alone."""
    from pgasrob.frontends.c.atomics import SEQ_CST

    call.rests_on(Kind.NO_EFFECT, call.name)
    order = call.arguments[0] if call.arguments else Known(SEQ_CST)
    if order != Known(SEQ_CST):
        return Outcome(result=VALUE)
    return Outcome(call.do(commands.Mark(Const(1), commands.FULL_FENCE)), VALUE)


@calls("void *signal(int number, void *handler); int sigaction(int number, const void *action, void *old);")
def signal(call: Call) -> Outcome:
    """No signals arrive."""
    call.rests_on(Kind.NOT_CALLED, call.name)
    return Outcome(result=VALUE)


@calls("char *getenv(const char *name); char *secure_getenv(const char *name);")
def environment(call: Call) -> Outcome:
    """The environment is empty, and stays so."""
    functions = machine_of(call).machine.world.program.unit.functions.values()
    called = {each.function for function in functions for each in function.code if isinstance(each, code.Call)}
    for changing in (name for name in CHANGES_ENVIRONMENT if name in called):
        call.fail(
            Wrong.CALL_LIMIT, f"`{call.name}` in a program that calls `{changing}`", "keep what it sets in a variable"
        )
    call.rests_on(Kind.ENVIRONMENT)
    return Outcome(result=NULL)


@calls(
    """
    void exit(int status); void _exit(int status); void _Exit(int status); void quick_exit(int status);
    void abort(void);
    void err(int status, const char *format, ...); void errx(int status, const char *format, ...);
    void __builtin_trap(void); void __builtin_unreachable(void);
    """
)
def end(call: Call) -> Outcome:
    return Outcome(ends=True) if "exit" in call.name.lower() or "err" in call.name else ends_all(call)


@calls("void assert(int condition);")
def assertion(call: Call) -> Outcome:
    """A false assertion is reported, and does not end the run."""
    value = call.arguments[0]
    if isinstance(value, Known) and value.value:
        return Outcome()
    call.rests_on(Kind.ASSERT_GOES_ON)
    if isinstance(value, Known):
        return Outcome(call.do(commands.Assert(Const(0))))
    if isinstance(value, Undefined):
        return Outcome(call.do(commands.Assert(Const(0))))
    return Outcome(call.do(commands.Assert(call.expression(0))))


# Times and random numbers


@calls(
    "long time(long *result); long clock(void); unsigned long __rdtsc(void); unsigned long __builtin_ia32_rdtsc(void);"
)
def time(call: Call) -> Outcome:
    now = call.clock()
    to = call.pointer(0) if call.arguments else None
    return Outcome(result=now, stores=() if to is None else ((to, now, LONG),))


@calls("int gettimeofday(struct timeval *now, void *zone); int clock_gettime(int clock, struct timespec *now); "
       "int clock_getres(int clock, struct timespec *result);")  # fmt: skip
def time_of_day(call: Call) -> Outcome:
    to = call.pointer(0 if call.name == "gettimeofday" else 1)
    if to is None:
        return Outcome(result=VALUE)
    most = 999_999 if call.name == "gettimeofday" else 999_999_999
    now, fraction = call.clock(), call.clock(most)
    return Outcome(result=VALUE, stores=((to, now, LONG), (call.moved(to, 8), fraction, LONG)))


@calls(
    "int rand(void); long random(void); int rand_r(unsigned int *seed); long lrand48(void); long nrand48(void *seed);"
)
def random(call: Call) -> Outcome:
    call.rests_on(Kind.UNKNOWN_VALUES, f"{call.name}() (0 to {RAND_MAX})")
    return Outcome(result=Unknown(machine_of(call).machine.undecided.new_leaf(nondeterminism.RANDOM, (0, RAND_MAX))))


@calls("double drand48(void); double erand48(void *seed);")
def random_fraction(call: Call) -> Outcome:
    """From 0 to less than 1, in steps of 2^-48."""
    call.rests_on(Kind.UNKNOWN_VALUES, f"{call.name}() (0 to less than 1)")
    whole = machine_of(call).machine.undecided.new_leaf(nondeterminism.RANDOM, (0, (1 << 48) - 1))
    fraction = Binary("*.", Unary("float", whole, IntType(64, True)), Const(float_bits(2.0**-48)))
    return Outcome(result=Unknown(fraction))


# Memory


@calls("void *malloc(size_t size); void *__alloca(size_t size); void *alloca(size_t size); void *valloc(size_t size);")
def allocate(call: Call) -> Outcome:
    address = _with_entries(call, call.arguments[0]) or allocated(call, call.extent(0))
    if call.name.endswith("alloca"):
        machine_of(call).machine.lifetimes.put_on_stack(address.object)
    return Outcome(result=address)


@calls("void *calloc(size_t count, size_t size);")
def allocate_zero(call: Call) -> Outcome:
    found = _with_entries(call, arithmetic.binary("*", call.arguments[0], call.arguments[1], Integer(arithmetic.WORD)))
    return Outcome(result=found or allocated(call, elements(call, 0, 1), zero=True))


def _with_entries(call: Call, bytes: Value) -> Address | None:
    """Memory with so many ``bytes`` for each rank, where the program is made for every number of nodes and there are to
    be pointers in it."""
    each = for_each_rank(bytes) if call.symbolic else None
    here = machine_of(call)
    return None if each is None or not here.is_for_pointers else here.allocate_table(each)


@calls("void *aligned_alloc(size_t alignment, size_t size); void *memalign(size_t alignment, size_t size);")
def allocate_aligned(call: Call) -> Outcome:
    return Outcome(result=allocated(call, call.extent(1)))


@calls("int posix_memalign(void **result, size_t alignment, size_t size);")
def allocate_to(call: Call) -> Outcome:
    to = call.pointer(0)
    if to is None:
        call.fail(
            Wrong.POINTER, "a null pointer where `posix_memalign` puts its result", "pass the address of a pointer"
        )
    address = allocated(call, call.extent(2), to)
    return Outcome(result=VALUE, stores=((to, address, Pointer(CHAR)),))


@calls("void *realloc(void *old, size_t size); void *reallocarray(void *old, size_t count, size_t size);")
def reallocate(call: Call) -> Outcome:
    """Other memory that holds what the old one did, which is given back."""
    old, size = call.pointer(0), call.known(1) * (call.known(2) if call.name == "reallocarray" else 1)
    if old is None:
        return Outcome(result=allocated(call, size))
    machine = machine_of(call).machine
    machine.objects.object(old.object)
    new = allocated(call, size)
    machine.memory.copy(new, old, min(size, machine.objects.size(old)))
    return Outcome(result=new, state=free(call).state)


@calls("char *strdup(const char *of); char *strndup(const char *of, size_t size);")
def duplicate(call: Call) -> Outcome:
    """A string in memory of its own."""
    of, found = call.pointer(0), text_of(call, 0, call.known(1) if call.name == "strndup" else None)
    machine = machine_of(call).machine
    assert of is not None
    length = machine.objects.room(of)
    if found is None and in_cells(call, of):
        steps, new = Steps(call), allocated(call, length)
        if call.name == "strdup" and read_string(steps, 0, of, to=new) is not None:
            return steps.outcome(new)
        refuse_cells(call, 0, of, "and how much is read there is not known")
    length = length if found is None else len(found) + 1
    if call.name == "strndup":
        length = min(length, call.known(1) + 1)
    new = allocated(call, length)
    machine.memory.copy(new, of, min(length, machine.objects.room(of)))
    ends = found is None or call.name == "strndup"
    return Outcome(result=new, stores=((call.moved(new, length - 1), Known(0), CHAR),) if ends else ())


@calls("void free(void *memory); void cfree(void *memory);")
def free(call: Call) -> Outcome:
    """What is allocated next, of the same size, gets this memory: loops that allocate and free end so."""
    address = call.pointer(0) if not isinstance(call.arguments[0], Undefined) else None
    if address is None or address.object.kind != "heap" or not isinstance(address.object.number, int):
        return Outcome()
    machine = machine_of(call).machine
    if machine.facts.objects[address.object].grows:
        machine.memory.end_of_life(address.object)
        call.rests_on(Kind.FREED_MEMORY, call.name)
        return Outcome()
    table = machine.facts.objects[address.object].each
    size = 0 if table else machine.objects.size(address)
    freed = call.state.get(FREED, ())
    assert isinstance(freed, tuple)
    machine.memory.end_of_life(address.object)
    call.rests_on(Kind.FREED_MEMORY, call.name)
    if table:  # is not given again: nothing is known of how large it is
        return Outcome()
    return Outcome(state={FREED: tuple(sorted({*freed, (size, address.object.number)}))})


def allocated(call: Call, bytes: int | Extent, to: Address | None = None, *, zero: bool = False) -> Address:
    """``bytes`` bytes of the heap, freed ones if there are any of that size, for the pointer at ``to`` if not for the
    one that gets the result."""
    here = machine_of(call)
    freed = call.state.get(FREED, ())
    assert isinstance(freed, tuple)
    again = next((number for size, number in freed if size == bytes), None)
    if again is None or isinstance(bytes, Extent):
        return here.allocate("heap", bytes, to=to)
    call.rests_on(Kind.ALLOCATION, call.name.removeprefix("__"))
    here.machine.position.state.notes[FREED] = tuple(each for each in freed if each[1] != again)
    address = here.allocated("heap", again, bytes, None, to)
    if zero:
        here.machine.memory.fill(address, 0, bytes)
    return address


@calls("void *memset(void *to, int byte, size_t size); void bzero(void *to, size_t size); "
       "void *__builtin_memset(void *to, int byte, size_t size);")  # fmt: skip
def fill_memory(call: Call) -> Outcome:
    machine = machine_of(call).machine
    size = call.known(len(call.arguments) - 1)
    to, byte = reached(call, 0), call.known(1) & 255 if len(call.arguments) == 3 else 0
    if size and to is None:
        machine.issuer.fault(*no_pointer(call.arguments[0], "argument 1"))
    elif to is not None and (owner := owner_of(call, to)):
        if byte:
            call.fail(
                Wrong.CALL_LIMIT,
                f"`{call.name}` sets the memory of another rank to {byte}",
                "set its elements one by one",
            )
        steps = Steps(call)
        steps.do(*(commands.Store(cell, Const(0), owner) for cell, _ in pairs(call, to, to, size)))
        return steps.outcome(call.arguments[0])
    elif to is not None:
        machine.memory.fill(to, byte, size)
    return Outcome(result=call.arguments[0])


@calls(
    """
    void *memcpy(void *to, const void *from, size_t size); void *memmove(void *to, const void *from, size_t size);
    void *__builtin_memcpy(void *to, const void *from, size_t size);
    void bcopy(const void *from, void *to, size_t size);
    """
)
def copy_memory(call: Call) -> Outcome:
    machine = machine_of(call).machine
    order = (1, 0) if call.name == "bcopy" else (0, 1)
    to, of = reached(call, order[0]), reached(call, order[1])
    size = call.known(2)
    if to is not None and of is not None:
        if owner_of(call, to) or owner_of(call, of):
            steps = Steps(call)
            copied(steps, to, of, size)
            return steps.outcome(call.arguments[0])
        machine.memory.copy(to, of, size)
    elif size:
        lacking = order[to is not None]
        machine.issuer.fault(*no_pointer(call.arguments[lacking], f"argument {lacking + 1}"))
    return Outcome(result=call.arguments[0])


def reached(call: Call, index: int) -> Address | None:
    """Argument ``index``, a pointer into memory that the rank reaches by loads and stores."""
    pointer = call.pointer(index, of_others=True)
    return None if pointer is None else machine_of(call).machine.pointers.followed(pointer, "accessed")


@calls("int *__errno_location(void);")
def error_number(call: Call) -> Outcome:
    return Outcome(result=call.internal("errno", name="errno"))


# Atomics on one's own memory


ATOMICS = {
    "fetch_and_add": ("+", "old"), "fetch_and_sub": ("-", "old"), "fetch_and_or": ("|", "old"),
    "fetch_and_and": ("&", "old"), "fetch_and_xor": ("^", "old"),
    "add_and_fetch": ("+", "new"), "sub_and_fetch": ("-", "new"), "or_and_fetch": ("|", "new"),
    "and_and_fetch": ("&", "new"), "xor_and_fetch": ("^", "new"),
    "fetch_add": ("+", "old"), "fetch_sub": ("-", "old"), "fetch_or": ("|", "old"), "fetch_and": ("&", "old"),
    "fetch_xor": ("^", "old"), "add_fetch": ("+", "new"), "sub_fetch": ("-", "new"),
    "lock_test_and_set": ("=", "old"), "exchange_n": ("=", "old"), "lock_release": ("0", ""), "store_n": ("=", ""),
    "load_n": ("", "old"), "bool_compare_and_swap": ("?", "bool"), "val_compare_and_swap": ("?", "old"),
}  # fmt: skip
"""What follows `__sync_` or `__atomic_`: the operation, and what the result is."""


C11_ATOMICS = {
    **{f"fetch_{each}": f"fetch_{each}" for each in ("add", "sub", "or", "and", "xor")},
    "load": "load_n", "store": "store_n", "init": "store_n", "exchange": "exchange_n",
}  # fmt: skip
"""What follows `atomic_` in <stdatomic.h>, and the same of the compiler."""


def _stem(name: str) -> str | None:
    """What the function ``name`` is called in `ATOMICS`, if it is one."""
    if name.startswith("atomic_"):
        return C11_ATOMICS.get(name.removeprefix("atomic_").removesuffix("_explicit"))
    stem = name.removeprefix("__sync_").removeprefix("__atomic_")
    return stem if stem != name and stem in ATOMICS else None


def atomic(call: Call) -> Outcome:
    """An atomic on one's own memory, which is one event as those of APIs are."""
    from pgasrob.frontends.c.atomics import own_atomic

    stem = _stem(call.name)
    assert stem is not None
    operation, result = ATOMICS[stem]
    return own_atomic(call, operation, result)


def _atomic_declaration(name: str, types: tuple[CType, ...]) -> str | None:
    stem = _stem(name)
    if stem is None or not types:
        return None
    pointed = types[0].to if isinstance(types[0], Pointer) else INT
    from pgasrob.frontends.c.atomics import written

    text = written(pointed)
    void = not ATOMICS[stem][1]
    rest = "".join(f", {text} v{number}" for number in range(1, len(types)))
    return f"{'void' if void else 'int' if ATOMICS[stem][1] == 'bool' else text} {name}({text} *p{rest});"


# What the table is made of


UNSUPPORTED = {
    "getline": "there is no input: set the values in the program",
    "mmap": "use malloc, or the memory of the API",
    "setjmp": "return error codes instead",
    "longjmp": "return error codes instead",
    "fork": "processes are those of the API",
    "atomic_*": "of <stdatomic.h>, only load, store, init, exchange, fetch_ with add, sub, or, and, xor are supported",
    "pthread_cond_*": "of condition variables, only wait, signal and broadcast are supported, without times",
    "cnd_*": "of condition variables, only wait, signal and broadcast are supported, without times",
    "pthread_*": "of <pthread.h>, only threads, mutexes, condition variables and barriers are supported",
    "thrd_*": "of <threads.h>, only threads, mutexes and condition variables are supported",
    "mtx_*": "of <threads.h>, only threads, mutexes and condition variables are supported",
    "omp_*": "of <omp.h>, only the numbers of threads, the locks and the times are supported",
    "sem_*": "threads are not supported: every rank is one thread of control",
    "dlopen": "call functions of this file",
    "system": "commands of the shell are not supported",
}


def declaration(name: str, types: tuple[CType, ...]) -> str | None:
    return TABLE.declaration(name, types) or _atomic_declaration(name, types)


def handler(name: str) -> Handler | None:
    if _stem(name) is not None:
        return atomic
    found = TABLE.handler(name)
    return None if found is None else careful(name, found)


IDLE = frozenset(name for name, each in TABLE.handlers.items() if each is nothing)
READS = IDLE | {name for name, each in TABLE.handlers.items() if each is output}


CONSTANTS: dict[str, tuple[CType, Value]] = {
    **thread_calls.CONSTANTS, **thread_conditions.CONSTANTS,
    "stdout": (FILE, STREAM), "stderr": (FILE, STREAM), "stdin": (FILE, STREAM),
}  # fmt: skip
VARIABLES: dict[str, tuple[CType, int]] = {
    "errno": (INT, 0), "optarg": (Pointer(CHAR), 0), "optind": (INT, 1), "opterr": (INT, 1), "optopt": (INT, 63),
    "environ": (Pointer(Pointer(CHAR)), 0), "timezone": (LONG, 0), "daylight": (INT, 0),
}  # fmt: skip
"""Those of its headers, with what they hold at the beginning."""

LIBRARY = Api(
    name="C",
    headers=tuple(sorted(STANDARD_HEADERS)),
    types={"FILE": Opaque("FILE"), "va_list": Opaque("va_list")},
    constants=CONSTANTS,
    declaration=declaration,
    handler=handler,
    unsupported=UNSUPPORTED,
    output=READS,
    idle=IDLE,
    shows=SHOWS,
    variables=VARIABLES,
    source=callbacks.TEXT,
)
__all__ = ["LIBRARY", "command_line", "numbers", "openmp_calls", "outside", "scanning", "team_calls", "thread_calls",
           "thread_conditions"]  # fmt: skip
