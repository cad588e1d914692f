"""`pgasrob explain-error`: print what an error code means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pgasrob.cli.declare import HELP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pgasrob.diagnostics.catalogue import Entry


@click.command("explain-error", context_settings=HELP)
@click.argument("code", required=False)
def explain_error(code: str | None) -> None:
    """Explain an error code, or list them all."""
    from pgasrob.diagnostics.catalogue import CATALOGUE, explain, known_codes

    explain_code(code, {each: CATALOGUE[each] for each in known_codes()}, explain)


def explain_code(code: str | None, entries: Mapping[str, Entry], explain: Callable[[str], str]) -> None:
    """Print what ``explain`` says of ``code``; None: the codes and titles of all ``entries``."""
    from pgasrob.diagnostics.catalogue import Kind, UnknownCode

    if code is None:
        width = max(map(len, entries))
        for each, entry in entries.items():
            click.echo(f"{each:<{width}}  {entry.title}{' (a limit)' if entry.kind is Kind.LIMIT else ''}")
        return
    try:
        click.echo(explain(code))
    except UnknownCode as error:
        raise click.UsageError(str(error)) from None
