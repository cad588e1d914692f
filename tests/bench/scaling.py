"""How long a whole decision takes at growing sizes, and against SPIN at the largest size that it finishes."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from tests.bench import pan
from tests.bench.families import Scaled
from tests.bench.measure import (
    LONG,
    ROOT,
    AgainstSpin,
    Budget,
    Decided,
    Measurement,
    ScalingRecord,
    check,
    failed,
    machine,
    median,
    spin,
    told,
)
from tests.bench.processes import run

SECONDS = 60.0


def exponent(smaller: tuple[int, float], larger: tuple[int, float]) -> float | None:
    """k when time grows with the kth power from one size to the next; each is (nodes, seconds)."""
    (few, short), (many, long) = smaller, larger
    return math.log(long / short) / math.log(many / few) if short > 0 and long > 0 else None


class Scaling:
    """Measures families, one after the other, each run by itself."""

    def __init__(
        self, budget: Budget, folder: Path, say: Callable[[str], None], sizes: tuple[int, ...] | None = None
    ) -> None:
        self.budget = budget
        self.folder = folder
        self.say = say
        self.sizes = sizes

    def family(self, family: Scaled) -> ScalingRecord:
        before = os.getloadavg()[0]
        record = ScalingRecord(family.idiom, measured=date.today().isoformat(), machine=machine())
        for nodes in self.sizes or family.sizes:
            record.sizes[nodes] = found = self._decided(family, nodes)
            if not found.command.done:
                break
        record.against_spin = self._against_spin(family)
        record.load = (before, os.getloadavg()[0])
        return record

    def _against_spin(self, family: Scaled) -> AgainstSpin:
        """Size after size until SPIN does not finish; SPIN and ours in turns at the last one at which it does."""
        found = AgainstSpin()
        last: Path | None = None
        for nodes in family.spin:
            try:
                started = time.perf_counter()
                checker = self._pan(family, nodes)
                built = time.perf_counter() - started
                measured = spin(checker, self._seconds)
            except pan.NoSpin as problem:
                found.reason = f"on {nodes} ranks {problem}"
                break
            self.say(
                f"{family.name} {nodes}, SPIN: {measured.states:,} states, {measured.wall:.2f} s, {measured.ended}"
            )
            if not measured.done:
                found.reason = (
                    f"on {nodes} ranks it is stopped ({measured.ended}) after {measured.states:,} states"
                    f" and {measured.wall:.0f} s"
                )
                break
            found.nodes, found.spin, found.built, last = nodes, measured, built, checker
        if found.nodes is None or found.spin is None or last is None:
            return found
        runs, ours = [found.spin], []
        for repeat in range(self.budget.repeats):
            ours.append(self._once(family, found.nodes))
            if repeat and runs[0].wall <= LONG:
                runs.append(spin(last, self._seconds))
        found.spin, found.ours = median(runs), _middle(ours)
        return found

    @property
    def _seconds(self) -> float:
        """What a run is given, by us and by SPIN."""
        return min(SECONDS, 12 * self.budget.growth_seconds)

    def _decided(self, family: Scaled, nodes: int) -> Decided:
        """Several runs, but one of what was stopped or took long."""
        runs = [self._once(family, nodes)]
        while len(runs) < self.budget.repeats and runs[0].command.done and runs[0].command.wall <= LONG:
            runs.append(self._once(family, nodes))
        return _middle(runs)

    def _once(self, family: Scaled, nodes: int) -> Decided:
        program, seconds, memory = self._file(family, nodes), self._seconds, self.budget.memory
        command = check(program, nodes, "portfolio", seconds, memory)
        worker = [sys.executable, "-m", "tests.bench.worker", str(program), str(nodes), "--portfolio"]
        process = run([*worker, "--time-limit", str(seconds)], seconds + 5, memory, ROOT)
        answer: dict[str, Any] | None = told(process)
        if answer is None:
            found = Decided(command, failed(process))
        else:
            search = Measurement(
                answer["ended"], process.wall, process.cpu, process.rss, answer["seconds"], answer["states"]
            )
            found = Decided(command, search, answer["prepared"], answer["settled_by"])
        shown = f"{found.search.seconds or 0:.3f} s of search, {command.wall:.2f} s of command"
        self.say(f"{family.name} {nodes}: {shown}, {command.ended} by {found.settled_by}")
        return found

    def _file(self, family: Scaled, nodes: int) -> Path:
        file = self.folder / f"{family.name}_{nodes}.pgas"
        if not file.exists():
            file.write_text(family.program(nodes), encoding="utf-8")
        return file

    def _pan(self, family: Scaled, nodes: int) -> Path:
        folder = self.folder / f"{family.name}_{nodes}.spin"
        folder.mkdir(exist_ok=True)
        return pan.build(self._file(family, nodes), nodes, folder, self.budget.memory)


def _middle(runs: list[Decided]) -> Decided:
    prepared = sorted(each.prepared for each in runs if each.prepared is not None)
    return Decided(
        median([each.command for each in runs]),
        median([each.search for each in runs]),
        prepared[(len(prepared) - 1) // 2] if prepared else None,
        runs[0].settled_by,
    )
