"""Decide whether one-sided communication code is correctly synchronised.

>>> import pgasrob
>>> verdict = pgasrob.check(pgasrob.example("one_to_one"), nodes=2)
>>> verdict
<Verdict one_to_one.pgas: not robust on 2 nodes>
>>> verdict.save("run.svg")
>>> pgasrob.race("memory x; queue q; process { write(x, 0, x, q); mem[x] <- 1; }", nodes=2).verdict
'race'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgasrob import display
from pgasrob.version import VERSION

if TYPE_CHECKING:
    from pgasrob.api import check as check
    from pgasrob.api import litmus as litmus
    from pgasrob.api import load as load
    from pgasrob.api import outcomes as outcomes
    from pgasrob.api import race as race
    from pgasrob.api import repair as repair
    from pgasrob.api import simulate as simulate
    from pgasrob.diagnostics import SourceError as SourceError
    from pgasrob.frontends.options import FrontEnd as FrontEnd
    from pgasrob.models.litmus_answers import Answers as Answers
    from pgasrob.program.corpus import NoExample as NoExample
    from pgasrob.program.corpus import example as example
    from pgasrob.program.program import Program as Program
    from pgasrob.races.race_verdict import RaceVerdict as RaceVerdict
    from pgasrob.repairs.candidates import Costs as Costs
    from pgasrob.repairs.search import Repair as Repair
    from pgasrob.robustness.limits import Limits as Limits
    from pgasrob.robustness.verdict import Verdict as Verdict
    from pgasrob.runs.outcomes import Outcomes as Outcomes
    from pgasrob.runs.simulate import Simulated as Simulated
    from pgasrob.twins import MissingKernelWarning as MissingKernelWarning

__version__ = VERSION

# Loaded when first asked for, so that `import pgasrob` costs nothing.
_HOMES = {
    "Answers": "pgasrob.models.litmus_answers",
    "Costs": "pgasrob.repairs.candidates",
    "FrontEnd": "pgasrob.frontends.options",
    "Limits": "pgasrob.robustness.limits",
    "MissingKernelWarning": "pgasrob.twins",
    "NoExample": "pgasrob.program.corpus",
    "Outcomes": "pgasrob.runs.outcomes",
    "Program": "pgasrob.program.program",
    "RaceVerdict": "pgasrob.races.race_verdict",
    "Repair": "pgasrob.repairs.search",
    "Simulated": "pgasrob.runs.simulate",
    "SourceError": "pgasrob.diagnostics",
    "Verdict": "pgasrob.robustness.verdict",
    "check": "pgasrob.api",
    "example": "pgasrob.program.corpus",
    "litmus": "pgasrob.api",
    "load": "pgasrob.api",
    "outcomes": "pgasrob.api",
    "race": "pgasrob.api",
    "repair": "pgasrob.api",
    "simulate": "pgasrob.api",
}
__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604


display.renderer = lambda: import_module("pgasrob.render.results")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pgasrob' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
