"""How much an address may ask: so much a minute, as much as that at once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address
from math import ceil

MOST_ADDRESSES = 10_000
"""Addresses that are remembered; the one that has asked nothing for longest is forgotten first."""


class Rate:
    """``most`` requests a minute for each address; 0: any number. ``clock`` gives seconds."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str, cost: int) -> int:
        """Seconds after which ``address`` may make a request of this ``cost``; 0 when it may now, and has made it."""
        if not self._most:
            return 0
        who, now = owner(address), self._clock()
        left, then = self._left.pop(who, (float(self._most), now))
        left = min(self._most, left + (now - then) * self._most / 60)
        may = left >= min(cost, self._most)
        self._left[who] = (left - cost if may else left, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return 0 if may else max(1, ceil((min(cost, self._most) - left) * 60 / self._most))


def owner(address: str) -> str:
    """Those who share ``address``: of IPv6 the network that one customer has (/64)."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 6:
        return str(found.ipv4_mapped or int(found) >> 64)
    return str(found)
