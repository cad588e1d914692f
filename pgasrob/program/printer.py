"""Prints a program as `.pgas` text (the design, section 3).

``parse(to_source(program))`` equals ``program`` up to spans and source, for every program of a `.pgas` text. A program
that comes from C gets names that can be read back, and a comment about what `.pgas` cannot express.
"""

from __future__ import annotations

from pgasrob.program.commands import show
from pgasrob.program.declarations import Declared, MemoryObject, Process
from pgasrob.program.expressions import render
from pgasrob.program.illegal_calls import Illegal, IllegalCall
from pgasrob.program.spelled import in_32_bits, not_said, spelled
from pgasrob.program.statements import (
    Block,
    Choose,
    Do,
    Goto,
    If,
    Labelled,
    Loop,
    Skip,
    Statement,
    While,
    statements_in,
)
from pgasrob.program.structure import structured

INDENT = "  "
WIDTH = 100


def to_source(program: Declared) -> str:
    """``program`` as text: its headers, then its processes, each after an empty line."""
    writer = _Writer()
    if not program.source.shows_commands:
        writer.lines += _remarks(program)
        program = spelled(program)
    if program.name:
        writer.line(f"program {program.name};")
    if program.nodes is not None:
        writer.line(f"nodes {program.nodes};")
    writer.declare("memory", [_cell(memory) for memory in program.memory])
    writer.declare("register", list(program.registers))
    writer.declare("queue", [queue.name + " unordered" * queue.unordered for queue in program.queues])
    for process in program.processes:
        if writer.lines:
            writer.lines.append("")
        writer.process(process)
    return "\n".join(writer.lines) + "\n"


def _remarks(program: Declared) -> list[str]:
    """Comments about what the text does not express of a program that comes from C."""
    remarks = [f"// Not all runs are here, so this is not `robust`: {gap}." for gap in program.gaps]
    remarks += [f"// An assert stands for a call that is not allowed: {call}." for call in _illegal_calls(program)]
    if missing := not_said(program):
        return [*remarks, f"// Not to be read back: .pgas has no {', no '.join(missing)}."]
    if in_32_bits(program):
        remarks.append("// In C some of this is computed in other types than `int`, the only one that .pgas has.")
    return remarks


def _illegal_calls(program: Declared) -> list[IllegalCall]:
    statements = (each for process in program.processes for each in statements_in(process.body))
    commands = (each.command for each in statements if isinstance(each, Do))
    return list(dict.fromkeys(command.fact for command in commands if isinstance(command, Illegal)))


def _cell(memory: MemoryObject) -> str:
    """A memory object with its initial values, up to the last that is not zero."""
    end = " made_up" if memory.made_up else ""
    used = max((place for place, value in enumerate(memory.initial, 1) if value), default=0)
    values = ", ".join(map(str, memory.initial[:used]))
    if memory.size is None:
        return (f"{memory.name} = {values}" if used else memory.name) + end
    array = f"{memory.name}[{memory.size}]"
    return (f"{array} = {{{values}}}" if used else array) + end


class _Writer:
    """The lines of a text, and how far the next one is indented."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = ""

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def declare(self, keyword: str, items: list[str]) -> None:
        """One declaration of all ``items``, broken at blanks into lines of at most WIDTH columns."""
        if not items:
            return
        line = keyword
        for word in f"{', '.join(items)};".split(" "):
            if len(line) + 1 + len(word) > WIDTH:
                self.line(line)
                line = INDENT + INDENT + word
            else:
                line += f" {word}"
        self.line(line)

    def process(self, process: Process) -> None:
        ranks = "" if process.ranks is None else " " + ", ".join(map(str, process.ranks))
        thread = f" thread {process.thread}" if process.thread else ""
        self.block(f"process{ranks}{thread} {{", structured(process.body))
        self.line("}")

    def block(self, head: str, block: Block) -> None:
        """``head``, which opens the block, and its statements; what closes it is left to the caller."""
        self.line(head)
        outside = self.indent
        self.indent += INDENT
        for statement in block.statements:
            self.statement(statement)
        self.indent = outside

    def statement(self, statement: Statement, before: str = "") -> None:
        """``statement``, with ``before`` in front of it on its first line."""
        match statement:
            case Do(command):
                self.line(f"{before}{show(command)};")
            case Skip():
                self.line(f"{before}skip;")
            case Goto(label):
                self.line(f"{before}goto {label};")
            case Labelled(label, inner):
                self.statement(inner, f"{before}{label}: ")
            case If(condition, then, otherwise):
                self.block(f"{before}if ({render(condition)}) {{", then)
                self.otherwise(otherwise)
            case While(condition, body):
                self.block(f"{before}while ({render(condition)}) {{", body)
                self.line("}")
            case Choose(branches):
                for number, branch in enumerate(branches):
                    self.block("} or {" if number else f"{before}choose {{", branch)
                self.line("}")
            case Loop(body):
                self.block(f"{before}loop {{", body)
                self.line("}")

    def otherwise(self, otherwise: Block | None) -> None:
        """The end of an `if`; an else block that holds one `if` and nothing else becomes an `else if`."""
        match otherwise:
            case None:
                self.line("}")
            case Block((If() as chained,)):
                self.statement(chained, "} else ")
            case Block():
                self.block("} else {", otherwise)
                self.line("}")
