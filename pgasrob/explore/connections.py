"""Connections of the server: those that are silent or read nothing end in time, so that they cannot use up all."""

from __future__ import annotations

import asyncio
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pgasrob.explore.rate import owner
from pgasrob.explore.request_bounds import HEAD_SECONDS

LEAST_READ = 16 * 1024
"""Bytes that a client has to take from one look to the next, of an answer that has not been sent."""
ROOM = 8
"""Connections that are kept free for newcomers: one that is ended still counts for a moment."""


class Protocol(H11Protocol):
    """Closes a connection that brings no head of a request in time, or whose client does not take the answer; and the
    one that has been silent for longest where there are too many, or else one of the address that has the most."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.silent_since = self.loop.time()
        self._look(False, 0)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency - ROOM:
            others = [each for each in self.connections if isinstance(each, Protocol) and each is not self]
            silent = min((each for each in others if each.waits), key=lambda each: each.silent_since, default=None)
            gives_way = silent or self._one_of_most(others)
            if gives_way is not None:
                self.connections.discard(gives_way)
                gives_way.transport.abort()

    @property
    def who(self) -> str:
        """Whose connection it is."""
        return owner(self.client[0]) if self.client else ""

    def _one_of_most(self, others: list[Protocol]) -> Protocol | None:
        """The last connection of the address that has the most; None where that is the one of this connection, or all
        of them have as few."""
        numbers = Counter(each.who for each in others)
        most, number = max(numbers.items(), key=lambda item: item[1], default=("", 0))
        if number <= numbers[self.who] + 1:
            return None
        return max((each for each in others if each.who == most), key=lambda each: each.silent_since)

    @property
    def waits(self) -> bool:
        """Whether it waits for the head of a request."""
        return self.conn.their_state is h11.IDLE

    def on_response_complete(self) -> None:
        self.silent_since = self.loop.time()
        super().on_response_complete()

    def _look(self, waited: bool, unsent: int) -> None:
        """End the connection if since the last look its client has not read, or sent no head: it ``waited`` then
        already, and so many bytes were ``unsent``."""
        left = self.transport.get_write_buffer_size()
        if unsent and left > max(0, unsent - LEAST_READ):
            self.transport.abort()
        elif self.transport.is_closing():
            if left:
                self.loop.call_later(HEAD_SECONDS, self._look, False, left)
        elif self.waits and waited and not left:
            self.transport.close()
        else:
            self.loop.call_later(HEAD_SECONDS, self._look, self.waits, left)
