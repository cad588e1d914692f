"""One attack search in a process of its own: `python -m tests.bench.worker FILE NODES`, with a line of JSON for answer.

What the native search alone does, without the replay and the printing of `pgasrob check`, and with what the command
does not tell: the bytes that the kernel stores. With `--portfolio` the default engine instead, and with `--model` no
search, but the model for SPIN.
"""

from __future__ import annotations

import argparse
import inspect
import json
import time
from pathlib import Path
from typing import Any


def search(
    file: str, nodes: int, reductions: tuple[str, ...] | None, max_states: int | None, time_limit: float | None
) -> dict[str, Any]:
    """Search ``file`` on ``nodes`` nodes; ``reductions`` None are all there are. Gives what was found and what it cost.

    ``seconds`` are from the instance to the answer: static analyses, tables and search.
    """
    from pgasrob.program.parser import parse_file
    from pgasrob.robustness.native_attack import NativeSearch

    instance = parse_file(Path(file)).instantiate(nodes)
    started = time.perf_counter()
    if "reductions" in inspect.signature(NativeSearch).parameters:
        chosen: dict[str, Any] = {} if reductions is None else {"reductions": reductions}
    elif reductions:
        raise SystemExit("this kernel has no reductions")
    else:
        chosen = {}
    engine = NativeSearch(instance, **chosen)
    ended = None
    for _ in engine.run():
        if max_states is not None and engine.states > max_states:
            ended = "states"
        elif time_limit is not None and time.perf_counter() - started > time_limit:
            ended = "time"
        if ended:
            break
    seconds = time.perf_counter() - started
    if ended is None:
        ended = "not robust" if engine.violation else "error" if engine.facts.fault else "robust"
    return {
        "ended": ended,
        "seconds": seconds,
        "states": engine.states,
        "transitions": engine.transitions,
        "stored": engine.memory,
    }


def decide(file: str, nodes: int, time_limit: float | None) -> dict[str, Any]:
    """Decide ``file`` on ``nodes`` nodes by the default engine, with one thread.

    ``seconds`` are from the instance to the answer, as those of :func:`search`; ``prepared`` those before, from the
    text to the instance.
    """
    from pgasrob.program.parser import parse_file
    from pgasrob.robustness.engine import Settings
    from pgasrob.robustness.portfolio import PortfolioSearch

    begun = time.perf_counter()
    instance = parse_file(Path(file)).instantiate(nodes)
    started = time.perf_counter()
    engine = PortfolioSearch(instance, Settings())
    ended = None
    for _ in engine.run():
        if time_limit is not None and time.perf_counter() - started > time_limit:
            ended = "time"
            break
    seconds = time.perf_counter() - started
    if ended is None:
        ended = "not robust" if engine.violation else "error" if engine.facts.fault else "robust"
    return {
        "ended": ended,
        "prepared": started - begun,
        "seconds": seconds,
        "states": engine.states,
        "settled_by": engine.settled_by,
    }


def model(file: str, nodes: int) -> dict[str, Any]:
    """The Promela model of ``file`` on ``nodes`` nodes, and the bytes of a state for which SPIN is to be prepared."""
    from pgasrob.api import load
    from pgasrob.export.promela import promela_model

    exported = promela_model(load(Path(file)).instantiate(nodes), moves=False)
    return {"text": exported.text, "bytes": exported.bytes}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.worker", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("file")
    parser.add_argument("nodes", type=int)
    parser.add_argument("--reductions", help="names with commas between, or nothing for none; default: all")
    parser.add_argument("--max-states", type=int)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--portfolio", action="store_true")
    options = parser.parse_args()
    if options.model:
        print(json.dumps(model(options.file, options.nodes)))
        return
    if options.portfolio:
        print(json.dumps(decide(options.file, options.nodes, options.time_limit)))
        return
    names = None if options.reductions is None else tuple(filter(None, options.reductions.split(",")))
    print(json.dumps(search(options.file, options.nodes, names, options.max_states, options.time_limit)))


if __name__ == "__main__":
    main()
