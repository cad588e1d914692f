"""What `pgasrob record` says at its end: how large the trace is, and what is missing in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgasrob.runtime.record.run import Recorded


def recorded_lines(recorded: Recorded, timeout: float | None) -> list[str]:
    """The sentences; ``timeout`` is in seconds."""
    contents = recorded.contents
    size = contents.bytes / 1e6
    lines = [
        f"{recorded.path}: {contents.ranks} ranks, {contents.calls:,} calls, {contents.accesses:,} accesses, "
        f"{size:,.1f} MB"
    ]
    cut = sorted(contents.seen - contents.ended)
    missing = sorted(set(range(contents.ranks)) - contents.seen)
    if recorded.timed_out:
        lines.append(f"the program was ended after {timeout:g} s")
    elif recorded.interrupted:
        lines.append("the program was interrupted")
    elif recorded.exit_code:
        by = f"signal {-recorded.exit_code}" if recorded.exit_code < 0 else f"exit code {recorded.exit_code}"
        lines.append(f"the program failed ({by})")
    if contents.full:
        lines.append("the trace was full before the program ended; --limit allows more")
    if contents.stopped:
        lines.append("recording stopped before the program ended, for the reason that a rank has given above")
    if contents.forks:
        forked = f"{contents.forks:,} processes" if contents.forks > 1 else "a process"
        lines.append(f"what {forked} that ranks forked did is not recorded")
    if contents.damage:
        lines.append(contents.damage)
    if contents.nameless:
        lines.append(f"no names and lines could be written to the trace: {contents.nameless}")
    if cut:
        lines.append(f"up to its last full record only: rank {', '.join(map(str, cut))}")
    if missing:
        lines.append(f"nothing is recorded of rank {', '.join(map(str, missing))}")
    if contents.threaded:
        lines.append(
            "more than one thread made accesses or calls, and how threads wait for each other is not "
            f"recorded: rank {', '.join(map(str, sorted(contents.threaded)))}"
        )
    return lines
