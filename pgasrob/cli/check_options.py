"""The options of `pgasrob check`, and which of them go together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import Rule, flag, group, option
from pgasrob.cli.many import BRIEF, BatchLimits, OutputOptions, paths_argument, resume_option
from pgasrob.cli.option_groups import DEFAULT_COUNT, DEFAULT_ENGINE, MOST_SC_STATES, COptions, ReadingOptions
from pgasrob.cli.parameter_types import (
    EngineName,
    LineName,
    LineNames,
    Lines,
    NodeCounts,
    OneOf,
    Reduction,
    TwoLines,
    listed,
)
from pgasrob.cli.recorded import MIXED, OF_PROGRAMS, are_traces, mixed

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.reading import Reading
    from pgasrob.robustness.verdict import LineName as Asked

LITMUS = ".litmus"
ONE_FILE = "--why is about two lines of one FILE, on this machine."


@dataclass(frozen=True)
class CheckOptions:
    """The options of `pgasrob check`."""

    # fmt: off
    paths: tuple[str, ...] = paths_argument()
    nodes: tuple[int, ...] | str | None = option("-n", "--nodes", type=NodeCounts(every=True), metavar="COUNTS",
        help="Node counts: 2, 2..5 or 2,4; all: every number of nodes, by a proof from some number on. "
        f"{DEFAULT_COUNT}")
    engine: str = option("--engine", type=EngineName(), default=DEFAULT_ENGINE, show_default=True,
        help=lambda: f"How to decide. {EngineName().descriptions()}")
    cpu: str = option("--cpu", type=OneOf(["sc", "tso"]), default="sc", show_default=True,
        help="How a rank's stores reach memory. sc: in program order; tso: through a store buffer, which later loads "
        "may overtake, as on x86.")
    network: str = option(
        "--network", type=OneOf(["pgas", "rdma-tso", "corerma"]), default="pgas", show_default=True,
        help="The network that FILE runs on; FILE may also be a .litmus test. pgas: the model of pgasrob; rdma-tso: "
        "InfiniBand verbs between x86 CPUs (Ambal et al. 2024); corerma: coreRMA (Dan et al. 2016). Commands without "
        "a counterpart on the network are refused.")
    no_pcie: bool = flag("--no-pcie",
        help="RDMA-TSO without the guarantee of PCI Express that a read completes the writes before it.")
    placed: bool = flag("--placed",
        help="RDMA-TSO on adapters that acknowledge a put when it is in memory, as all do today.")
    glob: bool = flag("--glob",
        help="RDMA-TSO with remote atomics that are atomic against everything (IBV_ATOMIC_GLOB).")
    max_sc_states: int = option(
        "--max-sc-states", type=click.IntRange(min=0), default=MOST_SC_STATES, show_default=True, metavar="N",
        help="Leave assertions and deadlocks undecided after N SC states that are explored only for them; 0: no "
        "limit.")
    limits: BatchLimits = group(BatchLimits, what="check")
    cluster: str | None = option("--cluster", metavar="ADDRESS",
        help="Check on the workers of the Dask scheduler at this address (tcp://host:8786, or tls:// with "
        "certificates), one job for each of their threads. All machines need the same version of pgasrob.")
    resume: str | None = resume_option()
    output: OutputOptions = group(OutputOptions, runs="the run")
    expect: bool = flag("--expect", help="Compare every verdict with the program's header `// expect: ...`.")
    key: str | None = option("--headers", type=click.Path(file_okay=False), metavar="KEY",
        help="With --expect: compare with the headers of the programs of the same names in the folder KEY, on their "
        "node counts, whatever the programs themselves say.")
    only: tuple[Asked, ...] | None = option("--only", type=LineNames(), metavar="LINES",
        help=lambda: f"Ask only for some of the lines {listed(LineName().names(), 'and')}, and let nothing else "
        "count: robust,races. Default: all lines for C; robust for .pgas files, where other mistakes count if found.")
    strict: bool = flag("--strict",
        help="The exit code is 3 if it is undecided whether assertions hold or there is a deadlock, also for .pgas "
        "files and with --expect; with --expect a failing assertion or a deadlock makes it 1.")
    report: str = option("--report", type=OneOf(["all", "outcomes"]), default="all", show_default=True,
        help="What makes the exit code 1. outcomes: a program that is not robust does so only if a run on the network "
        "was found that has an outcome, or a failing assertion, that no SC run has.")
    verbose: bool = flag("-v", "--verbose", help="Show every counterexample, also when several programs are checked.")
    brief: bool = flag("--brief", help="Print one line per program, as compilers do: file:line:column: not robust: "
        "why.")
    races: bool = flag("--races",
        help="Also say whether there are races, as `pgasrob race` does; the exit code does not change.")
    why: TwoLines | None = option("--why", type=Lines(), metavar="LINE,LINE",
        help="Say what keeps the operations and accesses of two lines of a robust FILE in order (16,20 or, in another "
        "file of the program, 16,ring.c:20), by removing each command between them in turn.")
    full: bool = flag("--full", help="Show every event of a run. By default the events that the cycle does not need "
        "are folded.")
    certificate: str | None = option("--certificate", type=click.Path(dir_okay=False), metavar="PATH",
        help="Write evidence that FILE is robust, which `pgasrob certify` checks without the engines (compressed if "
        "PATH ends with .gz). The exit code is 3 if it would be too large or a limit is reached.")
    fixes: bool = flag("--fixes",
        help="Also look for repairs of programs that are not robust, for at most 5 seconds each: `fixes` in JSON and "
        "in .sarif. `pgasrob repair` has no such limit.")
    assumptions: bool = flag("--assumptions", help="List everything that each verdict rests on, in the reports of "
        "all results.")
    heads: int | None = option("--heads", type=click.IntRange(2, 4), metavar="2|3|4",
        help="Heads of the product engine: 2 suffice, 4 follow the paper to the letter.  [default: 2]")
    no_reduction: bool = flag("--no-reduction",
        help="Use the plain search of the attack engine, which visits more states, for comparison.")
    without: tuple[str, ...] = option("--without", type=Reduction(), multiple=True, metavar="NAME",
        help=lambda: "Switch off one of the attack engine's reductions: "
        f"{listed(Reduction().names())}. Can be repeated.")
    reading: Reading = group(ReadingOptions)
    front_end: FrontEnd = group(COptions)
    # fmt: on

    @property
    def counts(self) -> tuple[int, ...] | None:
        """The node counts; None: those of the programs, or every number."""
        return None if isinstance(self.nodes, str) else self.nodes

    @property
    def every_count(self) -> bool:
        return isinstance(self.nodes, str)

    @property
    def on_network(self) -> bool:
        """Whether a network is asked about, or a litmus test in the calculus."""
        return self.network != "pgas" or any(path.endswith(LITMUS) for path in self.paths)


RULES: tuple[Rule[CheckOptions], ...] = (
    Rule(
        "--heads is for the product engine: add --engine product.",
        lambda o: o.heads is not None and o.engine != "product",
    ),
    Rule(
        "{option} is for the attack engine.",
        lambda o: o.engine not in (DEFAULT_ENGINE, "attack"),
        ("--no-reduction", "--without"),
    ),
    Rule(ONE_FILE, lambda o: o.why and (o.cluster is not None or any(map(os.path.isdir, o.paths)) or not o.paths)),
    BRIEF,
    Rule(
        "--fixes are found for --cpu sc, --failed-polls wait and --conflicts commuting alone.",
        "--fixes",
        ("--failed-polls", "--conflicts", "--cpu"),
    ),
    Rule(
        "--jobs is for this machine: workers of a cluster do as many jobs as they have threads.",
        "--cluster",
        ("--jobs",),
    ),
    Rule("--resume keeps the results of this machine alone: leave --cluster out.", "--cluster", ("--resume",)),
    Rule(
        "the spin engine works on this machine alone: leave --cluster out.",
        lambda o: o.cluster is not None and o.engine == "spin",
    ),
    Rule("--headers says with what --expect compares: add that.", lambda o: o.key is not None and not o.expect),
    Rule(
        "{option} is about some node counts: leave --nodes all out.",
        lambda o: o.every_count,
        ("--cpu", "--network", "--why", "--races"),
    ),
)
OF_THE_CALCULUS = (
    *("--engine", "--no-reduction", "--without", "--cpu", "--cluster", "--witness", "--fold", "--strict", "--report"),
    *("--brief", "--only", "--races", "--why", "--full", "--jobs", "--resume", "--baseline", "--fixes", "--headers"),
    *(("--format", "text|json"), "--assumptions", "--certificate"),
)
"""Options that are about programs in the calculus, and not about networks or litmus tests."""
OF_A_NETWORK = "{options} not for --network {o.network}."
OF_LITMUS_TESTS = f"{{options}} not for {LITMUS} tests in the calculus (--network pgas)."
NETWORK_RULES: tuple[Rule[CheckOptions], ...] = (
    Rule(OF_LITMUS_TESTS, lambda o: o.network == "pgas", OF_THE_CALCULUS),
    Rule(
        OF_A_NETWORK,
        lambda o: o.network != "pgas" and all(path.endswith(LITMUS) for path in o.paths),
        (*OF_THE_CALCULUS, "--max-sc-states", "--conflicts", "--failed-polls"),
    ),
    Rule(OF_A_NETWORK, lambda o: o.network != "pgas", (*OF_THE_CALCULUS, "--max-sc-states", "--conflicts")),
    Rule(OF_LITMUS_TESTS, lambda o: o.network == "pgas", ("--no-pcie", "--placed", "--glob")),
    Rule(OF_A_NETWORK, lambda o: o.network == "corerma", ("--no-pcie", "--placed", "--glob")),
)
PROGRAM_RULES: tuple[Rule[CheckOptions], ...] = (
    Rule("{option} is for --network rdma-tso.", lambda o: True, ("--no-pcie", "--placed", "--glob")),
    Rule(MIXED, lambda o: mixed(o.paths)),
    Rule(
        OF_PROGRAMS,
        lambda o: are_traces(o.paths),
        (
            *("--nodes", "--expect", "--races", "--why", "--cluster", "--engine", "--no-reduction", "--without"),
            *("--cpu", "--certificate", "--resume", "--fixes", "--only"),
        ),
    ),
    Rule(
        "--why is about --cpu sc: store buffers are not asked what keeps accesses in order.",
        lambda o: o.cpu == "tso",
        ("--why",),
    ),
)
