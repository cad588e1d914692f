"""The three semantics of RDMA-TSO on many programs, with and without PCIe: what is counted, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pgasrob.models.litmus.instructions import Get, Put
from pgasrob.models.litmus.litmus_printer import in_one_line
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.rdma_tso import Atomics, RdmaTso, Semantics
from pgasrob.models.sc import Sc

SEMANTICS: tuple[Semantics, ...] = ("concrete", "simplified", "declarative")
ATOMICS: tuple[Atomics, ...] = ("hca", "glob")


@dataclass
class Figures:
    """``programs`` that were looked at, each once; ``remote``: those with a put or get; ``weak``: those with an outcome
    that SC has not, a put or get being one step, and ``outcomes`` how many such there are with PCIe; ``pcie``: programs
    for which the guarantee of PCIe makes a difference; ``disagreements``: programs on which two semantics differ."""

    programs: int = 0
    remote: int = 0
    weak: int = 0
    outcomes: int = 0
    pcie: int = 0
    disagreements: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set, repr=False)

    def counts(self) -> tuple[int, int, int, int, int, int]:
        return self.programs, self.remote, self.weak, self.outcomes, self.pcie, len(self.disagreements)


def outcomes(
    program: Program, semantics: Semantics, pcie: bool = True, placed: bool = False, atomics: Atomics = "hca"
) -> frozenset[Outcome]:
    found = RdmaTso(semantics, pcie, placed, atomics=atomics).outcomes(program)
    assert found.reason is None
    return frozenset(found.found)


def compare(programs: Iterable[Program], figures: Figures, semantics: Iterable[Semantics] = SEMANTICS) -> Figures:
    """Add ``programs`` to ``figures``; one that has been looked at is passed over."""
    for program in programs:
        text = in_one_line(program)
        if text in figures.seen:
            continue
        figures.seen.add(text)
        figures.programs += 1
        figures.remote += any(
            isinstance(instruction, Put | Get)
            for thread in program.threads
            for edges in thread.graph.out
            for instruction, _ in edges
        )
        by_pcie = []
        for pcie in (True, False):
            found = {each: outcomes(program, each, pcie) for each in semantics}
            if len(set(found.values())) > 1:
                figures.disagreements.append(f"{text} (pcie {pcie}): {found}")
            by_pcie.append(next(iter(found.values())))
        with_pcie, without = by_pcie
        figures.pcie += with_pcie != without
        strange = with_pcie - Sc().outcomes(program).found.keys()
        figures.weak += bool(strange)
        figures.outcomes += len(strange)
    return figures


@dataclass
class AtomicFigures:
    """``programs`` with remote atomics; ``weak``: those with an outcome that SC has not; ``torn``: those with one that
    they have not when remote atomics are atomic against everything, and ``outcomes`` how many such there are;
    ``locked``: those with an outcome more when the lock of the adapter is taken out; ``disagreements``: programs on
    which two semantics differ."""

    programs: int = 0
    weak: int = 0
    torn: int = 0
    outcomes: int = 0
    locked: int = 0
    disagreements: list[str] = field(default_factory=list)

    def counts(self) -> tuple[int, int, int, int, int, int]:
        return self.programs, self.weak, self.torn, self.outcomes, self.locked, len(self.disagreements)


def compare_atomics(programs: Iterable[Program], figures: AtomicFigures) -> AtomicFigures:
    """Add ``programs`` to ``figures``: with and without PCIe, IBV_ATOMIC_HCA and IBV_ATOMIC_GLOB."""
    for program in programs:
        figures.programs += 1
        variants: dict[tuple[bool, Atomics], frozenset[Outcome]] = {}
        for pcie in (True, False):
            for atomics in ATOMICS:
                found = {each: outcomes(program, each, pcie, atomics=atomics) for each in SEMANTICS}
                if len(set(found.values())) > 1:
                    figures.disagreements.append(f"{in_one_line(program)} (pcie {pcie}, {atomics}): {found}")
                variants[pcie, atomics] = found["declarative"]
        stock = variants[True, "hca"]
        torn = stock - variants[True, "glob"]
        figures.torn += bool(torn)
        figures.outcomes += len(torn)
        figures.weak += not stock <= Sc().outcomes(program).found.keys()
        figures.locked += len(RdmaTso(without=["ob.lock"]).outcomes(program).found) > len(stock)
    return figures
