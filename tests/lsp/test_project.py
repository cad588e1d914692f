"""A project with a database of its compiler's commands, as an editor opens it (pytest-lsp)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="no pygls (pip install '.[test]')")
pytest.importorskip("pytest_lsp", reason="no pytest-lsp (pip install '.[test]')")

from tests.lsp.editor import started

pytestmark = pytest.mark.asyncio

HEADER = "#include <shmem.h>\nextern int data, flag;\nvoid send(void);\n"
MAIN = """\
#include <cell.h>
int data, flag;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == SENDER) send();
  else { shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1); int got = data; }
  shmem_finalize();
  return 0;
}
"""
SEND = """\
#include <cell.h>
void send(void) {
  shmem_int_p(&data, VALUE, 1 - SENDER);
  shmem_int_p(&flag, 1, 1 - SENDER);
}
"""


async def test_commands_of_the_compiler_say_how_files_are_read(tmp_path: Path) -> None:
    """Folders of headers and macros, of each file its own, and the other files of the program, on the disk or open."""
    for name, text in {"inc/cell.h": HEADER, "src/main.c": MAIN, "src/send.c": SEND}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "build").mkdir()
    macros = {"main": "-DSENDER=0", "send": "-DSENDER=0 -D VALUE=7"}
    database = [
        {"directory": str(tmp_path / "build"), "file": f"../src/{name}.c", "command": f"cc -I../inc {each} -c x.c"}
        for name, each in macros.items()
    ]
    (tmp_path / "build/compile_commands.json").write_text(json.dumps(database))
    main, send = tmp_path / "src/main.c", tmp_path / "src/send.c"
    async with started("-n", "2", "--no-races", "--compile-commands", str(tmp_path / "build")) as editor:
        uri = editor.open(main, MAIN)
        assert not await editor.findings(uri)
        await editor.until(lambda: send.as_uri() in editor.published)
        (found,) = editor.published[send.as_uri()][1]  # it is where the put is that comes too late
        assert found.code == "not-robust" and "line send.c:3" in found.message
        assert found.related_information and "reads 7" in found.related_information[-1].message
        places = {(each.location.uri, each.location.range.start.line) for each in found.related_information}
        assert places == {(uri, 5), (send.as_uri(), 2), (send.as_uri(), 3)}
        editor.published.clear()
        editor.open(send, SEND.replace("SENDER);", "SENDER); shmem_fence();", 1))  # it has no main: it is part of it
        await editor.until(lambda: uri in editor.published)
        assert not editor.published[uri][1]


async def test_a_header_that_builds_generate_may_be_missing(tmp_path: Path) -> None:
    main, text = tmp_path / "main.c", f'#include "config.h"\n{HEADER}int data, flag;\nint main(void) {{ send(); }}\n'
    async with started("-n", "2", "--no-races", "--define-missing-config") as editor:
        (found,) = await editor.findings(editor.open(main, text))
        assert found.code == "PG125"  # and not that the header is missing
