"""C programs without any API, run by gcc and by the machine.

They read numbers with `input(k)` and write them with `emit(v)` and `emit_double(v)`. The machine lowers them twice:
with the inputs known, so that everything folds, and with inputs that lie in memory, so that everything is left to the
program; that one is then executed command by command.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from pgasrob.frontends.apis.interface import Api, Call, Outcome
from pgasrob.frontends.apis.registry import Registry, api_of
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.compiler import compile_unit
from pgasrob.frontends.c.driver import lower
from pgasrob.frontends.c.library import LIBRARY
from pgasrob.frontends.c.values import Address, Known, ObjectId, Unknown
from pgasrob.program.commands import Load, Store
from pgasrob.program.core import Access, Immediate, Update
from pgasrob.program.expressions import Fault
from pgasrob.program.program import Program
from pgasrob.semantics.effect import execute

PROLOGUE = """
#include <stdio.h>
#include <stdlib.h>
long input(int k);
void emit(long v);
void emit_double(double v);
"""
FOR_GCC = """
#include <stdio.h>
#include <stdlib.h>
static long inputs[] = {%s};
long input(int k) { return inputs[k]; }
void emit(long v) { printf("%%ld\\n", v); }
void emit_double(double v) { union { double d; long l; } u; u.d = v; printf("%%ld\\n", u.l); }
"""
MOST_COMMANDS = 200_000


def by_gcc(text: str, inputs: list[int], folder: Path) -> list[int]:
    """What the program emits when gcc compiles it."""
    folder.joinpath("program.c").write_text(FOR_GCC % ", ".join(f"{value}L" for value in inputs) + text)
    command = ["gcc", "-std=gnu11", "-w", "-fwrapv", "-O0", "program.c", "-o", "program", "-lm"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    done = subprocess.run(["./program"], cwd=folder, check=False, capture_output=True, text=True, timeout=10)
    return [int(line) for line in done.stdout.split()]


def _api(inputs: list[int] | None, emitted: list[int] | None) -> Api:
    def read(call: Call) -> Outcome:
        index = call.known(0)
        if inputs is not None:
            return Outcome(result=Known(inputs[index]))
        register = call.register("input")
        cell = call.cell(Address(ObjectId("internal input", ()), index * 8), 8)
        return Outcome(call.do(Load(register, cell)), Unknown(register))

    def emit(call: Call) -> Outcome:
        if emitted is not None:
            value = call.arguments[0]
            assert isinstance(value, Known), value
            emitted.append(value.value)
            return Outcome()
        cell = call.cell(call.internal("output", name="output"), 8)
        return Outcome(call.do(Store(cell, call.expression(0))))

    declarations = {
        "input": "long input(int k);", "emit": "void emit(long v);", "emit_double": "void emit_double(double v);",
    }  # fmt: skip
    handlers = {"input": read, "emit": emit, "emit_double": emit}
    return Api("test", (), {}, {}, lambda name, types: declarations.get(name), handlers.get)


def _lowered(text: str, api: Api, inputs: list[int] | None = None) -> Program:
    registry = Registry(api_of, lambda: (api, LIBRARY))
    unit = compile_unit("program.c", PROLOGUE + text, registry)
    if inputs is None:
        return lower(Compiled(unit, (api, LIBRARY), "program"), 1)
    original = api.handler("input")
    assert original is not None

    def read(call: Call) -> Outcome:
        call.internal("input", bytes=8 * max(2, len(inputs)), name="input")
        outcome = original(call)
        assert isinstance(outcome, Outcome)
        return outcome

    changed = replace(api, handler=lambda name: read if name == "input" else api.handler(name))
    program = lower(Compiled(unit, (changed, LIBRARY), "program"), 1)
    memory = tuple(_with_inputs(each.name, each, inputs) for each in program.memory)
    return replace(program, memory=memory)


def _with_inputs(name: str, memory: object, inputs: list[int]) -> object:
    if name == "input":  # all of them are used
        return replace(memory, initial=tuple(inputs[: len(memory.initial)]))  # type: ignore[type-var, attr-defined]
    if name.startswith("input["):
        return replace(memory, initial=(inputs[int(name[6:-1])],))  # type: ignore[type-var]
    return memory


def folded(text: str, inputs: list[int]) -> list[int]:
    """What the machine finds that the program emits when it knows the inputs."""
    emitted: list[int] = []
    _lowered(text, _api(inputs, emitted))
    return emitted


def executed(text: str, inputs: list[int]) -> list[int]:
    """What the lowered program emits that loads its inputs."""
    program = _lowered(text, _api(None, None), inputs)
    instance = program.instantiate(1)
    output = next((each.address for each in program.memory if each.name == "output"), None)
    control, registers, memory = 0, instance.registers, instance.memory
    emitted = []
    for _ in range(MOST_COMMANDS):
        for transition in instance.automata[0].out[control]:
            try:
                operands = instance.operands(0, transition, registers)
            except Fault:
                continue
            done = execute(operands, registers, memory)
            if done is not None:
                break
        else:
            return emitted
        control, (registers, memory) = transition.target, done
        match operands:
            case Immediate(Access(place), update=Update("set", value)) if place == output:
                emitted.append(value)
    raise AssertionError("the program does not end")
