"""Several C files as one program: as a linker does, by the names of functions and variables.

To the file with `main` come those that define what it needs, and what these need in turn, and no others: a file that
nobody needs does nothing. Of a further file, functions count that the program can come to; what others need, and what
is wrong in them, does not matter. What is `static` belongs to its file; where another file has such a name too, or
one has it for all, its name gets that of its file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from pgasrob.diagnostics import MAX_ERRORS, Diagnostic, SourceError, visible
from pgasrob.frontends.c.code import MAIN, Call, CompiledFunction, Global, Instruction, Need, Object, Set, Unit
from pgasrob.frontends.c.layout import alike, shown
from pgasrob.frontends.c.types import VOID, Array, CType, Function, Pointer, Struct
from pgasrob.frontends.c.values import Address, Code, ObjectId, Value
from pgasrob.program.statements import NOWHERE, place_of
from pgasrob.stop_points import stop_point

NOTHING: Mapping[str, SourceError] = {}
Place = tuple[int, str]
"""The number of a unit, and the name of a function or variable that is used there."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A further C file: its text, and what it is built for as far as that is known."""

    file: str
    text: str
    targets: frozenset[str]


class Linker:
    """Finds the units that ``first`` needs among ``candidates``; ``compile`` gives the code of one."""

    def __init__(
        self,
        first: Unit,
        targets: frozenset[str],
        candidates: Sequence[Candidate],
        compile: Callable[[Candidate], Unit],
    ) -> None:
        self._first, self._targets, self._candidates, self._compile = first, targets, candidates, compile
        self._compiled: dict[str, Unit | SourceError] = {}
        self.units = [first]

    def linked(self) -> Unit:
        """The whole program. Raises `SourceError` when a variable is defined nowhere, or something twice."""
        missing: dict[str, SourceError] = {}
        variables: list[SourceError] = []
        while (found := self._next(missing)) is not None:
            stop_point()
            name, need = found
            providers = self._providers(name, self._mentioning(name)) or self._providers(name, self._candidates)
            if providers:
                self.units.append(self._chosen(name, need, providers))
            else:
                missing[name] = self._reason(name, need)
                if not isinstance(need.type, Function):
                    variables.append(missing[name])
        if variables:
            raise _together(variables)
        if len(self.units) == 1:
            return replace(self.units[0], broken=self.units[0].broken | missing)
        reached = self._reached()
        return merged([self.units[0], *(_left(unit, k, reached) for k, unit in enumerate(self.units) if k)], missing)

    def _next(self, missing: Mapping[str, object]) -> tuple[str, Need] | None:
        """A name that some unit needs and none defines."""
        needs = ((name, self.units[number].needs.get(name)) for number, name in self._reached() if name not in missing)
        found = ((name, need) for name, need in needs if need is not None)
        return next((each for each in found if not any(defines(unit, each[0]) for unit in self.units)), None)

    def _reached(self) -> Mapping[Place, None]:
        """The functions and variables that are used: `main` and the variables of the first unit, variables for all
        files, and what these use in turn."""
        first, *others = self.units
        found = dict.fromkeys((0, name) for name in (MAIN, *first.objects))
        for number, unit in enumerate(others, start=1):
            found |= dict.fromkeys((number, name) for name in unit.objects if defines(unit, name))
        todo = list(found)
        for number, name in todo:
            unit = self.units[number]
            used = [(number, each) for each in _used(unit, name)]
            if name in unit.needs:
                used = [(k, name) for k, each in enumerate(self.units) if defines(each, name)]
            todo += [each for each in used if each not in found]
            found |= dict.fromkeys(used)
        return found

    def _mentioning(self, name: str) -> list[Candidate]:
        word = re.compile(rf"\b{name}\b")
        return [each for each in self._candidates if word.search(each.text)]

    def _providers(self, name: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        found = ((each, self._unit(each)) for each in candidates)
        return [
            each for each, unit in found if isinstance(unit, Unit) and defines(unit, name) and not defines(unit, MAIN)
        ]

    def _unit(self, candidate: Candidate) -> Unit | SourceError:
        if candidate.file not in self._compiled:
            try:
                self._compiled[candidate.file] = self._compile(candidate)
            except SourceError as error:
                self._compiled[candidate.file] = error
        return self._compiled[candidate.file]

    def _chosen(self, name: str, need: Need, providers: Sequence[Candidate]) -> Unit:
        """The one of several that is built for the same target, or lies in the same folder."""
        folder = os.path.dirname(self._first.file)
        same_target = [each for each in providers if not each.targets.isdisjoint(self._targets)]
        same_folder = [each for each in providers if os.path.dirname(each.file) == folder]
        best = next(each for each in (same_target, same_folder, providers) if each)
        if len(best) > 1:
            files = " and ".join(visible(each.file) for each in best)
            place = need.missing.diagnostics[0]
            message = f"`{name}` is defined in {files}, and it is not known which is meant"
            raise SourceError([replace(place, code="PG127", message=message, hint="name only one of these files")])
        unit = self._unit(best[0])
        assert isinstance(unit, Unit)
        return unit

    def _reason(self, name: str, need: Need) -> SourceError:
        """Why nothing defines ``name``: a file that may do so has errors, or there is none."""
        for candidate in self._mentioning(name):
            if re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*{{", candidate.text):
                unit = self._unit(candidate)
                if isinstance(unit, SourceError):
                    return unit
                if defines(unit, MAIN) and defines(unit, name):
                    hint = f"{visible(candidate.file)} defines it, but also `main`: another file must do so"
                    return SourceError([replace(each, hint=hint) for each in need.missing.diagnostics])
        return need.missing


def defines(unit: Unit, name: str) -> bool:
    """Whether ``unit`` defines ``name`` for all files."""
    return name not in unit.statics and (name in unit.functions or name in unit.objects or name in unit.broken)


def _used(unit: Unit, name: str) -> Iterator[str]:
    """The names that the function or variable ``name`` of ``unit`` names."""
    values = [value for _, value, _ in unit.objects[name].initial] if name in unit.objects else []
    for instruction in unit.functions[name].code if name in unit.functions else ():
        match instruction:
            case Call(function=str() as used) | Global(name=used):
                yield used
            case Set():
                values.append(instruction.value)
    for value in values:
        match value:
            case Code(used) | Address(ObjectId("global", (str() as used,))):
                yield used


def errors_of(unit: Unit) -> SourceError:
    """What is wrong in functions that `main` may call, or functions that these call."""
    found = dict.fromkeys((MAIN, *unit.objects))
    todo = list(found)
    for name in todo:
        todo += [each for each in _used(unit, name) if each not in found]
        found |= dict.fromkeys(todo)
    names = [name for name in found if name in unit.broken] or [*unit.broken]
    return _together(unit.broken[name] for name in names)


def _together(errors: Iterable[SourceError]) -> SourceError:
    return SourceError(list(dict.fromkeys(each for error in errors for each in error.diagnostics))[:MAX_ERRORS])


def _left(unit: Unit, number: int, reached: Mapping[Place, None]) -> Unit:
    """``unit`` without what is not ``reached``; what APIs have written in C stays."""
    functions = {
        name: each
        for name, each in unit.functions.items()
        if (number, name) in reached or all(span == NOWHERE for span in each.spans)
    }
    objects = {name: each for name, each in unit.objects.items() if (number, name) in reached}
    needs = {name: each for name, each in unit.needs.items() if (number, name) in reached}
    broken = {name: each for name, each in unit.broken.items() if (number, name) in reached}
    return replace(unit, functions=functions, objects=objects, needs=needs, broken=broken)


def merged(units: Sequence[Unit], missing: Mapping[str, SourceError] = NOTHING) -> Unit:
    """All ``units`` as one, which has the file and text of the first. ``missing``: the functions that none defines."""
    first = units[0]
    whole = Unit(first.file, first.text, (), (), first.macros)
    _check_types(units)
    shared = {name for unit in units for name in (*unit.functions, *unit.objects) if defines(unit, name)}
    written: dict[str, CompiledFunction] = {}
    for unit in units:
        for name, function in unit.functions.items():
            if defines(unit, name) and written.setdefault(name, function).code != function.code:
                raise _twice(name, written[name].spans[-1].line, function.spans[-1].line, whole, unit)
        _add(whole, _Renaming(unit, {*shared, *whole.functions, *whole.objects, *whole.broken, *missing}).unit)
    whole.broken |= missing
    whole.headers = tuple(dict.fromkeys(header for unit in units for header in unit.headers))
    whole.unread = tuple(dict.fromkeys(each for unit in units for each in unit.unread))
    whole.units = tuple(unit.file for unit in units[1:])
    for unit in units:
        whole.texts |= unit.texts if unit is first else {unit.file: unit.text, **unit.texts}
    whole.tokens = tuple(token for unit in units for token in unit.tokens)
    return whole


def _add(whole: Unit, unit: Unit) -> None:
    whole.broken |= unit.broken
    for name, function in unit.functions.items():
        before = whole.functions.get(name)
        # An inline function of a header is in every file that includes it.
        if before is not None and before.spans[-1] != function.spans[-1]:
            raise _twice(name, before.spans[-1].line, function.spans[-1].line, whole, unit)
        whole.functions[name] = function
    for name, object in unit.objects.items():
        known = whole.objects.get(name)
        if known is not None and known.initial and object.initial and object.span != NOWHERE:
            raise _twice(name, known.span.line, object.span.line, whole, unit)
        if known is not None and not alike(known.type, object.type):
            raise _twice(name, known.span.line, object.span.line, whole, unit, object.type, known.type)
        if known is None or object.initial or (isinstance(known.type, Array) and known.type.length is None):
            whole.objects[name] = object


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with a number where another file of that name has it."""
    return next(each for number in count(1) if (each := name if number == 1 else f"{name}{number}") not in taken)


def _twice(
    name: str, one: int, other: int, whole: Unit, unit: Unit, type: CType = VOID, before: CType = VOID
) -> SourceError:
    """That ``name`` is defined in line ``one`` and in line ``other`` of ``unit``, where it has another ``type`` than
    ``before`` or would be there twice."""
    first, number = place_of(one)
    second, line = place_of(other)
    types = f", as `{shown(type)}` and not `{shown(before)}`" if type != before else ""
    message = f"`{name}` is defined in {visible(first or whole.file)}:{number} and again here{types}"
    if (first, number) == (second, line):
        message = f"`{name}` is a different function in each file that includes this, because macros differ"
    lines = unit.text.split("\n") if second == unit.file else unit.texts.get(second, unit.text).split("\n")
    excerpt = lines[line - 1] if 0 < line <= len(lines) else ""
    hint = "make one of them `static`, or leave one of the files out"
    if types:
        hint = "give both the same type, or make one of them `static`"
    return SourceError([Diagnostic("PG127", message, second or unit.file, line, 1, len(excerpt), excerpt, hint)])


def _check_types(units: Sequence[Unit]) -> None:
    """What a file declares is what another one defines."""
    for unit in units:
        for name, need in unit.needs.items():
            other = next((each for each in units if defines(each, name)), None)
            if other is None or name in other.broken:
                continue
            function = other.functions.get(name)
            if (function is None) == isinstance(need.type, Function):
                raise _differs(name, need, "a function" if function else "a variable", other)
            if function is not None and isinstance(need.type, Function):
                _check_function(name, need, need.type, function, other)
            elif function is None and not alike(need.type, other.objects[name].type):
                type = shown(other.objects[name].type)
                inside = " with other members" if type == shown(need.type) else ""
                raise _differs(name, need, f"`{type}`{inside} as its type", other)


def _check_function(name: str, need: Need, declared: Function, function: CompiledFunction, other: Unit) -> None:
    slots, result = function.parameters, declared.result
    if isinstance(result, Struct):  # it goes to where a first parameter, which is not written, points to
        slots, result = slots[1:], VOID
    if not alike(result, function.result):
        raise _differs(name, need, f"`{shown(function.result)}` as the type of its result", other)
    if declared.variadic:
        return
    if len(declared.parameters) != len(slots):
        raise _differs(name, need, f"{len(slots)} parameters, not {len(declared.parameters)}", other)
    for number, (one, slot) in enumerate(zip(declared.parameters, slots, strict=True), start=1):
        two = function.slots[slot].type
        if not alike(Pointer(one) if isinstance(one, Struct) else one, two):
            raise _differs(name, need, f"`{shown(two)}` as the type of parameter {number}, not `{shown(one)}`", other)


def _differs(name: str, need: Need, what: str, other: Unit) -> SourceError:
    place = need.missing.diagnostics[0]
    message = f"`{name}` is declared here differently from its definition: {visible(other.file)} has {what}"
    return SourceError([replace(place, code="PG127", message=message, hint="declare it in a header that both include")])


class _Renaming:
    """``unit`` with its statics under names that are not ``taken``."""

    def __init__(self, unit: Unit, taken: set[str]) -> None:
        own = [name for name in (*unit.functions, *unit.objects, *unit.broken) if not defines(unit, name)]
        from_file = os.path.splitext(os.path.basename(unit.file))[0]
        self._names = {name: _free(f"{name}@{from_file}", taken) for name in own if name in taken}
        inner = {name: name.partition(".")[0] for name in unit.objects if "." in name}
        for name, function in inner.items():
            if function in self._names:
                self._names[name] = f"{self._names[function]}.{name.partition('.')[2]}"
        self.unit = unit
        if self._names:
            functions = {self._of(name): self._function(each) for name, each in unit.functions.items()}
            objects = {self._of(name): self._object(each) for name, each in unit.objects.items()}
            broken = {self._of(name): each for name, each in unit.broken.items()}
            self.unit = replace(unit, functions=functions, objects=objects, broken=broken)

    def _of(self, name: str) -> str:
        return self._names.get(name, name)

    def _value(self, value: Value) -> Value:
        match value:
            case Code(name):
                return Code(self._of(name))
            case Address(ObjectId("global", (str() as name,)), offset, owner, mapped):
                return Address(ObjectId("global", (self._of(name),)), offset, owner, mapped)
            case _:
                return value

    def _function(self, function: CompiledFunction) -> CompiledFunction:
        code = list(map(self._instruction, function.code))
        return replace(function, name=self._of(function.name), code=code)

    def _object(self, object: Object) -> Object:
        initial = tuple((offset, self._value(value), type) for offset, value, type in object.initial)
        return replace(object, name=self._of(object.name), initial=initial)

    def _instruction(self, instruction: Instruction) -> Instruction:
        match instruction:
            case Call(function=str() as name):
                return replace(instruction, function=self._of(name))
            case Set():
                return replace(instruction, value=self._value(instruction.value))
            case Global():
                return replace(instruction, name=self._of(instruction.name))
            case _:
                return instruction
