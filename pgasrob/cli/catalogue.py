"""`pgasrob catalogue`: write the README.md that lists the programs of a corpus with their verdicts."""

from __future__ import annotations

from pathlib import Path

import click

from pgasrob.cli.declare import HELP
from pgasrob.cli.exit_codes import NOT_ROBUST, ROBUST
from pgasrob.cli.option_groups import memory_for
from pgasrob.cli.shared_steps import mention_a_missing_kernel, progress_display, refuse


@click.command(context_settings=HELP)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 when the catalogue is stale.")
def catalogue(folder: str, only_check: bool) -> None:
    """Write the list of a folder of programs.

    The list, FOLDER/README.md, has the verdict, the states, a time class and the reason of every program. The command
    checks the programs, so it takes as long as these checks. For a folder with litmus tests and no programs, it lists
    the tests, with what their comments say.
    """
    from pgasrob.batch.job import Checked, Job, find_programs
    from pgasrob.batch.side_by_side import convert_all
    from pgasrob.diagnostics import SourceError
    from pgasrob.program.parser import read_text
    from pgasrob.render.corpus_catalogue import BEGINNING, Entry, make_catalogue
    from pgasrob.render.litmus_catalogue import BEGINNING as LITMUS
    from pgasrob.render.litmus_catalogue import litmus_files, make_litmus_catalogue
    from pgasrob.robustness.limits import Limits, available_cores
    from pgasrob.robustness.question import Resources, Synchronisation

    files, problems = find_programs([folder], others=[".litmus"])
    command = f"pgasrob catalogue {Path(folder).resolve().name}"
    if not files and litmus_files(Path(folder)):
        try:
            made = make_litmus_catalogue(Path(folder), command)
        except SourceError as error:
            refuse(str(error))
        _write(Path(folder), made, LITMUS, made.count("\n| ["), "test", only_check)
        return
    if problems:
        raise click.UsageError("; ".join(problems))
    mention_a_missing_kernel()
    jobs = available_cores()
    resources = Resources(jobs=jobs)
    job = Job(asked=Synchronisation(), limits=Limits(memory=memory_for(None, jobs)), resources=resources)
    display = progress_display(job.limits.max_states)
    entries = [
        Entry(Path(checked.file).relative_to(Path(folder)), read_text(checked.file), checked.verdict)
        for checked in convert_all(files, job, Checked.without_runs, *filter(None, [display]))
    ]
    _write(Path(folder), make_catalogue(entries, command), BEGINNING, len(entries), "program", only_check)


def _write(folder: Path, text: str, beginning: str, count: int, what: str, only_check: bool) -> None:
    """Write the catalogue ``text``, or say whether it is stale. A catalogue is known by its ``beginning``."""
    from pgasrob.program.parser import read_text
    from pgasrob.render import english
    from pgasrob.render.corpus_catalogue import without_times
    from pgasrob.whole_files import replace_file

    target = folder / "README.md"
    before = read_text(str(target))
    stale = without_times(before) != without_times(text)
    if only_check:
        click.echo(f"{target} is {'stale: make it again without --check' if stale else 'up to date'}")
        raise click.exceptions.Exit(NOT_ROBUST if stale else ROBUST)
    if before and not before.startswith(beginning):
        raise click.UsageError(f"{target} is not a catalogue; it is left as it is. Move it away first.")
    replace_file(target, text)
    click.echo(f"{target}: {english.count(count, what)}{'' if stale else ', nothing new but times'}")
