"""Every kind of assumption at length: what is taken for granted, why, and what to do where it is false."""

from __future__ import annotations

from pgasrob.diagnostics.catalogue import UnknownCode, entries
from pgasrob.diagnostics.suggestions import did_you_mean

_TEXT = """
== failed-polls how a poll that fails is read
A loop that reads until it finds what it waits for either has an event in the run for each time that it looks, or is a
wait, whose one event is the look that succeeds. The first reading calls a program not robust when one look that comes
too early contradicts the order of the others, although nothing comes of it. The sentence says which reading it was.

== conflicts which accesses conflict
Happens-before orders two accesses to one cell when they conflict. Either all do of which one writes, or updates of a
cell by one operation that commutes, with nothing fetched, do not, for nobody can tell their order. The sentence says
which reading it was.

== program-order stores of a processor reach its peers in program order
A rank accesses the memory of its own node by loads and stores, one after the other, and what it has stored is there
for transfers and for other ranks from then on. Real processors keep stores in buffers and may load ahead of them, most
others than x86 reorder stores too, and network adapters need not read what a cache holds. Where a flag is set by a
store that others look at, put the fence there that the machine and the API ask for; this tool does not miss it when it
is left out. With `--cpu tso` each rank has the store buffer of x86 instead: a store reaches memory some time later, the
stores of a rank in order, and a load of its own finds it before that. Transfers come behind the stores before them, and
atomics and barriers wait for the buffer to be empty. `pgasrob check` says of a robust program where that may matter.

== one-copy each cell has one copy, which is accessed as a whole
Whatever has arrived in a cell is what everybody finds there next: own loads, gets of all ranks, and atomics. No rank
sees an old value after another one has seen the new one, and no access finds a half of a value. On a machine whose
caches are not coherent with the network the API's calls for that have to be made, which do nothing here.

== no-failures nothing fails, and what is issued is done
Nodes, ranks and network run without failures. An operation may be delayed as long as you like, but it is done in the
end, whether or not its target makes a call meanwhile. An implementation that needs calls to get on may wait for ever
where the verdict says that there is no deadlock.

== closed-program only this program's ranks access its memory
All ranks run the one program that was read, from its beginning, with the memory in its first state. Another job,
process or device that accesses the same memory is not looked at, and neither is a rank that runs another program.

== specification calls do what their specification promises
Each call is read as its specification has it, and not as some implementation does it: whatever is allowed may happen,
and what is promised does. An implementation that keeps a promise less is wrong by its specification, and the verdict
does not hold for it; one that does more than it has to, as most do, may never show the run of a counterexample. Where
a specification is silent the reading is one of the other assumptions, or that which allows more runs.

== calls-allowed calls are made where their API allows them
APIs ask for more than is looked at here: that the library is initialised, that one-sided calls of MPI stand in an
epoch, that arguments fit, that buffers are of the kind that is wanted. All members of a group have to call its
collectives in one order: where some wait for others at calls that are not the same, or have not come behind the same
ones, that is a deadlock; with calls that wait for nobody, and nobody who waits behind them, it is not found. Where a
call is not allowed anything may happen. An error is told where the front end sees one; what it does not see is read as
if it were allowed.

== sizes the sizes of the text are checked, and no others
The number of ranks, the lengths of arrays, the counts of loops and transfers are those of the text with the macros
that the command line defines. A larger case is another program. Check several: mistakes in synchronisation mostly show
with the smallest, but a race that needs a second round of a loop needs two rounds.

== platform types lie in memory as on 64-bit Unix
An int has 32 bits, a long and a pointer 64, a long double takes 128, structs are padded as usual, and the first byte is
the lowest. Characters are ASCII. Macros say so too: what stands behind `#ifdef __x86_64__` or `__linux__` is read,
and GNU C is version 4.2. Code for other platforms is not looked at.
Where a program rounds an address, to a page say, memory begins at a multiple of that.

== arithmetic integers wrap round and doubles are rounded once
A signed integer that grows too large wraps round, where C leaves everything open and a compiler may conclude that it
never happens. Floating-point numbers are those of IEEE 754 to the nearest, no operations are fused or done with more
digits, and mathematical functions give what they give on the machine where this tool runs. A long double, which has
more digits on x86, is computed with those of a double.

== compiler the compiler keeps accesses to shared memory
Every load and store of memory that other ranks access is made, once, in the order of the text, with operands from left
to right. A compiler need not do so where a variable is neither volatile nor accessed through calls: it may keep a flag
in a register and poll it for ever, or move a store. Declare as volatile what others write, or use the API's calls.

== whole-scalars scalars are moved as a whole
A transfer is one operation for each scalar of the program that lies in it, and for at most 8 bytes where the program
names none, and each arrives at once. A network that delivers fewer bytes at a time may show halves of numbers.

== unset-memory what nobody has set holds 0
Variables on the stack and fresh memory hold anything in C; here all bits are 0. A program that looks at them before it
sets them is wrong in itself, and is told so only where a branch or an argument depends on a variable of a function that
the rank certainly has not set; what is transferred before it is set, and what it may have set, is 0.

== calls-succeed calls do not fail
Calls return what stands for success (MPI_SUCCESS, GASPI_SUCCESS, 0), errno is 0, and error handlers never run. So what
a program does when a call has failed is not looked at. A timeout of GASPI is no failure: such a call may return
GASPI_TIMEOUT at any time, but for those that set up or tear down.

== one-thread a rank is one thread of control
No other thread, handler of a signal or handler of an active message runs within a rank. Programs that start threads or
send active messages are refused with an error; what a library does in threads of its own is not looked at.

== unknown-values values that nothing in the program decides
A random number or a time may be any that its function gives, within the bounds that are listed, and another one at
each call, whatever the seed. A verdict `robust` holds for all of them. A run that is shown may need values that no run
of the program has together: two times that go backwards, say.

== unknown-memory memory that may hold any value
Unknown values have been stored or transferred to these objects, so whatever is loaded from them may be anything that
their type holds, and a wait for such a value may end at any time. A verdict `robust` holds all the same; a run that is
shown may need a value that is never there.

== parts an access to a part of a scalar counts as one to all of it
Where a scalar that ranks share is accessed in parts too (the halves of a word that an atomic updates, the bytes of an
integer), there is one cell for all of it. A store to a part reads the cell and then changes the bits of that part
alone, at once. Accesses to different parts conflict here, which they do not on a machine: `robust` holds all the same,
but a violation between different parts is none. Look at which parts the run that is shown accesses.

== assumed-pure functions of the option --assume-pure
These functions are not in the file. They are taken to read and write no memory that the program uses, be it shared or
given to them by a pointer, to call nothing back, and to return any value of their type. If one does fill a buffer or
communicates, put its definition, or one that does the same, into the file.

== separate-memory no rank reaches another one's memory by loads and stores
Ranks on one node may share memory: shmem_ptr gives a pointer then, a team or communicator of those that share has
several members, and programs take another way. Here every rank is alone on its node: the calls that ask get a null
pointer or a team of one. The way that a program takes on a node that is shared is looked at with `--shared-memory all`,
or `--shared-memory nodes=4` where 4 ranks share a node, or a comment `// shared-memory: all` at the head of the file.

== shared-memory ranks of a node load and store each other's memory
The option --shared-memory, or a comment, says which ranks share a node. They get pointers to each other's memory, and
what a rank loads and stores there is an access to the cells of their owner, made at once and in the order of the text,
as that to its own memory is: processors are taken to be sequentially consistent, which none is without fences, and
whatever program-order says holds between ranks too. Puts and gets go by the network as to any other rank. Where all is
well on ranks that share memory it need not be on ranks that do not: check both.

== atomic-to-all atomics are atomic to all accesses
Specifications promise that an atomic is indivisible for other atomics, often only those of the same type, API or
context, and say nothing of puts, gets, loads and stores of the same cell, nor of the processor's own atomics. Here it
is indivisible for all. Where a cell is accessed in several ways, see what the API says of it.

== epochs-wait calls that begin an epoch wait for it
MPI_Win_start may return before the targets have posted, and MPI_Win_lock before the lock is held; what is issued is
delayed then. Here they wait. What a rank does between such a call and the first operation is later here than it may
be.

== fence-barrier MPI_Win_fence is a barrier
Nobody returns from a fence before all have called it. MPI promises that of fences that end an epoch; another need not
be a barrier. With MPI_MODE_NOPRECEDE it is none here: who accesses the window of a rank waits for its fence, and nobody
else. Without it every fence is taken for a barrier. Where the order of something else hangs on a fence that ends no
epoch, put MPI_Barrier there.

== modes-hold what MPI_MODE_... says is true
The assertions of MPI_Win_fence, _post, _start and _lock are promises of the program, for which a call may do less.
Nobody looks whether they are true, and calls do as much as without them. A program that is wrong only where a call
does less is not found.

== unified-windows windows have one copy of their memory
MPI has two memory models. In the unified one, which nearly all machines have and MPI_WIN_MODEL tells, a window's
memory is that of its owner. In the separate one there is a public and a private copy, and MPI_Win_sync copies between
them, which does nothing here.

== buffered-sends messages are copied when they are sent
A send may wait for its receive or copy the message and go on, and a program must be right either way. Here it goes on,
as far as a few messages per receiver, more being a fault. That the sender waits for the receiver is not counted on, so
a run that is shown may need a buffer, and a program that waits for ever without one is not found. MPI_Isend reads its
buffer at the call, so that one which is changed before the request is complete is not found either.

== queue-room no queue is full
A queue of GASPI takes as many requests as gaspi_queue_size_max says until it is waited for, and a call that finds no
room returns GASPI_QUEUE_FULL and posts nothing. Here there is always room, so that a program's answer to a full queue,
which is to wait for it or to take another one, is not looked at. Where that is more than a wait for the queue and the
same call again, as in `while ((ret = gaspi_write(...)) == GASPI_QUEUE_FULL) gaspi_wait(queue, GASPI_BLOCK);`, check the
program with that answer in place of the call.

== creation-waits calls that make what others access wait for all
The call is collective, and its data flow or its purpose needs all ranks, but its specification does not say in so many
words that it is a barrier. Here it is one. Where the order of something else hangs on it, put a barrier there.

== same-addresses static variables and segments lie at one address
A rank's own address of a static variable or of its segment is used for another rank. GASNet promises that for segments
that are aligned, and for static variables where all ranks run one binary at fixed addresses.

== reduction-order floating-point reductions go by ranks
Sums and products of floating-point numbers depend on the order in which they are made, which specifications leave open.
Here they are made in the order of the ranks, and every run gives the same. A program that compares such a result with
one that it has computed itself may find another one.

== same-ranks several APIs number the ranks alike
Rank r of one API is rank r of the other, all ranks take part in both, and what one has completed is seen by the other.
Ask both for their ranks where an implementation does not promise that.

== work-arrays pSync and pWrk are as they must be
Collectives on active sets take arrays to work in, which have to be set before the first call and not be used by two
calls at a time. Here they are not looked at.

== not-called functions that are registered and never called
Handlers of signals do not run, for no signals arrive, nor do functions that are to be called at exit. If one
communicates, call it where it would run.

== fixed-answers questions that always get the same answer
What the system and the implementation say of themselves (process ids, versions, limits, names, whether something is
initialised or accessible, how full a queue is) is the same on every rank and in every run, mostly 0. Where a program
branches on it, the other branch is not looked at.

== thread-level the thread level asked for is granted
The call says that it provides what was required, and a query says the highest level. A rank is one thread all the
same.

== hints hints and options change nothing
Info objects, options of contexts, hints of allocations and sessions tell an implementation how a program behaves, and
some allow it to do less. Here they change nothing, and nobody looks whether they are true.

== unread-headers headers that are not read
These headers are neither beside the file nor those of a known API or of the C library. A name that they would declare
is an error where it is used, but a macro that they would define does not exist, so `#ifdef` and `#if` take the other
way. Put what the text needs into it, or beside it as `#include "name.h"`.

== arguments the program is started without arguments
argc is 1, argv[0] is a name, and options have not been given, so programs use their defaults. Change the defaults, by
`-D` say, to check another case.

== environment no environment variable is set
Each query of the environment gets a null pointer, also after setenv.

== ends-all-ranks a call that ends the job ends all ranks
A job is stopped as a whole some time after such a call: until then the other ranks may go on, and what they do is
looked at, so a run that is shown may need them to go on for long. In the end nobody is left, so who waits for a rank
that has made such a call does not wait for ever, and that is no deadlock. For abort and the like it takes a launcher
that stops the job when one of its processes dies.

== killed-rank a rank that has been killed goes on
A killed rank may have done any part of what it does, which is looked at since every run is also looked at when it is
cut anywhere. That others then wait for it for ever, or get errors from calls that have to do with it, is not: here it
goes on to its end.

== assert-goes-on a false assertion does not end the run
An assertion that fails is told, and the rank goes on as with NDEBUG. What is shown to happen after it would not happen
where assert ends the program.

== freed-memory memory that has been given back is not used
What is freed is not accessed any more, which is not checked but for operations that are still under way. Memory that
is allocated later, with the same size, lies in the same place when it comes from malloc.

== allocation there is enough memory
Every allocation succeeds and gives memory of its own, aligned as its type needs, on every rank. The stack is as deep
as calls are nested.

== no-effect functions of the C library that change nothing
Output, sleeping, seeds of random numbers, fences of the processor and the like read their arguments and change nothing
that ranks share. They return 0, which a program may see. Fences of the processor have nothing to do, by program-order.

== model-checker SPIN has searched all states
The answer of `--engine spin` that nothing is violated is that of SPIN and of the C compiler that has built its
verifier. Counterexamples are replayed, and rest on neither.
"""

CATALOGUE = {entry.code: entry for entry in entries(_TEXT)}
"""The codes in the order of `Kind`."""


def explain(code: str) -> str:
    """The entry of ``code`` as text; case does not matter. Raises
    :class:`~pgasrob.diagnostics.catalogue.UnknownCode`."""
    wanted = code.strip().lower()
    if wanted in CATALOGUE:
        return str(CATALOGUE[wanted])
    near = did_you_mean(wanted, CATALOGUE) or "`pgasrob explain-assumption` lists all"
    raise UnknownCode(f"there is no assumption {code.strip()!r}; {near}")
