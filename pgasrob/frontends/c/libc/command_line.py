"""getopt and its like on arguments that are known, as the GNU C library has them: arguments that are no options are
moved behind the options, unless the string of options begins with `+` or `-`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.libc.library_calls import calls, known_string, machine_of, string_at
from pgasrob.frontends.c.types import CHAR, INT, LONG, CType, Pointer
from pgasrob.frontends.c.values import NULL, Address, Known, ObjectId, Value
from pgasrob.program.assumptions import Kind

STRING = Pointer(CHAR)
OPTION_SIZE = 32
"""Bytes of a `struct option`: name, has_arg, flag, val, each aligned to 8 bytes."""
NO_ARGUMENT, REQUIRED = 0, 1
NOT_AN_OPTION, BAD, MISSING = Known(1), Known(ord("?")), Known(ord(":"))
NO_MORE = Known(-1)


@dataclass(frozen=True, slots=True)
class LongOption:
    """One `struct option`: its ``name``, whether it has an argument, where its ``flag`` is, and its ``value``."""

    name: bytes
    has_argument: int
    flag: Address | None
    value: int

    @property
    def does(self) -> tuple[object, ...]:
        """What it does, whatever its name."""
        return self.has_argument, self.flag, self.value


@calls(
    """
    int getopt(int count, char **arguments, const char *options);
    int getopt_long(int count, char **arguments, const char *options, const struct option *all, int *index);
    int getopt_long_only(int count, char **arguments, const char *options, const struct option *all, int *index);
    """
)
def option(call: Call) -> Outcome:
    call.rests_on(Kind.ARGUMENTS)
    base = call.pointer(1)
    return Outcome(result=NO_MORE) if call.known(0) < 1 or base is None else _Scan(call, base).outcome()


class _Scan:
    """One call, by the variables that getopt keeps between calls, and the order of the arguments."""

    def __init__(self, call: Call, base: Address) -> None:
        self.call, self.base = call, base
        self.count = call.known(0)
        options = known_string(call, 2)
        self.in_order, self.returns_all = options[:1] == b"+", options[:1] == b"-"
        self.options = options.lstrip(b"+-")
        self.index = self._number(self._variable("optind"), INT)
        self._kept = call.internal("getopt", bytes=24, name="getopt")
        """Where it goes on in an argument with several options, and which arguments are to be moved behind them."""
        self.place, self.first, self.last = (self._number(call.moved(self._kept, at), LONG) for at in (0, 8, 16))
        if not self.index or not self.first:
            self.index = self.index or 1
            self.place, self.first, self.last = 0, self.index, self.index
        self.arguments = [self._argument(number) for number in range(self.count)]
        self.argument: Value = NULL
        self.bad: int | None = None
        self.stores: list[tuple[Address, Value, CType]] = []

    def outcome(self) -> Outcome:
        result = self._next()
        call, stores = self.call, self.stores
        stores += ((call.moved(self.base, 8 * number), each, STRING) for number, (each, _) in enumerate(self.arguments))
        kept = (self.place, self.first, self.last)
        stores += ((call.moved(self._kept, 8 * at), Known(each), LONG) for at, each in enumerate(kept))
        stores.append((self._variable("optind"), Known(self.index), INT))
        stores.append((self._variable("optarg"), self.argument, STRING))
        if self.bad is not None:
            stores.append((self._variable("optopt"), Known(self.bad), INT))
        return Outcome(result=result, stores=tuple(stores))

    # What it works on

    def _variable(self, name: str) -> Address:
        """A variable of the C library; one of getopt's own where the program does not name it."""
        if name in machine_of(self.call).machine.position.unit.objects:
            return Address(ObjectId("global", (name,)), 0)
        return self.call.internal(name, initial=int(name == "optind"), name=name)

    def _number(self, at: Address, type: CType) -> int:
        value = self.call.load(at, type)
        return value.value if isinstance(value, Known) else self._refuse()

    def _argument(self, number: int) -> tuple[Address, bytes]:
        """A pointer among the arguments, and the string there."""
        pointer = self.call.load(self.call.moved(self.base, 8 * number), STRING)
        text = string_at(self.call, pointer) if isinstance(pointer, Address) else None
        if not isinstance(pointer, Address) or text is None:
            self._refuse()
        return pointer, text

    def _refuse(self) -> NoReturn:
        self.call.fail(
            Wrong.UNKNOWN_LIMIT, f"`{self.call.name}` of arguments that are not known here", "give it those of `main`"
        )

    # What it does

    def _next(self) -> Value:
        if not self.place:
            found = self._begin()
            if found is not None:
                return found
            text = self.arguments[self.index][1]
            if "long" in self.call.name:
                is_long, only = text[1:2] == b"-", self.call.name.endswith("only")
                if is_long or (only and (text[2:] or text[1] not in self.options)):
                    found = self._long(text[2 if is_long else 1 :], is_long or text[1] not in self.options)
                    if found is not None:
                        return found
            self.place = 1
        return self._short()

    def _begin(self) -> Value | None:
        """Go to the next option; the result where there is none."""
        self.last, self.first = min(self.last, self.index), min(self.first, self.index)
        if not (self.in_order or self.returns_all):
            self._move_behind()
            while self.index < self.count and _is_no_option(self.arguments[self.index][1]):
                self.index += 1
            self.last = self.index
        if self.index < self.count and self.arguments[self.index][1] == b"--":
            self.index += 1
            self._move_behind()
            self.last = self.index = self.count
        if self.index >= self.count:
            self.index = self.first if self.first != self.last else self.index
            return NO_MORE
        if not _is_no_option(self.arguments[self.index][1]):
            return None
        if self.in_order:
            return NO_MORE
        self.argument = self.arguments[self.index][0]
        self.index += 1
        return NOT_AN_OPTION

    def _move_behind(self) -> None:
        """Move the arguments that are no options behind those that have been read since."""
        if self.first == self.last:
            self.first = self.index
        elif self.last != self.index:
            before, after = self.arguments[self.first : self.last], self.arguments[self.last : self.index]
            self.arguments[self.first : self.index] = after + before
            self.first += self.index - self.last

    def _short(self) -> Value:
        """The option that is a letter."""
        pointer, text = self.arguments[self.index]
        letter = text[self.place]
        self.place += 1
        rest = self.call.moved(pointer, self.place) if self.place < len(text) else None
        if rest is None:
            self._go_on()
        at = self.options.find(letter)
        if at < 0 or letter in b":;":
            self.bad = letter
            return BAD
        if self.options[at + 1 : at + 2] != b":":
            return Known(letter)
        if rest is not None:
            self.argument = rest
            self._go_on()
        elif self.options[at + 2 : at + 3] != b":":
            return self._takes_next(Known(letter), letter)
        return Known(letter)

    def _go_on(self) -> None:
        """Go on with the argument behind this one."""
        self.index, self.place = self.index + 1, 0

    def _takes_next(self, result: Value, bad: int) -> Value:
        """The argument of an option is the next one; where there is none the option is ``bad``."""
        if self.index >= self.count:
            self.bad = bad
            return MISSING if self.options[:1] == b":" else BAD
        self.argument = self.arguments[self.index][0]
        self.index += 1
        return result

    def _long(self, text: bytes, must_be: bool) -> Value | None:
        """The option that is a word; None where there is none called so and letters are meant, unless it ``must_be``
        one."""
        name, is_set, _ = text.partition(b"=")
        options = list(self._long_options())
        exact = [each for each in options if each.name == name]
        begins = [each for each in options if each.name.startswith(name)]
        found = exact[:1] or (begins if len({each.does for each in begins}) == 1 else [])
        if not found and not begins and not must_be:
            return None
        pointer, whole = self.arguments[self.index]
        self._go_on()
        if not found:
            self.bad = 0
            return BAD
        option, given = found[0], self.call.pointer(4)
        result: Value = Known(option.value)
        if is_set and option.has_argument == NO_ARGUMENT:
            self.bad = option.value
            return BAD
        if is_set:
            self.argument = self.call.moved(pointer, whole.index(b"=") + 1)
        elif option.has_argument == REQUIRED:
            result = self._takes_next(result, option.value)
            if self.bad is not None:
                return result
        if given is not None:
            self.stores.append((given, Known(options.index(option)), INT))
        if option.flag is not None:
            self.stores.append((option.flag, result, INT))
            return NULL
        return result

    def _long_options(self) -> Iterator[LongOption]:
        call, base = self.call, self.call.pointer(3)
        if base is None:
            return
        for number in range(call.known(0) + (1 << 10)):
            at = call.moved(base, OPTION_SIZE * number)
            name, flag = call.load(at, STRING), call.load(call.moved(at, 16), Pointer(INT))
            if name == NULL:
                return
            text = string_at(call, name) if isinstance(name, Address) else None
            has_argument, value = (self._number(call.moved(at, place), INT) for place in (8, 24))
            if text is None:
                self._refuse()
            yield LongOption(text, has_argument, flag if isinstance(flag, Address) else None, value)


def _is_no_option(text: bytes) -> bool:
    return text[:1] != b"-" or len(text) == 1
