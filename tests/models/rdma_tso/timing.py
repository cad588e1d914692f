"""How long the declarative model takes: ``python -m tests.models.rdma_tso.timing`` prints processor time per test for
all published tests that RDMA-TSO takes, and for 10,000 random programs."""

from __future__ import annotations

from pathlib import Path
from random import Random
from statistics import median
from time import process_time

from pgasrob.models.litmus.litmus_parser import parse_file
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.rdma_tso.declarative import Declarative
from tests.models.strategies import random_program

PROGRAMS = Path(__file__).parents[3] / "programs" / "litmus"


def milliseconds(program: Program, pcie: bool = True) -> float:
    before = process_time()
    Declarative(pcie=pcie).outcomes(program)
    return (process_time() - before) * 1000


def main() -> None:
    files = {str(path.relative_to(PROGRAMS)): parse_file(path).program for path in PROGRAMS.rglob("*.litmus")}
    published = {name: program for name, program in files.items() if not RdmaTso().refusals(program)}
    for pcie in (True, False):
        times = {milliseconds(program, pcie): name for name, program in published.items()}
        slowest = ", ".join(f"{times[time]} {time:.1f}" for time in sorted(times)[:-4:-1])
        print(f"{len(published)} published tests, pcie {pcie}: median {median(times):.2f} ms; slowest: {slowest}")
    random = Random(7)
    each = [milliseconds(random_program(random, "rdma-tso", statements=6)) for _ in range(10_000)]
    print(f"10,000 random tests: {sum(each) / 1000:.1f} s, median {median(each):.2f} ms, slowest {max(each):.1f} ms")


if __name__ == "__main__":
    main()
