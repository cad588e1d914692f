"""Declares the options of a command as the fields of a frozen dataclass, and rules on which of them go together.

A field made by :func:`option` or :func:`argument` holds the value of one parameter of click; a field made by
:func:`group` holds those of a class that several commands share. :func:`command` makes the command of such a class and
of a function that gets an instance of it and returns the exit code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, Generic, TypeVar

import click

from pgasrob.cli.parameter_types import listed
from pgasrob.cli.shared_steps import PROGRAM, reported

O = TypeVar("O")  # noqa: E741  # the class of the options
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
Help = str | Callable[[], str]
"""A help text; a function where it says what is in a table, which is not imported before the help is shown."""


class ComputedHelp(click.Option):
    """An option whose help text is made when it is shown."""

    def __init__(self, *names: Any, text: Callable[[], str], **attributes: Any) -> None:
        self._text = text
        super().__init__(*names, **attributes)

    @property
    def help(self) -> str:
        return self._text()

    @help.setter
    def help(self, _: str | None) -> None:
        """Click sets what the option was made with, which is nothing."""


def option(*names: str, help: Help, **attributes: Any) -> Any:
    """A field for click's option of these ``names`` and ``attributes``, or that is on a group of help texts."""
    return field(metadata={"option": names, "help": help, **attributes})


def flag(*names: str, help: Help) -> Any:
    """A field that is True where the option is given."""
    return option(*names, help=help, is_flag=True)


def argument(**attributes: Any) -> Any:
    """A field for click's argument of these ``attributes``."""
    return field(metadata={"argument": True, **attributes})


def group(of: type[Any], **words: str) -> Any:
    """A field for the options of the class ``of``, in whose help texts ``{word}`` stands for what ``words`` say.

    Where the class has a method ``value`` the field holds what that returns.
    """
    return field(metadata={"group": of, "words": words})


def parameters(of: type[Any], words: Mapping[str, str] | None = None) -> Iterator[click.Parameter]:
    """The parameters of click that the fields of the class ``of`` declare, in their order."""
    for each in fields(of):
        match dict(each.metadata):
            case {"group": inner, "words": inner_words}:
                yield from parameters(inner, inner_words)
            case {"argument": _, **attributes}:
                yield click.Argument([each.name], **attributes)
            case {"option": names, "help": text, **attributes}:
                yield _option([*names, each.name], text, words or {}, attributes)


def _option(names: list[str], text: Help, words: Mapping[str, str], attributes: dict[str, Any]) -> click.Option:
    def filled(help: str) -> str:
        return functools.reduce(lambda made, word: made.replace(f"{{{word}}}", words[word]), words, help)

    if isinstance(text, str):
        return click.Option(names, help=filled(text), **attributes)
    return ComputedHelp(names, text=lambda: filled(text()), **attributes)


def collected(of: type[O], values: Mapping[str, Any]) -> O:
    """The options of the class ``of`` with the ``values`` that click has for its parameters."""

    def value(each: Field[Any]) -> Any:
        if "group" not in each.metadata:
            return values[each.name]
        inner = collected(each.metadata["group"], values)
        return inner.value() if hasattr(inner, "value") else inner

    return of(**{each.name: value(each) for each in fields(of)})  # type: ignore[arg-type]


def command(
    options: type[O],
    *,
    examples: str = "",
    cls: type[click.Command] = click.Command,
    parent: click.Group | None = None,
    **settings: Any,
) -> Callable[[Callable[[O], int | None]], click.Command]:
    """Makes click's command of a function that gets the ``options`` and returns the exit code, or None for 0.

    An exception that should not have been raised is a finding about the field ``file`` of the options, which ends it.
    Its help is the docstring, with ``examples`` behind it; ``settings`` are those of click's context. It becomes a
    command of ``parent`` where there is one.
    """

    def decorated(run: Callable[[O], int | None]) -> click.Command:
        @functools.wraps(run)
        def callback(**values: Any) -> None:
            given = collected(options, values)
            with reported(getattr(given, "file", None) or PROGRAM):
                code = run(given)
            click.get_current_context().exit(code or 0)

        make = parent.command if parent else click.command
        made: click.Command = make(
            cls=cls, params=list(parameters(options)), context_settings={**HELP, **settings}, epilog=examples or None
        )(callback)
        return made

    return decorated


def _declared(of: type[Any], path: str = "") -> dict[str, tuple[str, Any]]:
    """For each option name of the class ``of``: the path of attributes to its value, and its default."""
    found: dict[str, tuple[str, Any]] = {}
    for each in fields(of):
        here, metadata = path + each.name, each.metadata
        if "group" in metadata:
            found |= _declared(metadata["group"], f"{here}.")
        found |= {name: (here, _default(each)) for name in metadata.get("option", ())}
    return found


def _default(each: Field[Any]) -> Any:
    """The value of a field whose option is not given."""
    usual = () if each.metadata.get("multiple") else False if each.metadata.get("is_flag") else None
    return each.metadata.get("default", usual)


def with_defaults(of: type[O], **values: Any) -> O:
    """The options of the class ``of`` with these ``values``, among them those of all groups, and defaults."""
    return of(**{each.name: values[each.name] if each.name in values else _default(each) for each in fields(of)})  # type: ignore[arg-type]


def given(options: object, names: Sequence[str | tuple[str, str]]) -> list[str]:
    """The ``names`` of options that have another value than their default. ``("--format", "text|json")`` stands for any
    value but these two, and is given with its value: "--format csv"."""
    declared = _declared(type(options))
    found = []
    for name in names:
        name, allowed = name if isinstance(name, tuple) else (name, None)
        path, default = declared[name]
        value = attrgetter(path)(options)
        if allowed is not None and value not in allowed.split("|"):
            found.append(f"{name} {value}")
        elif allowed is None and value != default:
            found.append(name)
    return found


def typed() -> list[click.Parameter]:
    """The parameters of the command that stand on the command line, with their default value or another one."""
    ctx = click.get_current_context()
    on_command_line = click.core.ParameterSource.COMMANDLINE
    return [each for each in ctx.command.params if ctx.get_parameter_source(each.name or "") == on_command_line]


@dataclass(frozen=True)
class Rule(Generic[O]):
    """Options that do not go together: it is broken where ``when`` holds, or this option is given, and, if there are
    any, one of ``refused`` is given (:func:`given`).

    In the ``message`` {option} is the first of those, {names} are all of them, {options} too with their verb; {o} is
    what was given altogether.
    """

    message: str
    when: str | Callable[[O], object]
    refused: Sequence[str | tuple[str, str]] = ()


def check_rules(options: O, rules: Sequence[Rule[O]]) -> None:
    """Raises click.UsageError with the message of the first of the ``rules`` that ``options`` break."""
    for rule in rules:
        if not (given(options, [rule.when]) if isinstance(rule.when, str) else rule.when(options)):
            continue
        wrong = given(options, rule.refused)
        if wrong or not rule.refused:
            first, names = (wrong[0], listed(wrong, "and")) if wrong else ("", "")
            all_ = f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'}"
            raise click.UsageError(rule.message.format(option=first, names=names, options=all_, o=options))
