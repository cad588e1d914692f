"""A second wall around programs of strangers: a process that reads no files but those it is made of, and writes none.

The front ends are given no files to begin with (`Texts`). Should one of them, or what it calls, ask the system all the
same, Python refuses: a hook looks at each file that is opened and each process or connection that is begun.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

OF_THE_SYSTEM = ("/proc/self/statm", "/proc/meminfo", "/sys/fs/cgroup", "/dev/null", "/dev/urandom")
"""What limits of memory are known from."""
READ = ("open", "os.listdir", "os.scandir")
ENDED = (
    *("subprocess", "socket", "shutil", "ftplib", "http", "urllib", "smtplib", "sqlite3", "webbrowser", "tempfile"),
    *("os.chdir", "os.chflags", "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.fwalk", "os.kill"),
    *("os.link", "os.lockf", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.removexattr", "os.rename"),
    *("os.rmdir", "os.setxattr", "os.spawn", "os.startfile", "os.symlink", "os.system", "os.truncate", "os.unsetenv"),
    *("os.utime", "os.walk", "pty.spawn"),
)
"""Events (or the rooms of them) that are refused whatever they are about."""


@cache
def from_now_on() -> None:
    """Refuse all this to the process from now on, for good."""
    from pgasrob.program.parser import parse

    parse("process { skip; }")  # makes the tables of the parser, which a file has that is nobody's business here
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.dont_write_bytecode = True
    own = _readable()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in READ:
            if not _may_be_read(event, arguments, own):
                raise PermissionError(f"no file is read here: {event}")
        elif event in ENDED or event.partition(".")[0] in ENDED:
            raise PermissionError(f"this is not done here: {event}")

    sys.addaudithook(hook)


def _readable() -> tuple[str, ...]:
    """The folders that the interpreter and the packages are in, and what limits are known from; with a slash behind."""
    found = sysconfig.get_paths()
    paths = {found[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {Path(__file__).parents[1]}
    return tuple(f"{os.path.realpath(path)}{os.sep}" for path in (*paths, *OF_THE_SYSTEM))


def _may_be_read(event: str, arguments: tuple[Any, ...], own: tuple[str, ...]) -> bool:
    path = arguments[0]
    if event == "open":
        _, mode, flags = arguments
        writes = (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
            return False
    if isinstance(path, int):
        return True  # it is open already
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    real = os.path.realpath(os.fsdecode(path))
    return f"{real}{os.sep}".startswith(own)
