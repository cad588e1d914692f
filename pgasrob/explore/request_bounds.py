"""Bounds of a request: how large its program, its run and its answer may be, and how much time and memory that takes.

Whoever can reach the server may ask, so all of it is bounded.
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
MOST_ANSWER = 4_000_000
"""Characters of an answer."""
MOST_STATES = 100_000
"""States that the search for a violation looks at, beside its time."""
SEARCH_SECONDS = 6.0
"""Time for the search from the current state, and again for the check of the whole program."""
SECONDS = {"position": 10.0, "violation": 20.0, "check": 20.0, "repair": 40.0}
"""Time after which a request is given up and its process ended, by what it asks for."""
COSTS = {"violation": 5, "check": 5, "repair": 10}
"""How many requests of other kinds one of these counts for in the rate of an address; others are answered first."""
HEAD_SECONDS = 5.0
"""Time for the head of a request to come in, from the start of the connection or the end of the last request."""
BODY_SECONDS = 10.0
"""Time for a body to come in."""
WORKING_SECONDS = 1.0
"""Time after which a client that still waits learns its place, again and again."""
GONE_SECONDS = 1.0
"""Time for which an answer is still worked on behind a client that has disconnected."""
