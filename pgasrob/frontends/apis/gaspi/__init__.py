"""GASPI (`GASPI.h`, the standard 17.1; the dialect `gaspi-1.01` is the one of 2013), as GPI-2 implements it.

Queues are unordered, `gaspi_wait` completes on the local side, `gaspi_write_notify` covers its own payload only. In the
dialect `gaspi-1.01` it completes on both sides, and the notification comes after all earlier writes of its queue to its
rank.
"""

from __future__ import annotations

from functools import partial

from pgasrob.frontends.apis.gaspi import collectives, rma, segments, setup
from pgasrob.frontends.apis.gaspi.header import CONSTANTS, FUNCTIONS, TYPES
from pgasrob.frontends.apis.interface import Api

FUNCTIONS.alias(lambda name: f"p{name}")

API = Api(
    name="gaspi",
    headers=("GASPI.h", "GASPI_Ext.h", "GASPI_types.h"),
    types=TYPES,
    constants=CONSTANTS,
    declaration=FUNCTIONS.declaration,
    handler=partial(setup.LIFE.handler, FUNCTIONS),
    functions=FUNCTIONS.handlers,
    shows=frozenset({"gaspi_printf", "gaspi_printf_to", "gaspi_print_affinity_mask", "gaspi_logger"}),
    specifications={"": "GASPI 17.1", "gaspi-1.01": "GASPI 1.01"},
    unsupported={
        "gaspi_allreduce_user": "use gaspi_allreduce with GASPI_OP_MIN, _MAX or _SUM",
        "gaspi_state_*": "remove the handling of failures: all ranks run to their end",
        "gaspi_gpu_*": "memory of accelerators is not modelled",
    },
)

__all__ = ["API", "collectives", "rma", "segments", "setup"]
