"""`pgasrob man`: print the manual page, made of the help texts, in the language of `man`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from pgasrob import __version__
from pgasrob.cli.declare import HELP

EXAMPLES = """\b
Example:
  pgasrob man > ~/.local/share/man/man1/pgasrob.1
"""
UNBROKEN = "\b\n"
"""What a paragraph of a help text begins with that is not to be wrapped (click)."""


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.pass_context
def man(ctx: click.Context, /) -> None:
    """Print the manual page.

    It has the help texts of all commands."""
    group = ctx.find_root()
    assert isinstance(group.command, click.Group)
    click.echo("\n".join(_page(group, group.command)))


def _page(ctx: click.Context, group: click.Group) -> Iterator[str]:
    """The lines of the page."""
    yield f'.TH PGASROB 1 "" "pgasrob {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"pgasrob \\- {_escaped(group.get_short_help_str(200)).rstrip('.')}"
    yield ".SH SYNOPSIS"
    yield "\\fBpgasrob\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ..."
    yield ".SH DESCRIPTION"
    yield from _text(group.help)
    yield from _text(group.epilog)
    yield ".SH OPTIONS"
    yield from _options(ctx, group)
    yield ".SH COMMANDS"
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        within = click.Context(command, ctx, name)
        yield f'.SS "{_escaped(" ".join(["pgasrob", name, *command.collect_usage_pieces(within)]))}"'
        yield from _text(command.help)
        yield from _options(within, command)
        yield from _text(command.epilog)


def _options(ctx: click.Context, command: click.Command) -> Iterator[str]:
    for param in command.get_params(ctx):
        names, text = param.get_help_record(ctx) or ("", "")
        if text:
            yield from (".TP", f"\\fB{_escaped(names)}\\fR", _escaped(" ".join(text.split())))


def _text(text: str | None) -> Iterator[str]:
    """The paragraphs of a help text."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        if paragraph.startswith(UNBROKEN):
            yield from (".PP", ".nf", *map(_escaped, paragraph.removeprefix(UNBROKEN).rstrip().split("\n")), ".fi")
        elif paragraph.strip():
            yield from (".PP", _escaped(" ".join(paragraph.split())))


def _escaped(text: str) -> str:
    """``text``, a line, which is no request, with hyphens that can be copied; quotes would end an argument."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{text}" if text.startswith((".", "'")) else text
