"""What `armci.h` declares: types and constants, with the numbers and layouts of ARMCI-MPI; and functions."""

from __future__ import annotations

from pgasrob.frontends.apis.prototypes import Prototypes, enumerators
from pgasrob.frontends.c.layout import struct_of
from pgasrob.frontends.c.types import INT, LONG, VOID, CType, Opaque, Pointer
from pgasrob.frontends.c.values import Known, Value

ADDRESSES = Pointer(Pointer(VOID))
GIOV = struct_of(
    "armci_giov", [("src_ptr_array", ADDRESSES), ("dst_ptr_array", ADDRESSES), ("bytes", INT), ("ptr_array_len", INT)]
)

GROUP, HANDLE = Opaque("ARMCI_Group"), Opaque("armci_hdl_t")

TYPES: dict[str, CType] = {
    "ARMCI_Group": GROUP,
    "armci_req_t": HANDLE,
    "armci_hdl_t": HANDLE,
    "armci_giov_t": GIOV,
    "armci_size_t": LONG,
    "armci_domain_t": INT,
}

_ENUMERATIONS = (
    "ARMCI_ACC_INT, ARMCI_ACC_LNG, ARMCI_ACC_FLT, ARMCI_ACC_DBL, ARMCI_ACC_CPL, ARMCI_ACC_DCP",
    "ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP, ARMCI_SWAP_LONG",
    "ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE",
    "SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS",
    "ARMCI_DOMAIN_SMP",
)
CONSTANTS: dict[str, tuple[CType, Value]] = {
    name: (INT, Known(number)) for text in _ENUMERATIONS for name, number in enumerators(text).items()
}
FUNCTIONS = Prototypes()
DONE = FUNCTIONS.returning(Known(0))
"""The functions that return 0 when they have done what they should."""
