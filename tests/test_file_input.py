"""Files are read in one way, which refuses what is no file and what is too large."""

from __future__ import annotations

import ast
import gzip
import io
import os
import pickle
import socket
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import file_input
from pgasrob.cli import cli
from pgasrob.file_input import RAISED, RefusedFile, all_of, opened, read, text, why

PACKAGE = Path(file_input.__file__).parent

READ_OTHERWISE = {
    "file_input.py": "os.open",
    # Files of the package and of what is installed with it.
    "batch/build_id.py": "read_text read_bytes",
    "diagnostics/catalogue.py": "read_text",
    "kernel/packaging.py": "copyfile",
    "manual/site/conf.py": "read_text read_text",
    "program/corpus.py": "read_bytes read_bytes read_text",
    "program/kept_tables.py": "read_text",
    "render/page.py": "read_text",
    "runtime/record/build.py": "read_text",
    # Files of the system.
    "cli/__init__.py": "os.open",
    "robustness/limits.py": "open open open os.open",
    # Files that this process writes, or has just had written in a folder of its own.
    "whole_files.py": "os.open os.open",
    "scratch_folders.py": "os.open os.open",
    "robustness/spin.py": "open read_bytes read_text",
    "runtime/record/trace.py": "open",
    "runtime/reproduce/execute.py": "read_text",
    # What is no file: a browser, C.
    "explore/serve.py": "open",
    "frontends/c/libc/shared_strings.py": "",
}
"""Where files are read or opened otherwise, by which functions."""
READING = {
    "open",
    "read_text",
    "read_bytes",
    "open_text",
    "open_binary",
    "copyfile",
    "copy",
    "copy2",
    "copytree",
    "File",
}
MODULES = {"os", "io", "gzip", "bz2", "lzma", "tarfile", "zipfile", "shelve", "codecs", "tokenize", "click"}
"""Modules whose functions of such names open files."""


def opening(tree: ast.AST) -> list[str]:
    """The calls in ``tree`` that may open a file, by name."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if any(isinstance(each, ast.Constant) and each.value in ("w", "wb") for each in node.args):
            continue  # it is written
        match node.func:
            case ast.Name("open"):
                found.append("open")
            case ast.Attribute(ast.Name(module), name) if module in MODULES and name in READING:
                found.append(f"{module}.{name}")
            case ast.Attribute(ast.Name("shutil"), name) if name in READING:
                found.append(name)
            case ast.Attribute(_, "open" | "read_text" | "read_bytes" as name):
                found.append(name)
    return found


def test_files_are_read_in_one_way() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if calls := opening(ast.parse(path.read_text(encoding="utf-8"))):
            found[path.relative_to(PACKAGE).as_posix()] = Counter(calls)
    assert found == {path: Counter(names.split()) for path, names in READ_OTHERWISE.items() if names}


def test_what_opens_files_is_recognised() -> None:
    text = "open(a); Path(a).open(); p.read_text(); gzip.open(a); os.open(a, 0); io.open(a); shutil.copy(a, b); "
    text += "click.File()"
    calls = "open open read_text gzip.open os.open io.open copy click.File"
    assert sorted(opening(ast.parse(text))) == sorted(calls.split())


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    pipe, socket_path = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(socket_path))
        for path, what in ((pipe, "a pipe"), (socket_path, "a device or a socket"), (Path("/dev/zero"), "a device")):
            with pytest.raises(RefusedFile) as refused:
                read(path)
            assert why(refused.value)[0].startswith(f"it is {what}") and why(refused.value)[1]
    with pytest.raises(IsADirectoryError) as folder:
        read(tmp_path)
    assert why(folder.value) == ("it is a folder, not a file", "name a file in it")
    with pytest.raises(FileNotFoundError) as missing:
        read(tmp_path / "missing")
    assert why(missing.value)[0] == "No such file or directory"
    with pytest.raises(ValueError, match="null byte"):
        read("a\0b")


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"")
    os.mkfifo(pipe)
    before = os.stat(file)
    monkeypatch.setattr(os, "stat", lambda path: before)
    with pytest.raises(RefusedFile):
        read(pipe)
    assert not [each for each in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{each}") == str(pipe)]


def test_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12\r\n3")
    assert (read(file, 5), text(file)) == (b"12\r\n3", "12\n3")
    with pytest.raises(RefusedFile) as refused:
        read(file, 4)
    what, hint = why(refused.value)
    assert (what, "--max-file SIZE" in hint) == ("it is larger than 4 bytes", True)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value), "clusters send it"
    monkeypatch.setenv(RAISED, "5")
    assert read(file, 4) == b"12\r\n3"
    monkeypatch.setenv(RAISED, "3")
    assert read(file, 5) == b"12\r\n3", "it can only be raised"
    for wrong in ("", "x", "9" * 30, "²"):
        monkeypatch.setenv(RAISED, wrong)
        assert read(file, 5) == b"12\r\n3"
    with opened(file, None) as whole:
        assert whole.read() == b"12\r\n3"


def test_what_is_packed_is_bounded_unpacked(tmp_path: Path) -> None:
    packed = io.BytesIO(gzip.compress(bytes(10_000_000)))
    assert len(packed.getvalue()) < 20_000
    with pytest.raises(RefusedFile, match="larger than 1 MB"):
        all_of(gzip.GzipFile(fileobj=packed), "a.gz", 1_000_000)


def test_the_option_raises_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_input, "SOURCE", 1000)
    monkeypatch.setenv(RAISED, "")  # put back afterwards
    file = tmp_path / "long.pgas"
    file.write_bytes(b"process { }".ljust(1001))
    refused = CliRunner().invoke(cli, ["check", str(file)])
    assert (
        refused.exit_code == 2 and "error[PG004]: cannot read the file: it is larger than 1000 bytes" in refused.output
    )
    assert CliRunner().invoke(cli, ["--max-file", "2K", "check", str(file)]).exit_code == 0


@pytest.mark.parametrize(
    "command",
    [
        ["check", "{}"], ["race", "{}"], ["outcomes", "{}"], ["litmus", "{}.litmus"], ["draw", "{}", "--to", "svg"],
        ["repair", "{}"], ["check", "--compile-commands", "{}"], ["check", "{file}", "--baseline", "{}"],
        ["certify", "{file}", "{}"], ["repair", "{file}", "--costs", "{}"], ["explain", "{}"],
        ["check", "{c}", "--with", "{}"], ["check", "{c}", "-I", "{folder}"], ["course", "slides", "{}"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_command_waits_for_a_pipe(command: list[str], tmp_path: Path) -> None:
    """Nobody ever writes to it, and no limit is looked at while the system waits."""
    pipe = tmp_path / "pipe"
    for each in (pipe, tmp_path / "pipe.litmus", tmp_path / "pipe.h"):
        os.mkfifo(each)
    (tmp_path / "file.pgas").write_text("process { }", encoding="utf-8")
    (tmp_path / "file.c").write_text('#include "pipe.h"\nint main() { return 0; }', encoding="utf-8")
    given = {"file": tmp_path / "file.pgas", "c": tmp_path / "file.c", "folder": tmp_path}
    result = CliRunner().invoke(cli, [each.format(pipe, **given) for each in command])
    assert result.exit_code == 2, result.output
    assert "a pipe, not a file" in result.output or "include" in result.output, result.output


def test_the_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_input, "SOURCE", 1000)
    given = b"process { }".ljust(1001)
    result = CliRunner().invoke(cli, ["check", "-"], input=given)
    assert result.exit_code == 2 and "cannot read the standard input: it is larger than 1000 bytes" in result.output
    assert sys.stdin is not None


def test_a_name_that_nearly_exists(tmp_path: Path) -> None:
    (tmp_path / "ring.pgas").write_text("process { skip; }")
    (tmp_path / "rings").mkdir()
    for name, hint in {
        "rign.pgas": f"did you mean `{tmp_path}/ring.pgas`?", "other.pgas": "check the name and the rights",
        "ringss": "check the name and the rights", "none/ring.pgas": "check the name and the rights",
    }.items():  # fmt: skip
        with pytest.raises(FileNotFoundError) as caught:
            read(tmp_path / name)
        assert why(caught.value)[1] == hint
