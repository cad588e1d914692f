"""When the calls of an API are allowed: after one that begins the use of the library, and before one that ends it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Handler, Outcome, Way
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.program.illegal_calls import Opened, Rule


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The calls that begin the use of ``api``, those that end it, and those ``between`` that break ``rule`` anywhere
    else: patterns of their names. ``queries`` are allowed after the end too. ``first`` is the call that is missing
    where there has been none."""

    api: str
    rule: Rule
    first: str
    begins: str
    ends: str
    between: str
    queries: str = r"\b\B"

    @property
    def running(self) -> str:
        """The key of the note of the call that has begun the use of the library."""
        return f"{self.api}.running"

    def has_begun(self, call: Call) -> bool:
        """What a query whether the library is initialised answers: also after its end, as MPI_Initialized does."""
        return self.running in call.state

    @property
    def ended(self) -> str:
        """The key of the note of the call that has ended it."""
        return f"{self.api}.ended"

    def handler(self, functions: Prototypes, name: str) -> Handler | None:
        """What calls of ``name`` do, by the table of ``functions``, with a finding where they are not allowed."""
        handler = functions.handler(name)
        begins = re.fullmatch(self.begins, name) is not None
        if handler is None or not (self.begins_or_ends(name) or re.fullmatch(self.between, name)):
            return handler

        def handle(call: Call) -> Way | Sequence[Way]:
            ways, steps = handler(call), Steps(call)
            if not begins and self._is_wrong(call):
                ended = cast("Opened | None", call.state.get(self.ended))
                when = f"before {self.first}" if ended is None else f"after {ended.name}"
                steps.illegal(self.rule, f"{call.name} {when}", ended)
                steps.note(self.running, steps.opened())  # of later calls none is a finding
                if ended is not None:
                    steps.note(self.ended, None)
            if self.begins_or_ends(name):
                steps.note(self.running if begins else self.ended, steps.opened())
            if not steps.state:
                return ways
            return [_behind(steps, way) for way in ([ways] if isinstance(ways, Way) else ways)]

        return handle

    def begins_or_ends(self, name: str) -> bool:
        """Whether a call of ``name`` begins or ends the use of the library."""
        return re.fullmatch(f"{self.begins}|{self.ends}", name) is not None

    def _is_wrong(self, call: Call) -> bool:
        if self.ended in call.state:
            return re.fullmatch(self.queries, call.name) is None
        return self.running not in call.state


def _behind(steps: Steps, way: Way) -> Way:
    """The ``way`` behind what the ``steps`` do and note."""
    way = replace(way, statements=(*steps.call.do(*steps.commands), *way.statements))
    return replace(way, state={**steps.state, **way.state}) if isinstance(way, Outcome) else way
