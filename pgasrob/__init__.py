"""Decide whether one-sided communication code is correctly synchronised.

>>> import pgasrob
>>> program = pgasrob.load("one_to_one.pgas")
>>> pgasrob.check(program, nodes=2).verdict
'not robust'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgasrob import display

if TYPE_CHECKING:
    from pgasrob.diagnostics import SourceError as SourceError
    from pgasrob.program.program import Program as Program
    from pgasrob.robustness.check import check as check
    from pgasrob.robustness.check import load as load
    from pgasrob.robustness.limits import Limits as Limits
    from pgasrob.robustness.native import MissingKernelWarning as MissingKernelWarning
    from pgasrob.robustness.verdict import Verdict as Verdict
    from pgasrob.runs.outcomes import outcomes as outcomes
    from pgasrob.runs.simulate import simulate as simulate

__version__ = "0.1.0"

# Loaded when first asked for, so that `import pgasrob` costs nothing.
_HOMES = {
    "Limits": "pgasrob.robustness.limits",
    "MissingKernelWarning": "pgasrob.robustness.native",
    "Program": "pgasrob.program.program",
    "SourceError": "pgasrob.diagnostics",
    "Verdict": "pgasrob.robustness.verdict",
    "check": "pgasrob.robustness.check",
    "load": "pgasrob.robustness.check",
    "outcomes": "pgasrob.runs.outcomes",
    "simulate": "pgasrob.runs.simulate",
}
__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604


display.renderer = lambda: import_module("pgasrob.render.jupyter")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pgasrob' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
