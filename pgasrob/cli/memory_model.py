"""`pgasrob race --memory-model` and `pgasrob explain --memory-model`: programs in a memory model of MPI."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pgasrob.cli.exit_codes import ERROR, NO_RACE, RACE, UNKNOWN, gravest
from pgasrob.cli.many import programs
from pgasrob.cli.options import print_json, refuse

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.races.mpi import MemoryModel, ModelVerdict

MODELS = ("unified", "separate")
memory_model_option = click.option(
    "--memory-model", "memory_model", type=click.Choice(MODELS),
    help="For MPI: are the results defined in this memory model of MPI-3 (Hoefler et al., 2014)?",
)  # fmt: skip
CODES = {"no race": NO_RACE, "race": RACE, "unknown": UNKNOWN, "error": ERROR}


def races_in(
    ctx: click.Context,
    paths: tuple[str, ...],
    nodes: tuple[int, ...] | None,
    model: MemoryModel,
    every: bool,
    timeout: float | None,
    format_: str,
    expect: bool,
    assumptions: bool,
    front_end: FrontEnd,
) -> None:
    """Decide and print, program by program; ends with the gravest exit code."""
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.memory_model import model_report, model_to_json

    found = programs(paths, front_end)
    codes = {ERROR} if found.problems or not found.files else set()
    for number, (file, count) in enumerate((file, count) for file in found.files for count in nodes or (None,)):
        verdict = _decided(file, count, model, every, timeout, found.front_end)
        result = model_to_json(verdict)
        code = CODES[result["verdict"]]
        if expect:
            stated = _stated(file, model, verdict)
            result["expected"], result["as_expected"] = stated, stated == verdict.status
            code = ERROR if stated is None else NO_RACE if stated == verdict.status else RACE
        codes.add(code)
        if format_ == "json":
            print_json(result)
            continue
        if number:
            click.echo()
        write(model_report(result, terminal_width(), list_assumptions=assumptions), sys.stdout)
    ctx.exit(gravest(codes))


def _decided(
    file: str, nodes: int | None, model: MemoryModel, every: bool, timeout: float | None, front_end: FrontEnd
) -> ModelVerdict:
    from pgasrob.diagnostics import Diagnostic, SourceError
    from pgasrob.races.mpi import ModelVerdict, decide

    try:
        program = _loaded(file, front_end)
    except SourceError as error:
        return ModelVerdict(file, None, None, model, "error", errors=tuple(error.diagnostics))
    if program is None:
        hint = "give a C program that uses MPI"
        message = "memory models of MPI are about C programs"
        return ModelVerdict(file, None, None, model, "error", errors=(Diagnostic("PG160", message, file, hint=hint),))
    return decide(program, model, nodes, all=every, timeout=timeout)


def _loaded(file: str, front_end: FrontEnd) -> CProgram | None:
    """The program; None where it is not in C."""
    from pgasrob.frontends.lower import CProgram
    from pgasrob.robustness.load import load

    program = load(file, front_end)
    return program if isinstance(program, CProgram) else None


def _stated(file: str, model: str, verdict: ModelVerdict) -> str | None:
    from pgasrob.program.expectation import read_expectation

    expectation = read_expectation(Path(file).read_text(encoding="utf-8"), file)
    return None if expectation is None else expectation.status_at(model, verdict.nodes)


def explain_in(
    file: str, nodes: int | None, model: MemoryModel, timeout: float, output: str | None, front_end: FrontEnd
) -> None:
    """Draw an execution, the first that is undefined where there is one."""
    from pgasrob.render.lines import terminal_width, write
    from pgasrob.render.memory_model import model_report, model_to_json
    from pgasrob.render.mpi_execution import execution_lines, execution_svg

    if output is not None and not output.endswith(".svg"):
        raise click.BadParameter(f"{output!r} is no .svg file; without -o it is printed here.", param_hint="-o")
    verdict = _decided(file, nodes, model, False, timeout, front_end)
    if verdict.execution is None or verdict.instance is None:
        write(model_report(model_to_json(verdict), terminal_width()), sys.stderr)
        raise click.exceptions.Exit(ERROR if verdict.status == "error" else UNKNOWN)
    if output is None:
        write(model_report(model_to_json(verdict), terminal_width()), sys.stdout)
        write(execution_lines(verdict.execution, verdict.instance), sys.stdout)
    else:
        try:
            Path(output).write_text(execution_svg(verdict.execution, verdict.instance), encoding="utf-8")
        except OSError as error:
            refuse(f"cannot write {output}: {error.strerror}")
        click.echo(f"{output}: an execution of {file}, {verdict.status} in the {model} model", err=True)


__all__ = ["explain_in", "memory_model_option", "races_in"]
