"""Options and hypothesis profiles of the whole test suite."""

from __future__ import annotations

import gc
import shutil
import signal
from collections.abc import Generator, Iterator
from typing import Any
from zlib import crc32

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, settings

from pgasrob.__main__ import COLLECTIONS
from tests import outputs, tiers

COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
}

# By default every run tries the same examples, so that a red test stays red; nightly ones are new each time.
settings.register_profile("default", derandomize=True, max_examples=100, **COMMON)
settings.register_profile("nightly", print_blob=True, max_examples=1_000, **COMMON)


CliRunner.invoke = outputs.invoke  # type: ignore[method-assign]  # all that tests have commands print is checked


@pytest.fixture(autouse=True, scope="session")
def patience() -> None:
    """What the package leaves out where it takes longer than somebody wants to wait is never left out in tests."""
    from pgasrob.cli import further
    from pgasrob.models import litmus_answers as answers

    answers.LONGEST_WHY = answers.LONGEST_UNASKED = further.FIX_SECONDS = 600.0


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser for the pages."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright (pip install '.[test]')")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly",
        action="store_true",
        help="run the tests marked nightly too, and up to 10,000 random examples where a plain run tries some hundreds",
    )
    parser.addoption("--quick", action="store_true", help="leave out what takes long (tests/tiers.py)")
    parser.addoption("--one-in", type=int, default=1, metavar="N", help="run one test in N, by a checksum of its name")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts what runs in its background so, and CI often does: without this, tests of Ctrl-C wait for ever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--nightly") and config.getoption("--quick"):
        raise pytest.UsageError("--quick and --nightly exclude each other")
    # Before the test modules are imported: the settings of their tests start from the profile (support.examples).
    settings.load_profile("nightly" if config.getoption("--nightly") else "default")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """On several processes one that has done its tests takes over half of another's, where plain `pytest -n` deals out
    most of what takes long before it begins, and then waits for the slower one."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Python goes through all that is alive again and again to find cycles of garbage. What collecting 17,000 tests
    makes stays to the end: leaving it out takes a fifth off the time of a run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*COLLECTIONS)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--nightly"):
        left_out = set[str]()
    else:
        tests = [item.nodeid for item in items if "nightly" not in item.keywords]
        left_out = {item.nodeid for item in items if "nightly" in item.keywords}
        left_out |= tiers.not_quick(tests) if config.getoption("--quick") else tiers.left_to_the_night(tests)
    one_in: int = config.getoption("--one-in")
    left_out |= {item.nodeid for item in items if crc32(item.nodeid.encode()) % one_in}
    chosen = [item for item in items if item.nodeid not in left_out]
    if hasattr(config, "workerinput"):
        # On several processes (pytest-xdist) what takes long comes first, so that none waits for another at the end.
        chosen.sort(key=lambda item: tiers.turn(item.nodeid))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = chosen
