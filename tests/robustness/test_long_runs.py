"""Runs that are long come to their end; those that come back to where they have been are given up."""

from __future__ import annotations

import pytest

from pgasrob import twins
from pgasrob.program.parser import parse
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.reasons import RunTooLong

COUNTED = """program long;
memory x;
register i;
process {{ i <- 0; while (i < {}) {{ mem[x] <- i; i <- i + 1; }} }}
"""
ENDLESS = """program endless;
memory x;
process { while (1) { mem[x] <- 1; } }
"""


@pytest.mark.skipif(not twins.available(), reason="the Python reference gives up any long run")
def test_a_long_run_that_counts_is_followed_and_one_that_goes_round_is_not() -> None:
    counted = NativeTraceSearch(parse(COUNTED.format(2_000)).instantiate(2), longest=100)
    list(counted.run())
    assert counted.gave_up is None and counted.violation is None and counted.traces == 1
    assert counted.states > 8_000
    endless = NativeTraceSearch(parse(ENDLESS).instantiate(2), longest=100)
    list(endless.run())
    assert isinstance(endless.gave_up, RunTooLong)
