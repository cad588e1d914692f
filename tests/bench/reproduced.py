"""`python -m tests.bench.reproduced`: run the corpus on the libraries that are installed, and write REPRODUCED.md.

Each program of OpenSHMEM or MPI that is not robust follows its counterexample three times in a row; each robust one is
run with everything held back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from pgasrob.api import check
from pgasrob.frontends.lower import CProgram
from pgasrob.render.reproduced import pieces_of
from pgasrob.robustness.load import load
from pgasrob.runtime.reproduce.execute import Execution
from pgasrob.runtime.reproduce.reproduce import Reproduction, hold_all, reproduce
from pgasrob.runtime.tools import ToolError

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "programs" / "c"
LIBRARIES = ("openshmem", "mpi")

Outcome = Literal["reproduced", "not reproduced", "same", "differs", "cannot run"]

ORDER = {
    "openshmem/test_each.c": "the order in which items come",
    "openshmem/store_buffering_quiet.c": "who is first",
    "openshmem/ticket_lock.c": "who is first",
    "openshmem/work_queue.c": "who takes what",
    "mpi/fetch_and_op.c": "who is first",
}
"""Robust programs with several SC results, and on what these depend: their lines are compared as the corpus allows."""
ALLOWED = {"openshmem/store_buffering_quiet.c": (["0", "1"], ["1", "1"])}
"""The sorted lines of SC runs, where not all have the same ones."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a program; ``told``: what shows it, or why not."""

    program: str
    nodes: int
    outcome: Outcome
    told: str


def rows(robust: bool, runs: int = 3, only: Sequence[str] = ()) -> Iterator[Row]:
    """The programs that are ``robust``, or those that are not; ``only``: these, by their names below `programs/c`."""
    for library in LIBRARIES:
        for path in sorted((CORPUS / library).glob("*.c")):
            name = f"{library}/{path.name}"
            if only and name not in only:
                continue
            program = load(path)
            assert isinstance(program, CProgram)
            verdict = check(program)
            if (verdict.verdict == "robust") != robust or verdict.verdict not in ("robust", "not robust"):
                continue
            assert verdict.nodes is not None
            try:
                if robust:
                    yield _held(name, hold_all(program, program.instantiate(None), None, runs, 60))
                else:
                    yield _followed(name, reproduce(program, verdict, pieces_of, None, runs, 60))
            except ToolError as error:
                yield Row(name, verdict.nodes, "cannot run", str(error).replace(str(path), path.name))


def _followed(name: str, found: Reproduction) -> Row:
    if not found.shown:
        return Row(name, found.nodes, "not reproduced", found.why_not or "")
    shown = found.reproduced[0]
    if shown.failed_assertion is not None:
        return Row(name, found.nodes, "reproduced", "an assertion fails")
    if _lines(shown) != _lines(found.normal):
        printed = f"prints `{' / '.join(_lines(shown))}`, normally `{' / '.join(_lines(found.normal))}`"
        return Row(name, found.nodes, "reproduced", f"{printed} (everything held back)" if found.all_held else printed)
    values = [
        f"`{each.name}` is {each.reproduced}, normally {'not read' if each.normal is None else each.normal}"
        for each in found.values
        if each.reproduced is not None
    ]
    return Row(name, found.nodes, "reproduced", "; ".join(values))


def _held(name: str, found: Reproduction) -> Row:
    if found.why_not is not None:
        return Row(name, found.nodes, "cannot run", found.why_not)
    if not found.shown:
        return Row(name, found.nodes, "same", "")
    ended_well = all(each.code == 0 for each in found.reproduced)
    lines = sorted(_lines(found.normal))
    allowed = ALLOWED.get(name, (lines,))
    if ended_well and name in ORDER and all(sorted(_lines(each)) in allowed for each in found.reproduced):
        return Row(name, found.nodes, "same", f"but for {ORDER[name]}")
    told = [f"`{' / '.join(_lines(each))}`" for each in (found.normal, *found.reproduced)]
    told += [f"`{each.name}`: {each.normal}, {each.reproduced}" for each in found.values]
    return Row(name, found.nodes, "differs", ", ".join(told))


def _lines(execution: Execution) -> list[str]:
    return [line for rank in execution.output for line in rank]


def report(followed: Sequence[Row], held: Sequence[Row], runs: int) -> str:
    """Both tables, with what they come to."""
    written = ["# Counterexamples on real libraries", "", "Written by `python -m tests.bench.reproduced`.", ""]
    for library in LIBRARIES:
        of = [row for row in followed if row.program.startswith(library)]
        possible = [row for row in of if row.outcome != "cannot run"]
        shown = sum(row.outcome == "reproduced" for row in possible)
        written += [
            f"## {library}: not robust",
            "",
            f"{shown} of {len(possible)} that the library can run, on {runs} runs in a row; {len(of)} in all.",
            "",
            *_table(of),
        ]
    possible = [row for row in held if row.outcome != "cannot run"]
    differing = sum(row.outcome == "differs" for row in possible)
    written += [
        "## Robust, with everything held back",
        "",
        f"{len(possible)} of {len(held)} that the libraries can run, {runs} runs each; {differing} differ.",
        "",
        *_table(held),
    ]
    return "\n".join(written)


def _table(rows_: Sequence[Row]) -> list[str]:
    found = ["| program | nodes | | |", "|---|---|---|---|"]
    told = [(row.program, row.nodes, row.outcome, row.told.replace("|", "\\|")) for row in rows_]
    return [*found, *(f"| {' | '.join(map(str, each))} |".replace("|  |", "| |") for each in told), ""]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="How many runs in a row.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=HERE / "REPRODUCED.md",
              help="Default: tests/bench/REPRODUCED.md.")  # fmt: skip
def main(runs: int, output: Path) -> None:
    """Run the C corpus on the libraries that are installed, and write what it shows."""
    found: list[list[Row]] = []
    for robust in (False, True):
        found.append([])
        for row in rows(robust, runs):
            click.echo(f"{row.outcome:15}{row.program:45}{row.told}", err=True)
            found[-1].append(row)
    output.write_text(report(*found, runs))


if __name__ == "__main__":
    main()
