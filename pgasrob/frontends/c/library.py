"""The C library and POSIX, as far as programs that communicate need them.

Output reads its arguments, which have been evaluated by then, and does nothing else. Times and random numbers are
values that nobody knows (see `nondeterminism.py`). There are no arguments of the program, no environment
and no input: programs use their defaults.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pgasrob.frontends.apis.interface import Api, Call, Handler, Outcome
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.c import nondeterminism
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.standard import STANDARD_HEADERS
from pgasrob.frontends.c.types import CHAR, DOUBLE, INT, LONG, UCHAR, CType, Floating, Integer, Opaque, Pointer
from pgasrob.frontends.c.values import NULL, UNDEFINED, Address, Handle, Known, ObjectId, Undefined, Unknown, Value
from pgasrob.program import commands
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Unary,
    constant,
    float_bits,
    float_value,
)

if TYPE_CHECKING:
    from pgasrob.frontends.c.calls import MachineCall

TABLE = Prototypes()
calls = TABLE.calls

FILE = Pointer(Opaque("FILE"))
VALUE = Known(0)
LONGEST_STRING = 65_536
RAND_MAX = (1 << 31) - 1
FREED = "C.freed"
"""What the state holds the freed objects of the heap under: size and number of each."""

OUTPUT = """
    int printf(const char *format, ...); int puts(const char *s); int putchar(int c); int fputs(const char *s, FILE *f);
    int fputc(int c, FILE *f); int putc(int c, FILE *f); int fprintf(FILE *f, const char *format, ...);
    int dprintf(int fd, const char *format, ...); int vprintf(const char *format, va_list list);
    int vfprintf(FILE *f, const char *format, va_list list); int fflush(FILE *f); void perror(const char *s);
    void setbuf(FILE *f, char *buffer); int setvbuf(FILE *f, char *buffer, int mode, size_t size);
    void setlinebuf(FILE *f); int fclose(FILE *f); long write(int fd, const void *buffer, size_t size);
    void syslog(int priority, const char *format, ...); int fsync(int fd);
"""
"""Functions that read their arguments, and nothing comes of it that a program can see."""


@calls(OUTPUT)
def output(call: Call) -> Outcome:
    call.rests_on(Kind.NO_EFFECT, call.name)
    return Outcome(result=VALUE)


NOT_JUST_IDLE = {
    **dict.fromkeys(("getpid", "getppid", "gethostname", "isatty", "clock_getres", "sysconf", "sched_getcpu", "getuid"),
                    Kind.FIXED_ANSWERS),
    "atexit": Kind.NOT_CALLED, "setenv": Kind.ENVIRONMENT,
}  # fmt: skip
"""What calls that do nothing here rest on otherwise than that they do nothing."""


@calls(
    """
    int usleep(unsigned int microseconds); unsigned int sleep(unsigned int seconds); int sched_yield(void);
    int nanosleep(const struct timespec *wanted, struct timespec *left); int pause(void);
    void srand(unsigned int seed); void srandom(unsigned int seed); void srand48(long seed);
    unsigned int alarm(unsigned int seconds); void _mm_pause(void); void __builtin_ia32_pause(void);
    void __sync_synchronize(void); void _mm_mfence(void); void _mm_sfence(void); void _mm_lfence(void);
    void __atomic_thread_fence(int order); void __atomic_signal_fence(int order); void atomic_thread_fence(int order);
    int atexit(void (*function)(void)); int setenv(const char *name, const char *value, int overwrite);
    int feenableexcept(int excepts); void tzset(void); char *setlocale(int category, const char *locale);
    int getpid(void); int getppid(void); int gethostname(char *name, size_t size); int isatty(int fd);
    int clock_getres(int clock, struct timespec *result); long sysconf(int name);
    int sched_getcpu(void); unsigned int getuid(void);
    """
)
def nothing(call: Call) -> Outcome:
    """Nothing that a program can see, and the result 0."""
    call.rests_on(NOT_JUST_IDLE.get(call.name, Kind.NO_EFFECT), call.name)
    return Outcome(result=VALUE)


@calls("void *signal(int number, void *handler); int sigaction(int number, const void *action, void *old);")
def signal(call: Call) -> Outcome:
    """No signals arrive."""
    call.rests_on(Kind.NOT_CALLED, call.name)
    return Outcome(result=VALUE)


@calls("char *getenv(const char *name); char *secure_getenv(const char *name);")
def environment(call: Call) -> Outcome:
    """The environment is empty."""
    call.rests_on(Kind.ENVIRONMENT)
    return Outcome(result=NULL)


@calls(
    """
    void exit(int status); void _exit(int status); void _Exit(int status); void quick_exit(int status);
    void abort(void);
    void __builtin_trap(void); void __builtin_unreachable(void);
    """
)
def end(call: Call) -> Outcome:
    if "exit" not in call.name.lower():
        call.rests_on(Kind.ENDS_ONE_RANK, call.name)
    return Outcome(ends=True)


@calls("void assert(int condition);")
def assertion(call: Call) -> Outcome:
    """A false assertion is told, and does not end the run."""
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


@calls("int gettimeofday(struct timeval *now, void *zone); int clock_gettime(int clock, struct timespec *now);")
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
    return Outcome(result=Unknown(machine_of(call).machine.new_leaf(nondeterminism.RANDOM, (0, RAND_MAX))))


@calls("double drand48(void); double erand48(void *seed);")
def random_fraction(call: Call) -> Outcome:
    """From 0 to less than 1, in steps of 2^-48."""
    call.rests_on(Kind.UNKNOWN_VALUES, f"{call.name}() (0 to less than 1)")
    whole = machine_of(call).machine.new_leaf(nondeterminism.RANDOM, (0, (1 << 48) - 1))
    fraction = Binary("*.", Unary("float", whole, IntType(64, True)), Const(float_bits(2.0**-48)))
    return Outcome(result=Unknown(fraction))


# Numbers


@calls("int abs(int x); long labs(long x); long long llabs(long long x); int __builtin_abs(int x);")
def absolute(call: Call) -> Outcome:
    expr = call.expression(0)
    type = call.types[0].type if isinstance(call.types[0], Integer) else IntType(64, True)
    known = constant(expr)
    if known is not None:
        return Outcome(result=Known(type.wrap(abs(known))))
    negative = Binary("<", expr, Const(0), type)
    return Outcome(result=Unknown(Conditional(negative, Unary("-", expr, type), expr)))


ON_FLOATS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "fabs": math.fabs, "floor": math.floor, "ceil": math.ceil, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10, "pow": math.pow,
    "fmin": min, "fmax": max, "fmod": math.fmod, "trunc": math.trunc, "atan": math.atan, "atan2": math.atan2,
    "hypot": math.hypot, "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x), "round": lambda x: math.floor(x + 0.5),
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asin": math.asin, "acos": math.acos,
    "exp2": lambda x: 2**x,
}  # fmt: skip


def on_floats(call: Call) -> Outcome:
    """A function on doubles: of known values; fabs, fmin and fmax of others too."""
    name = call.name.removeprefix("__builtin_")
    name = name if name in ON_FLOATS else name.removesuffix("f")
    values = call.arguments
    numbers = [float_value(value.value) for value in values if isinstance(value, Known)]
    if len(numbers) == len(values):
        try:
            return Outcome(result=Known(float_bits(float(ON_FLOATS[name](*numbers)))))
        except (ValueError, OverflowError):
            return Outcome(result=Known(float_bits(math.nan)))
    if any(isinstance(value, Undefined) for value in values):
        return Outcome(result=UNDEFINED)
    operands = [call.expression(index) for index in range(len(values))]
    if unknown := [leaf for each in operands for leaf in nondeterminism.leaves(each)]:
        # No more is said of what it computes.
        leaf = machine_of(call).machine.new_leaf(unknown[0].name, exact=False, of=unknown)
        return Outcome(result=Unknown(leaf))
    return Outcome(result=Unknown(_float_expression(call, name, operands)))


def _float_expression(call: Call, name: str, operands: list[Expr]) -> Expr:
    first = operands[0]
    if name == "fabs":
        return Conditional(Binary("<.", first, Const(0)), Unary("-.", first), first)
    if name not in ("fmin", "fmax"):
        only = "only fabs, fmin and fmax are supported on values from other ranks"
        call.fail(f"`{call.name}` of a value that is not known", only)
    return Conditional(Binary("<." if name == "fmin" else ">.", first, operands[1]), first, operands[1])


for _name in ON_FLOATS:
    _arity = 2 if _name in ("pow", "fmin", "fmax", "fmod", "atan2", "hypot") else 1
    for _prefix in ("", "__builtin_"):
        TABLE.add(f"double {_prefix}{_name}({', '.join(['double x', 'double y'][:_arity])});", on_floats)
        TABLE.add(f"float {_prefix}{_name}f({', '.join(['float x', 'float y'][:_arity])});", on_floats)


@calls("int isnan(double x); int isinf(double x); int isfinite(double x);")
def float_class(call: Call) -> Outcome:
    value = call.arguments[0]
    if unknown := nondeterminism.leaves_of(value):
        leaf = machine_of(call).machine.new_leaf(unknown[0].name, (0, 1), exact=False, of=unknown)
        return Outcome(result=Unknown(leaf))
    if not isinstance(value, Known):
        return Outcome(result=VALUE if call.name != "isfinite" else Known(1))
    test = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}[call.name]
    return Outcome(result=Known(int(test(float_value(value.value)))))


# Memory


@calls("void *malloc(size_t size); void *__alloca(size_t size); void *alloca(size_t size); void *valloc(size_t size);")
def allocate(call: Call) -> Outcome:
    return Outcome(result=allocated(call, call.known(0)))


@calls("void *calloc(size_t count, size_t size);")
def allocate_zero(call: Call) -> Outcome:
    return Outcome(result=allocated(call, call.known(0) * call.known(1), zero=True))


@calls("void *aligned_alloc(size_t alignment, size_t size); void *memalign(size_t alignment, size_t size);")
def allocate_aligned(call: Call) -> Outcome:
    return Outcome(result=allocated(call, call.known(1)))


@calls("int posix_memalign(void **result, size_t alignment, size_t size);")
def allocate_to(call: Call) -> Outcome:
    to = call.pointer(0)
    if to is None:
        call.fail("a null pointer where `posix_memalign` puts its result", "pass the address of a pointer")
    address = allocated(call, call.known(2), to)
    return Outcome(result=VALUE, stores=((to, address, Pointer(CHAR)),))


@calls("void *realloc(void *old, size_t size);")
def reallocate(call: Call) -> Outcome:
    if call.pointer(0) is not None:
        call.fail("`realloc` of memory in use", "allocate enough memory at the beginning")
    return Outcome(result=allocated(call, call.known(1)))


@calls("void free(void *memory); void cfree(void *memory);")
def free(call: Call) -> Outcome:
    """What is allocated next, of the same size, gets this memory: loops that allocate and free end so."""
    address = call.pointer(0) if not isinstance(call.arguments[0], Undefined) else None
    if address is None or address.object.kind != "heap" or not isinstance(address.object.number, int):
        return Outcome()
    machine = machine_of(call).machine
    size = machine.facts.objects[address.object].size
    freed = call.state.get(FREED, ())
    assert isinstance(freed, tuple)
    machine.end_of_life(address.object)
    call.rests_on(Kind.FREED_MEMORY, call.name)
    return Outcome(state={FREED: tuple(sorted({*freed, (size, address.object.number)}))})


def allocated(call: Call, bytes: int, to: Address | None = None, *, zero: bool = False) -> Address:
    """``bytes`` bytes of the heap, freed ones if there are any of that size, for the pointer at ``to`` if not for the
    one that gets the result."""
    here = machine_of(call)
    freed = call.state.get(FREED, ())
    assert isinstance(freed, tuple)
    again = next((number for size, number in freed if size == bytes), None)
    if again is None:
        return here.allocate("heap", bytes, to=to)
    call.rests_on(Kind.ALLOCATION, call.name.removeprefix("__"))
    here.machine.state.notes[FREED] = tuple(each for each in freed if each[1] != again)
    address = here.allocated("heap", again, bytes, None, to)
    if zero:
        here.machine.fill(address, 0, bytes)
    return address


@calls("void *memset(void *to, int byte, size_t size); void bzero(void *to, size_t size); "
       "void *__builtin_memset(void *to, int byte, size_t size);")  # fmt: skip
def fill_memory(call: Call) -> Outcome:
    machine = machine_of(call).machine
    size = call.known(len(call.arguments) - 1)
    to = own(call, 0)
    if size and to is None:
        machine.fault()
    elif to is not None:
        machine.fill(to, call.known(1) if len(call.arguments) == 3 else 0, size)
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
    to, of = own(call, order[0]), own(call, order[1])
    size = call.known(2)
    if to is not None and of is not None:
        machine.copy(to, of, size)
    elif size:
        machine.fault()
    return Outcome(result=call.arguments[0])


def own(call: Call, index: int) -> Address | None:
    """Argument ``index``, a pointer into one's own memory."""
    pointer = call.pointer(index)
    return None if pointer is None else machine_of(call).machine.followed(pointer, "accessed")


@calls(
    "int memcmp(const void *left, const void *right, size_t size); int bcmp(const void *a, const void *b, size_t n);"
)
def compare_memory(call: Call) -> Outcome:
    size = call.known(2)
    sides = [known_bytes(call, index, size) for index in (0, 1)]
    return Outcome(result=Known((sides[0] > sides[1]) - (sides[0] < sides[1])))


# Strings


@calls(
    """
    size_t strlen(const char *s); int strcmp(const char *a, const char *b);
    int strcasecmp(const char *a, const char *b);
    int strncmp(const char *a, const char *b, size_t n); int strncasecmp(const char *a, const char *b, size_t n);
    """
)
def inspect_string(call: Call) -> Outcome:
    first = known_string(call, 0)
    if call.name == "strlen":
        return Outcome(result=Known(len(first)))
    second = known_string(call, 1)
    if "case" in call.name:
        first, second = first.lower(), second.lower()
    if call.name.startswith("strn"):
        first, second = first[: call.known(2)], second[: call.known(2)]
    return Outcome(result=Known((first > second) - (first < second)))


@calls("int atoi(const char *s); long atol(const char *s); long long atoll(const char *s); double atof(const char *s);")
def number_of(call: Call) -> Outcome:
    text = known_string(call, 0).decode("latin-1")
    if call.name == "atof":
        found = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text, re.IGNORECASE)
        return Outcome(result=Known(float_bits(float(found[0]) if found else 0.0)))
    found = re.match(r"\s*[-+]?\d{1,18}", text)
    type = IntType(32 if call.name == "atoi" else 64, True)
    return Outcome(result=Known(type.wrap(int(found[0]) if found else 0)))


@calls(
    """
    long strtol(const char *s, char **end, int base); long long strtoll(const char *s, char **end, int base);
    unsigned long strtoul(const char *s, char **end, int base); double strtod(const char *s, char **end);
    unsigned long long strtoull(const char *s, char **end, int base);
    """
)
def converted(call: Call) -> Outcome:
    text = known_string(call, 0).decode("latin-1")
    if call.name == "strtod":
        found = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text, re.IGNORECASE)
        result = float_bits(float(found[0]) if found else 0.0)
    else:
        base = call.known(2) or (16 if re.match(r"\s*[-+]?0[xX]", text) else 8 if re.match(r"\s*[-+]?0", text) else 10)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[:base]
        found = re.match(rf"\s*[-+]?{'(0[xX])?' if base == 16 else ''}[{digits}]+", text, re.IGNORECASE)
        result = int(found[0], base) if found else 0
        result = IntType(64, not call.name.startswith("strtou")).wrap(result)
    end = call.pointer(1)
    start = call.pointer(0)
    assert start is not None
    after = call.moved(start, len(found[0]) if found else 0)
    return Outcome(result=Known(result), stores=() if end is None else ((end, after, Pointer(CHAR)),))


@calls("char *strcpy(char *to, const char *of); char *strncpy(char *to, const char *of, size_t n); "
       "char *strcat(char *to, const char *of);")  # fmt: skip
def copy_string(call: Call) -> Outcome:
    data = known_string(call, 1) + b"\0"
    to = own(call, 0)
    if to is None:
        machine_of(call).machine.fault()
        return Outcome()
    if call.name == "strcat":
        to = call.moved(to, len(known_string(call, 0)))
    if call.name == "strncpy":
        data = data[: call.known(2)].ljust(min(call.known(2), 4096), b"\0")
    type = IntType(8, True)
    stores = tuple((call.moved(to, place), Known(type.wrap(byte)), CHAR) for place, byte in enumerate(data))
    return Outcome(result=call.arguments[0], stores=stores)


@calls(
    """
    int sprintf(char *to, const char *format, ...); int snprintf(char *to, size_t size, const char *format, ...);
    int vsnprintf(char *to, size_t size, const char *format, va_list list);
    """
)
def print_to(call: Call) -> Outcome:
    """What is printed to memory is not known, and is an error where a program looks at it; as long as the format."""
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    machine = machine_of(call).machine
    place = 1 if call.name == "sprintf" else 2
    to = own(call, 0) if call.pointer(0) is not None else None
    try:
        length = len(known_string(call, place))
    except Problem:
        length = 1
    if to is not None and isinstance(to.offset, int):
        machine.object(to.object)
        size = machine.facts.objects[to.object].size - to.offset
        if place == 2 and isinstance(call.arguments[1], Known):
            size = min(size, call.known(1))
        if size > 0:
            if machine.pieces(to, size):
                call.fail(f"`{call.name}` prints to memory that other ranks access", "transfer numbers instead")
            machine.contents(to.object, write=True).fill(to.offset, to.offset + size, None)
    return Outcome(result=Known(length))


@calls(
    """
    int isdigit(int c); int isalpha(int c); int isspace(int c); int isupper(int c); int islower(int c);
    int isalnum(int c); int toupper(int c); int tolower(int c);
    """
)
def character(call: Call) -> Outcome:
    text = chr(call.known(0) & 127)
    if call.name.startswith("to"):
        return Outcome(result=Known(ord(getattr(text, call.name[2:])())))
    return Outcome(result=Known(int(getattr(text, call.name)())))


@calls("char *strerror(int number);")
def error_text(call: Call) -> Outcome:
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    return Outcome(result=Address(ObjectId("string", ("error",)), 0))


@calls("int getopt(int count, char **arguments, const char *options);")
def option(call: Call) -> Outcome:
    """There are no arguments, so there is no option."""
    call.rests_on(Kind.ARGUMENTS)
    return Outcome(result=Known(-1))


@calls("int *__errno_location(void);")
def error_number(call: Call) -> Outcome:
    return Outcome(result=call.internal("errno", name="errno"))


# Atomics on one's own memory


@calls("void *__sync_lock_test_and_set(void *p, ...); void __sync_lock_release(void *p, ...);")
def sync_lock(call: Call) -> Outcome:
    return atomic(call)


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


def atomic(call: Call) -> Outcome:
    """An atomic of the compiler on one's own memory, which is one event as those of APIs are."""
    from pgasrob.frontends.c.atomics import own_atomic

    operation, result = ATOMICS[call.name.removeprefix("__sync_").removeprefix("__atomic_")]
    return own_atomic(call, operation, result)


def _atomic_declaration(name: str, types: tuple[CType, ...]) -> str | None:
    stem = name.removeprefix("__sync_").removeprefix("__atomic_")
    if stem == name or stem not in ATOMICS or not types:
        return None
    pointed = types[0].to if isinstance(types[0], Pointer) else INT
    from pgasrob.frontends.c.atomics import written

    text = written(pointed)
    void = not ATOMICS[stem][1]
    rest = "".join(f", {text} v{number}" for number in range(1, len(types)))
    return f"{'void' if void else 'int' if ATOMICS[stem][1] == 'bool' else text} {name}({text} *p{rest});"


# What the table is made of


UNSUPPORTED = {
    "qsort": "sort by loops of your own, on known indices",
    "bsearch": "search by loops of your own",
    "scanf": "there is no input: set the values in the program",
    "fscanf": "there is no input: set the values in the program",
    "sscanf": "set the values in the program",
    "fopen": "files are not supported: set the values in the program",
    "fread": "files are not supported: set the values in the program",
    "fgets": "there is no input: set the values in the program",
    "getline": "there is no input: set the values in the program",
    "mmap": "use malloc, or the memory of the API",
    "setjmp": "return error codes instead",
    "longjmp": "return error codes instead",
    "fork": "processes are those of the API",
    "pthread_*": "threads are not supported: every rank is one thread of control",
    "omp_*": "threads are not supported: every rank is one thread of control",
    "sem_*": "threads are not supported: every rank is one thread of control",
    "dlopen": "call functions of this file",
    "system": "commands of the shell are not supported",
}


def declaration(name: str, types: tuple[CType, ...]) -> str | None:
    return TABLE.declaration(name, types) or _atomic_declaration(name, types)


def handler(name: str) -> Handler | None:
    stem = name.removeprefix("__sync_").removeprefix("__atomic_")
    if stem != name and stem in ATOMICS:
        return atomic
    return TABLE.handler(name)


READS = frozenset(name for name, each in TABLE.handlers.items() if each is output or each is nothing)


def known_bytes(call: Call, index: int, size: int) -> bytes:
    """The ``size`` bytes that argument ``index`` points to, which must be known."""
    address = call.pointer(index)
    if address is None:
        call.fail(f"`{call.name}` of a null pointer", "pass memory")
    found = []
    for place in range(size):
        value = call.load(call.moved(address, place), UCHAR)
        if not isinstance(value, Known):
            call.fail(f"`{call.name}` of memory that is not known here", "compare variables one by one, with `==`")
        found.append(value.value)
    return bytes(found)


def known_string(call: Call, index: int) -> bytes:
    """The string that argument ``index`` points to, which must be known."""
    address = call.pointer(index)
    if address is None:
        call.fail(f"`{call.name}` of a null pointer", "pass a string")
    found = bytearray()
    while True:
        value = call.load(call.moved(address, len(found)), UCHAR)
        if not isinstance(value, Known) or len(found) > LONGEST_STRING:
            call.fail(f"`{call.name}` of a string that is not known here", "use string literals, or numbers")
        if not value.value:
            return bytes(found)
        found.append(value.value)


def machine_of(call: Call) -> MachineCall:
    """``call`` with the machine behind it, whose memory the library works on."""
    from pgasrob.frontends.c.calls import MachineCall

    assert isinstance(call, MachineCall)
    return call


STREAM = Handle("stream", ())
CONSTANTS: dict[str, tuple[CType, Value]] = {
    "stdout": (FILE, STREAM), "stderr": (FILE, STREAM), "stdin": (FILE, STREAM),
    "optind": (INT, Known(1)), "errno": (INT, Known(0)),
}  # fmt: skip

LIBRARY = Api(
    name="C",
    headers=tuple(sorted(STANDARD_HEADERS)),
    types={"FILE": Opaque("FILE"), "va_list": Opaque("va_list")},
    constants=CONSTANTS,
    declaration=declaration,
    handler=handler,
    unsupported=UNSUPPORTED,
    output=READS,
)
__all__ = ["DOUBLE", "LIBRARY", "Floating"]
