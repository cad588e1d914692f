"""Options as fields of a dataclass: what click gets of them, what a command gets, and which go together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pgasrob.cli import COMMANDS, command_named
from pgasrob.cli.declare import (
    Rule,
    argument,
    check_rules,
    collected,
    command,
    flag,
    given,
    group,
    option,
    parameters,
    with_defaults,
)


@dataclass(frozen=True)
class Limits:
    states: int = option("--states", type=int, default=10, show_default=True, help="Stop the {what} {name} there.")
    seconds: float | None = option("--seconds", type=float, help=lambda: "Stop the {what} then.")


@dataclass(frozen=True)
class Pair:
    first: str = option("--first", default="a", help="One.")
    second: str = option("--second", default="b", help="The other.")

    def value(self) -> str:
        return self.first + self.second


@dataclass(frozen=True)
class Options:
    files: tuple[str, ...] = argument(nargs=-1, metavar="FILE...")
    loud: bool = flag("-l", "--loud", help="Loudly.")
    limits: Limits = group(Limits, what="search")
    pair: str = group(Pair)
    format: str = option("--format", type=click.Choice(["text", "json", "csv"]), default="text", help="How.")
    names: tuple[str, ...] = option("--name", multiple=True, help="Who.")


def made(body: Callable[[Options], int | None]) -> click.Command:
    return command(Options, examples="\b\nExamples:\n  body x")(body)


def asked(*arguments: str) -> Options:
    """What a command gets."""
    seen: list[Options] = []
    result = CliRunner().invoke(made(seen.append), arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return seen[0]


def test_a_command_gets_its_options_as_one_object() -> None:
    options = asked("x", "-l", "y", "--states", "3", "--second", "c", "--name", "n", "--name", "m")
    assert options == Options(("x", "y"), True, Limits(3, None), "ac", "text", ("n", "m"))
    with pytest.raises(FrozenInstanceError):
        options.loud = False  # type: ignore[misc]


def test_the_result_is_the_exit_code() -> None:
    runner = CliRunner()
    assert [runner.invoke(made(lambda _, code=code: code), []).exit_code for code in (None, 0, 3)] == [0, 0, 3]


def test_parameters_come_in_the_order_of_the_fields_and_of_groups_within() -> None:
    names = ["files", "loud", "states", "seconds", "first", "second", "format", "names"]
    assert [parameter.name for parameter in parameters(Options)] == names


def test_help_is_docstring_options_and_examples() -> None:
    def body(options: Options) -> None:
        """Do it."""

    text = CliRunner().invoke(made(body), ["--help"]).output
    assert text.index("Do it.") < text.index("--loud") < text.index("--states") < text.index("Examples:")


def test_words_stand_in_help_texts_of_groups_alone() -> None:
    helps = {each.name: each.help for each in parameters(Options) if isinstance(each, click.Option)}
    assert helps["states"] == "Stop the search {name} there." and helps["seconds"] == "Stop the search then."


def test_help_from_a_table_is_made_when_it_is_shown() -> None:
    table: list[str] = []

    @dataclass(frozen=True)
    class Listed:
        name: str = option("--name", help=lambda: f"One of {', '.join(table)}.")

    (parameter,) = parameters(Listed)
    table += ["a", "b"]
    assert isinstance(parameter, click.Option) and parameter.help == "One of a, b."


def test_given_are_those_that_differ_from_their_defaults() -> None:
    names = ["--loud", "--states", "--seconds", "--name", ("--format", "text|csv")]
    assert given(asked(), names) == []
    assert given(asked("--states", "10", "--format", "csv"), names) == []
    assert given(asked("-l", "--seconds", "2"), names) == ["--loud", "--seconds"]
    assert given(asked("--states", "11", "--name", "n", "--format", "json"), names) == [
        "--states", "--name", "--format json",
    ]  # fmt: skip
    assert given(asked("-l"), ["-l"]) == ["-l"]


def test_an_option_that_is_in_no_class_cannot_be_asked_for() -> None:
    with pytest.raises(KeyError):
        given(asked(), ["--quiet"])


def test_the_first_rule_that_is_broken_is_said() -> None:
    rules: tuple[Rule[Options], ...] = (
        Rule("no {option}: {o.format}", lambda o: o.format == "csv", ("--loud", "--states")),
        Rule("without {names}", "--format", ("--loud", "--states", "--seconds")),
        Rule("{options} not for {o.files[0]}", lambda o: o.files and o.format == "text", ("--loud", "--states")),
        Rule("no name", lambda o: not o.names and not o.files),
    )

    def message(*arguments: str) -> str | None:
        try:
            check_rules(asked(*arguments), rules)
        except click.UsageError as error:
            return str(error)
        return None

    assert message("--format", "csv", "-l", "--states", "3") == "no --loud: csv"
    assert message("--format", "json", "-l", "--states", "3", "--seconds", "1") == (
        "without --loud, --states and --seconds"
    )
    assert message("f", "-l") == "--loud is not for f"
    assert message("f", "-l", "--states", "3") == "--loud, --states are not for f"
    assert message("--format", "csv") == "no name"
    assert message("f") is None and message("--name", "n") is None


def test_options_of_another_command_have_its_defaults() -> None:
    limits = Limits(1, 2.0)
    assert with_defaults(Options, files=("x",), limits=limits, pair="ab") == Options(
        ("x",), False, limits, "ab", "text", ()
    )


def test_collected_takes_what_belongs_to_the_class() -> None:
    assert collected(Pair, {"first": "x", "second": "y", "third": "z"}) == Pair("x", "y")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_two_options_of_a_command_are_called_the_same(name: str) -> None:
    params = command_named(name).params
    spelled = [spelling for each in params for spelling in (*each.opts, *each.secondary_opts)]
    assert len(set(spelled)) == len(spelled) and len({each.name for each in params}) == len(params)


def test_rules_of_commands_name_options_that_there_are() -> None:
    """Each rule can be checked, whatever is given."""
    from pgasrob.cli import check_options, explain, litmus, litmus_generate, race, run

    for module, kind in (
        (check_options, check_options.CheckOptions),
        (explain, explain.ExplainOptions),
        (litmus, litmus.LitmusOptions),
        (litmus_generate, litmus_generate.GenerateOptions),
        (race, race.RaceOptions),
        (run, run.RunOptions),
    ):
        options = {spelled for each in parameters(kind) for spelled in each.opts}
        for rules in (value for name, value in vars(module).items() if name.endswith("RULES")):
            for rule in rules:
                names = {name if isinstance(name, str) else name[0] for name in rule.refused}
                names |= {rule.when} if isinstance(rule.when, str) else set()
                assert names <= options, rule.message


def test_what_is_declared_costs_no_import_of_what_decides(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "import sys, pgasrob.cli.check_options; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert not [name for name in done.stdout.split() if name.startswith(("pgasrob.robustness", "pgasrob.frontends"))]
