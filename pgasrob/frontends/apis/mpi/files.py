"""Files (MPI-4.1, chapter 14): nothing comes of what is written that a program sees, and what is read is unknown.

Opening, closing and views are collective, and none of the collective calls waits for others.
"""

from __future__ import annotations

from pgasrob.frontends.apis.call_arguments import no_handle
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.flags import may_wait
from pgasrob.frontends.apis.interface import Call
from pgasrob.frontends.apis.mpi.addresses import elements
from pgasrob.frontends.apis.mpi.datatypes import datatype
from pgasrob.frontends.apis.mpi.handles import communicator, group_of, handle, pointer
from pgasrob.frontends.apis.mpi.header import OPAQUE, PROC_NULL, does
from pgasrob.frontends.apis.mpi.messages import buffer_values
from pgasrob.frontends.apis.mpi.requests import store_status
from pgasrob.frontends.apis.transfers import bounded
from pgasrob.frontends.c.libc.reads import read_texts
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.values import NULL, Handle
from pgasrob.program.assumptions import Kind
from pgasrob.program.outside_memory import ANY_FILE, Outside

FILE = OPAQUE["File"]
_READ = "void *buf, int count, MPI_Datatype datatype, MPI_Status *status"
_WRITTEN = "const void *buf, int count, MPI_Datatype datatype, MPI_Status *status"


@does("File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *file)")
def file_open(call: Call, steps: Steps) -> None:
    read_texts(call, 1)
    group = communicator(call, 0)
    may_wait(steps, group)
    call.outside(Outside((ANY_FILE,), writes=True))
    steps.store(pointer(call, 4), Handle("file", (group.key, group.members)), FILE)


@does("File_close(MPI_File *file)")
def file_close(call: Call, steps: Steps) -> None:
    place = pointer(call, 0)
    file = call.load(place, FILE)
    if not isinstance(file, Handle):
        call.fail(no_handle(file), f"{call.name} of a file that is not known here", "open it before")
    may_wait(steps, group_of(*file.data))
    call.outside(Outside((ANY_FILE,), writes=True))
    steps.store(place, NULL, FILE)


@does("""
    File_set_view(MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
        MPI_Info info);
    File_set_size(MPI_File file, MPI_Offset size); File_preallocate(MPI_File file, MPI_Offset size);
    File_sync(MPI_File file); File_set_atomicity(MPI_File file, int flag);
    File_seek_shared(MPI_File file, MPI_Offset offset, int whence)
""")
def file_change(call: Call, steps: Steps) -> None:
    may_wait(steps, group_of(*handle(call, 0, "file").data))
    call.rests_on(Kind.NO_EFFECT, call.name)
    call.outside(Outside((ANY_FILE,), writes=True))


@does("File_seek(MPI_File file, MPI_Offset offset, int whence)")
def file_seek(call: Call, steps: Steps) -> None:
    call.rests_on(Kind.NO_EFFECT, call.name)


@does(f"""
    File_write(MPI_File file, {_WRITTEN}); File_write_all(MPI_File file, {_WRITTEN});
    File_write_shared(MPI_File file, {_WRITTEN}); File_write_ordered(MPI_File file, {_WRITTEN});
    File_write_at(MPI_File file, MPI_Offset offset, {_WRITTEN});
    File_write_at_all(MPI_File file, MPI_Offset offset, {_WRITTEN})
""")
def file_write(call: Call, steps: Steps) -> None:
    first = _begun(steps)
    count, type = bounded(call, first + 1), datatype(call, first + 2)
    buffer_values(steps, first, count, type)
    call.rests_on(Kind.NO_EFFECT, call.name)
    call.outside(Outside((ANY_FILE,), writes=True))
    store_status(steps, call.pointer(first + 3), PROC_NULL, 0, count * type.size(call))


@does(f"""
    File_read(MPI_File file, {_READ}); File_read_all(MPI_File file, {_READ});
    File_read_shared(MPI_File file, {_READ}); File_read_ordered(MPI_File file, {_READ});
    File_read_at(MPI_File file, MPI_Offset offset, {_READ}); File_read_at_all(MPI_File file, MPI_Offset offset, {_READ})
""")
def file_read(call: Call, steps: Steps) -> None:
    """All that is asked for is there, and may be anything."""
    first = _begun(steps)
    count, type = call.known(first + 1), datatype(call, first + 2)
    size = type.size(call)
    if type.lower == 0 and type.extent == size and call.arguments[first] != NULL:
        forget(call, pointer(call, first), count * size)
    else:
        for place, kind in elements(call, first, bounded(call, first + 1), type):
            forget(call, place, call.size_of(kind))
    call.rests_on(Kind.FIXED_ANSWERS, call.name)
    call.outside(Outside((ANY_FILE,), writes=False))
    store_status(steps, call.pointer(first + 3), PROC_NULL, 0, count * size)


def _begun(steps: Steps) -> int:
    """Which argument of a call that reads or writes a file is the buffer."""
    call = steps.call
    group = group_of(*handle(call, 0, "file").data)
    if call.name.endswith(("_all", "_ordered")):
        may_wait(steps, group)
    return 2 if "_at" in call.name else 1


@does("File_get_size(MPI_File file, MPI_Offset *size); File_get_position(MPI_File file, MPI_Offset *offset)")
def file_measure(call: Call, steps: Steps) -> None:
    forget(call, pointer(call, 1), 8)
    call.outside(Outside((ANY_FILE,), writes=False))
