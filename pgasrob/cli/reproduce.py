"""`pgasrob reproduce`: run a program on the real library so that its counterexample shows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import argument, command, flag, group, option
from pgasrob.cli.exit_codes import ERROR, NOT_ROBUST, ROBUST, UNKNOWN
from pgasrob.cli.option_groups import COptions, format_option, node_count_option, timeout_option
from pgasrob.cli.shared_steps import limited, mention_a_missing_kernel, mention_the_count, print_json, refuse, reported

if TYPE_CHECKING:
    from collections.abc import Collection

    from pgasrob.cli.shared_steps import NoAnswer
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.render.reproduced import ReproducedObject
    from pgasrob.render.shared_json import Error
    from pgasrob.robustness.limits import Limits
    from pgasrob.runtime.reproduce.reproduce import Reproduction

CODES = {
    "reproduced": NOT_ROBUST,
    "different": NOT_ROBUST,
    "same": ROBUST,
    "not reproduced": UNKNOWN,
    "unknown": UNKNOWN,
}
EXAMPLES = """\b
Exit code:
  0  the program is robust: there is nothing to reproduce (--hold-all: nothing differs)
  1  the counterexample was reproduced in every run (--hold-all: something differs)
  2  a program with an error, what is needed is not installed, or wrong usage
  3  not reproduced, or it is not known whether the program is robust
  130  Ctrl-C, SIGTERM or SIGHUP ended it

\b
Examples:
  pgasrob reproduce ring.c -n 2           the run of the counterexample, beside a normal one
  pgasrob reproduce ring.c --runs 3       three times in a row
  pgasrob reproduce ring.c --hold-all     everything as late as it may be
"""


@dataclass(frozen=True)
class ReproduceOptions:
    """The options of `pgasrob reproduce`."""

    # fmt: off
    file: str = argument(type=click.Path())
    nodes: int | None = node_count_option()
    runs: int = option("--runs", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
        help="Follow the counterexample N times.")
    hold_all: bool = flag("--hold-all",
        help="Follow no counterexample, but hold back every operation for as long as the library may. If the program "
        "is robust and its result deterministic, the result does not change.")
    timeout: float = timeout_option("The time limit of each run, and of the check before.", 20.0)
    format: str = format_option("json", help="json: one object.")
    front_end: FrontEnd = group(COptions)
    # fmt: on


class _Nothing(Exception):
    """There is no counterexample to reproduce; the text says why."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state


@command(ReproduceOptions, examples=EXAMPLES)
def reproduce(options: ReproduceOptions) -> int:
    """Reproduce a violation on an installed library.

    The C program in FILE, which uses MPI or OpenSHMEM, is built and run with the installed library, once freely and
    once in the order of the counterexample: operations that are late in it are held back, and ranks wait for each
    other. Both runs are shown side by side. The second run may also happen without help: nothing is held back longer
    than the specification of the library allows.
    """
    from pgasrob.render.reproduced import nothing_reproduced

    def nothing(errors: list[Error], reason: str | None) -> ReproducedObject:
        return nothing_reproduced(options.file, options.nodes, "error", reason, errors)

    in_json = nothing if options.format == "json" else None
    with reported(options.file, in_json):
        return _reproduced(options, in_json)


def _reproduced(options: ReproduceOptions, in_json: NoAnswer | None) -> int:
    """Reproduce it and print that; the exit code."""
    from pgasrob.diagnostics import SourceError
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.reproduced import nothing_reproduced, reproduced_lines, reproduced_to_json
    from pgasrob.render.shared_json import errors_to_json
    from pgasrob.robustness.limits import Limits
    from pgasrob.runtime.child_processes import ended_by_signals
    from pgasrob.runtime.tools import ToolError

    file = options.file
    limits = Limits(timeout=options.timeout)
    try:
        with ended_by_signals():
            program = _program(options, limits, in_json)
            mention_a_missing_kernel()
            found, state, doubles = (_hold_all if options.hold_all else _follow)(program, options, limits)
    except SourceError as error:
        refuse(str(error), ERROR, in_json, errors_to_json(error.diagnostics, file))
    except (ToolError, _Nothing) as error:
        state = error.state if isinstance(error, _Nothing) else "error"
        message = f"{file}{'' if isinstance(error, _Nothing) else ':'} {error}"
        code = {"robust": ROBUST, "error": ERROR}.get(state, UNKNOWN)
        if in_json is not None:
            print_json(nothing_reproduced(file, options.nodes, state, message))
        else:
            click.echo(f"pgasrob: {message}", err=code == ERROR)
        return code
    if in_json is not None:
        print_json(reproduced_to_json(file, found, state, doubles))
    else:
        write(reproduced_lines(file, found, state, doubles, terminal_width()), sys.stdout)
    return CODES[state]


def _program(options: ReproduceOptions, limits: Limits, in_json: NoAnswer | None) -> CProgram:
    """The program, which has to be in C."""
    from pgasrob.frontends.lower import CProgram
    from pgasrob.robustness.load import load

    reading = partial(load, options.file, options.front_end)
    program = limited(limits, "while reading the program", reading, in_json)
    if not isinstance(program, CProgram):
        reason = "only C programs can be run"
        refuse(f"pgasrob: {options.file}: {reason}", ERROR, in_json, reason=reason)
    return program


def _hold_all(
    program: CProgram, options: ReproduceOptions, limits: Limits
) -> tuple[Reproduction, str, Collection[str]]:
    """The runs in which everything is held back, how they are to be called, and which names are of doubles."""
    from pgasrob.runtime.reproduce.reproduce import hold_all

    instance = limited(limits, "while lowering the program", partial(program.instantiate, options.nodes))
    mention_the_count(instance.program)
    found = hold_all(program, instance, options.front_end, max(options.runs, 2), options.timeout)
    state = "unknown" if found.why_not is not None else "different" if found.shown else "same"
    return found, state, instance.program.doubles


def _follow(program: CProgram, options: ReproduceOptions, limits: Limits) -> tuple[Reproduction, str, Collection[str]]:
    """As `_hold_all`, of the runs that follow the counterexample. Raises `_Nothing` where there is none."""
    from pgasrob.render.reproduced import pieces_of
    from pgasrob.robustness.check import check
    from pgasrob.robustness.question import Question
    from pgasrob.robustness.session import Session
    from pgasrob.runtime.reproduce.reproduce import reproduce as follow

    verdict = check(Session(Question(program, options.nodes, limits=limits)))
    mention_the_count(verdict)  # the program on so many nodes may not be there in time
    if verdict.verdict != "not robust" or verdict.witness is None:
        reason = f": {verdict.reason}" if verdict.reason is not None else ""
        raise _Nothing(verdict.verdict, f"is {verdict.verdict} on {verdict.nodes} nodes{reason}")
    found = follow(program, verdict, pieces_of, options.front_end, options.runs, options.timeout)
    doubles = verdict.witness.run.instance.program.doubles
    return found, "reproduced" if found.shown else "not reproduced", doubles
