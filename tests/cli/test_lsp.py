"""The command `pgasrob lsp`: what it refuses."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory-limit", "0"), "an editor's checks need a limit"),
        (("--nodes", "0"), "a program runs on"),
        (("-I", "nowhere"), "there is no such folder"),
        (("file.pgas",), "unexpected extra argument"),
    ],
)
def test_wrong_options_end_it_before_it_begins(options: tuple[str, ...], message: str) -> None:
    pytest.importorskip("pygls", reason="no pygls (pip install '.[test]')")
    answer = CliRunner().invoke(cli, ["lsp", *options])
    assert (answer.exit_code, message in answer.output) == (2, True)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("pygls", "pgasrob.lsp"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    answer = CliRunner().invoke(cli, ["lsp"])
    assert answer.exit_code == 2 and "pip install 'pgasrob[lsp]'" in answer.output
