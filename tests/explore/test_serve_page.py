"""The page of `pgasrob serve` in headless Chromium: examples, verdict, picture, repair, links, small screens."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="no starlette (pip install '.[test]')")
pytest.importorskip("uvicorn", reason="no uvicorn (pip install '.[test]')")
pytest.importorskip("httpx", reason="no httpx (pip install '.[test]')")

from tests.explore import serve_load
from tests.explore.live_page import opened
from tests.page_measures import resize

ROOT = Path(__file__).parents[2]
SIZES = [(1280, 800), (1024, 768), (390, 844)]
EVIL = """#include <stdio.h>
#include <shmem.h>
long x; // <img src=x onerror="document.title='evil'">
int main(void) {
  shmem_init();
  shmem_long_p(&x, 1, 1 - shmem_my_pe());
  printf("<img src=x onerror='document.title=1'></script><script>document.title=2</script> %ld", x);
  shmem_finalize();
  return 0;
}
"""
OUTSIDE = """() => [...document.querySelectorAll("button, select, input, h1, h2, h3, .verdict, pre, p, figure")]
  .filter((each) => {
    const box = each.getBoundingClientRect();
    const cut = box.width && (box.right > innerWidth + 1 || box.left < 0);
    return cut && !each.parentElement.closest(".scroll, #history, #tabs");
  })
  .map((each) => each.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serve_load.served() as (_, found):
        yield found


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """The page in a window of its own."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    with opened(context, address) as found:
        yield found
    context.close()


def settled(page: Any) -> None:
    page.evaluate("async () => { await live.idle; }")


def text(page: Any, selector: str) -> str:
    return " ".join(page.locator(selector).first.inner_text().split())


def fragment(value: object, mark: str = "#p=") -> str:
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps(value).encode()) + packer.flush()
    return mark + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_an_example_is_checked_stepped_through_and_repaired(page: Any) -> None:
    page.select_option("#examples", "c/openshmem/message_passing_no_fence.c")
    page.wait_for_selector("h1[title='c/openshmem/message_passing_no_fence.c']")
    settled(page)
    assert "shmem_long_put" in page.input_value("#text")
    page.keyboard.press("c")
    page.wait_for_selector("#answer .picture svg")
    assert text(page, "#answer-title") == "not correctly synchronised on 2 nodes: not robust"
    assert "Rank 1 reads data[0] in line 21 before the shmem_long_put of rank 0" in text(page, "#found .report")
    page.click("#through")
    settled(page)
    assert text(page, "#verdict") == "violation: no SC run looks like this run"
    assert not page.locator("#answer[open]").count()
    page.click("#check")
    page.wait_for_selector("#repair:not([hidden])")
    page.click("#repair")
    page.wait_for_selector("#take:not([hidden])")
    assert text(page, "#answer-title") == "repaired"
    page.click("#take")
    settled(page)
    assert "shmem_fence();" in page.input_value("#text")
    assert text(page, "#edited") == "edited"
    page.click("#check")
    page.wait_for_selector("#answer-title.robust")
    assert text(page, "#answer-title") == "correctly synchronised on 2 nodes"


def test_the_language_is_that_of_the_text_and_errors_are_shown(page: Any) -> None:
    page.fill("#text", (ROOT / "programs/one_to_one/one_to_one_wait.pgas").read_text())
    page.wait_for_selector(".choice .command:has-text('write(x')")
    page.fill("#text", "#include <shmem.h>\nint main(void) { shmem_init() }\n")
    page.wait_for_selector("#errors p")
    page.locator("#text").blur()
    page.keyboard.press("c")
    page.wait_for_selector("#answer-title.error")
    assert text(page, "#found .bad").startswith("Line 2: ")


def test_a_link_has_all_and_two_tabs_share_nothing(page: Any, chromium: Any) -> None:
    page.fill("#text", "program mine;\nnodes 3;\nprocess { barrier; }\n")
    page.wait_for_selector(".choice .command:has-text('barrier')")
    settled(page)
    page.locator("#text").blur()
    page.keyboard.press("1")
    page.wait_for_selector(".past-step")
    settled(page)
    link = page.evaluate("location.href")
    context = chromium.new_context()
    other = context.new_page()
    other.goto(link)
    other.wait_for_selector(".past-step")
    assert other.input_value("#text") == page.input_value("#text")
    other.fill("#text", "program other;\nnodes 2;\nmemory x;\nprocess { mem[x] <- 1; }\n")
    other.wait_for_selector(".choice .command:has-text('mem[x]')")
    page.reload()
    page.wait_for_selector(".past-step")
    assert "program mine" in page.input_value("#text")
    context.close()


HELD = {"text": "process { skip; }", "language": "pgas", "nodes": 2, "run": ""}


@pytest.mark.parametrize(
    "link",
    [
        fragment(HELD, "#q="),
        fragment(HELD)[:-9],
        "#p=%%%",
        "#nothing",
        fragment({**HELD, "language": "sh"}),
        fragment({**HELD, "text": 7}),
        fragment("x" * 200_000_000),
        fragment([[[[]]]]),
        "#p=" + "[" * 10_000,
    ],
    ids=["version", "cut", "no letters", "nothing", "language", "text", "bomb", "list", "brackets"],
)
def test_a_damaged_link_is_reported_and_the_page_opens(page: Any, link: str) -> None:
    page.evaluate("(link) => { location.hash = link; }", link)
    page.wait_for_selector(".note")
    assert text(page, ".note") == (
        "The link is damaged, or of another version: this is the program that the server opens with."
    )
    assert "barrier" in page.input_value("#text") and page.locator(".choice").count() == 4


def test_a_program_puts_nothing_into_the_page(page: Any) -> None:
    page.fill("#text", EVIL)
    page.wait_for_selector(".choice .command:has-text('shmem_long_p')")
    page.locator("#text").blur()
    page.keyboard.press("c")
    page.wait_for_selector("#answer .picture svg")
    page.keyboard.press("Escape")
    settled(page)
    for _ in range(6):
        page.keyboard.press("1")
        page.evaluate("async () => { await live.turn; await live.idle; }")
    assert page.title() == "barrier_halo.c: explorer"
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("script").count() == 2


def test_a_link_has_a_name_of_its_own_and_a_phone_has_the_whole_picture(address: str, chromium: Any) -> None:
    program = (ROOT / "programs/c/mpi/request_wait.c").read_text()
    link = f"{address}{fragment({'text': program, 'language': 'c', 'nodes': None, 'run': ''})}"
    small = chromium.new_context(viewport={"width": 390, "height": 844}).new_page()
    small.goto(link)
    small.wait_for_selector(".choice")
    assert (text(small, "h1"), small.title(), text(small, "#edited")) == ("program.c", "program.c: explorer", "")
    small.click("#check")
    small.wait_for_selector("#answer .picture svg")
    assert (
        small.evaluate(
            "() => { const box = document.querySelector('.picture'); return box.scrollWidth - box.clientWidth; }"
        )
        <= 1
    )
    small.close()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_cut_and_nothing_scrolls_sideways(page: Any, width: int, height: int) -> None:
    resize(page, width, height)

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(OUTSIDE) == []

    fits()
    page.click("#check")
    page.wait_for_selector("#answer .picture svg")
    fits()
    assert (
        page.evaluate(
            "(() => { const box = document.getElementById('answer'); return box.scrollWidth - box.clientWidth; })()"
        )
        == 0
    )
    page.click("#found summary")
    fits()
    page.click("#repair")
    page.wait_for_selector("#take:not([hidden])")
    fits()
    page.click("#take")
    settled(page)
    fits()
    page.click("#share")
    page.wait_for_selector("#sharing[open]")
    fits()
