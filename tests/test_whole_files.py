"""Files are written as a whole: by every command, on a disk that is full, and by nobody in another way."""

from __future__ import annotations

import ast
import os
import resource
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob import whole_files
from pgasrob.cli import cli
from pgasrob.whole_files import CannotWrite, replace_file
from tests.test_imports import PACKAGE

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "programs"
OLD = "before\n"
SOME_BYTES = 16
"""Less than any file has that a command writes."""

ROBUST = "memory x; process { mem[x] <- 1; }"
RACE = """nodes 2; memory one = 1, x; register r; queue q;
process { write(one, (me + 1) % nodes, x, q); r <- mem[x]; }"""
TOO_MUCH = """memory x, y; register r; queue q;
process { write(x, 1 - me, y, q); wait(q); barrier; barrier; r <- mem[y]; }"""
LITMUS = ROOT / "programs/litmus/tso/sb_three_threads.litmus"


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can get longer than some bytes: what is written beyond them fails as on a full disk.

    Python would keep half of what it has compiled of a module, and fail to import it later.
    """
    before, compiled = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SOME_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = compiled
        signal.signal(signal.SIGXFSZ, handler)


def test_a_file_is_complete_or_not_there(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(OLD)
    with pytest.raises(UnicodeEncodeError):
        replace_file(old, "half of it \ud800")
    for target in (old, new):
        with full_disk(), pytest.raises(CannotWrite, match=f"cannot write {target}: File too large"):
            replace_file(target, 2 * SOME_BYTES * "x")
    assert old.read_text() == OLD and os.listdir(tmp_path) == ["old.txt"]


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a loss of power a name without its contents is worse than none."""
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        status = os.fstat(handle)
        done.append("folder" if stat.S_ISDIR(status.st_mode) else f"{status.st_size} bytes")
        fsync(handle)

    def replaced(source: str, target: str) -> None:
        done.append("name")
        replace(source, target)

    monkeypatch.setattr(whole_files.os, "fsync", synced)
    monkeypatch.setattr(whole_files.os, "replace", replaced)
    replace_file(tmp_path / "new.txt", "text\n")
    assert done == ["5 bytes", "name", "folder"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        new, old, link = tmp_path / "new.txt", tmp_path / "old.txt", tmp_path / "link.txt"
        replace_file(new, "text\n")
        assert stat.S_IMODE(new.stat().st_mode) == 0o640
        old.write_text(OLD)
        old.chmod(0o604)
        link.symlink_to(old)
        replace_file(link, "after\r\n")
        assert link.is_symlink()
        assert old.read_bytes() == b"after\r\n"
        assert stat.S_IMODE(old.stat().st_mode) == 0o604
    finally:
        os.umask(mask)


def test_what_is_secret_is_at_no_time_open_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, seen = tmp_path / "old.txt", []
    target.write_text(OLD)
    target.chmod(0o600)
    monkeypatch.setattr(whole_files.os, "chmod", lambda path, rights: seen.append(stat.S_IMODE(os.stat(path).st_mode)))
    replace_file(target, "after\n")
    assert seen == [0o600]


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_file(pipe, "text\n")
        assert os.read(reader, 100) == b"text\n"
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    finally:
        os.close(reader)
    with pytest.raises(CannotWrite, match=r"cannot write /dev/full: No space left on device"):
        replace_file("/dev/full", "text\n")
    redirected = tmp_path / "redirected.txt"
    with redirected.open("wb") as opened:
        replace_file(f"/dev/fd/{opened.fileno()}", "text\n")
        assert os.fstat(opened.fileno()).st_ino == redirected.stat().st_ino, "it is the file that is open"
    assert redirected.read_text() == "text\n"


# The commands

COMMANDS = [
    ("check ok.pgas --certificate it.json", "it.json"),
    ("check ok.pgas --certificate it.json.gz", "it.json.gz"),
    *((f"check race.pgas --witness it{ending}", f"it{ending}") for ending in (".json", ".svg", ".html", ".sarif")),
    ("race race.pgas --witness it.txt", "it.txt"),
    ("run race.pgas --witness it.tex", "it.tex"),
    ("repair race.pgas --write", "race.pgas"),
    ("thrift much.pgas --write", "much.pgas"),
    ("draw run.json -o it.svg", "it.svg"),
    ("show race.pgas --stage control -o it.svg", "it.svg"),
    ("show race.pgas --stage control -o it.dot", "it.dot"),
    ("explain race.pgas -o it.html", "it.html"),
    ("export race.pgas --to promela -o it.pml", "it.pml"),
    (f"litmus {LITMUS} --model rdma-tso --graph it.svg", "it.svg"),
    ("litmus generate --distinguish corerma,rdma-tso --size 3 --count 1 -o made", "made"),
    ("course handout ok.pgas -o out", "out"),
    ("course slides page.md -o out", "out"),
    ("course notebook page.md -o out", "out"),
    ("catalogue corpus", "corpus/README.md"),
    ("examples ring/token_ring.pgas --copy .", "token_ring.pgas"),
]


@pytest.mark.parametrize(("line", "target"), COMMANDS)
def test_a_full_disk_leaves_the_old_file_or_none(
    line: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"ok.pgas": ROBUST, "race.pgas": RACE, "much.pgas": TOO_MUCH, "page.md": "# Page\n"}.items():
        Path(name).write_text(text)
    Path("corpus").mkdir()
    Path("corpus/ok.pgas").write_text(ROBUST)
    if line.startswith("draw"):
        assert CliRunner().invoke(cli, ["check", "race.pgas", "--witness", "run.json"]).exit_code == 1
    if target.startswith("it"):
        Path(target).write_text(OLD)
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with full_disk():
        result = CliRunner().invoke(cli, line.split())
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert after == before
    assert result.exit_code == 2, result.output
    said = result.stderr.splitlines()[-1]
    assert said.startswith(f"pgasrob: cannot write {target}") and said.endswith(": File too large")
    assert CliRunner().invoke(cli, line.split()).exit_code in (0, 1)
    written = [path for path in Path().rglob("*") if path.is_file() and before.get(path) != path.read_bytes()]
    assert any(str(path).startswith(target) for path in written) and not list(Path().rglob(".pgasrob-*"))


# Who writes

WRITES = {
    # To the null device, and to streams that are open.
    "batch/cluster/child.py": 1, "cli/__init__.py": 2, "cli/course.py": 1, "cli/lsp.py": 1,
    "whole_files.py": 4,
    "batch/store.py": 1,  # a damaged file gets another name
    # What is in a temporary folder.
    "scratch_folders.py": 2,
    "explore/serve.py": 1, "robustness/spin.py": 3, "runtime/record/build.py": 4, "runtime/reproduce/execute.py": 4,
    # A trace, which the ranks write to while they run: its own header says how far it is whole.
    "runtime/record/run.py": 1, "runtime/record/trace.py": 2,
}  # fmt: skip
"""How often each module opens a file to write, moves or copies one."""
CALLS = {"write_text", "write_bytes", "copyfile", "copytree", "mkstemp", "NamedTemporaryFile", "rename"}


def writes(node: ast.AST) -> bool:
    match node:
        case ast.Call(ast.Attribute(_, name)) if name in CALLS:
            return True
        case ast.Call(ast.Attribute(ast.Name("os" | "shutil"), "replace" | "open" | "copy" | "copy2" | "move")):
            return "os.O_RDONLY" not in ast.unparse(node.args[1])
        case ast.Call(ast.Attribute(_, "open" | "fdopen") | ast.Name("open"), args, keywords):
            modes = [each.value for each in (*args, *(key.value for key in keywords)) if isinstance(each, ast.Constant)]
            return any(
                isinstance(mode, str) and set(mode) <= set("rwxabt+") and set(mode) & set("wxa+") for mode in modes
            )
    return False


def test_nobody_else_writes_files() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): sum(map(writes, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(PACKAGE / "kernel")
    }
    assert {path: count for path, count in found.items() if count} == WRITES, "use whole_files.replace_file"
