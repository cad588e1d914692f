"""What an editor shows of programs while they are typed, by a real client (pytest-lsp)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("pygls", reason="no pygls (pip install '.[test]')")
pytest_lsp = pytest.importorskip("pytest_lsp", reason="no pytest-lsp (pip install '.[test]')")

from lsprotocol.types import Diagnostic, DiagnosticSeverity, Position, Range  # noqa: E402

from pgasrob.lsp.server import Server, Work  # noqa: E402
from pgasrob.lsp.settings import MOST_AT_ONCE, MOST_TEXT  # noqa: E402
from tests.lsp.editor import Editor, Published, server, started  # noqa: E402

PROGRAMS = Path(__file__).parents[2] / "programs"
NOT_ROBUST = (PROGRAMS / "one_to_one/one_to_one.pgas").read_text()
ROBUST = NOT_ROBUST.replace("barrier", "wait(q); barrier")
ENDLESS = """memory x, y; register r; queue q; nodes 1;
process { loop { mem[x] <- r; r <- r + 1; assert(1); if (r < 0) { write(x, me, y, q); r <- mem[y]; } } }
"""
"""Its SC runs go on for longer than anybody waits, and none can tell beforehand that there is no violation."""

SLOW = """// nodes: 16
#include <shmem.h>
int main(void) {
  long sum = 0;
  shmem_init();
  for (long i = 0; i < 20000000; i++) sum += i * sum;
  return sum > 0;
}
"""
"""Takes minutes to read, and no memory."""


@pytest_lsp.fixture(config=server("-n", "2"), scope="module")
async def editor(editor: Editor) -> AsyncIterator[None]:
    # As some editors have it; the answer is UTF-16 all the same.
    begun = await editor.begin(["utf-8", "utf-16"])
    assert begun.capabilities.position_encoding == "utf-16"
    yield
    await editor.shutdown_session()


pytestmark = pytest.mark.asyncio(loop_scope="module")


def only(published: Published) -> Diagnostic:
    (diagnostic,) = published
    return diagnostic


def errors(published: Published) -> list[Diagnostic]:
    return [each for each in published if each.severity == DiagnosticSeverity.Error]


def piece(text: str, where: Range) -> str:
    """What stands there, by UTF-16 code units."""

    def offset(position: Position) -> int:
        before = "".join(text.splitlines(keepends=True)[: position.line])
        return len(before.encode("utf-16-le")) + 2 * position.character

    return text.encode("utf-16-le")[offset(where.start) : offset(where.end)].decode("utf-16-le")


async def test_a_violation_is_shown_with_its_cycle_and_gone_when_it_is_mended(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "one to one ü.pgas", NOT_ROBUST)
    violation, race = await editor.findings(uri)
    assert (violation.code, violation.severity, violation.source) == ("not-robust", DiagnosticSeverity.Error, "pgasrob")
    assert violation.message.startswith("not robust on 2 nodes: ")
    assert violation.related_information and len(violation.related_information) > 2
    assert {each.location.uri for each in violation.related_information} == {uri}
    places = {piece(NOT_ROBUST, each.location.range) for each in violation.related_information}
    assert places == {"r <- mem[y]", "write(x, (me + 1) % nodes, y, q)", "barrier"}
    assert (race.code, race.severity) == ("race", DiagnosticSeverity.Warning)
    editor.change(uri, ROBUST, 2)
    assert not await editor.findings(uri, 2)
    editor.change(uri, NOT_ROBUST, 3)
    assert len(await editor.findings(uri, 3)) == 2
    editor.close(uri)
    await editor.until(lambda: not editor.published[uri][1])


async def test_c_that_is_on_no_disk(editor: Editor, tmp_path: Path) -> None:
    text = (PROGRAMS / "c/openshmem/store_buffering.c").read_text()
    for place in (tmp_path / "a.c", "untitled:Untitled-1"):
        uri = editor.open(place, text, "c")
        (violation, *_) = errors(await editor.findings(uri))
        assert violation.code == "not-robust"
        assert piece(text, violation.range) == "shmem_int_p(&mine, 1, other)"
        editor.close(uri)


async def test_a_race_in_a_robust_program_is_no_more_than_information(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "dekker.pgas", (PROGRAMS / "dekker/dekker.pgas").read_text())
    race = only(await editor.findings(uri))
    assert (race.code, race.severity) == ("race", DiagnosticSeverity.Information)
    assert race.related_information and len(race.related_information) == 2


async def test_what_goes_wrong_in_sequentially_consistent_runs(editor: Editor, tmp_path: Path) -> None:
    text = "register r;\nqueue q;\nprocess {\n  r <- me + 1;\n  assert(r == 1);\n}\n"
    failing = only(await editor.findings(editor.open(tmp_path / "assertion.pgas", text)))
    assert (failing.code, failing.severity) == ("failing-assertion", DiagnosticSeverity.Error)
    assert piece(text, failing.range) == "assert(r == 1)"
    text = "process 0 { barrier; }\nprocess { skip; }\n"
    deadlock = only(await editor.findings(editor.open(tmp_path / "deadlock.pgas", text)))
    assert (deadlock.code, deadlock.severity) == ("deadlock", DiagnosticSeverity.Error)
    # Of the command that waits the beginning is known: its first word is marked.
    assert piece(text, deadlock.range) == "barrier"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_columns_are_utf_16_and_lines_are_those_of_the_editor(editor: Editor, tmp_path: Path, end: str) -> None:
    lines = ["// äöü 😀 \u2028 \f and on", "register r;", "process {", "  /* 😀😀 ß */ r <- 1; foo(); skip;", "}"]
    text = end.join(lines)
    uri = editor.open(tmp_path / f"positions{ord(end[-1])}{len(end)}.pgas", text)
    error = only(await editor.findings(uri))
    assert (error.code, error.severity) == ("PG026", DiagnosticSeverity.Error)
    begin = lines[3].index("foo") + 2  # two characters are two units each
    assert error.range == Range(Position(3, begin), Position(3, begin + 3))


async def test_errors_say_what_to_do(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "error.pgas", "process { barier; }\n")
    related = only(await editor.findings(uri)).related_information
    assert related and "did you mean `barrier`?" in related[0].message
    uri = editor.open(tmp_path / "error.c", "#include <shmem.h>\nint main(void) { shmem_init(); return {; }\n")
    (error, *_) = await editor.findings(uri)
    assert (error.severity, error.range.start.line) == (DiagnosticSeverity.Error, 1)
    uri = editor.open(tmp_path / "empty.pgas", "")
    assert only(await editor.findings(uri)).code == "PG003"


async def test_headers_lie_beside_the_file_or_in_the_editor(editor: Editor, tmp_path: Path) -> None:
    header, text = tmp_path / "put.h", (PROGRAMS / "c/openshmem/put_barrier.c").read_text()
    program = f'#include "put.h"\n{text}'
    header.write_text("int answer(void);\n")
    uri = editor.open(tmp_path / "put.c", program)
    assert errors(await editor.findings(uri)) == []
    changed = editor.open(header, "int answer(void;\n")
    await editor.until(lambda: errors(editor.published.get(changed, (0, ()))[1]))
    assert editor.published[changed][1][0].range.start.line == 0
    editor.change(changed, "int answer(void);\n", 2)
    await editor.until(lambda: editor.published[changed] == (2, ()))


async def test_other_c_is_left_alone(editor: Editor, tmp_path: Path) -> None:
    plain = editor.open(tmp_path / "plain.c", "int main(void) { syntax error }\n")
    assert not await editor.findings(plain)
    part = editor.open(tmp_path / "part.c", "#include <shmem.h>\nint me(void) { return shmem_my_pe(); }\n")
    assert not await editor.findings(part)


async def test_a_large_text_is_not_looked_at(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "large.pgas", NOT_ROBUST + "// and so on\n" * (MOST_TEXT // 13))
    published = only(await editor.findings(uri))
    assert published.severity == DiagnosticSeverity.Information
    assert "at most 262,144" in published.message and "`pgasrob check`" in published.message


async def test_a_change_ends_the_search(tmp_path: Path) -> None:
    """Searches that went on would leave no process for the others."""
    async with started("--timeout", "600") as editor:
        uris = [editor.open(tmp_path / f"{number}.c", SLOW) for number in range(MOST_AT_ONCE)]
        await editor.until(lambda: editor.shown == ["on 16 nodes"] * MOST_AT_ONCE)
        soon = editor.open(tmp_path / "soon.c", SLOW.replace("20000000", "2"))
        for uri in uris:
            editor.change(uri, SLOW.replace("20000000", "1"), 2)
        for uri in uris:
            assert not await editor.findings(uri, 2)
        assert not await editor.findings(soon)
        # And one that is at work when the editor goes does not hold it up.
        del editor.shown[:]
        editor.change(soon, SLOW, 2)
        await editor.until(lambda: editor.shown)


async def test_what_is_not_known_is_shown(tmp_path: Path) -> None:
    async with started("--timeout", "0.5", "--max-states", "0") as editor:
        published = only(await editor.findings(editor.open(tmp_path / "endless.pgas", ENDLESS)))
        assert published.severity == DiagnosticSeverity.Information
        assert published.message.startswith("unknown on 1 node: ") and "0.5 s" in published.message


async def test_an_internal_error_has_its_code_and_place() -> None:
    async def broken(_: object) -> AsyncIterator[None]:
        raise ValueError("something is wrong")
        yield

    published: list[Diagnostic] = []
    here: Any = SimpleNamespace(
        _found=broken, _publish=lambda _, found: published.extend(found["p"]), window_log_message=lambda _: None
    )
    program = SimpleNamespace(file="p.pgas", texts=(("p.pgas", ROBUST),))
    await Server._look_at(here, Work(cast(Any, program), cast(Any, SimpleNamespace(uri=lambda _: "p"))))
    (error,) = published
    assert (error.code, "ValueError: something is wrong; please report it" in error.message) == ("PG190", True)
