"""What stands beside a program in an editor: its verdict, what calls promise, and repairs, by a real client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="no pygls (pip install '.[test]')")
pytest_lsp = pytest.importorskip("pytest_lsp", reason="no pytest-lsp (pip install '.[test]')")

from lsprotocol import types  # noqa: E402

from tests.lsp.editor import Editor, server  # noqa: E402

PROGRAMS = Path(__file__).parents[2] / "programs"
NOT_ROBUST = (PROGRAMS / "one_to_one/one_to_one.pgas").read_text()
ANY_NUMBER = NOT_ROBUST.replace("nodes 2;\n", "")
SHMEM = """#include <shmem.h>
#include <stdio.h>

int x, y;
// no main() here: "😀"
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  /* 😀 */ shmem_int_put_nbi(&x, &y, 1, 1 - me); shmem_barrier_all();
  x = 3;
  shmem_finalize();
}
"""


@pytest_lsp.fixture(config=server(), scope="module")
async def editor(editor: Editor) -> AsyncIterator[None]:
    await editor.begin()
    yield
    await editor.shutdown_session()


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def lens(editor: Editor, uri: str) -> types.CodeLens:
    lenses = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert lenses
    (lens,) = lenses
    return lens


async def hover(editor: Editor, uri: str, text: str, at: str) -> tuple[str, types.Range] | None:
    """What is said of the first place of ``at`` in the ``text``."""
    before = text[: text.index(at)]
    line = before.count("\n")
    place = types.Position(line, len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2)
    found = await editor.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), place))
    if found is None:
        return None
    assert isinstance(found.contents, types.MarkupContent) and found.range
    return found.contents.value, found.range


async def repairs(editor: Editor, uri: str) -> list[types.CodeAction]:
    await editor.findings(uri)
    published = [each for each in editor.published[uri][1] if each.code == "not-robust"]
    where = published[0].range if published else types.Range(types.Position(0, 0), types.Position(0, 0))
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, types.CodeActionContext(published))
    actions = await editor.text_document_code_action_async(params)
    assert actions is not None
    return [each for each in actions if isinstance(each, types.CodeAction)]


def edited(text: str, edits: list[types.TextEdit] | tuple[types.TextEdit, ...]) -> str:
    """The text with the edits, as an editor makes them."""
    data, starts = text.encode("utf-16-le"), [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode("utf-16-le")))

    def offset(place: types.Position) -> int:
        return starts[place.line] + 2 * place.character

    for edit in sorted(edits, key=lambda each: offset(each.range.start), reverse=True):
        data = data[: offset(edit.range.start)] + edit.new_text.encode("utf-16-le") + data[offset(edit.range.end) :]
    return data.decode("utf-16-le")


async def test_the_verdict_stands_above_the_program(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "any.pgas", ANY_NUMBER)
    not_robust = await lens(editor, uri)
    assert not_robust.command and not_robust.command.title == "not robust on 2..4 nodes"
    line = ANY_NUMBER.splitlines().index("program one_to_one;")
    assert not_robust.range == types.Range(types.Position(line, 0), types.Position(line, len("program")))
    editor.change(uri, ANY_NUMBER.replace("barrier", "wait(q); barrier"), 2)
    robust = await lens(editor, uri)
    assert robust.command and robust.command.title == "robust on 2..4 nodes"
    own = await lens(editor, editor.open(tmp_path / "own.pgas", NOT_ROBUST.replace("nodes 2", "nodes 3")))
    assert own.command and own.command.title == "not robust on 3 nodes"


async def test_the_verdict_of_c_stands_above_main(editor: Editor, tmp_path: Path) -> None:
    found = await lens(editor, editor.open(tmp_path / "lens.c", SHMEM))
    assert found.range.start == types.Position(5, 4)


async def test_what_commands_promise(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "hover.pgas", NOT_ROBUST)
    found = await hover(editor, uri, NOT_ROBUST, "write(")
    assert found
    text, where = found
    assert text.startswith("Starts a put and continues") and "queue q" in text
    assert where.start == types.Position(10, 2)
    barrier = await hover(editor, uri, NOT_ROBUST, "barrier;")
    assert barrier and "completes and orders no operation" in barrier[0]
    assert await hover(editor, uri, NOT_ROBUST, "memory") is None
    editor.change(uri, NOT_ROBUST + "}", 2)
    assert await hover(editor, uri, NOT_ROBUST, "barrier;") is None


async def test_what_calls_promise_is_what_they_are_read_as(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "hover.c", SHMEM)
    put = await hover(editor, uri, SHMEM, "shmem_int_put_nbi")
    assert put and put[0].startswith("Starts a put and continues: its source is read some time later")
    assert put[0].endswith("By OpenSHMEM 1.5")
    assert put[1].start == types.Position(8, len("  /* 😀 */ ") + 1)
    barrier = await hover(editor, uri, SHMEM, "shmem_barrier_all")
    assert (
        barrier
        and barrier[0].startswith("- Waits until the shmem_int_put_nbi in line 9 is complete here and at the target.")
        and "\n- Waits until all" in barrier[0]
    )
    assert await hover(editor, uri, SHMEM, "x = 3") is None


async def test_repairs_are_offered_at_a_violation_and_make_it_robust(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "repair.pgas", ANY_NUMBER)
    first, *others = await repairs(editor, uri)
    assert first.title == "Insert `wait(q);` in line 11; then it is robust on 2, 3 and 4 nodes"
    assert first.is_preferred and not any(each.is_preferred for each in others)
    assert first.diagnostics and [each.code for each in first.diagnostics] == ["not-robust"]
    assert first.edit and first.edit.changes
    ((changed, edits),) = first.edit.changes.items()
    assert changed == uri
    text = edited(ANY_NUMBER, list(edits))
    assert text.count("wait(q);") == 1
    editor.change(uri, text, 2)
    assert not await editor.findings(uri, 2)
    assert await repairs(editor, editor.open(tmp_path / "robust.pgas", text)) == []


async def test_repairs_of_c(editor: Editor, tmp_path: Path) -> None:
    text = (PROGRAMS / "c/openshmem/message_passing_no_fence.c").read_text().replace("// expect", "// 😀 expect")
    uri = editor.open(tmp_path / "repair.c", text)
    (first, *_) = await repairs(editor, uri)
    assert "Insert `shmem_fence();` in line" in first.title
    assert first.edit and first.edit.changes
    editor.change(uri, edited(text, list(first.edit.changes[uri])), 2)
    await editor.until(lambda: editor.published[uri][0] == 2)
    assert not [each for each in editor.published[uri][1] if each.code == "not-robust"]
