"""Memory that a collective call allocates is named after the variable that gets its address, whatever it is cast to."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c

ARGUMENTS = {
    "base": "base",
    "(void **) base": "base",
    "(void**)base": "base",
    "( void ** ) (base)": "base",
    "((void **)(char *)base)": "base",
    "(void **) &base[0]": "memory",
}
POINTERS = {
    "&p": "p",
    "(void *) &p": "p",
    "(void*)&p": "p",
    "( void  * ) (&p)": "p",
    "(void **) &p": "p",
    "&both[1]": "window0",
}


@pytest.mark.parametrize(("argument", "name"), ARGUMENTS.items())
def test_armci(argument: str, name: str) -> None:
    text = f"""
#include <armci.h>
int main(int argc, char **argv) {{
  int *base[2]; int me = 0;
  ARMCI_Init(); ARMCI_Malloc({argument}, 8); me = armci_msg_me();
  ARMCI_PutValueInt(1, &base[1 - me][1], 1 - me); ARMCI_Finalize(); return 0;
}}"""
    assert [memory.name.partition("[")[0] for memory in parse_c(text).program(2).memory] == [name]


@pytest.mark.parametrize(("argument", "name"), POINTERS.items())
def test_mpi(argument: str, name: str) -> None:
    text = f"""
#include <mpi.h>
int main(int argc, char **argv) {{
  int *p, *both[2]; MPI_Win w;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, {argument}, &w);
  MPI_Win_fence(0, w); int x = 1; MPI_Put(&x, 1, MPI_INT, 1, 1, 1, MPI_INT, w); MPI_Win_fence(0, w);
  MPI_Finalize(); return 0;
}}"""
    names = {memory.name.partition("[")[0] for memory in parse_c(text).program(2).memory}
    assert names == {"x", name}
