"""The types and constants of ARMCI, with the numbers and layouts of the header of ARMCI-MPI."""

from __future__ import annotations

from pgasrob.frontends.apis.prototypes import layout
from pgasrob.frontends.c.types import INT, LONG, VOID, CType, Opaque, Pointer
from pgasrob.frontends.c.values import Known, Value

ADDRESSES = Pointer(Pointer(VOID))
GIOV = layout(
    "armci_giov",
    {"src_ptr_array": ADDRESSES, "dst_ptr_array": ADDRESSES, "bytes": INT, "ptr_array_len": INT},
    {ADDRESSES: 8, INT: 4}.__getitem__,
)

GROUP = Opaque("ARMCI_Group")

TYPES: dict[str, CType] = {
    "ARMCI_Group": GROUP,
    "armci_req_t": Opaque("armci_hdl_t"),
    "armci_hdl_t": Opaque("armci_hdl_t"),
    "armci_giov_t": GIOV,
    "armci_size_t": LONG,
    "armci_domain_t": INT,
}

_ENUMERATIONS = (
    ("ARMCI_ACC_INT", "ARMCI_ACC_LNG", "ARMCI_ACC_FLT", "ARMCI_ACC_DBL", "ARMCI_ACC_CPL", "ARMCI_ACC_DCP"),
    ("ARMCI_FETCH_AND_ADD", "ARMCI_FETCH_AND_ADD_LONG", "ARMCI_SWAP", "ARMCI_SWAP_LONG"),
    ("ARMCI_INT", "ARMCI_LONG", "ARMCI_LONG_LONG", "ARMCI_FLOAT", "ARMCI_DOUBLE"),
    ("SCOPE_ALL", "SCOPE_NODE", "SCOPE_MASTERS"),
    ("ARMCI_DOMAIN_SMP",),
)
CONSTANTS: dict[str, tuple[CType, Value]] = {
    name: (INT, Known(number)) for names in _ENUMERATIONS for number, name in enumerate(names)
}
