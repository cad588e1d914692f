"""The explorer: what the page holds, and in headless Chromium that it shows what a replay of the JSON object gives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import pgasrob
from pgasrob.render.explorer import embedded, to_html
from pgasrob.render.verdict_json import to_json
from pgasrob.render.words import from_conflict, runs
from tests.page_measures import SIZES, cycle_outside, flaws, resize
from tests.support import examples, violation_alone

PROGRAMS = Path(__file__).parents[2] / "programs"
STEPS = ("popa", "popd", "popb", "popc")

CHECKED = (
    "one_to_one/one_to_one.pgas",
    "halo/halo_no_wait.pgas",
    "iriw/iriw_get_unordered.pgas",
    "deferred_atomics/old_value.pgas",
    "mcs_lock/mcs_lock_late_reset.pgas",
    "notification/later_write.pgas",
    "store_buffering/store_buffering_assert.pgas",
    "captured_put/still_on_its_way.pgas",
    "control/puts_in_a_loop_unordered.pgas",
    "deadlock/missing_barrier.pgas",
    "faults/division_by_zero.pgas",
    "c/openshmem/message_passing_no_fence.c",
)


def whole(path: str, nodes: int | None = None) -> dict[str, Any]:
    return json.loads(_checked(path, nodes))


def result_of(path: str, nodes: int | None = None) -> dict[str, Any]:
    """The result of which the violation is shown, and no run that goes on from it."""
    return violation_alone(whole(path, nodes))


@cache
def _checked(path: str, nodes: int | None) -> str:
    return json.dumps(to_json(pgasrob.check(pgasrob.load(str(PROGRAMS / path)), nodes=nodes)))


ONE_TO_ONE = "one_to_one/one_to_one.pgas"
HOSTILE = "</script><img src=x onerror=window.hacked=1><!--\u2028'\"&lt;"


def run_of(result: Any) -> Any:
    return next(run for _, run in runs(result))


def as_run(result: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """``result`` as if it had been simulated."""
    run = {**run_of(result), "shows": "run", "cycle": None, "cycle_type": None, **changes}
    return {**result, "engine": "run", "verdict": None, "witness": run, "assertion_run": None, "deadlock_run": None}


# What the page should say, from the events alone


def rows_of(computation: list[dict[str, Any]]) -> list[list[int]]:
    """The places that one step of the explorer takes: one, or those of a barrier."""
    rows: list[list[int]] = []
    for place, event in enumerate(computation):
        if event["event"] == "barrier" and event["rank"] > 0:
            rows[-1].append(place)
        else:
            rows.append([place])
    return rows


def states(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """After each row, beginning with the start: cells and registers with their values, and what is on its way."""
    events = run["computation"]
    memory = {f"{cell['name']}@{cell['rank']}": cell["value"] for cell in run["memory"]}
    hidden = {f"{cell['name']}@{cell['rank']}" for cell in run["memory"] if cell.get("made_up")}
    registers = {f"{name}@{rank}": 0 for name in run["registers"] for rank in range(run["nodes"])}
    for done in [0] + [row[-1] + 1 for row in rows_of(events)]:
        seen, later = events[:done], events[done:]
        cells = dict(memory)
        values = dict(registers)
        for event in seen:
            if event["written"]:
                cells[event["written"]["cell"]] = event["written"]["after"]
            if event["register"]:
                values[f"{event['register']['name']}@{event['rank']}"] = event["register"]["after"]
        to_come = {(event["rank"], event["operation"]) for event in later if event["event"] in STEPS}
        pending = [
            place
            for place, event in enumerate(seen)
            if event["event"] not in STEPS and (event["rank"], event["operation"]) in to_come
        ]
        # By rank and by queue, each in the order of issue.
        pending.sort(key=lambda place: (events[place]["rank"], events[place]["queue"]["id"], place))
        left = [sum(1 for event in later if _same(event, events[place])) for place in pending]
        for name in run["temporaries"]:  # which no variable of the source is
            values = {key: value for key, value in values.items() if key.rpartition("@")[0] != name}
        cells = {key: value for key, value in cells.items() if key not in hidden or " " in key}
        yield {"memory": cells, "registers": values, "pending": pending, "left": left}


def _same(event: dict[str, Any], other: dict[str, Any]) -> bool:
    return (event["rank"], event["operation"]) == (other["rank"], other["operation"])


# --- The page as a text ----------------------------------------------------------------------------------------------

VOID = ("meta", "link", "input", "br", "img")


class _Elements(HTMLParser):
    """All start tags, whether they are closed in order, and the text of scripts by id."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.last = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.last = dict(attrs).get("id") or ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[self.last] = self.scripts.get(self.last, "") + data


def elements(page: str) -> _Elements:
    found = _Elements()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


@pytest.mark.parametrize("path", CHECKED)
def test_page_is_well_formed_and_holds_the_json_object(path: str) -> None:
    result = whole(path)
    page = elements(to_html(result))
    # What races lead to is among the runs; the run with the effect is, where this is not seen in the violation.
    shown = {key: value for key, value in result.items() if key != "consequences"}
    shown["effect_run"] = dict(runs(shown)).get("effect_run")  # type: ignore[arg-type]
    assert json.loads(page.scripts["result"]) == shown
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        for name in ("src", "href", "action", "data", "srcset"):
            # Nothing to load but the empty icon; the JSON object alone makes the page.
            assert (attributes.get(name) or "#").startswith(("#", "data:,")), (tag, attributes)


@pytest.mark.parametrize("path", CHECKED)
def test_words_are_one_per_event_and_per_edge(path: str) -> None:
    result = whole(path)
    about = json.loads(elements(to_html(result)).scripts["about"])
    run = result[about[0]["run"]]
    assert run == run_of(result)
    assert len(about[0]["steps"]) == len(run["computation"])
    assert all(step["what"] and step["why"].endswith(".") for step in about[0]["steps"])
    assert len(about[0]["cycle"]) == len(run["cycle"] or [])
    assert [list(range(first, first + count)) for first, count in about[0]["rows"]] == rows_of(run["computation"])


def test_embedded_json_cannot_end_its_element() -> None:
    text = embedded({"a": HOSTILE, "b": ["\ud800", "&amp;", "]]>"]})
    assert text.isascii() and not set("<>&") & set(text)
    assert json.loads(text) == {"a": HOSTILE, "b": ["\ud800", "&amp;", "]]>"]}


def test_script_runs_by_its_hash_alone() -> None:
    import base64
    import hashlib

    page = to_html(result_of(ONE_TO_ONE))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy and "default-src 'none'" in policy[1] and "script-src 'unsafe" not in policy[1]
    script = elements(page).scripts[""]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy[1]


def test_without_a_run_the_page_says_the_verdict() -> None:
    page = to_html(result_of("one_to_one/one_to_one_wait.pgas"))
    found = elements(page)
    assert "robust on 2 nodes" in page and "every run on the network looks like" in page
    assert "about" not in found.scripts and "" not in found.scripts
    assert not [tag for tag, _ in found.tags if tag == "button"]


def test_no_name_in_a_value_is_filled_in() -> None:
    result = {**result_of(ONE_TO_ONE), "program": "{{script}}", "file": "{{hash}}"}
    page = to_html(result)
    assert "<h1>{{script}}</h1>" in page and '<span class="file">{{hash}}</span>' in page


def test_an_illegal_call_and_an_assertion_of_c_say_nothing_of_going_on() -> None:
    from pgasrob.render.allowed import allowed

    illegal = result_of("c/mpi/illegal_flush_after_unlock.c")["illegal_calls"][0]["run"]["computation"]
    assert allowed(illegal)[-1] == "The API forbids this call here; what it would do is not known."
    assert allowed([{**illegal[-1], "holds": False}])[-1] == "Always enabled."


def test_why_an_event_may_happen() -> None:
    from pgasrob.render.allowed import allowed

    why = allowed(result_of(ONE_TO_ONE)["witness"]["computation"])
    assert why[5] == (
        "Every rank has arrived. A barrier completes nothing by itself. The write of step 4 is still on the way."
    )
    assert why[7] == "Always enabled. The write of step 4 is still on the way to y@0, and this does not wait for it."
    assert why[8] == (
        "Rank 1 issued the write in step 4 and went on: nothing of it that has happened since had to wait for this "
        "step. Queue q is FIFO."
    )
    overtaking = allowed(result_of("message_passing/message_passing_unordered.pgas")["witness"]["computation"])
    assert any("The step overtakes the write of step" in each for each in overtaking)


def test_sc_order_says_between_what_e_would_stand() -> None:
    result = result_of(ONE_TO_ONE)
    about = json.loads(elements(to_html(result)).scripts["about"])
    order = about[0]["sequential"]
    run = result["witness"]
    without = set(run["sequential"]["without"])
    assert run["computation"][order["after"]] and order["after"] not in without and order["before"] not in without
    # What must come before e stands behind what must come after it.
    places = run["sequential"]["places"]
    assert places.index(order["before"]) < places.index(order["after"])
    assert order["sentence"].endswith(f"{run['computation'][min(without)]['event']} of step {min(without) + 1}.")


# --- The page in a browser -------------------------------------------------------------------------------------------


HELP = "window.all = (selector, get = (node) => node) => [...document.querySelectorAll(selector)].map(get);"
"""What the tests ask the page with."""


class Browser:
    """Pages in one headless Chromium, with all that they said on the console or asked the network for."""

    def __init__(self, context: Any, folder: Path) -> None:
        self.context, self.folder, self.count = context, folder, 0
        self.said: list[str] = []

    def open(self, result: Any, end: str = "#step=0", width: int = 1280, height: int = 800, fold: bool = False) -> Any:
        self.count += 1
        path = self.folder / f"{self.count}.html"
        path.write_text(to_html(result, cycle_only=fold), encoding="utf-8")
        page = self.context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.requested(request.url))
        page.goto(f"file://{path}{end}")
        page.set_default_timeout(60_000)
        return page

    def requested(self, url: str) -> None:
        if not url.startswith(("file:", "data:")):
            self.said.append(url)


@pytest.fixture(scope="module")
def context(chromium: Any) -> Any:
    found = chromium.new_context(color_scheme="light")
    found.add_init_script(HELP)
    return found


@pytest.fixture
def browser(context: Any, tmp_path: Path) -> Iterator[Browser]:
    found = Browser(context, tmp_path)
    yield found
    for page in context.pages:
        page.close()
    assert found.said == []


STATE = """() => {
  const values = (kind) => Object.fromEntries(all(`[data-key^="${kind}:"]`, (spot) =>
    [spot.dataset.key.slice(kind.length + 1), Number(spot.querySelector(".value").textContent)]));
  return {
    memory: values("memory"),
    registers: values("register"),
    pending: all("#queues li", (li) => Number(li.dataset.issue)),
    left: all("#queues li", (li) => li.querySelectorAll(".left").length),
  };
}"""
ALL_STATES = f"""(id) => {{
  const found = [({STATE})()];
  const button = document.getElementById(id);
  while (button.getAttribute("aria-disabled") !== "true") {{ button.click(); found.push(({STATE})()); }}
  return found;
}}"""


ALL_EVENTS = "() => { unfolded = true; arrange(); }"
DRAWN = ".drawing:not([hidden])"


def title(page: Any) -> str:
    return page.text_content("#now-title > span:first-child")


def until(page: Any, told: Callable[[], object], expected: object) -> None:
    """Wait a little until the page has come to it: the history and changes of the address take their time."""
    for _ in range(3_000):
        if told() == expected:
            return
        page.wait_for_timeout(20)
    assert told() == expected


@pytest.mark.parametrize("path", CHECKED[:: examples(4, nightly=1)])
def test_every_state_is_that_of_the_replay(browser: Browser, path: str) -> None:
    result = whole(path)
    expected = list(states(run_of(result)))
    page = browser.open(result)
    page.evaluate("document.getElementById('variables-all').click()")
    assert page.evaluate(ALL_STATES, "forward") == expected
    assert page.evaluate(ALL_STATES, "back") == expected[::-1]


def test_what_changed_is_marked(browser: Browser) -> None:
    result = result_of(ONE_TO_ONE)
    page = browser.open(result)
    events = result["witness"]["computation"]
    for row in rows_of(events):
        page.keyboard.press("ArrowRight")
        marked = page.evaluate(
            "['memory', 'register'].map((kind) => all(`.written[data-key^='${kind}:']`,"
            " (spot) => [spot.dataset.key.slice(kind.length + 1), spot.textContent]))"
        )
        cells = [event["written"] for event in (events[place] for place in row) if event["written"]]
        assert [key for key, _ in marked[0]] == [cell["cell"] for cell in cells]
        for cell, (_, told) in zip(cells, marked[0], strict=True):
            assert told == f"was {cell['before']} → {cell['after']}"
        registers = [event for event in (events[place] for place in row) if event["register"]]
        assert [key for key, _ in marked[1]] == [f"{each['register']['name']}@{each['rank']}" for each in registers]
        reads = [event for event in (events[place] for place in row) if event["read"] is not None]
        assert page.evaluate("all('.spot.read', (spot) => spot.dataset.key)") == [
            f"memory:{event['address']['name']}@{event['address']['rank']}" for event in reads
        ]


def test_what_is_on_its_way_shows_at_its_cell(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE), "#step=8")
    assert page.text_content('td[data-key="memory:y@0"] .coming') == "⇠ 1 on its way"
    page.keyboard.press("ArrowRight")
    assert page.query_selector("#variables .coming") is None


def test_keys_and_buttons(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE))
    assert title(page) == "Start"
    for key, expected in [
        ("ArrowRight", "Step 1"), ("j", "Step 2"), ("n", "Step 3"), ("k", "Step 2"), ("p", "Step 1"),
        ("ArrowLeft", "Start"), ("ArrowLeft", "Start"), ("End", "Step 9"), ("ArrowRight", "Step 9"), ("Home", "Start"),
        ("c", "Step 4"), ("c", "Steps 6–7"), ("C", "Step 4"), ("]", "Step 9"), ("[", "Step 1"),
        ("PageDown", "Step 2"), (" ", "Step 3"), ("PageUp", "Step 2"), ("PageUp", "Step 1"), ("PageUp", "Start"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert title(page) == expected, key
    for button, expected in [("last", "Step 9"), ("back", "Step 8"), ("first", "Start"), ("forward", "Step 1")]:
        page.click(f"#{button}")
        assert title(page) == expected, button
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    assert title(page) == "Steps 6–7"
    assert page.input_value("#number") == "6–7"
    page.keyboard.press("ArrowRight")
    assert title(page) == "Step 8"
    page.keyboard.press("?")
    assert page.evaluate("document.getElementById('help').open")
    page.keyboard.press("Escape")
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    assert title(page) == "Steps 6–7"
    page.fill("#slider", "3")
    assert title(page) == "Step 3"
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    colours = (
        "[['.pg-run .paper', 'fill'], ['#diagram', 'backgroundColor']].map(([n, c]) => getComputedStyle(all(n)[0])[c])"
    )
    paper, panel = page.evaluate(colours)
    assert paper == panel, "the drawing is dark too"


def test_a_presenter_steps_whatever_has_the_focus(browser: Browser) -> None:
    page = browser.open(result_of("c/openshmem/message_passing_no_fence.c"), height=500)
    for focus in ("#diagram-box", "#source", "#slider", "#theme"):
        page.evaluate("go(2)")
        page.focus(focus)
        page.keyboard.press("PageDown")
        assert title(page) == "Step 3", focus
        page.keyboard.press("PageUp")
        assert title(page) == "Step 2", focus
    page.focus("#back")
    page.keyboard.press(" ")
    assert title(page) == "Step 1", "a button that has the focus is pressed"


def test_the_step_field_never_stays_wrong(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE), "#step=8")
    page.keyboard.type("99")
    page.keyboard.press("Enter")
    assert page.text_content("#note") and page.input_value("#number") == "9"
    page.fill("#number", "")
    page.keyboard.press("Tab")
    assert (page.input_value("#number"), page.text_content("#note"), title(page)) == ("9", "", "Step 9")
    page.fill("#number", "3")
    page.keyboard.press("Tab")
    assert (page.input_value("#number"), title(page)) == ("3", "Step 3")


QUEUES_SHOWN = """() => {
  const panel = document.getElementById("queues");
  const box = panel.getBoundingClientRect();
  let [top, bottom] = [box.top, box.bottom];
  for (let node = panel.parentElement; node; node = node.parentElement) {
    if (getComputedStyle(node).overflowY === "visible") continue;
    const outer = node.getBoundingClientRect();
    [top, bottom] = [Math.max(top, outer.top), Math.min(bottom, outer.bottom)];
  }
  return [bottom - top, box.height];
}"""


@pytest.mark.parametrize(
    ("path", "nodes", "step"),
    [
        ("c/openshmem/message_passing_no_fence.c", None, 9),
        ("halo/halo_no_wait.pgas", 6, 47),
        (ONE_TO_ONE, None, 4),
    ],
)
@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)][: examples(1, nightly=2)])
def test_the_queues_are_seen_on_a_projector(
    browser: Browser, path: str, nodes: int | None, step: int, width: int, height: int
) -> None:
    page = browser.open(result_of(path, nodes), f"#step={step}", width, height)
    shown, whole = page.evaluate(QUEUES_SHOWN)
    assert shown >= min(60, whole - 1)
    lines = page.evaluate("document.getElementById('source').clientHeight / all('#source .line')[0].offsetHeight")
    assert lines > 4.5
    page.keyboard.press("Home")
    page.evaluate("document.getElementById('state').scrollTop = 1e6")  # whoever has scrolled away
    while page.get_attribute("#forward", "aria-disabled") == "false":
        before = page.text_content("#queues")
        page.keyboard.press("PageDown")
        shown, whole = page.evaluate(QUEUES_SHOWN)
        assert page.text_content("#queues") == before or shown >= min(60, whole - 1), title(page)


def test_the_variables_turn_to_the_rank(browser: Browser) -> None:
    page = browser.open(result_of("halo/halo_no_wait.pgas", 6), "#step=44", 1024, 768)
    inside = """() => {
      const outer = document.getElementById("variables").getBoundingClientRect();
      const inner = all("#variables thead th")[6].getBoundingClientRect();
      return inner.left >= outer.left && inner.right <= outer.right;
    }"""
    page.evaluate("document.getElementById('variables').style.width = '12rem'")
    page.evaluate("panels.variables.box.scrollLeft = 0")
    assert not page.evaluate(inside)
    page.keyboard.press("PageUp")
    page.keyboard.press("PageDown")
    assert page.evaluate(inside)


def test_links_hash_and_history(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE), "#step=9")
    assert title(page) == "Step 9"
    page.click("#now-body a[href='#step=4']")
    until(page, lambda: title(page), "Step 4")
    page.go_back()
    until(page, lambda: title(page), "Step 9")
    page.go_forward()
    until(page, lambda: title(page), "Step 4")
    page.keyboard.press("ArrowRight")
    until(page, lambda: page.evaluate("location.hash"), "#step=5")
    page.click(".drawing:not([hidden]) [data-step='2']")
    assert title(page) == "Step 3"
    for end, expected, note in [
        ("#step=6", "Steps 6–7", ""),
        ("#step=99", "Step 9", "There is no step 99: the run ends with step 9."),
        ("#step=abc", "Step 9", "There is no step “abc”."),
        ("#step=-1", "Step 9", "There is no step “-1”."),
        ("#run=2&step=1", "Step 9", "There is no run “2”."),
        ("#step=0", "Start", ""),
        ("#%%%", "Step 9", ""),
    ]:
        page.evaluate("end => { location.hash = end; }", end)
        until(page, lambda: (title(page), page.text_content("#note")), (expected, note))


def test_edges_of_the_cycle_lead_to_their_steps(browser: Browser) -> None:
    result = result_of(ONE_TO_ONE)
    page = browser.open(result)
    about = json.loads(page.text_content("#about"))[0]
    cycle = result["witness"]["cycle"]
    page.get_by_role("tab", name="Cycle").click()
    assert page.locator("#cycle li").count() == len(cycle)
    for index in range(len(cycle)):
        edge = cycle[(about["first"] + index) % len(cycle)]
        item = page.locator("#cycle li").nth(index)
        assert item.locator(".relation").text_content() == f"{index + 1} {edge['relation']}"
        for end in ("from", "to"):
            item.locator(f"a[href='#step={edge[end] + 1}']").click()
            # The browser tells the page of a new address a moment later.
            now = "(place) => all('#diagram-box .now', (g) => Number(g.dataset.step)).includes(place)"
            page.wait_for_function(now, arg=edge[end], timeout=60_000)
            assert "now" in (item.get_attribute("class") or "")
        item.click(position={"x": 200, "y": 5})
        closes = str(max(edge["from"], edge["to"]) + 1)
        until(page, lambda closes=closes: closes in title(page), True)


def test_diagram_fades_what_is_to_come(browser: Browser) -> None:
    result = result_of("iriw/iriw_get_unordered.pgas")
    page = browser.open(result)
    page.evaluate(ALL_EVENTS)
    rows = rows_of(result["witness"]["computation"])
    cycle = from_conflict(result["witness"]["cycle"], result["witness"]["computation"])
    numbers = {f"{at} {edge['relation']}": max(edge["from"], edge["to"]) for at, edge in enumerate(cycle, start=1)}
    past = f"all('{DRAWN} .event[data-step]:not(.future)', (g) => Number(g.dataset.step)).sort((a, b) => a - b)"
    last = f"all('{DRAWN} [data-from]{{}}', (g) => Math.max(g.dataset.from, g.dataset.to))"
    for order in (range(len(rows)), reversed(range(len(rows)))):
        for row in order:
            page.keyboard.type(str(rows[row][0] + 1))
            page.keyboard.press("Enter")
            assert page.evaluate(past) == list(range(rows[row][-1] + 1))
            assert all(place <= rows[row][-1] for place in page.evaluate(last.format(":not(.future)")))
            assert all(place > rows[row][-1] for place in page.evaluate(last.format(".future")))
            shown = page.evaluate(f"all('{DRAWN} .badge:not(.future) text', (text) => text.textContent).sort()")
            assert shown == sorted(name for name, closes in numbers.items() if closes <= rows[row][-1])


def test_source_line_and_where_the_ranks_are(browser: Browser) -> None:
    result = result_of(ONE_TO_ONE)
    page = browser.open(result, "#step=8")
    assert page.evaluate("all('#source .line.now mark', (mark) => mark.textContent)") == ["r <- mem[y]"]
    ranks = page.evaluate("all('#source .where', (node, index) => [index + 1, node.textContent])")
    assert [(line, told) for line, told in ranks if told] == [(12, "1"), (13, "0")]
    lines = page.evaluate("all('#source code', (code) => code.textContent)")
    assert lines == result["witness"]["source"].splitlines()


def test_sc_order_marks_the_counterpart(browser: Browser) -> None:
    result = result_of(ONE_TO_ONE)
    page = browser.open(result)
    order = result["witness"]["sequential"]
    assert page.evaluate("all('#order ol li', (li) => Number(li.dataset.place))") == order["places"]
    notes = page.evaluate("all('#order ol .misfit', (note) => [note.closest('li').dataset.place, note.textContent])")
    about = json.loads(page.text_content("#about"))[0]["sequential"]
    assert sorted(notes) == sorted(
        [str(about[side]), f"{about['without']} must come {side} this"] for side in ("after", "before")
    )
    assert page.locator("#order ul .misfit").text_content() == "does not fit: "
    for row in rows_of(result["witness"]["computation"]):
        page.keyboard.press("ArrowRight")
        marked = page.evaluate("all('#order li.now', (li) => li.dataset.place ? Number(li.dataset.place) : null)")
        assert marked == [None] if row[0] in order["without"] else sorted(marked) == row


def test_other_runs(browser: Browser) -> None:
    deadlock = result_of("deadlock/missing_barrier.pgas")
    page = browser.open(deadlock, "#step=3")
    assert page.text_content("#diagram-title") == "An SC run that ends in the deadlock"
    assert "Rank 0 stands before barrier (line 11; it waits for rank 1)." in page.text_content("#now-body")
    assert page.is_hidden("#cycle-panel")
    fault = browser.open(result_of("faults/division_by_zero.pgas"), "#step=1")
    assert "error[PG040]: rank 1: division by zero: 1 / 0" in fault.text_content("#now-body")
    simulated = browser.open(as_run(result_of(ONE_TO_ONE), sequential=None), "#step=9")
    assert simulated.text_content("#diagram-title") == "A run"
    assert simulated.text_content("h1 + .verdict") == "a run on 2 nodes"
    assert "The run ends here." in simulated.text_content("#now-body")
    empty = browser.open(as_run(result_of(ONE_TO_ONE), sequential=None, computation=[], happens_before=[]))
    assert "The run has no event." in empty.text_content("#now-body")
    assert empty.text_content("#legend") == ""
    two = result_of(ONE_TO_ONE)
    two["assertion_run"] = {**run_of(deadlock), "shows": "assertion"}
    page = browser.open(two, "#run=2&step=2")
    assert title(page) == "Step 2" and page.input_value("#run") == "1"
    assert page.text_content("#of").strip() == "of 3"
    page.select_option("#run", "0")
    assert title(page) == "Step 9" and page.text_content("#of").strip() == "of 9"
    assert page.locator("#diagram-box .drawing:visible").count() == 1
    resize(page, 360, 500)  # where the diagram scrolls, with its other run hidden
    for _ in range(5):
        page.keyboard.press("+")
    page.evaluate("document.getElementById('diagram-box').scrollTo(40, 0)")
    page.evaluate("document.getElementById('diagram-box').scrollTo(200, 120)")
    pinned = ".drawing:not([hidden]) .pinned"
    until(page, lambda: "(0 0)" in (page.get_attribute(pinned, "transform") or "(0 0)"), False)


def played(path: str, seed: int, **more: Any) -> dict[str, Any]:
    """The result of a simulated run."""
    from pgasrob.render.one_run_json import simulated_to_json
    from pgasrob.runs.simulate import simulate

    instance = pgasrob.load(str(PROGRAMS / path)).instantiate()
    return json.loads(json.dumps(simulated_to_json(simulate(instance, seed, **more))))


def test_a_run_into_a_deadlock_says_so(browser: Browser) -> None:
    result = played("deadlock/hang_on_the_network.pgas", 37)
    page = browser.open(result)
    assert page.text_content("#diagram-title") == (
        "A simulated run (seed 37) that no SC run looks like and that ends in a deadlock"
    )
    assert page.text_content("h1 + .verdict") == "a simulated run on 2 nodes"
    assert page.text_content(".verdict.error") == "deadlock"
    known = page.text_content("section:has(#known-title)").replace("\u00a0", " ")
    for told in (
        "The run ends in a deadlock.",
        "At its end one = 1 on every rank, x@1 = 1, flag@1 = 1; all else is 0.",
        "No SC run looks like this one: its happens-before relation has a cycle.",
        "--seed 37 gives this run again.",
    ):
        assert told in known
    assert page.text_content("#order-sentence").startswith("There is none: no SC run looks like this one")
    assert page.locator(f"{DRAWN} .standing.future").count() == 2
    page.keyboard.press("End")
    assert page.locator(f"{DRAWN} .standing:not(.future)").count() == 2
    standing = "Rank 1 stands before await(mem[flag] == 2) (line 18; flag@1 = 1)."
    assert standing in page.text_content("#now-body")
    bad = page.evaluate("all('#now .closing.bad', (line) => line.textContent)")
    assert bad == ["The run ends in a deadlock."], "where the ranks stand is no error"
    colours = page.evaluate("all('#now .closing', (line) => getComputedStyle(line).color)")
    assert colours[0] != colours[1] == colours[2]


def test_an_await_at_which_a_rank_stands_shows_its_cell(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "stuck.pgas"
    path.write_text("memory flag, other; nodes 2; process { await(mem[flag] == 1); }")
    page = browser.open(json.loads(json.dumps(to_json(pgasrob.check(pgasrob.load(str(path)))))))
    assert page.evaluate("all('#variables tbody th', (name) => name.textContent)") == ["flag"]


def test_a_fault_is_pale_until_it_is_reached(browser: Browser) -> None:
    page = browser.open(result_of("faults/division_by_zero.pgas"))
    assert page.locator(f"{DRAWN} .standing.fault.future").count() == 1
    page.keyboard.press("End")
    assert page.locator(f"{DRAWN} .standing.fault.future").count() == 0


def test_operations_that_a_run_leaves_pending(browser: Browser) -> None:
    """A simulated run may end before an operation has all its steps."""
    result = result_of(ONE_TO_ONE)
    events = result["witness"]["computation"]
    shorter = as_run(result, computation=events[:-1], complete=False, sequential=None, happens_before=[])
    page = browser.open(shorter, "#step=8")
    assert page.locator("#queues li").count() == 1
    assert "not complete in this run" in page.text_content("#queues")
    assert "The write of step 4 is still on the way." in json.loads(page.text_content("#about"))[0]["steps"][5]["why"]


def test_nothing_in_a_result_becomes_markup(browser: Browser) -> None:
    result = result_of(ONE_TO_ONE)
    text = json.dumps(result)
    for name in ("y", "q", "r"):
        for pattern in (f'"name": "{name}"', f'"cell": "{name}@'):
            text = text.replace(pattern, pattern.replace(f'"{name}', json.dumps(HOSTILE)[:-1] + name))
    hostile = json.loads(text)
    run = hostile["witness"]
    run["registers"] = [HOSTILE + "r"]
    run["source"] = f"{HOSTILE}\n" + run["source"]
    for event in (*run["computation"], *run["sequential"]["events"]):
        event["command"] = HOSTILE + event["command"]
    hostile.update(program=HOSTILE, file=HOSTILE, reason=HOSTILE)
    page = browser.open(hostile)
    assert page.evaluate(ALL_STATES, "forward")[1:]
    page.wait_for_timeout(50)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.evaluate("document.querySelector('#source code').textContent") == HOSTILE
    assert json.loads(page.text_content("#result")) == {**hostile, "effect_run": None}
    assert HOSTILE.replace("\u2028", r"\u2028") in page.text_content("h1")


def test_hostile_strings_in_c_source(browser: Browser, tmp_path: Path) -> None:
    source = (PROGRAMS / "c/openshmem/message_passing_no_fence.c").read_text()
    path = tmp_path / "hostile.c"
    path.write_text(source.replace("%ld %ld", "%ld %ld </script><img src=x onerror=window.hacked=1>"))
    page = browser.open(json.loads(json.dumps(to_json(pgasrob.check(pgasrob.load(str(path)))))), "#step=9")
    assert "<img src=x" in page.text_content("#now-body") and "<img src=x" in page.text_content("#source")
    assert page.evaluate("window.hacked") is None and page.locator("img").count() == 0


OVERLAPS = """() => {
  const found = [];
  const shown = (node) => node.checkVisibility() && node.getBoundingClientRect().width > 1;
  const told = (...nodes) => found.push(nodes.map((node) => node?.outerHTML.slice(0, 60)));
  for (const node of all("button, input, select, a, h1, h2, .verdict, .pill").filter(shown)) {
    node.scrollIntoView({ block: "center" });
    const box = node.getClientRects()[0];
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!hit || !(node.contains(hit) || hit.contains(node) || hit.closest("label")?.contains(node))) told(node, hit);
  }
  const clips = getComputedStyle(document.body).overflow === "hidden";
  const BOXES = "#diagram, #now, #state, #text";
  for (const group of ["main > *, .sides > *", ".panel", "#variables td", ".bar button, .bar input"]) {
    const boxes = all(group).filter(shown);
    for (const one of boxes) for (const other of boxes) {
      if (one === other || one.contains(other) || other.contains(one)) continue;
      if (clips && one.closest(BOXES) !== other.closest(BOXES)) continue; // each scrolls by itself
      const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 0.5 && down > 0.5) told(one, other);
    }
  }
  return found;
}"""
WINDOWS = ((1440, 900), (1024, 768), (740, 360), (360, 740), (320, 640))


@pytest.mark.parametrize("path", [ONE_TO_ONE, "c/openshmem/message_passing_no_fence.c"])
def test_widths(browser: Browser, path: str) -> None:
    result = whole(path)
    if path == ONE_TO_ONE:  # with a second run, so with the choice between them
        result["assertion_run"] = {**run_of(result_of("deadlock/missing_barrier.pgas")), "shows": "assertion"}
        result["assertions"] = "violated"
    page = browser.open(result, "#step=8")
    for width, height in WINDOWS:
        resize(page, width, height)
        sizes = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]")
        assert sizes == [width, width, width]
        assert page.evaluate(OVERLAPS) == [], width
        narrow = width < 960
        assert (page.evaluate("getComputedStyle(document.querySelector('.bar')).position") == "fixed") == narrow
        if narrow:
            small = page.evaluate(
                "all('button:not(.term), .bar input[type=text], select, .switch')"
                ".filter((node) => node.checkVisibility())"
                ".map((node) => [node.id, node.getBoundingClientRect()])"
                ".filter(([, box]) => box.height < 44 || box.width < 44).map(([id]) => id)"
            )
            assert small == []
            page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
            panel, bar = page.evaluate(
                "['#text > section:last-child', '.bar'].map((n) => all(n)[0].getBoundingClientRect())"
            )
            assert panel["bottom"] <= bar["top"], "the buttons hide nothing at the end of the page"


# --- The drawing in its box -------------------------------------------------------------------------------------------

SCALE = "() => all('.drawing:not([hidden]) svg')[0].getBoundingClientRect().width / fitting.natural.width"
LANES = """() => {
  const box = document.getElementById("diagram-box").getBoundingClientRect();
  const within = (rank, from, to) => rank[from] >= box[from] - 0.5 && rank[to] <= box[to] + 0.5;
  const inside = (rank) => within(rank, "left", "right") && within(rank, "top", "bottom");
  return all(".drawing:not([hidden]) .rank", (rank) => inside(rank.getBoundingClientRect()));
}"""


@pytest.mark.parametrize("nodes", [2, 4, 6, 8])
def test_every_lane_is_in_view(browser: Browser, nodes: int) -> None:
    page = browser.open(result_of("halo/halo_no_wait.pgas", nodes))
    page.evaluate(ALL_EVENTS)
    assert page.evaluate(LANES) == [True] * nodes
    box = "document.getElementById('diagram-box')"
    assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")
    assert page.evaluate("document.documentElement.scrollHeight") == 800
    # Beside the text, or above it where it is much larger there.
    assert page.get_attribute("#above", "aria-pressed") == str(nodes > 6).lower()
    page.click("#above")
    assert page.evaluate(LANES) == [True] * nodes
    resize(page, 1024, 768)
    until(page, lambda: page.evaluate(LANES), [True] * nodes)
    assert page.evaluate(OVERLAPS) == []


def test_zoom(browser: Browser) -> None:
    page = browser.open(result_of("halo/halo_no_wait.pgas", 4))
    page.evaluate(ALL_EVENTS)
    page.keyboard.press("f")
    fitted = page.evaluate(SCALE)
    assert 0.5 < fitted < 1 and page.text_content("#zoom") == f"{round(100 * fitted)} %"
    page.keyboard.press("+")
    page.click("#zoom-in")
    assert page.evaluate(SCALE) == pytest.approx(fitted * 1.25**2, rel=0.01)
    assert page.get_attribute("#zoom-fit", "aria-pressed") == "false"
    page.keyboard.press("-")
    assert page.evaluate(SCALE) == pytest.approx(fitted * 1.25, rel=0.01)
    page.click("#zoom-out")
    page.keyboard.press("+")
    page.keyboard.press("f")
    assert page.evaluate(SCALE) == pytest.approx(fitted) and page.evaluate(LANES) == [True] * 4
    for _ in range(20):
        page.keyboard.press("+")
    assert page.text_content("#zoom") == "400 %"
    for _ in range(40):
        page.keyboard.press("-")
    assert page.text_content("#zoom") == "10 %"
    page.keyboard.press("f")
    resize(page, 360, 740)
    until(page, lambda: page.evaluate(LANES), [True] * 4)
    box = "document.getElementById('diagram-box')"
    assert page.evaluate(f"{box}.scrollHeight <= {box}.clientHeight + 1"), "all rows are in view"


def test_the_wheel_zooms_at_the_pointer_and_dragging_moves(browser: Browser) -> None:
    page = browser.open(result_of("halo/halo_no_wait.pgas", 4), "#step=1")
    page.evaluate(ALL_EVENTS)
    for _ in range(3):
        page.keyboard.press("+")  # so that it is larger than its box
    place = "document.querySelector('.drawing:not([hidden]) [data-step=\"10\"] rect').getBoundingClientRect()"
    before = page.evaluate(place)
    at = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(*at)
    page.keyboard.down("Control")
    for _ in range(3):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    until(page, lambda: page.get_attribute("#zoom-fit", "aria-pressed"), "false")
    until(page, lambda: page.evaluate(place)["width"] > 1.8 * before["width"], True)
    after = page.evaluate(place)
    assert abs(after["x"] + after["width"] / 2 - at[0]) < 3
    box = "document.getElementById('diagram-box')"
    left, top = page.evaluate(f"[{box}.scrollLeft, {box}.scrollTop]")
    page.mouse.down()
    page.mouse.move(at[0] - 40, at[1] - 30, steps=4)
    page.mouse.up()
    assert page.evaluate(f"[{box}.scrollLeft, {box}.scrollTop]") == [left + 40, top + 30]
    assert title(page) == "Step 1", "the end of a drag is no click"
    page.mouse.click(at[0] - 40, at[1] - 30)
    assert title(page) == "Step 11"


@pytest.mark.parametrize(("nodes", "side", "key"), [(2, "width", "ArrowLeft"), (4, "height", "ArrowUp")])
def test_the_splitter_shares_the_window(browser: Browser, nodes: int, side: str, key: str) -> None:
    page = browser.open(result_of("halo/halo_no_wait.pgas", nodes), "#step=3")
    if side == "height":
        page.click("#above")
    size = f"document.getElementById('left').getBoundingClientRect().{side}"
    whole, middle = page.evaluate(size), page.locator("#splitter").bounding_box()
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y - 100, steps=3)
    page.mouse.up()
    assert abs(page.evaluate(size) - (whole - 100)) < 6
    assert all(page.evaluate(LANES)) and page.evaluate(OVERLAPS) == []
    page.focus("#splitter")
    before = page.evaluate(size)
    page.keyboard.press(key)
    assert page.evaluate(size) < before - 5 and title(page) == "Step 3"
    value = page.get_attribute("#splitter", "aria-valuenow")
    page.keyboard.press("PageDown")
    assert title(page) == "Step 4" and 15 <= int(value) <= 85
    page.dblclick("#splitter")
    assert page.evaluate(size) == pytest.approx(whole, abs=1)


def test_what_happens_now_alone_has_a_band(browser: Browser) -> None:
    """Of a row that several events share."""
    page = browser.open(result_of("halo/halo_no_wait.pgas", 4), "#step=8")
    page.evaluate(ALL_EVENTS)
    sides = (
        f"""['{DRAWN} .band', '{DRAWN} [data-step="7"] rect']"""
        ".map((name) => all(name)[0].getBoundingClientRect())"
    )
    band, event = page.evaluate(sides)
    assert band["left"] < event["left"] < event["right"] < band["right"] < event["right"] + 20


def test_the_steps_of_a_band(browser: Browser) -> None:
    result = result_of("halo/halo_no_wait.pgas", 4)
    page = browser.open(result, fold=True)
    bands = page.evaluate("all('.drawing:not([hidden]) .fold', (band) => JSON.parse(band.dataset.steps))")
    first, *_, last = bands[1]
    assert bands[1] == list(range(first, last + 1))
    page.evaluate(f"goToStep('{first}')")
    assert page.evaluate("all('.drawing:not([hidden]) .fold', (band) => band.classList.contains('future'))")[1] is True
    for step in range(first + 1, last + 2):
        page.keyboard.press("ArrowRight")
        assert title(page) == f"Step {step}"
        assert (
            page.evaluate("all('.drawing:not([hidden]) .fold', (band) => band.classList.contains('now'))").index(True)
            == 1
        )
    page.keyboard.press("Home")
    page.click(f".drawing:not([hidden]) .fold[data-step='{first}'] text")
    assert title(page) == f"Step {first + 1}"
    page.evaluate("document.getElementById('variables-all').click()")
    page.click("#first")
    assert page.evaluate(ALL_STATES, "forward") == list(states(run_of(result)))


def test_everything_is_reached_by_tab(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE), "#step=8")
    wanted = page.evaluate("all('button, input, select, a, .scroll').filter((n) => n.checkVisibility()).length")
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("all('button, input, select, a, .scroll').indexOf(document.activeElement)"))
    reached.discard(-1)
    assert len(reached) == wanted
    unnamed = page.evaluate(
        "all('button, input, select').filter((node) => !(node.textContent.trim() || node.getAttribute('aria-label')"
        " || node.labels?.[0]?.textContent.trim())).map((node) => node.id)"
    )
    assert unnamed == []


def test_a_step_is_spoken(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE), "#step=8")
    assert page.get_attribute("#spoken", "aria-live") == "polite"
    assert page.text_content("#spoken") == "Step 8 of 9. Rank 0 loads y@0. reads y@0 = 0. r stays 0. On the cycle."
    page.keyboard.press("ArrowRight")
    assert page.text_content("#spoken").endswith("The cycle is closed: step 8 would have to come before itself.")


def test_a_large_run_stays_quick(browser: Browser) -> None:
    """Many events on 64 ranks with many cells, far more than is shown."""
    ranks, cells, turns = 64, 300, examples(300, nightly=1_000)
    event = {**result_of(ONE_TO_ONE)["witness"]["computation"][0], "part": None}
    queue = {"id": 0, "name": "q", "unordered": True}
    events: list[dict[str, Any]] = []
    for turn in range(turns):
        rank, operation, name = turn % ranks, turn // ranks, f"a[{turn % cells}]"
        there = {"rank": (rank + 1) % ranks, "index": turn % cells, "name": name}
        put = {**event, "event": "put", "rank": rank, "operation": operation, "command": f"put({name})"}
        events += [{**put, "address": {**there, "rank": rank}, "read": 0, "queue": queue, "target": there["rank"]}]
        written = {"cell": f"{name}@{there['rank']}", "before": 0, "after": 0}
        events += [{**events[-1], "event": "popb", "address": there, "read": None, "written": written}]
    memory = [
        {"rank": rank, "index": cell, "name": f"a[{cell}]", "value": 0}
        for rank in range(ranks)
        for cell in range(cells)
    ]
    large = as_run(
        result_of(ONE_TO_ONE),
        nodes=ranks,
        computation=events,
        happens_before=[],
        memory=memory,
        standing=[{"rank": rank, "ended": True, "next": [], "registers": {"r": 0}} for rank in range(ranks)],
        sequential=None,
    )
    page = browser.open({**large, "nodes": ranks})
    page.keyboard.press("End")
    assert title(page) == f"Step {2 * turns}"
    for _ in range(5):
        page.click("#back")
    assert title(page) == f"Step {2 * turns - 5}"
    assert page.locator("#variables .spot").count() == 128 * ranks
    assert "172 more values are not shown." in page.text_content("#variables")


def test_print_shows_all_of_the_diagram(browser: Browser) -> None:
    page = browser.open(result_of("halo/halo_no_wait.pgas", nodes=6), "#step=20")
    page.keyboard.press("t")
    page.emulate_media(media="print")
    assert page.is_hidden(".bar") and page.is_hidden("#theme")
    box = page.locator("#diagram-box")
    assert (
        box.evaluate("(node) => Math.max(node.scrollHeight - node.clientHeight, node.scrollWidth - node.clientWidth)")
        <= 1
    )


# --- What is seen at opening ------------------------------------------------------------------------------------------

OPENED = (
    ("c/openshmem/message_passing_no_fence.c", None),
    ("c/openshmem/stencil_no_fence.c", 4),
    ("c/mpi/request_wait.c", None),
    ("c/mpi/barrier_halo.c", None),
    (ONE_TO_ONE, None),
    ("halo/halo_no_wait.pgas", 6),
)


@pytest.mark.parametrize(("path", "nodes"), OPENED)
def test_the_violation_is_seen_at_opening(browser: Browser, path: str, nodes: int | None) -> None:
    result = whole(path, nodes)
    for width, height in SIZES:
        page = browser.open(result, "", width, height)
        closes = json.loads(page.text_content("#about"))[0]["closes"]
        assert str(closes + 1) in title(page) and "The cycle is closed" in page.text_content("#now-body")
        assert page.text_content(".finding").startswith(("Rank 0 ", "Rank 1 "))
        count, outside = cycle_outside(page, "#diagram-box")
        assert count >= 3 * len(run_of(result)["cycle"]) and outside == 0, width
        assert flaws(page) == [], width
        if width == 1280:
            assert page.locator(".panel:visible").count() == 4
            scale = float(page.evaluate("fitting.scale"))
            assert 13 * scale >= (12 if len(page.locator(f"{DRAWN} .rank").all()) == 2 else 9), "letters can be read"
        for tab in page.locator("#tabs button").all() if width > 1000 else ():
            tab.click()
            assert flaws(page) == [], tab.text_content()
        page.keyboard.press("f")
        assert page.evaluate(ROWS_OUTSIDE) == 0, "all rows are in view"
        page.keyboard.press("Home")
        assert "Nothing has happened yet" in page.text_content("#now-body")
        page.keyboard.press("t")
        page.wait_for_timeout(300)  # colours change in a moment
        assert flaws(page) == [], f"dark, {width}"
        page.close()


ROWS_OUTSIDE = """() => {
  const outer = document.getElementById("diagram-box").getBoundingClientRect();
  const boxes = all(".drawing:not([hidden]) :is([data-step], .standing)").map((node) => node.getBoundingClientRect());
  return boxes.filter((box) => box.top < outer.top - 1 || box.bottom > outer.bottom + 1).length;
}"""


def test_long_names_are_broken(browser: Browser) -> None:
    name = "particles_that_have_left_the_subdomain_towards_the_east_or_the_north"
    result = json.loads(re.sub(r"\by\b", name, json.dumps(result_of(ONE_TO_ONE))))
    for width, height in SIZES[::2]:
        page = browser.open(result, "", width, height)
        assert flaws(page) == [], width
        values = page.locator("#variables td").first
        values.scroll_into_view_if_needed()
        assert values.bounding_box()["x"] < width - 100


def test_a_run_goes_on_to_the_effect(browser: Browser) -> None:
    page = browser.open(whole(ONE_TO_ONE), "")
    assert title(page) == "Step 9" and page.text_content("#of").strip() == "of 12"
    closing = "all('#now .closing', (line) => line.textContent)"
    closed = "The cycle is closed: step 8 would have to come before itself."
    assert page.evaluate(closing) == [closed, "The run goes on to what no SC run does, in step 10."]
    assert page.text_content("#diagram-title").endswith("in which the assertion of rank 0 in line 14 fails")
    # The parts and the SC order are of the violation.
    ends = page.evaluate("all('#ticks .part', (part) => [part.offsetLeft, part.offsetLeft + part.offsetWidth])")
    assert len(ends) == 2 and ends[1][1] == pytest.approx(
        page.evaluate("document.getElementById('ticks').offsetWidth") * 8 / 11, abs=2
    )
    said = "An SC run with the same happens-before relation as steps 1 to 9 of this run without the load of step 8."
    assert page.text_content("#order-sentence") == said
    page.click("#now .closing a[href='#step=10']")
    until(page, lambda: title(page), "Step 10")
    assert "What no SC run does: the assertion of rank 0 in line 14 fails." in page.evaluate(closing)
    assert "FAILS" in page.text_content("#now-body")
    assert page.locator("#run option").count() == 1


def test_a_run_with_the_effect_comes_before_a_violation_that_is_another(browser: Browser) -> None:
    page = browser.open(whole("producer_consumer/flag_get_no_wait.pgas"), "")
    titles = page.evaluate("all('#run option', (option) => option.textContent)")
    assert [each.partition(",")[0].partition(" in which")[0] for each in titles] == [
        "A run on the network",
        "Another run on the network",
    ]
    seen = "What no SC run does: f of rank 1 ends as 0 and flag_copy of rank 1 ends as 1."
    page.keyboard.press("End")
    assert seen in page.text_content("#now-body")
    page.select_option("#run", "1")
    assert "The cycle is closed" in page.text_content("#now-body") and seen not in page.text_content("#now-body")


def test_terms_have_a_line(browser: Browser) -> None:
    page = browser.open(result_of(ONE_TO_ONE), "")
    page.hover("#legend .term >> nth=1")
    assert page.text_content("#tip").startswith("cf, conflict:")
    page.mouse.move(0, 0)
    assert page.is_hidden("#tip")
    page.focus("#legend .term >> nth=0")
    assert page.text_content("#tip").startswith("po, program order:") and page.is_visible("#tip")
    page.keyboard.press("Escape")
    assert page.is_hidden("#tip")
    page.hover("#diagram-box .drawing:not([hidden]) .badge >> nth=0")
    assert page.is_visible("#tip")
    small = browser.open(result_of(ONE_TO_ONE), "", 390, 844)
    small.locator("#now .term").first.dispatch_event("click")  # as a finger does
    assert small.is_visible("#tip")
    assert flaws(small) == []


def test_pages_without_a_run_fit(browser: Browser) -> None:
    for path in ("one_to_one/one_to_one_wait.pgas", "c/openshmem/message_passing_fence.c"):
        for width, height in SIZES:
            assert flaws(browser.open(result_of(path), "", width, height)) == []


def test_a_page_with_a_repair_fits(browser: Browser) -> None:
    result = result_of("c/mpi/request_wait.c")
    diff = "--- a\n+++ b\n@@ -1,2 +1,3 @@\n int main(void)\n+    MPI_Win_flush(1, win);\n" + " " + "x" * 200 + "\n"
    result["repair"] = {
        "told": "Insert `MPI_Win_flush(1, win);` in line 21; then it is robust on 2 nodes",
        "diff": diff,
    }
    for width, height in SIZES:
        page = browser.open(result, "", width, height)
        assert page.text_content("section:has(#repair-title) p").endswith("robust on 2 nodes.")
        assert flaws(page) == []
