"""Programs built, run and recorded for the tests, and their records as lines of text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pgasrob.runtime.record.records import (
    Access,
    Call,
    End,
    EndOfRegion,
    Group,
    Kind,
    Operation,
    Record,
    Region,
    Return,
    signed,
)
from pgasrob.runtime.record.trace_reader import Log, Trace

PROGRAMS = Path(__file__).parent / "programs"
ADDRESSES = {
    *("remote", "local", "address", "destination", "source", "result", "expected_at", "signal"),
}
"""The operands that are addresses."""
IDENTITIES = {"group", "parent", "window", "queue", "request"}
FRESH = 2
"""Identities from here on are numbered in the order in which a log names them: which rank drew which is chance."""


def pgasrob(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pgasrob", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def built(compiler: str, source: Path, into: Path, *options: str) -> Path:
    program = into / source.stem
    made = pgasrob("build", "--", compiler, "-O2", *options, source, "-o", program)
    assert made.returncode == 0, made.stderr
    return program


def traced(program: Path, ranks: int, *options: str, arguments: tuple[str, ...] = ()) -> tuple[Path, str, int]:
    """The trace, what was said, the exit code."""
    trace = program.with_suffix(".pgastrace")
    run = pgasrob("record", "-n", str(ranks), "-o", trace, *options, "--", program, *arguments)
    return trace, run.stderr, run.returncode


class Telling:
    """The records of one log as text."""

    def __init__(self, trace: Trace, log: Log) -> None:
        self.log, self.lines, self.appendix = log, trace.lines(), trace.appendix
        self.regions: dict[int, Region] = {}
        self.numbered: dict[int, int] = {}
        self.group_names: dict[int, str] = {}

    def line(self, record: Access | Call | Region) -> int:
        return self.lines.get(record.place, ("", 0, ""))[1]

    def identity(self, value: int) -> str:
        if value < FRESH or value >> 63:
            return str(value)
        return f"#{self.numbered.setdefault(value, len(self.numbered) + 1)}"

    def address(self, value: int) -> str:
        """By its symbol, else by the newest region, else "own": the stack."""
        module = self.log.modules.get(0)
        assert module is not None and self.appendix is not None
        for of, offset, size, name in self.appendix.symbols:
            if of == 0 and offset <= value - module.base < offset + size:
                inside = value - module.base - offset
                return f"{name}+{inside}" if inside else name
        for region in reversed(self.regions.values()):
            if region.kind in (1, 3, 5) and region.address <= value < region.address + region.bytes:
                return f"{ {1: 'heap', 3: 'window', 5: 'view'}[region.kind] }+{value - region.address}"
        return "own" if value >> 32 else str(value)

    def all(self) -> Iterator[str]:
        for record in self.log:
            text = self.one(record)
            if text:
                yield text

    def one(self, record: Record) -> str:
        match record:
            case Call():
                told = [self.operand(record.operation, *pair) for pair in record.named().items()]
                flags = f" flags={record.flags}" if record.flags else ""
                of = f" {record.type}" if record.type else ""
                return f"{self.line(record)}: {record.function}{of}{flags} {' '.join(told)}".rstrip()
            case Return():
                told = [self.result(record.operation, i, value) for i, value in enumerate(record.results)]
                return f"    -> {' '.join(told)}".rstrip()
            case Access():
                whole = record.value is None or record.bytes > 8
                value = "" if whole else f" = {signed(record.value or 0)}"
                update = f" update {record.update}" if record.update else ""
                flags = {0: "", 0x10: " volatile", 0x20: " atomic"}[record.flags]
                what = record.kind.name.lower()
                return (
                    f"{self.line(record)}: {what}{flags} {self.address(record.address)} {record.bytes}{value}{update}"
                )
            case Region():
                self.regions[record.region] = record
                where = "" if record.kind == 2 else f" {self.address(record.address)} {record.bytes}"
                rank = f" of {record.rank}" if record.kind in (4, 5) else ""
                identity = self.identity(record.identity) if record.kind in (3, 4, 5) else str(record.identity)
                return f"    region {record.region}: {record.kind}{where}{rank} identity={identity}"
            case EndOfRegion():
                self.regions.pop(record.region)
                return f"    end of region {record.region}"
            case Group():
                return f"    group {self.identity(record.group)} = {record.members}"
            case End():
                return "end"

    def operand(self, operation: Operation, name: str, value: int) -> str:
        rma = operation in (Operation.PUT, Operation.GET, Operation.ATOMIC, Operation.POINTER)
        if name == "remote" and rma and value < 4096:
            return f"{name}={value}"
        if name in ADDRESSES:
            return f"{name}={self.address(value) if value else 0}"
        return f"{name}={self.identity(value) if name in IDENTITIES else value}"

    def result(self, operation: Operation, position: int, value: int) -> str:
        addresses = {Operation.ALLOCATE: 0, Operation.POINTER: 0, Operation.WINDOW_CREATE: 1}
        if addresses.get(operation) == position:
            return "address" if value else "0"
        first = {Operation.WINDOW_CREATE: 0, Operation.COMMUNICATOR: 0, Operation.CONTEXT_CREATE: 1}
        if first.get(operation) == position or (operation is Operation.COMPLETE_REQUESTS and position % 4 == 0):
            return self.identity(value)
        return str(signed(value))


def told(path: Path, rank: int) -> list[str]:
    """The only log of a rank."""
    with Trace(path) as trace:
        (log,) = [log for log in trace.logs() if log.rank == rank]
        return list(Telling(trace, log).all())


__all__ = ["PROGRAMS", "Kind", "built", "pgasrob", "told", "traced"]
