"""Bounds of a request: how large its program and run may be, and how much time and memory its answer may take.

Whoever knows the token may ask, so all of it is bounded.
"""

from __future__ import annotations

MOST_BYTES = 256 * 1024
"""Bytes of the body of a request."""
MOST_TEXT = 64 * 1024
"""Characters of a program."""
MOST_NODES = 16
MOST_CHOICES = 500
MOST_EVENTS = 400
"""Events of a run: each answer has the drawing of all of them."""
MOST_MOVES = 200
"""Ways to go on that are listed."""
MOST_CELLS = 400
"""Cells of all ranks whose values are listed."""
MOST_STATES = 100_000
"""States that the search for a violation looks at, beside its time."""
SEARCH_SECONDS = 6.0
"""Time for the search from the current state, and again for the check of the whole program."""
SECONDS = {"position": 10.0, "violation": 20.0}
"""Time after which a request is given up and its process ended, by what it asks for."""
HEAD_SECONDS = 5.0
"""Time for the head of a request to come in, from the start of the connection or the end of the last request."""
BODY_SECONDS = 10.0
"""Time for a body to come in."""
MOST_AT_ONCE = 2
"""Requests that are worked on at a time, each in a process of its own."""
MOST_WAITING = 8
MOST_MEMORY = 4 << 30
"""Bytes of address space of such a process."""
