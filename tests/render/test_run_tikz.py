"""The LaTeX drawing: complete, escaped, and compiled with what Debian's three TeX packages have."""

from __future__ import annotations

import re
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path

import pytest

from pgasrob.batch.job import Job
from pgasrob.cli.draw import only
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_tikz import LARGEST, to_tikz
from pgasrob.render.verdict_json import Result, to_json
from tests.render.diagram.test_model import corpus, long_run, result_of, with_runs
from tests.render.test_output_files import FAULT, nasty, of_witness
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE
from tests.support import check_all

needs_tex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="pdflatex is not installed (texlive-latex-base, texlive-latex-recommended and texlive-pictures have it)",
)

ODD_C = r"""#include <shmem.h>
long data_ = 0, flag_1 = 0;
int main(void) {
    long mask = 5 % 3 | 1 << 2;
    shmem_init();
    if (shmem_my_pe() == 0) {
        /* 中文 😀 "~^\" 100% #1 */ data_ = mask & 3; shmem_long_put_nbi(&data_, &mask, 1, 1);
        /* é */ shmem_long_p(&flag_1, '#' ^ '~' | "é→中😀"[0] != 0, 1);
    } else {
        shmem_long_wait_until(&flag_1, SHMEM_CMP_NE, 0);
        long r = data_;
    }
    shmem_finalize();
    return 0;
}
"""


def compiled(text: str, folder: Path) -> str:
    """The log of `pdflatex`, which has made one page of ``text`` without anything to complain about."""
    (folder / "run.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "run.tex"],
        cwd=folder, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    log = (folder / "run.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-3000:]
    assert not re.findall(r"(?i)overfull|underfull|missing character|warning", log.replace("infwarerr", ""))
    return log


@needs_tex
@pytest.mark.parametrize(
    "name", ["one_to_one/one_to_one.pgas", "mcs_lock/mcs_lock_fifo.pgas", "c/openshmem/transpose_sync.c"]
)
def test_it_compiles_to_one_page_of_its_size(name: str, tmp_path: Path) -> None:
    text = to_tikz(corpus(name))
    assert "(1 page," in compiled(text, tmp_path)
    width, height = map(float, re.findall(r"paper(?:width|height)=([\d.]+)pt", text))
    (right, bottom) = map(float, re.findall(r"bounding box\] \(0,0\) rectangle \(([\d.]+),([\d.]+)\)", text)[0])
    assert (width, height) == (pytest.approx(right + 20), pytest.approx(bottom + 20))


@needs_tex
def test_odd_c_sources_compile(tmp_path: Path) -> None:
    (tmp_path / "odd_é%.c").write_text(ODD_C)
    (checked,) = check_all([str(tmp_path / "odd_é%.c")], Job())
    text = to_tikz(to_json(checked.verdict))
    assert r"\pgasrobchar{1.05}{4E2D}" in text
    compiled(text, tmp_path)


@needs_tex
def test_nasty_texts_and_other_ends_compile(tmp_path: Path) -> None:
    for result in (nasty(), only(result_of(DEADLOCK, 3), "deadlock"), result_of(FAULT)):
        compiled(to_tikz(result), tmp_path)


@needs_tex
def test_it_can_be_read_into_slides(tmp_path: Path) -> None:
    if not subprocess.run(["kpsewhich", "beamer.cls"], capture_output=True, check=False).stdout:
        pytest.skip("beamer is not installed (texlive-latex-recommended has it)")
    (tmp_path / "drawn.tex").write_text(to_tikz(result_of(ONE_TO_ONE)), encoding="utf-8")
    (tmp_path / "slides.tex").write_text(
        r"""\documentclass{beamer}\usepackage{tikz}\usetikzlibrary{arrows.meta}
\begin{document}\begin{frame}{A run}\resizebox{\linewidth}{!}{\input{drawn.tex}}\end{frame}
\begin{frame}{Twice}\resizebox{!}{.7\textheight}{\input{drawn}}\end{frame}\end{document}
"""
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "slides.tex"],
        cwd=tmp_path, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    log = (tmp_path / "slides.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-3000:]
    assert "(2 pages," in log
    assert "Overfull" not in log


def test_everything_of_the_diagram_is_drawn() -> None:
    result = corpus("mcs_lock/mcs_lock_fifo.pgas")
    assert result["witness"]
    diagram = layout(result["witness"])
    drawing = to_tikz(result).partition(r"\begin{scope}")[2].partition("% captions")[0]
    assert len(re.findall(r"\\path\[run (?:box|step)", drawing)) == len(diagram.boxes)
    assert drawing.count(r"\path[run step") == len([box for box in diagram.boxes if box.kind == "step"])
    for relation in ("po", "cf", "id"):
        lines = [line for line in diagram.lines if line.relation == relation]
        assert drawing.count(rf"\path[run {relation}]") == len([line for line in lines if not line.number])
        assert drawing.count(rf"\path[run cycle {relation}]") == len([line for line in lines if line.number])
    numbers = [line.number for line in diagram.lines if line.number]
    assert sorted(map(int, re.findall(r"badge text\][^{]*\{(\d+)~", drawing))) == sorted(numbers)
    assert drawing.count(r"\path[run axis]") == len(diagram.lanes)
    assert drawing.count("circle") == len([box for box in diagram.boxes if box.reach is not None])
    assert drawing.count(r"$\tau$$_") == len(diagram.parts)


def test_every_run_of_the_corpus_is_plain_ascii_and_balanced() -> None:
    for file, witness in with_runs():
        text = to_tikz(of_witness(file, witness))
        assert text.isascii(), file
        body = re.sub(r"\\[{}]", "", text)
        assert body.count("{") == body.count("}")
        assert max(map(float, re.findall(r"[(,](-?[\d.]+)(?=[,)])", text))) <= LARGEST


def test_a_drawing_too_large_for_tex_is_scaled() -> None:
    text = to_tikz(of_witness("long.pgas", long_run(300, 2)))
    numbers = [float(number) for pair in re.findall(r"\(([\d.]+),([\d.]+)\)", text) for number in pair]
    assert LARGEST * 0.98 < max(numbers) <= LARGEST
    assert re.search(r"outer sep=0pt,scale=0\.\d+\}", text)
    assert "scale=" not in to_tikz(result_of(ONE_TO_ONE))


def test_the_part_to_cut_out_needs_nothing_else() -> None:
    result: Result = deepcopy(result_of(ONE_TO_ONE))
    inside = to_tikz(result).partition("% cut here\n")[2].partition("% to here")[0]
    assert inside.startswith(r"\begin{tikzpicture}") and inside.rstrip("%\n").endswith(r"\end{tikzpicture}")
    used = set(re.findall(r"\\pgasrob[a-z]+", inside)) - {r"\pgasrobend"}
    assert used <= {rf"\{name}" for name in re.findall(r"providecommand\\(\w+)", inside)}
