"""Decide whether one-sided communication code is correctly synchronised.

>>> import pgasrob
>>> program = pgasrob.load("one_to_one.pgas")
>>> pgasrob.check(program, nodes=2).verdict
'not robust'
>>> pgasrob.race(program, nodes=2).verdict
'race'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgasrob import display

if TYPE_CHECKING:
    from pgasrob.diagnostics import SourceError as SourceError
    from pgasrob.program.corpus import NoExample as NoExample
    from pgasrob.program.corpus import example as example
    from pgasrob.program.program import Program as Program
    from pgasrob.races import decide
    from pgasrob.races.verdict import RaceVerdict as RaceVerdict
    from pgasrob.robustness.check import check as check
    from pgasrob.robustness.check import load as load
    from pgasrob.robustness.limits import Limits as Limits
    from pgasrob.robustness.native import MissingKernelWarning as MissingKernelWarning
    from pgasrob.robustness.verdict import Verdict as Verdict
    from pgasrob.runs.outcomes import outcomes as outcomes
    from pgasrob.runs.simulate import simulate as simulate

    race = decide.races

__version__ = "0.1.0"

# Loaded when first asked for, so that `import pgasrob` costs nothing.
_HOMES = {
    "Limits": "pgasrob.robustness.limits",
    "MissingKernelWarning": "pgasrob.robustness.native",
    "NoExample": "pgasrob.program.corpus",
    "Program": "pgasrob.program.program",
    "RaceVerdict": "pgasrob.races.verdict",
    "SourceError": "pgasrob.diagnostics",
    "Verdict": "pgasrob.robustness.verdict",
    "check": "pgasrob.robustness.check",
    "example": "pgasrob.program.corpus",
    "load": "pgasrob.robustness.check",
    "outcomes": "pgasrob.runs.outcomes",
    "race": "pgasrob.races.decide",
    "simulate": "pgasrob.runs.simulate",
}
# What has another name at home, where a folder has taken this one.
_THERE = {"race": "races"}
__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604


display.renderer = lambda: import_module("pgasrob.render.jupyter")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), _THERE.get(name, name))
    raise AttributeError(f"module 'pgasrob' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
