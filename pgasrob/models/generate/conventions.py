"""The choices, by name, that the coreRMA paper leaves open about its tests for rules (section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from pgasrob.diagnostics.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Conventions:
    """What counts as a test for a rule, and which tests count as the same.

    ``reads``: local reads beside those that read each non-initial write: "exact" as many reads as such writes (so in
    all five tests that the paper shows), "more" any number, "none" no read is required at all. ``observed``: "instance"
    each such write is read by a local read in the execution with the cycle itself; "count": each location has at least
    as many local reads as writes. ``initial``: initial values: "distinct" (0, 1, ... as in the paper's tests), "zero",
    or "each" (0 or 1 for each location, every choice a test of its own). ``pivot``: what is left out: one "edge", or
    all edges of one "application" (GA and CAS have several). ``write_pairs``: a pair of WS that nothing else orders is
    a pivot when "one" or "both" of its orders close a cycle; "any": so is one that hb orders anyway, in the other
    order. ``cas_values``: whether the operands of a cas must be equal (CAS-T) or differ (CAS-F) in the cyclic
    execution: "flow" as the values come out there, with every value possible for what is out of thin air; "free" no
    condition. ``own_targets``: remote statements to the own process: "alone" in programs of one process only, "always".
    ``flushes``: "any"; "useful" none that could be left out with the test remaining one of that rule. ``minimal``: no
    statement (together with the reads of its writes) can be left out. ``both``: the cycle of a two-process test visits
    actions of both processes. ``ir_own``: IR without its premise dst != src, for one-process tests (with it they have
    no edge of IR). ``interacting``: in a two-process test a statement of one process is about the memory of the other.
    ``processes``: two programs that differ in the order of their processes alone are "alike", or two tests, "distinct".
    ``local_order``: what LO orders after a local action: "all" later actions (Figure 4), later "local" ones (the text
    of section 5.3), "flush" later local ones and flushes. ``own_reads``: in the execution with the cycle a statement
    may read what it writes itself. ``observable``: an execution with a cycle has an outcome that the model forbids, so
    that an outcome depends on the rule. The paper does not ask for that, but for most rules most of its tests have one.
    """

    reads: Literal["exact", "more", "none"] = "exact"
    observed: Literal["instance", "count"] = "instance"
    initial: Literal["distinct", "zero", "each"] = "distinct"
    pivot: Literal["edge", "application"] = "edge"
    write_pairs: Literal["one", "both", "any"] = "one"
    cas_values: Literal["flow", "free"] = "flow"
    own_targets: Literal["alone", "always"] = "alone"
    flushes: Literal["any", "useful"] = "any"
    minimal: bool = False
    both: bool = False
    ir_own: bool = True
    interacting: bool = True
    processes: Literal["alike", "distinct"] = "alike"
    local_order: Literal["all", "local", "flush"] = "all"
    own_reads: bool = True
    observable: bool = True


DEFAULT = Conventions()


class UnknownConvention(ValueError):
    """No convention has this name or value; the message lists those that exist."""


def choices() -> dict[str, tuple[str, ...]]:
    """The values of each convention in words, the default first."""
    found = {}
    hints = get_type_hints(Conventions)
    for field in fields(Conventions):
        values = ("yes", "no") if hints[field.name] is bool else get_args(hints[field.name])
        default = _word(getattr(DEFAULT, field.name))
        found[field.name] = (default, *(value for value in values if value != default))
    return found


def conventions(settings: Iterable[str]) -> Conventions:
    """The conventions with these ``settings``: ``minimal=yes``. Raises :class:`UnknownConvention`."""
    given: dict[str, Any] = {}
    known = choices()
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if name not in known:
            hint = did_you_mean(name, known) or f"there is {', '.join(known)}"
            raise UnknownConvention(f"no convention {name!r}; {hint}")
        if not equals or value not in known[name]:
            raise UnknownConvention(f"{name} is one of {', '.join(known[name])}")
        given[name] = value == "yes" if isinstance(getattr(DEFAULT, name), bool) else value
    return replace(DEFAULT, **given)


def _word(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
