"""The manual page: every command and option is in it, and `groff` has nothing to say against it."""

from __future__ import annotations

import re
import shutil
import subprocess

import click
import pytest
from click.testing import CliRunner

from pgasrob.cli import COMMANDS, cli, command_named


def page() -> str:
    answer = CliRunner().invoke(cli, ["man"])
    assert answer.exit_code == 0
    return answer.output


def test_every_command_and_option_is_in_it() -> None:
    text = page().replace("\\-", "-")
    for name in COMMANDS:
        command = command_named(name)
        assert f'.SS "pgasrob {name}' in text
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                assert param.opts[-1] in text, (name, param.opts)
    assert text.startswith(".TH PGASROB 1 ")
    assert re.search(r"^\.SH NAME\npgasrob \\?- \w", text, re.MULTILINE)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_reads_it() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Kutf8", "-Tutf8"],
        input=page().encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    shown = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout.decode())
    assert "pgasrob check [OPTIONS] FILE..." in shown
    assert "  pgasrob check ring.pgas -n 2..5" in shown  # not wrapped, and with hyphens that can be copied
