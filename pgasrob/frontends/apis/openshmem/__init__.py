"""OpenSHMEM 1.0 to 1.6 (openshmem-org/specification).

What the calls promise is read off 1.5; functions of earlier versions keep their meaning. Every context has one
unordered queue. Contexts and teams must be known at every place, and so must counts, active sets and comparisons.
"""

from __future__ import annotations

from functools import partial

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.openshmem import atomics, collectives, ordering, rma, setup, waiting
from pgasrob.frontends.apis.openshmem.contexts import LIFE
from pgasrob.frontends.apis.openshmem.header import CONSTANTS, FUNCTIONS, MACROS, TYPES

UNSUPPORTED = {
    "shmem_pe_quiet": "a quiet for some PEs only is not expressed: use shmem_quiet, which waits for all",
    "shmem_ctx_pe_quiet": "a quiet for some PEs only is not expressed: use shmem_ctx_quiet, which waits for all",
    "shmem_complex*": "complex numbers are not supported: move them as pairs of doubles",
    "shmem_ctx_complex*": "complex numbers are not supported: move them as pairs of doubles",
    "shmemx_*": "extensions of one implementation are not supported: use the functions of the standard",
}

FUNCTIONS.alias(lambda name: f"p{name}" if name.startswith("shmem_") else name)

API = Api(
    name="openshmem",
    headers=("shmem.h", "shmemx.h", "mpp/shmem.h", "mpp/shmemx.h"),
    types=TYPES,
    constants=CONSTANTS,
    macros=MACROS,
    declaration=FUNCTIONS.declaration,
    handler=partial(LIFE.handler, FUNCTIONS),
    functions=FUNCTIONS.handlers,
    unsupported=UNSUPPORTED,
    specifications={"": "OpenSHMEM 1.5"},
)

__all__ = ["API", "atomics", "collectives", "ordering", "rma", "setup", "waiting"]
