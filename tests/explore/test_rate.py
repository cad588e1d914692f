"""Rates of addresses: what is allowed at once, what comes back with time, who is one address."""

from __future__ import annotations

import pytest

from pgasrob.explore import rate
from pgasrob.explore.rate import Rate, owner


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_as_much_as_a_minute_has_at_once_and_then_as_time_goes_by() -> None:
    clock = Clock()
    limited = Rate(60, clock)
    assert [limited.wait("10.0.0.1", 5) for _ in range(12)] == [0] * 12
    assert limited.wait("10.0.0.1", 5) == 5
    assert limited.wait("10.0.0.1", 1) == 1
    assert limited.wait("10.0.0.2", 5) == 0  # another address has a rate of its own
    clock.now += 4.9
    assert limited.wait("10.0.0.1", 5) == 1
    clock.now += 0.1
    assert limited.wait("10.0.0.1", 5) == 0
    clock.now += 3_600
    assert [limited.wait("10.0.0.1", 60), limited.wait("10.0.0.1", 60)] == [0, 60]


def test_a_request_that_costs_more_than_a_minute_has_is_allowed_now_and_then() -> None:
    clock = Clock()
    limited = Rate(2, clock)
    assert limited.wait("10.0.0.1", 10) == 0
    wait = limited.wait("10.0.0.1", 10)
    clock.now += wait
    assert limited.wait("10.0.0.1", 10) == 0


def test_no_rate_refuses_nothing_and_keeps_nothing() -> None:
    limited = Rate(0)
    assert {limited.wait("10.0.0.1", 10) for _ in range(1_000)} == {0}
    assert not limited._left


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "MOST_ADDRESSES", 10)
    limited = Rate(1, Clock())
    assert {limited.wait(f"10.0.0.{number}", 1) for number in range(100)} == {0}
    assert len(limited._left) == 10
    assert limited.wait("10.0.0.99", 1) > 0


def test_a_network_of_ipv6_is_one_address() -> None:
    assert owner("2001:db8::1") == owner("2001:db8::ffff:1")
    assert owner("2001:db8:0:1::1") != owner("2001:db8::1")
    assert owner("::ffff:10.0.0.1") == owner("10.0.0.1")
    assert owner("fe80::1%eth0") == owner("fe80::2")
    assert owner("no address") == "no address"
