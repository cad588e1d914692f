"""The rules of GASNet about which calls are allowed where (1.8), as far as they are checked.

Its specification names them at the functions.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

HANDLE_TWICE = Rule(
    "gasnet-handle-twice",
    "a handle is synchronised once: it is invalid from then on",
    "GASNet 1.8, gasnet_wait_syncnb",
    "leave the second call out, or set the variable to GASNET_INVALID_HANDLE after the first one",
)
HANDLE_LEFT = Rule(
    "gasnet-handle-left",
    "every handle is synchronised",
    "GASNet 1.8, gasnet_put_nb",
    "call gasnet_wait_syncnb with the handle",
)
NOT_NOTIFIED = Rule(
    "gasnet-not-notified",
    "gasnet_barrier_wait comes after a gasnet_barrier_notify of its own",
    "GASNet 1.8, gasnet_barrier_wait",
    "call gasnet_barrier_notify before",
)
NOTIFIED_TWICE = Rule(
    "gasnet-notified-twice",
    "a barrier is waited for before the next one is notified",
    "GASNet 1.8, gasnet_barrier_notify",
    "call gasnet_barrier_wait before",
)
REGION = Rule(
    "gasnet-region",
    "access regions begin and end in turns",
    "GASNet 1.8, gasnet_begin_nbi_accessregion",
    "end each region before the next one begins",
)
NOT_ATTACHED = Rule(
    "gasnet-not-attached",
    "communication comes after gasnet_attach, or gex_Client_Init",
    "GASNet 1.8, gasnet_attach",
    "call gasnet_init and gasnet_attach first",
)
IMPLICIT_IN_REGION = Rule(
    "gasnet-implicit-in-region",
    "implicit operations are not synchronised within an access region: its handle does so",
    "GASNet 1.8, gasnet_begin_nbi_accessregion",
    "end the region first, and wait for its handle",
)
