"""`pgasrob explain-error`: what an error code means."""

from __future__ import annotations

import click

from pgasrob.cli.options import HELP


@click.command("explain-error", context_settings=HELP)
@click.argument("code", required=False)
def explain_error(code: str | None) -> None:
    """Explain an error code, or list them all."""
    from pgasrob.diagnostics.catalogue import CATALOGUE, UnknownCode, explain, known_codes

    if code is None:
        for each in known_codes():
            click.echo(f"{each}  {CATALOGUE[each].title}")
        return
    try:
        click.echo(explain(code))
    except UnknownCode as error:
        raise click.UsageError(str(error)) from None
