"""Strings and memory that is compared: <string.h>, and what of <stdlib.h> and <stdio.h> reads and writes strings."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial, reduce

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Look, Outcome
from pgasrob.frontends.apis.transfers import pairs
from pgasrob.frontends.c.contents import ANYTHING
from pgasrob.frontends.c.libc.library_calls import (
    calls,
    known_bytes,
    known_string,
    machine_of,
    spelled,
    string_at,
    text_of,
    unknown_result,
    unknown_value,
)
from pgasrob.frontends.c.libc.shared_strings import (
    byte_to,
    ends_in_string,
    in_cells,
    read_string,
    refuse_cells,
    string_bytes,
)
from pgasrob.frontends.c.nondeterminism import Leaf
from pgasrob.frontends.c.types import CHAR, CType, Pointer
from pgasrob.frontends.c.values import NULL, Address, Known, Unknown, Value, no_pointer
from pgasrob.program import commands
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Assign
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Unary, float_bits, float_value
from pgasrob.program.statements import Block, If
from pgasrob.stop_points import stop_point

BYTE = IntType(8, True)
DIFFERENCE = (-255, 255)
TOKENS = "C.strtok"
"""Key in the state of the place at which strtok goes on."""


# Memory and strings that are looked at


@calls(
    "int memcmp(const void *left, const void *right, size_t size); int bcmp(const void *a, const void *b, size_t n);"
)
def compare_memory(call: Call) -> Outcome | Look:
    size = call.known(2)
    sides = [known_bytes(call, index, size) for index in (0, 1)]
    if sides[0] is not None and sides[1] is not None:
        return Outcome(result=Known((sides[0] > sides[1]) - (sides[0] < sides[1])))
    left, right = call.pointer(0), call.pointer(1)
    assert left is not None and right is not None
    facts = machine_of(call).machine.facts
    if not any(facts.objects[each.object].in_cells for each in (left, right)):
        return unknown_result(call, DIFFERENCE)
    # Where they differ the sign is unknown: it depends on the order of the bytes in a cell.
    steps = Steps(call)
    equal = list[Expr]()
    for one, other in pairs(call, left, right, size):
        held = []
        for cell in (one, other):
            register = call.register("compared")
            steps.do(commands.Load(register, cell))
            held.append(register)
        equal.append(Binary("==", held[0], held[1], IntType(64, True)))
    sign = unknown_value(call, (0, 1), computed=True)
    assert isinstance(sign, Unknown) and isinstance(sign.expr, Leaf)
    differ = Unknown(Binary("-", Binary("*", replace(sign.expr, fixed=True), Const(2)), Const(1)))
    same = _all(equal)
    return Look(steps.outcome(NULL).statements, same, Outcome(result=Known(0)), Outcome(result=differ))


def _all(conditions: list[Expr]) -> Expr:
    """Whether all ``conditions`` hold, no deeper than has to be: thousands in a row are deeper than Python goes."""
    if len(conditions) < 2:
        return conditions[0] if conditions else Const(1)
    middle = len(conditions) // 2
    return Binary("&&", _all(conditions[:middle]), _all(conditions[middle:]))


@calls(
    """
    int strcmp(const char *a, const char *b); int strcasecmp(const char *a, const char *b);
    int strncmp(const char *a, const char *b, size_t n); int strncasecmp(const char *a, const char *b, size_t n);
    int strcoll(const char *a, const char *b);
    """
)
def compare(call: Call) -> Outcome:
    most = call.known(2) if call.name.startswith("strn") else None
    first, second = text_of(call, 0, most), text_of(call, 1, most)
    if first is None or second is None:
        return _compared(call)
    if "case" in call.name:
        first, second = first.lower(), second.lower()
    return Outcome(result=Known((first > second) - (first < second)))


def _compared(call: Call) -> Outcome:
    """Compare strings in cells: byte by byte, up to the first that differ or are zero."""
    most = call.known(2) if call.name.startswith("strn") else None
    places = [call.pointer(0), call.pointer(1)]
    if not any(each is not None and in_cells(call, each) for each in places):
        return unknown_result(call, DIFFERENCE)
    found = [string_bytes(call, index, each, most) for index, each in enumerate(places) if each is not None]
    if not any(shared for _, shared in found):
        return unknown_result(call, DIFFERENCE)
    steps = Steps(call)
    left, right, differ = call.register("left"), call.register("right"), call.register("differ")
    steps.do(Assign(left, Const(1)), Assign(right, Const(1)), Assign(differ, Const(0)))
    goes_on = Binary("&&", Binary("==", differ, Const(0)), Binary("!=", left, Const(0)))
    (first, _), (second, _) = found
    for one, other in zip(first, second, strict=False):
        subtracted = Binary("-", _folded(call, left), _folded(call, right))
        pair = (*byte_to(call, left, one), *byte_to(call, right, other), Assign(differ, subtracted))
        steps.do(If(goes_on, Block(call.do(*pair)), None, call.span))
    if most is None or min(len(first), len(second)) < most:
        shorter = places[len(first) > len(second)]
        assert shorter is not None
        ends_in_string(steps, goes_on, shorter)
    return steps.outcome(Binary("-", Binary(">", differ, Const(0)), Binary("<", differ, Const(0))))


def _folded(call: Call, byte: Expr) -> Expr:
    """``byte`` as it is compared: without a sign, and a small letter where the case does not count."""
    code = Unary("cast", byte, IntType(8, False))
    if "case" not in call.name:
        return code
    large = Binary("&&", Binary(">=", code, Const(ord("A"))), Binary("<=", code, Const(ord("Z"))))
    return Conditional(large, Binary("+", code, Const(32)), code)


@calls("size_t strlen(const char *s); size_t strnlen(const char *s, size_t n); size_t __builtin_strlen(const char *s);")
def length(call: Call) -> Outcome:
    text = text_of(call, 0, call.known(1) if call.name == "strnlen" else None)
    if text is not None:
        return Outcome(result=Known(len(text)))
    address = call.pointer(0)
    assert address is not None
    if in_cells(call, address):
        steps = Steps(call)
        found = read_string(steps, 0, address, call.known(1) if call.name == "strnlen" else None)
        if found is not None:
            return steps.outcome(found)
    return unknown_result(call, (0, max(0, _room(call, address) - 1)))


def _room(call: Call, address: Address) -> int:
    """The bytes from ``address`` to the end of its object."""
    return machine_of(call).machine.objects.room(address)


@calls(
    """
    char *strchr(const char *s, int c); char *strrchr(const char *s, int c); char *index(const char *s, int c);
    char *rindex(const char *s, int c); char *strstr(const char *s, const char *part);
    char *strpbrk(const char *s, const char *any); char *strchrnul(const char *s, int c);
    size_t strspn(const char *s, const char *of); size_t strcspn(const char *s, const char *of);
    void *memchr(const void *s, int c, size_t n); char *basename(char *path);
    """
)
def search(call: Call) -> Outcome:
    text = known_bytes(call, 0, call.known(2)) if call.name == "memchr" else known_string(call, 0) + b"\0"
    if text is None:
        call.fail(Wrong.UNKNOWN_LIMIT, "`memchr` of memory that is not known here", "look at it byte by byte")
    start = call.pointer(0)
    assert start is not None
    match call.name:
        case "strstr":
            found = text.find(known_string(call, 1))
        case "basename":
            found = text.rfind(b"/") + 1
        case "strspn" | "strcspn" | "strpbrk":
            among = known_string(call, 1)
            stops = (at for at, byte in enumerate(text) if not byte or (byte in among) != (call.name == "strspn"))
            found = next(stops)
            if call.name != "strpbrk":
                return Outcome(result=Known(found))
            found = found if text[found] else -1
        case "strrchr" | "rindex":
            found = text.rfind(call.known(1) & 255)
        case _:
            found = text.find(call.known(1) & 255)
    if found < 0 and call.name == "strchrnul":
        found = len(text) - 1
    return Outcome(result=NULL if found < 0 else call.moved(start, found))


# Numbers that are written

_NUMBER = re.compile(rb"\s*[-+]?(\d+\.?\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|inf(inity)?|nan)", re.IGNORECASE)


@calls("int atoi(const char *s); long atol(const char *s); long long atoll(const char *s); double atof(const char *s);")
def number_of(call: Call) -> Outcome:
    text = text_of(call, 0)
    type = IntType(32 if call.name == "atoi" else 64, True)
    if text is None:
        return unknown_result(call) if call.name == "atof" else _number_read(call, type)
    if call.name == "atof":
        number = _NUMBER.match(text)
        return Outcome(result=Known(float_bits(float(number[0]) if number else 0.0)))
    found = re.match(rb"\s*[-+]?\d{1,18}", text)
    return Outcome(result=Known(type.wrap(int(found[0]) if found else 0)))


def _number_read(call: Call, type: IntType) -> Outcome:
    """Read a number from a string in cells, up to the first byte that does not belong to the number."""
    address = call.pointer(0)
    assert address is not None
    if not in_cells(call, address):
        return unknown_result(call, type.range)
    chain, shared = string_bytes(call, 0, address, None)
    if not shared:
        return unknown_result(call, type.range)
    steps = Steps(call)
    byte, going, inside = call.register("byte"), call.register("going"), call.register("inside")
    sign, number = call.register("sign"), call.register("number")
    steps.do(*(Assign(each, Const(int(each in (going, sign)))) for each in (byte, going, inside, sign, number)))

    def one_of(*codes: int) -> Expr:
        return reduce(partial(Binary, "||"), (Binary("==", byte, Const(code)) for code in codes))

    digit = Binary("&&", Binary(">=", byte, Const(ord("0"))), Binary("<=", byte, Const(ord("9"))))
    begins = Unary("!", inside)
    more = Binary("+", Binary("*", number, Const(10)), Binary("-", byte, Const(ord("0"))), type)
    for at in chain:
        rest = (
            Assign(sign, Conditional(Binary("&&", begins, one_of(ord("-"))), Const(-1), sign)),
            Assign(number, Conditional(digit, more, number)),
            Assign(going, Binary("||", digit, Binary("&&", begins, one_of(*b" \t\n\v\f\r+-")))),
            Assign(inside, Binary("||", inside, Binary("||", digit, one_of(*b"+-")))),
        )
        steps.do(If(going, Block(call.do(*byte_to(call, byte, at), *rest)), None, call.span))
    ends_in_string(steps, going, address)
    return steps.outcome(Unary("cast", Binary("*", sign, number), type))


@calls(
    """
    long strtol(const char *s, char **end, int base); long long strtoll(const char *s, char **end, int base);
    unsigned long strtoul(const char *s, char **end, int base); double strtod(const char *s, char **end);
    unsigned long long strtoull(const char *s, char **end, int base); float strtof(const char *s, char **end);
    long double strtold(const char *s, char **end);
    """
)
def converted(call: Call) -> Outcome:
    text = known_string(call, 0)
    found: re.Match[bytes] | None
    if call.name in ("strtod", "strtof", "strtold"):
        found = _NUMBER.match(text)
        result = float_bits(float(found[0]) if found else 0.0)
    else:
        base = call.known(2) or (
            16 if re.match(rb"\s*[-+]?0[xX][0-9a-fA-F]", text) else 8 if re.match(rb"\s*[-+]?0", text) else 10
        )
        if not 2 <= base <= 36:
            call.fail(Wrong.ARGUMENT, f"`{call.name}` with the base {base}", "there is 0, and 2 to 36")
        digits = b"0123456789abcdefghijklmnopqrstuvwxyz"[:base]
        prefix = b"(0[xX](?=[0-9a-fA-F]))?" if base == 16 else b""
        found = re.match(rb"\s*[-+]?" + prefix + b"[" + digits + b"]+", text, re.IGNORECASE)
        signed = not call.name.startswith("strtou")
        low, high = IntType(64, signed).range
        number = spelled(found[0], base) if found else 0
        # What is too large becomes the largest (C11, 7.22.1.4); a minus counts for the result.
        result = min(max(number, low), high) if signed or abs(number) > high else IntType(64, False).wrap(number)
    end = call.pointer(1)
    start = call.pointer(0)
    assert start is not None
    after = call.moved(start, len(found[0]) if found else 0)
    return Outcome(result=Known(result), stores=() if end is None else ((end, after, Pointer(CHAR)),))


# Strings that are written


def written(call: Call, to: Address, data: bytes) -> tuple[tuple[Address, Value, CType], ...]:
    return tuple((call.moved(to, place), Known(BYTE.wrap(byte)), CHAR) for place, byte in enumerate(data))


@calls("char *strcpy(char *to, const char *of); char *strncpy(char *to, const char *of, size_t n); "
       "char *strcat(char *to, const char *of); char *strncat(char *to, const char *of, size_t n); "
       "char *stpcpy(char *to, const char *of);")  # fmt: skip
def copy_string(call: Call) -> Outcome:
    to, data = call.pointer(0), text_of(call, 1, call.known(2) if call.name in ("strncpy", "strncat") else None)
    if to is None:
        machine_of(call).machine.issuer.fault(*no_pointer(call.arguments[0], "argument 1"))
        return Outcome()
    start = text_of(call, 0) if "cat" in call.name else b""
    if data is None or start is None:
        if call.name == "stpcpy":
            call.fail(Wrong.UNKNOWN_LIMIT, "`stpcpy` of a string that is not known here", "use string literals")
        of = call.pointer(1)
        assert of is not None
        if start is not None and in_cells(call, of) and call.name in ("strcpy", "strcat"):
            steps = Steps(call)
            if read_string(steps, 1, of, to=call.moved(to, len(start))) is not None:
                return steps.outcome(call.arguments[0])
        refuse_cells(call, 0, to, "and how much is written there is not known")
        refuse_cells(call, 1, of, "and how much is read there is not known")
        size = min(_room(call, to), call.known(2) if call.name == "strncpy" else _room(call, to))
        forget(call, to, size)
        return Outcome(result=call.arguments[0])
    to = call.moved(to, len(start))
    data += b"\0"
    if call.name == "strncpy":
        data = data[: call.known(2)].ljust(min(call.known(2), 4096), b"\0")
    elif call.name == "strncat":
        data = data[:-1][: call.known(2)] + b"\0"
    result = call.moved(to, len(data) - 1) if call.name == "stpcpy" else call.arguments[0]
    return Outcome(result=result, stores=written(call, to, data))


def forget(call: Call, to: Address, size: int) -> None:
    """The contents of ``size`` bytes from ``to`` on are unknown."""
    if size > 0:
        call.rests_on(Kind.UNKNOWN_VALUES, f"{call.name}()")
        machine_of(call).machine.memory.fill(to, ANYTHING, size)


@calls("char *strtok(char *s, const char *ends); char *strtok_r(char *s, const char *ends, char **next);")
def token(call: Call) -> Outcome:
    keeps = call.pointer(2) if call.name == "strtok_r" else None
    start = call.pointer(0)
    if start is None:
        before = call.load(keeps, Pointer(CHAR)) if keeps is not None else call.state.get(TOKENS)
        if not isinstance(before, Address):
            return Outcome(result=NULL)
        start = before
    text, ends = string_at(call, start), known_string(call, 1)
    if text is None:
        call.fail(
            Wrong.UNKNOWN_LIMIT, f"`{call.name}` of a string that is not known here", "use string literals, or numbers"
        )
    first = next((at for at, byte in enumerate(text) if byte not in ends), len(text))
    last = next((at for at in range(first, len(text)) if text[at] in ends), len(text))
    following = call.moved(start, min(last + 1, len(text)))
    stores: tuple[tuple[Address, Value, CType], ...] = ()
    if last < len(text):
        stores = ((call.moved(start, last), Known(0), CHAR),)
    if keeps is not None:
        stores += ((keeps, following, Pointer(CHAR)),)
    result: Value = call.moved(start, first) if first < len(text) else NULL
    return Outcome(result=result, stores=stores, state={} if keeps is not None else {TOKENS: following})


# What is printed to memory

_CONVERSION = re.compile(rb"%(?:%|([-+ #0]*)(\d*)(?:\.(\d*))?(hh|h|ll|l|z|j|t|L)?([diouxXcsfFeEgGp]))")
_LONG = re.compile(rb"%[-+ #0]*(?:\d{5,}|[4-9]\d{3}|\d*\.(?:\d{5,}|[4-9]\d{3})|\d*\.?\*)")
"""A width or precision of 4000 characters or more: C promises 4095 of one conversion (C11, 7.21.6.1.15)."""
_UNSIGNED = {b"": 32, b"hh": 8, b"h": 16}


def _printed(call: Call, place: int) -> bytes | None:
    """The text that the format, argument ``place``, and the arguments after it print; None where that is not known."""
    form = text_of(call, place)
    if form is None or call.name.startswith("v") or _LONG.search(form):
        return None
    result: list[bytes] = []
    position, argument = 0, place + 1
    while (percent := form.find(b"%", position)) >= 0:
        stop_point()
        found = _CONVERSION.match(form, percent)
        if found is None or (found[0] != b"%%" and argument >= len(call.arguments)):
            return None
        piece = b"%"
        if found[0] != b"%%":
            one = _converted(call, argument, *found.groups(default=b""))
            if one is None:
                return None
            piece, argument = one, argument + 1
        result += (form[position:percent], piece)
        position = found.end()
    return b"".join((*result, form[position:]))


def _converted(
    call: Call, index: int, flags: bytes, width: bytes, digits: bytes, size: bytes, kind: bytes
) -> bytes | None:
    value = call.arguments[index]
    form = b"%" + flags + width + (b"." + digits if digits else b"")
    if kind == b"s":
        text = text_of(call, index, int(digits) if digits else None) if isinstance(value, Address) else None
        return None if text is None else (form + b"s") % text
    if not isinstance(value, Known) or kind == b"p" or b"#" in flags:
        return None
    if kind == b"c":
        return bytes([value.value & 255]).rjust(int(width or 0))
    if kind in b"fFeEgG":
        return (form + kind) % float_value(value.value)
    number = value.value
    bits = _UNSIGNED.get(size, 64)
    number = IntType(bits, kind in b"di").wrap(number)
    return (form + (b"d" if kind in b"diu" else kind)) % number


@calls(
    """
    int sprintf(char *to, const char *format, ...); int snprintf(char *to, size_t size, const char *format, ...);
    int vsnprintf(char *to, size_t size, const char *format, va_list list);
    int vsprintf(char *to, const char *format, va_list list);
    """
)
def print_to(call: Call) -> Outcome:
    """Print to memory what is printed where all of it is known; else the memory has unknown contents."""
    place = 1 if call.name.endswith("sprintf") else 2
    to, text = call.pointer(0), _printed(call, place)
    room = call.known(1) if place == 2 else None
    if text is None:
        if to is not None:
            size = _room(call, to)
            forget(call, to, size if room is None else min(size, room))
        form = text_of(call, place)
        return unknown_result(call, (-1, 2**31 - 1) if form and _LONG.search(form) else (0, 4096))
    if to is None or room == 0:
        return Outcome(result=Known(len(text)))
    data = (text if room is None else text[: room - 1]) + b"\0"
    return Outcome(result=Known(len(text)), stores=written(call, to, data))
