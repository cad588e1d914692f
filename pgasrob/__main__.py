"""The entry point of the command `pgasrob`, which is also ``python -m pgasrob``."""

from __future__ import annotations

import gc
import os
import signal
from typing import NoReturn

INTERRUPTED = 130
COLLECTIONS = 50_000, 20, 50
"""How many objects more there are before Python looks for cycles among them, and how often among older ones. Programs
and states make many objects and hardly any cycles: looking as often as usual takes up to 40 % of a long lowering."""


def main() -> None:
    """Run the command. Ctrl-C ends it with exit code 130, also while the command cannot see to that itself: as long as
    what it needs is imported, and when it has ended."""
    gc.set_threshold(*COLLECTIONS)
    # Where Ctrl-C is ignored (a background job) it stays so.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _end)
    from pgasrob.cli import main as command

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        command()
    except KeyboardInterrupt:
        _end()
    finally:
        if heard:
            signal.signal(signal.SIGINT, _end)


def _end(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
