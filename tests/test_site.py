"""The documentation is built as one site without a warning; it has every public name, and nothing on it is cut."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import pgasrob

ROOT = Path(__file__).parents[1]
SITE = ROOT / "pgasrob/manual/site"
PAGES = (
    "pgasrob/manual/site/index",
    "pgasrob/manual/site/reference",
    "pgasrob/manual/c",
    "pgasrob/manual/scripts",
    "programs/README",
    "programs/c/mpi/barrier_halo.c",
    "programs/lectures/2_sequential_consistency/lecture",
    "proofs/normal-form",
)
SIZES = ((1280, 800), (1024, 768), (390, 844))
CUT = """() => [document.scrollingElement, ...document.querySelectorAll("article pre")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent.slice(0, 80))"""


@pytest.mark.filterwarnings("ignore:.*deprecated. Check CHANGES for Sphinx")
def test_it_is_read_without_a_warning_and_has_every_name(tmp_path: Path) -> None:
    """Every page, its links and its code; only the writing is left out, which takes longest."""
    application = pytest.importorskip("sphinx.application", reason="comes with the docs extra")
    warnings = StringIO()
    app = application.Sphinx(
        ROOT, SITE, tmp_path / "out", tmp_path / "kept", "dummy", status=None, warning=warnings, freshenv=True
    )
    app.build()
    assert warnings.getvalue() == ""
    assert {page for page in PAGES if "/c/" not in page} < app.env.found_docs
    found = {page.partition("/")[0] for page in app.env.found_docs}
    assert found == {".github", "CHANGELOG", "README", "pgasrob", "programs", "proofs"}
    documented = app.env.domains.python_domain.objects
    names = [name for name in pgasrob.__all__ if name != "__version__"]
    assert names
    # A name is documented as itself, or as what its class is called at home.
    homes = [(f"pgasrob.{name}", f"{getattr(pgasrob, name).__module__}.{name}") for name in names]
    assert not [each for each in homes if not any(name in documented for name in each)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="comes with the docs extra")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        "-d",
        folder / "kept",
        "-c",
        SITE,
        ROOT,
        folder,
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


@pytest.mark.nightly
def test_a_link_to_a_program_leads_to_its_page(site: Path) -> None:
    catalogue = (site / "programs/README.html").read_text(encoding="utf-8")
    linked = set(catalogue.split('href="')) - {catalogue.partition('href="')[0]}
    programs = {each.partition('"')[0] for each in linked if each.partition('"')[0].endswith((".c.html", ".pgas.html"))}
    assert len(programs) > 700 and "c/mpi/barrier_halo.c.html" in programs
    assert not [each for each in programs if not (site / "programs" / each).exists()]
    assert not (site / "_downloads").exists() or not list((site / "_downloads").rglob("*.pgas"))
    assert 'url=pgasrob/manual/site/index.html"' in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_no_page_scrolls_sideways_and_no_line_of_code_is_cut(site: Path, chromium: Any, size: tuple[int, int]) -> None:
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate(CUT) == [], name
    page.close()


@pytest.mark.nightly
def test_the_search_finds_pages_of_each_kind(site: Path, chromium: Any) -> None:
    page = chromium.new_page()
    for words, found in (
        ("lens", "pgasrob/manual/editors.html"),
        ("bakery_put_one_wait", "programs/README.html"),
        ("Lamport", "programs/lectures/2_sequential_consistency/lecture.html"),
        ("Mazurkiewicz", "proofs/traces.html"),
        ("MissingKernelWarning", "pgasrob/manual/site/reference.html"),
    ):
        page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        page.wait_for_selector("#search-results li a")
        page.wait_for_function("() => /found/.test(document.querySelector('.search-summary').textContent)")
        links = page.eval_on_selector_all("#search-results li a", "all => all.map((each) => each.getAttribute('href'))")
        assert any(link.startswith(found) for link in links), (words, links)
    page.close()
