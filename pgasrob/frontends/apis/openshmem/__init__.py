"""OpenSHMEM 1.0 to 1.6 (openshmem-org/specification).

What the calls promise is read off 1.5; functions of earlier versions keep their meaning. Every context has one
unordered queue. Contexts and teams must be known at every place, and so must counts, active sets and comparisons.
"""

from __future__ import annotations

import re
from functools import partial

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.openshmem import atomics, collectives, ordering, rma, setup, waiting
from pgasrob.frontends.apis.openshmem.contexts import LIFE
from pgasrob.frontends.apis.openshmem.header import CONSTANTS, FUNCTIONS, MACROS, TYPES

EXTENSIONS = (
    r"u?int(16|32|64)_\w+",  # of Open MPI, for the types that the standard had not yet
    r"(ctx_)?\w*put\w*_signal(_nbi)?|signal_\w+",  # 1.5 and 1.6
    r"\w+_(wait_until|test)_(all|any|some)\w*|team_\w+|\w+_alltoalls?",  # 1.5
    r"(ctx_)?(\w+_)?ib(put|get)\d*|(ctx_)?session_\w+|\w+_(in|ex)scan",  # 1.6
    r"(ctx_)?\w+_atomic_\w+|ctx_(create|destroy|quiet|fence)|malloc_with_hints|pcontrol",  # 1.4 and 1.5
)
"""What follows `shmemx_` in functions of the common implementations that are those of the standard by now: these take
and do the same. Others are not known."""
UNSUPPORTED = {
    "shmem_pe_quiet": "a quiet for some PEs only is not expressed: use shmem_quiet, which waits for all",
    "shmem_ctx_pe_quiet": "a quiet for some PEs only is not expressed: use shmem_ctx_quiet, which waits for all",
    "shmem_complex*": "complex numbers are not supported: move them as pairs of doubles",
    "shmem_ctx_complex*": "complex numbers are not supported: move them as pairs of doubles",
    "shmemx_*": "this extension is not one that has become standard: use the functions of the standard",
}

_EXTENSION = re.compile("|".join(f"shmem_({each})" for each in EXTENSIONS))
FUNCTIONS.alias(lambda name: name.replace("shmem_", "shmemx_", 1) if _EXTENSION.fullmatch(name) else name)
for _name, _text in [*FUNCTIONS.declarations.items()]:
    if _name.startswith("shmemx_") and "int sig_op, " in _text:
        _other = _text.replace("int sig_op, ", "")
        FUNCTIONS.overloads[_name, _other.count(",") + 1] = _other
FUNCTIONS.returns("double shmemx_wtime(void)", lambda call: call.clock())
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
