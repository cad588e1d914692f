"""What is measured, in which order, and the record of it."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from pgasrob.robustness.limits import DEFAULT_SC_STATES
from tests.bench import pan
from tests.bench.families import FAMILIES, SCALED, Family
from tests.bench.processes import Process, run
from tests.bench.reading import Read
from tests.bench.repairs import RepairRecord, measure_repairs

ROOT = Path(__file__).parents[2]
DONE = ("robust", "not robust")
REPEATS = 3
LONG = 15.0
"""Seconds of a run after which it is not repeated."""
SPIN_LONG_ENOUGH = 2.0
"""Seconds that pan has to take at the size of the comparison."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run, or the medians of several (``repeats``).

    ``ended``: the verdict, or what stopped the search: "states", "time", "memory"; "failed" with ``reason``. ``wall``,
    ``cpu`` (seconds) and ``rss`` (bytes) are those of the whole process, ``seconds`` those of the search by its own
    account. ``stored`` are the bytes per stored state, ``vector`` those of SPIN's state vector.
    """

    ended: str
    wall: float
    cpu: float
    rss: int
    seconds: float | None = None
    states: int | None = None
    stored: float | None = None
    vector: int | None = None
    reason: str | None = None
    repeats: int = 1

    @property
    def done(self) -> bool:
        return self.ended in DONE


def median(runs: Sequence[Measurement]) -> Measurement:
    """The run in the middle, figure by figure; how it ended is the same in all, or that of the first that differs."""

    def middle(name: str) -> Any:
        values = [getattr(each, name) for each in runs]
        return None if None in values else statistics.median_low(values)

    ended = next((each for each in runs if not each.done), runs[0])
    figures = {name: middle(name) for name in ("wall", "cpu", "rss", "seconds", "states", "stored", "vector")}
    return Measurement(ended=ended.ended, reason=ended.reason, repeats=len(runs), **figures)


@dataclass(slots=True)
class Comparison:
    """A family at the size at which it is compared with SPIN; ``reason`` when it is not."""

    nodes: int | None = None
    reason: str | None = None
    spin: Measurement | None = None
    plain: Measurement | None = None
    reduced: Measurement | None = None
    command: Measurement | None = None
    """`pgasrob check`, the whole command."""


@dataclass(slots=True)
class Counterexample:
    """A variant that is not robust, at one size."""

    nodes: int
    command: Measurement
    spin: Measurement | None = None


@dataclass(slots=True)
class FamilyRecord:
    """All that is measured of a family. ``growth``: by search, by size."""

    idiom: str
    growth: dict[str, dict[int, Measurement]] = field(default_factory=dict)
    comparison: Comparison = field(default_factory=Comparison)
    command: dict[int, Measurement] = field(default_factory=dict)
    """`pgasrob check` at the sizes of the growth table."""
    counterexamples: list[Counterexample] = field(default_factory=list)
    measured: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision, or the medians of several.

    ``command``: the whole process of `pgasrob check`. ``search``: analyses, tables and search, from the instance to the
    answer, in a process of its own; ``prepared`` are its seconds before, from the text to the instance. ``settled_by``:
    the part of the portfolio that has decided.
    """

    command: Measurement
    search: Measurement
    prepared: float | None = None
    settled_by: str = ""


@dataclass(slots=True)
class AgainstSpin:
    """The largest size that SPIN finishes. ``built``: seconds of export, `spin -a` and the compiler; ``reason``: why
    there is none, or what stopped the next size."""

    nodes: int | None = None
    spin: Measurement | None = None
    built: float | None = None
    ours: Decided | None = None
    reason: str | None = None


@dataclass(slots=True)
class ScalingRecord:
    """All that is measured of a family, and on what. ``load``: waiting processes before and after, a minute's mean."""

    idiom: str
    sizes: dict[int, Decided] = field(default_factory=dict)
    against_spin: AgainstSpin = field(default_factory=AgainstSpin)
    measured: str = ""
    load: tuple[float, float] = (0.0, 0.0)
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Grown:
    """One size of a family: this pgasrob, another one if it is compared with it, and SPIN as far as it goes."""

    ours: Measurement
    base: Measurement | None = None
    spin: Measurement | None = None


@dataclass(slots=True)
class GrowthRecord:
    """All that is measured of a family of `tests/bench/families/`. ``without_spin``: why SPIN goes no further."""

    idiom: str
    sizes: dict[int, Grown] = field(default_factory=dict)
    without_spin: str | None = None
    base: str | None = None
    seconds: float = 0.0
    measured: str = ""
    machine: str = ""


@dataclass(slots=True)
class Record:
    """All that is measured, and on what."""

    machine: str = ""
    limits: str = ""
    families: dict[str, FamilyRecord] = field(default_factory=dict)
    scaling: dict[str, ScalingRecord] = field(default_factory=dict)
    repairs: dict[str, RepairRecord] = field(default_factory=dict)
    growth: dict[str, GrowthRecord] = field(default_factory=dict)
    reading: list[Read] = field(default_factory=list)


def save(record: Record, file: Path) -> None:
    file.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")


def load(file: Path) -> Record:
    """The record in ``file``, empty when there is none."""
    if not file.exists():
        return Record()
    raw = json.loads(file.read_text(encoding="utf-8"))
    families = {name: _family(family) for name, family in raw["families"].items()}
    scaling = {name: _scaling(family) for name, family in raw.get("scaling", {}).items()}
    repairs = {name: RepairRecord(**each) for name, each in raw.get("repairs", {}).items()}
    growth = {name: _grown(each) for name, each in raw.get("growth", {}).items()}
    costs = [{word: tuple(used) for word, used in each["costs"].items()} for each in raw.get("reading", [])]
    reading = [Read(**{**each, "costs": used}) for each, used in zip(raw.get("reading", []), costs, strict=True)]
    return Record(raw["machine"], raw["limits"], families, scaling, repairs, growth, reading)


def _measurement(raw: dict[str, Any] | None) -> Measurement | None:
    return None if raw is None else Measurement(**raw)


def _sizes(raw: dict[str, Any]) -> dict[int, Measurement]:
    return {int(nodes): Measurement(**each) for nodes, each in raw.items()}


def _family(raw: dict[str, Any]) -> FamilyRecord:
    compared = raw["comparison"]
    runs = {each.name: _measurement(compared[each.name]) for each in fields(Comparison)[2:]}
    return FamilyRecord(
        raw["idiom"],
        {search: _sizes(sizes) for search, sizes in raw["growth"].items()},
        Comparison(compared["nodes"], compared["reason"], **runs),
        _sizes(raw["command"]),
        [
            Counterexample(each["nodes"], Measurement(**each["command"]), _measurement(each["spin"]))
            for each in raw["counterexamples"]
        ],
        raw["measured"],
    )


def _scaling(raw: dict[str, Any]) -> ScalingRecord:
    def decided(raw: dict[str, Any]) -> Decided:
        return Decided(Measurement(**raw["command"]), Measurement(**raw["search"]), raw["prepared"], raw["settled_by"])

    spin = raw["against_spin"]
    return ScalingRecord(
        raw["idiom"],
        {int(nodes): decided(each) for nodes, each in raw["sizes"].items()},
        AgainstSpin(
            spin["nodes"],
            _measurement(spin["spin"]),
            spin["built"],
            None if spin["ours"] is None else decided(spin["ours"]),
            spin["reason"],
        ),
        raw["measured"],
        (raw["load"][0], raw["load"][1]),
        raw["machine"],
    )


def _grown(raw: dict[str, Any]) -> GrowthRecord:
    sizes = {
        int(nodes): Grown(**{name: _measurement(run) for name, run in each.items()})  # type: ignore[arg-type]
        for nodes, each in raw["sizes"].items()
    }
    return GrowthRecord(**{**raw, "sizes": sizes})


# Searches


PLAIN, ALL, PRODUCT = "none", "all", "product engine"


def known_reductions() -> tuple[str, ...]:
    """The names of the reductions of the attack search."""
    try:
        from pgasrob.robustness.reduction import REDUCTIONS
    except ImportError:
        return ()
    return tuple(REDUCTIONS)


def variants(reductions: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The searches of a growth table: without reductions, with one, with all but one, with all."""
    alone = {f"{name} alone": (name,) for name in reductions}
    without = {f"without {name}": tuple(other for other in reductions if other != name) for name in reductions}
    return {PLAIN: ()} | ({**alone, **without, ALL: tuple(reductions)} if reductions else {})


@dataclass(frozen=True, slots=True)
class Budget:
    """When a run is stopped; ``states`` are for the growth tables alone."""

    seconds: float = 40.0
    growth_seconds: float = 5.0
    states: int = 200_000
    memory: int = 12 << 30
    repeats: int = REPEATS

    def __str__(self) -> str:
        return (
            f"{self.seconds:g} s and {self.memory / 2**30:.0f} GiB a run; growth tables {self.states:,} states and"
            f" {self.growth_seconds:g} s; medians of {self.repeats} interleaved runs, but one run of what was stopped"
            f" or took over {LONG:g} s"
        )


def search(
    program: Path, nodes: int, reductions: Sequence[str], seconds: float, memory: int, states: int | None = None
) -> Measurement:
    """The attack search of :mod:`tests.bench.worker`."""
    limits = ["--time-limit", str(seconds), *(["--max-states", str(states)] if states else [])]
    chosen = ["--reductions", ",".join(reductions)]
    command = [sys.executable, "-m", "tests.bench.worker", str(program), str(nodes), *chosen, *limits]
    process = run(command, seconds + 5, memory, ROOT)
    answer = told(process)
    if answer is None:
        return failed(process)
    return _measurement_of(
        process,
        answer["ended"],
        seconds=answer["seconds"],
        states=answer["states"],
        stored=answer["stored"] / max(answer["states"], 1),
    )


def check(program: Path, nodes: int, engine: str, seconds: float, memory: int, folder: Path = ROOT) -> Measurement:
    """The command `pgasrob check` of the checkout in ``folder``, with whatever it does by default."""
    options = ["--engine", engine, "--format", "json", "--max-states", "0", "--timeout", str(seconds)]
    process = run(
        [sys.executable, "-m", "pgasrob", "check", str(program), "-n", str(nodes), *options],
        seconds + 5,
        memory,
        folder,
    )
    answer = told(process)
    if answer is None:
        return failed(process)
    ended = (
        answer["verdict"]
        if answer["verdict"] in DONE
        else "time"
        if process.late or "time limit" in str(answer["reason"])
        else "failed"
    )
    stats = answer["stats"]
    cut = "not all SC runs were looked at" if stats.get("settled_by") == "infeasibility" and _many(stats) else None
    return _measurement_of(
        process, ended, seconds=stats["seconds"], states=stats["states"], reason=answer["reason"] or cut
    )


def _many(stats: dict[str, Any]) -> bool:
    """Whether the search of SC runs may have been ended by its limit: then it says nothing of how states grow."""
    return int(stats["sc_states"]) >= DEFAULT_SC_STATES


def spin(checker: Path, seconds: float) -> Measurement:
    """A run of `pan`; raises :class:`~tests.bench.pan.NoSpin` when it does not give an account of itself."""
    process, account = pan.check(checker, seconds)
    ended = "not robust" if account.errors else "robust" if account.complete else "time" if process.late else "memory"
    return _measurement_of(
        process,
        ended,
        seconds=account.seconds,
        states=account.states,
        stored=account.stored,
        vector=account.vector,
    )


def told(process: Process) -> dict[str, Any] | None:
    """The line of JSON that a process printed, if it did."""
    with suppress(ValueError, IndexError):
        told = json.loads(process.output.splitlines()[-1])
        if isinstance(told, dict):
            return told
    return None


def _measurement_of(process: Process, ended: str, **figures: Any) -> Measurement:
    return Measurement(ended, process.wall, process.cpu, process.rss, **figures)


def failed(process: Process) -> Measurement:
    lines = process.errors.strip().splitlines()
    reason = lines[-1] if lines else f"exit code {process.code}"
    ended = "time" if process.late else "memory" if "MemoryError" in reason else "failed"
    return _measurement_of(process, ended, reason=reason)


# Families


class Bench:
    """Measures families, one after the other, each run by itself."""

    def __init__(
        self, budget: Budget, folder: Path, say: Callable[[str], None], sizes: tuple[int, ...] | None = None
    ) -> None:
        self.budget = budget
        self.folder = folder
        self.say = say
        self.sizes = sizes
        self.variants = variants(known_reductions())

    def family(self, family: Family) -> FamilyRecord:
        record = FamilyRecord(family.idiom, measured=date.today().isoformat())
        for name, reductions in self.variants.items():
            record.growth[name] = dict(
                self._growing(
                    family,
                    name,
                    lambda program, nodes, reductions=reductions: search(  # type: ignore[misc]
                        program, nodes, reductions, self.budget.growth_seconds, self.budget.memory, self.budget.states
                    ),
                )
            )
        memory = self.budget.memory
        for engine, sizes in (("product", record.growth.setdefault(PRODUCT, {})), ("attack", record.command)):
            sizes |= self._growing(
                family,
                f"pgasrob check --engine {engine}",
                lambda program, nodes, engine=engine: check(  # type: ignore[misc]
                    program, nodes, engine, self.budget.growth_seconds, memory
                ),
            )
        record.comparison = self.compare(family)
        record.counterexamples = list(self.counterexamples(family))
        return record

    def _growing(
        self, family: Family, name: str, measure: Callable[[Path, int], Measurement]
    ) -> Iterator[tuple[int, Measurement]]:
        """Measure at size after size, until one is not done."""
        for nodes in self.sizes or family.growth:
            measured = measure(self._file(family.name, family.program, nodes), nodes)
            self._tell(family.name, nodes, name, measured)
            yield nodes, measured
            if not measured.done:
                return

    def compare(self, family: Family) -> Comparison:
        """The smallest size at which SPIN takes long enough, and there all searches in turn, several times."""
        for nodes in range(family.spin_from, family.spin_to + 1):
            program = self._file(family.name, family.program, nodes)
            try:
                checker = self._pan(family.name, program, nodes)
                first = spin(checker, self.budget.seconds)
                self._tell(family.name, nodes, "SPIN", first)
                if first.ended == "not robust":
                    return Comparison(reason=f"SPIN finds an error on {nodes} ranks")
                if first.done and (first.seconds or 0) < SPIN_LONG_ENOUGH:
                    continue
                found = self._in_turn(family, nodes, program, checker, first)
            except pan.NoSpin as problem:
                return Comparison(reason=str(problem))
            if found.spin and (found.spin.seconds or 0) >= SPIN_LONG_ENOUGH:
                return found
        return Comparison(reason=f"SPIN takes less than {SPIN_LONG_ENOUGH:g} s up to {family.spin_to} ranks")

    def _in_turn(self, family: Family, nodes: int, program: Path, checker: Path, first: Measurement) -> Comparison:
        """SPIN, the search without and with reductions, and the command; ``first`` is a run of SPIN before."""
        seconds, memory = self.budget.seconds, self.budget.memory
        measures: dict[str, Callable[[], Measurement]] = {
            "SPIN": lambda: spin(checker, seconds),
            "no reductions": lambda: search(program, nodes, (), seconds, memory),
            "all reductions": lambda: search(program, nodes, self.variants.get(ALL, ()), seconds, memory),
            "command": lambda: check(program, nodes, "attack", seconds, memory),
        }
        runs: dict[str, list[Measurement]] = {name: [] for name in measures}
        if first.wall > LONG or not first.done:
            runs["SPIN"].append(first)
        for repeat in range(self.budget.repeats):
            for name, measure in measures.items():
                before = runs[name]
                if before and (repeat == 0 or before[0].wall > LONG or not before[0].done):
                    continue
                before.append(measure())
                self._tell(family.name, nodes, name, before[-1])
        return Comparison(nodes, None, *(median(runs[name]) for name in measures))

    def counterexamples(self, family: Family) -> Iterator[Counterexample]:
        """The command and SPIN on the variant that is not robust."""
        if family.broken is None:
            return
        for nodes in family.broken_at:
            program = self._file(f"{family.name}_broken", family.broken, nodes)
            checker: Path | None = None
            with suppress(pan.NoSpin):
                checker = self._pan(f"{family.name}_broken", program, nodes)
            commands: list[Measurement] = []
            spins: list[Measurement] = []
            for _ in range(self.budget.repeats):
                commands.append(check(program, nodes, "attack", self.budget.growth_seconds, self.budget.memory))
                self._tell(f"{family.name} (not robust)", nodes, "check", commands[-1])
                if checker:
                    with suppress(pan.NoSpin):
                        spins.append(spin(checker, self.budget.growth_seconds))
            yield Counterexample(nodes, median(commands), median(spins) if spins else None)

    def _file(self, name: str, program: Callable[[int], str], nodes: int) -> Path:
        file = self.folder / f"{name}_{nodes}.pgas"
        if not file.exists():
            file.write_text(program(nodes), encoding="utf-8")
        return file

    def _pan(self, name: str, program: Path, nodes: int) -> Path:
        folder = self.folder / f"{name}_{nodes}.spin"
        folder.mkdir(exist_ok=True)
        return pan.build(program, nodes, folder, self.budget.memory)

    def _tell(self, family: str, nodes: int, what: str, measured: Measurement) -> None:
        states = "" if measured.states is None else f"{measured.states:,} states, "
        reason = f" ({measured.reason})" if measured.reason else ""
        self.say(f"{family} {nodes}, {what}: {states}{measured.wall:.2f} s, {measured.ended}{reason}")


def measure(
    record: Record,
    names: Sequence[str],
    budget: Budget,
    say: Callable[[str], None],
    done: Callable[[Record], None],
    sizes: tuple[int, ...] | None = None,
    parts: Sequence[str] = ("reductions", "scaling", "repairs"),
) -> None:
    """Measure the families ``names`` into ``record``, ``parts`` of it; ``done`` is called after each."""
    if "reductions" in parts or not record.machine:
        record.machine, record.limits = machine(), str(budget)
    with tempfile.TemporaryDirectory(prefix="pgasrob-bench-") as folder:
        from tests.bench.scaling import Scaling  # it uses what stands above

        bench, scaling = Bench(budget, Path(folder), say, sizes), Scaling(budget, Path(folder), say, sizes)
        for name in names:
            if name in FAMILIES and "reductions" in parts:
                record.families[name] = bench.family(FAMILIES[name])
                record.families = {each: record.families[each] for each in FAMILIES if each in record.families}
                done(record)
            if name in SCALED and "scaling" in parts:
                record.scaling[name] = scaling.family(SCALED[name])
                record.scaling = {each: record.scaling[each] for each in SCALED if each in record.scaling}
                done(record)
    if "repairs" in parts:
        measure_repairs(record, say, done, *((8, 1) if budget.repeats == 1 else (1, 3)))


# The machine


def machine() -> str:
    """Processor, memory and versions."""
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    versions = [
        f"Python {platform.python_version()}",
        _version("rustc", "--version"),
        _version("spin", "-V"),
        _version("cc", "--version"),
    ]
    return f"{_processor()}, {os.cpu_count()} cores, {gigabytes:.0f} GiB; {', '.join(versions)}"


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(*command: str) -> str:
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return f"no {command[0]}"
    return output.partition("\n")[0].strip()
