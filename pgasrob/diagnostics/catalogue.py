"""Every code that a diagnostic can have: what it means, why it is an error, and an example before and after.

The examples are programs of their own; the tests parse each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill, indent

from pgasrob.diagnostics.suggestions import closest

WIDTH = 88


@dataclass(frozen=True, slots=True)
class Entry:
    """A code, its title, one paragraph that explains it, and where it makes sense a wrong and a repaired program."""

    code: str
    title: str
    explanation: str
    wrong: str = ""
    repaired: str = ""

    def __str__(self) -> str:
        parts = [f"{self.code}: {self.title}", fill(self.explanation, WIDTH, break_on_hyphens=False)]
        if self.wrong:
            parts.append("Wrong:\n\n" + indent(self.wrong, "    "))
        if self.repaired:
            parts.append("Repaired:\n\n" + indent(self.repaired, "    "))
        return "\n\n".join(parts)


class UnknownCode(ValueError):
    """Asked to explain what is no code of the catalogue."""


def entries(text: str) -> Iterator[Entry]:
    """Reads ``text``: entries begin with ``== code title``, and their parts with ``-- wrong``, ``-- repaired``."""
    for chunk in text.split("\n== ")[1:]:
        head, *parts = chunk.split("\n-- ")
        first, _, explanation = head.partition("\n")
        code, _, title = first.partition(" ")
        examples = {name: text.strip("\n") for name, _, text in (part.partition("\n") for part in parts)}
        yield Entry(code, title, " ".join(explanation.split()), **examples)


def explain(code: str) -> str:
    """The entry of ``code`` as text; case does not matter, and the letters may be left out (`explain("21")`).

    Raises :class:`UnknownCode`, with the code that was most likely meant.
    """
    given = wanted = code.strip().upper()
    if number := re.fullmatch(r"(?:PG)?([0-9]{1,9})", wanted):
        wanted = f"PG{int(number[1]):03}"
    if wanted in CATALOGUE:
        return str(CATALOGUE[wanted])
    close = _closest(given)
    meant = f"did you mean {close}?" if close else f"codes run from {min(CATALOGUE)} to {max(CATALOGUE)}"
    raise UnknownCode(f"there is no code {code.strip()!r}; {meant}")


def _closest(given: str) -> str | None:
    """The code that is most like ``given``; of several the one that begins like it, or the first."""
    from difflib import SequenceMatcher

    if closest(given, CATALOGUE) is None:
        return None
    return max(CATALOGUE, key=lambda code: (SequenceMatcher(None, code, given).ratio(), given.startswith(code)))


def known_codes() -> list[str]:
    """All codes of the catalogue, in order."""
    return sorted(CATALOGUE)


_TEXT = """
== PG001 the file cannot be read
There is no file of this name, it is a folder, or its rights do not let you read it.

== PG002 the file is no text
Programs are text in UTF-8. This file holds bytes that are not, or a zero byte, which no text has; most likely it is a
compiled or compressed file, or was saved in another encoding.

== PG003 the file holds no program
The file is empty, or there is nothing but comments in it. The smallest program is one process block.
-- wrong
// to be written
-- repaired
process { skip; }

== PG004 the file is too large
A source file has at most 16 megabytes; the largest programs that can be verified have a few kilobytes. Most likely this
is another file than the one you meant, or a device that can be read for ever.

== PG010 something else was expected here
The grammar of the language has no place for this word. The message lists what could have stood here. The statement or
declaration is given up, and reading goes on after it, so that other mistakes are found in the same run.
-- wrong
register r;
process {
  r <- 1 +;
}
-- repaired
register r;
process {
  r <- 1 + 1;
}

== PG011 a semicolon or a closing bracket is missing
Every declaration and every command ends with a semicolon, and every bracket is closed. The message points at the end of
the word before, where the missing one belongs, and reading goes on as if it stood there.
-- wrong
register r;
process {
  r <- 1
  barrier;
}
-- repaired
register r;
process {
  r <- 1;
  barrier;
}

== PG012 the braces do not match
A block is opened by `{` and closed by `}`. Here a block is still open where the file ends or the next process begins,
or a brace closes a block that was never opened. The block that is reported is the last one open; when the braces are
indented as they nest, the missing one is easy to see.
-- wrong
process {
  loop {
    barrier;
}
-- repaired
process {
  loop {
    barrier;
  }
}

== PG013 a comment is not closed
A comment that begins with `/*` runs to the next `*/`, over as many lines as it takes; such comments do not nest. This
one runs to the end of the file, so nothing after it was read.
-- wrong
process {
  barrier; /* all ranks are here
}
-- repaired
process {
  barrier; /* all ranks are here */
}

== PG014 a character outside the language
Outside of comments a program is written in ASCII: letters, digits, `_`, and the operators and brackets of the grammar.
There are no strings, no characters and no preprocessor. Quotation marks, dashes and blanks that an editor or a web page
has made typographic are a frequent cause.
-- wrong
register größe;
process { skip; }
-- repaired
register size;
process { skip; }

== PG015 not an integer
What begins with a digit is an integer, and an integer is decimal digits. There are no hexadecimal or octal numbers, no
fractions and no suffixes, and a name does not begin with a digit.
-- wrong
memory x = 0x10;
process { skip; }
-- repaired
memory x = 16;
process { skip; }

== PG016 an integer above 2^31
Values are 32-bit signed integers, so integers from 0 to 2147483648 can be written; the last one is there for
`-2147483648`, the least value, and by itself wraps around to that.
-- wrong
memory x = 4294967295;
process { skip; }
-- repaired
memory x = -1;
process { skip; }

== PG017 a keyword is used as a name
The words of the language are reserved, in every place: program, nodes, memory, register, queue, unordered, process,
mem, me, the commands (assume, assert, skip, barrier, read, write, put, update, update_located, update_from,
update_from_located, notify, notify_all, bundle, signal, wait, wait_local, fence, await, await_add, fetch, fetch_add,
fetch_update, swap, compare_swap) and the control structure (if, else, while, choose, or, loop, goto).
-- wrong
register read;
process { read <- 1; }
-- repaired
register got;
process { got <- 1; }

== PG018 `<-` assigns and `==` compares
Assigning to a register and storing to memory are written `<-`, and comparing is written `==`; the sign `=` only gives
memory its initial value. There is no `:=`, and no `+=`, `++` and the like: adding one to a register is `r <- r + 1;`,
and a cell of memory is loaded into a register for that.
-- wrong
register r;
process {
  r = 1;
  assert(r = 1);
}
-- repaired
register r;
process {
  r <- 1;
  assert(r == 1);
}

== PG019 `<-` inside an expression
The two characters `<-` are one token, the one that assigns, even where no blank stands around them. A comparison with a
negative value needs a blank between them.
-- wrong
register r;
process { assume(r<-1); }
-- repaired
register r;
process { assume(r < -1); }

== PG020 an element is written with brackets
The name of an array is the address of its first cell, and addresses are integers to compute with: the address of an
element is the name plus its index. Brackets stand only in declarations and after `mem`, which accesses memory.
-- wrong
memory a[4];
register r;
process { r <- a[2]; }
-- repaired
memory a[4];
register r;
process { r <- mem[a + 2]; }

== PG021 memory is read inside an expression
An expression is computed from registers alone. Reading memory is an event of its own, which other ranks may come
before or after, so it is a command of its own: load the cell into a register, then compute with the register. To tell
`read`, `write` or an atomic which cell to use, write its address, `x`, and not its content, `mem[x]`.
-- wrong
memory x;
process { assert(mem[x] == 1); }
-- repaired
memory x;
register r;
process {
  r <- mem[x];
  assert(r == 1);
}

== PG022 nested too deeply
Parentheses, operators and blocks nest at most 200 levels deep. A sum of many terms nests as well: its value is computed
from the left, one level for each operator; and so does a chain of `else if`, one level for each. The bound keeps every
tool that walks a program from running out of stack.

== PG023 the wrong number of arguments
Every command takes a fixed number of arguments, in a fixed order. Only the rank of a `fence` may be left out, which
then orders the writes to every rank, and the result of an update, which then keeps the old value to itself. The hint
shows the order.
-- wrong
memory x, y;
queue q;
process { write(x, 1, y); }
-- repaired
memory x, y;
queue q;
process { write(x, 1, y, q); }

== PG024 too many mistakes
Twenty mistakes are reported, and then no more: what follows is mostly a consequence of the first few. Mend those and
run again.

== PG025 a declaration in the wrong place
The headers program, nodes, memory, register and queue stand at the top of the file, before the first process. All ranks
have the same memory, registers and queues, so there are no declarations inside a process.
-- wrong
process {
  register r;
  r <- 1;
}
-- repaired
register r;
process {
  r <- 1;
}

== PG026 there is no such command
The commands are assign, load and store (`<-`), read, write, put, wait, wait_local, fence, await, barrier, assume,
assert, skip, the atomics fetch, fetch_add, fetch_update, swap, compare_swap and await_add, their kin update and
update_from, which happen later, and notify, bundle and signal. Other interfaces have other names for them: a put is a
`write`, or a `put` when it returns with its source copied, and a get is a `read`, all from and to memory; quiet is
`wait`, for one queue; wait_until is `await`. There are no functions to call, and no locks: a lock is built from
`compare_swap` or `await`.
-- wrong
memory x, y;
queue q;
process { shmem_put(y, x, 1); }
-- repaired
memory x, y;
queue q;
process { write(x, 1, y, q); }

== PG027 a statement of C that does not exist
Control is written with if, else, while, choose, or, loop and goto. What C does with `for` and `do` is a `while`, or a
`loop` when any number of times will do; `break`, `continue` and `return` are a `goto` to a label after the loop, at the
end of its body and at the end of the process. A label needs a statement, if only `skip;`.
-- wrong
register r;
process {
  for (r <- 0; r < 3; r <- r + 1) { barrier; }
}
-- repaired
register r;
process {
  r <- 0;
  while (r < 3) {
    barrier;
    r <- r + 1;
  }
}

== PG028 there is no such operation
The first argument of an update, notification or signal is a word that says what is done with the cell, before the other
arguments: set, add, and, or, xor, mul, min, max, or compare_swap with what it expects. An `update_from` can also fetch.
A notification or signal can set or add. An atomic that happens at once, `fetch_update`, does all but compare_swap and
fetch, which have commands of their own.
-- wrong
memory x;
queue q;
process { update(sub, 1, 0, x, q); }
-- repaired
memory x;
queue q;
process { update(add, -1, 0, x, q); }

== PG029 an access is described wrongly
What stands behind `as` says how a command accesses memory, for the search for races: the type that it is atomic in, or
plain; behind `by` what it does to the cell, where not all atomics of the type exclude each other; and in brackets the
bytes of its cell that each of its accesses touches. A load may be polling. Commands that access no memory have none of
it.
-- wrong
memory x, y;
queue q;
process { write(x, 0, y, q) as plain[0-3]; }
-- repaired
memory x, y;
queue q;
process { write(x, 0, y, q) as plain[0-3, 0-3]; }

== PG030 a rank without a process block
Every rank from 0 to N - 1 runs one process: the block that names it, or else the block without ranks. On this number of
nodes a rank has neither. Add a block, or run the program on fewer nodes.
-- wrong
nodes 3;
process 0 { barrier; }
process 1 { barrier; }
-- repaired
nodes 3;
process 0 { barrier; }
process { barrier; }

== PG031 the node count is out of bounds
A program runs on 1 to 4096 nodes. The count is that of the command line, or else that of the `nodes` header, or else 2.
Decision procedures look at all interleavings, so two to five nodes are a sensible choice, and most mistakes show there.
-- wrong
nodes 0;
process { barrier; }
-- repaired
nodes 2;
process { barrier; }

== PG032 a rank is named twice
A rank runs one process block. Here two blocks, or one block twice, name the same rank.
-- wrong
process 0, 1 { barrier; }
process 1 { barrier; }
-- repaired
process 0 { barrier; }
process 1 { barrier; }

== PG033 two process blocks without ranks
A process block without ranks is for every rank that no other block names, so a program has at most one.
-- wrong
process { barrier; }
process { skip; }
-- repaired
process 0 { barrier; }
process { skip; }

== PG034 there is no process block
A program without a process has nothing to run, whatever it declares.
-- wrong
memory x;
-- repaired
memory x;
process { skip; }

== PG035 too much memory on all nodes
All nodes together have at most 1,048,576 cells. Every node has its own copy of the memory, and every state of a search
holds them all: run on fewer nodes, or shrink the arrays to the few cells that matter.
-- wrong
nodes 1000;
memory a[5000];
process { skip; }
-- repaired
nodes 2;
memory a[4];
process { skip; }

== PG036 too many ways from one command to the next
A `choose` or `loop` commits to nothing before the next command. So where many of them stand in a row and can be passed
over, each command leads to all those behind it, and a control automaton has a transition for every such pair. All ranks
together have at most 1,048,576 ways from one command to the next, the places passed over included. A command between
them that cannot be left out ends all ways there.

== PG040 the program faults on an SC run
A fault is a command that has no meaning: a division by zero, a shift by less than 0 or more than 31, an address outside
the memory, a rank outside 0..N-1, a negative queue. Here a run under sequential consistency reaches one, so the program
is in error on any network. The report names the command, its rank and the values, and has the run. A fault in code that
no such run reaches is none.
-- wrong
register r;
process { r <- 1 / r; }
-- repaired
register r;
process {
  if (r != 0) {
    r <- 1 / r;
  }
}

== PG050 an unknown name
Every register, memory cell and queue is declared before the first process, and names are case-sensitive. Ranks and
labels are no names of that kind: a rank is an integer, and a label stands only after `goto`.
-- wrong
memory flag;
register r;
process { r <- mem[falg]; }
-- repaired
memory flag;
register r;
process { r <- mem[flag]; }

== PG051 a name is declared twice
Memory, registers and queues share one space of names, because all of them stand in expressions.
-- wrong
memory x;
register x;
process { skip; }
-- repaired
memory x;
register r;
process { skip; }

== PG052 a register or queue is used as memory
Only memory has elements. A register holds one value, and the name of a queue is its number. To address memory through a
register, put the register inside the brackets of `mem`.
-- wrong
memory a[4];
register r;
process { r[1] <- 2; }
-- repaired
memory a[4];
register r;
process { mem[a + r + 1] <- 2; }

== PG053 the target is no register
What stands to the left of `<-` is a register, or `mem[...]`. Memory is written by a store, `mem[x] <- 1;`, and copied
through a register; queues, `me` and `nodes` cannot be changed.
-- wrong
memory x;
process { x <- 1; }
-- repaired
memory x;
process { mem[x] <- 1; }

== PG054 an unknown label
A `goto` goes to a label of its own process block. Labels of other processes are out of reach, since they belong to
other ranks.
-- wrong
process {
  again: barrier;
  goto agian;
}
-- repaired
process {
  again: barrier;
  goto again;
}

== PG055 a label stands twice
Within a process block every label is unique, also where the two are in different branches. Different blocks may use the
same labels.
-- wrong
process {
  a: barrier;
  a: barrier;
  goto a;
}
-- repaired
process {
  a: barrier;
  b: barrier;
  goto a;
}

== PG060 too many initial values
There are more initial values than cells. Fewer are allowed: the rest is zero.
-- wrong
memory a[2] = {1, 2, 3};
process { skip; }
-- repaired
memory a[3] = {1, 2, 3};
process { skip; }

== PG061 an array without cells
The size of an array is an integer from 1 on: an array without cells has no address, and nothing could be done with it.
A single cell is declared without brackets.
-- wrong
memory a[0];
process { skip; }
-- repaired
memory a[1];
process { skip; }

== PG062 too much memory
A node has at most 65,536 cells, all declarations together. Verification explores what every cell can hold, so it is of
use for small memories: shrink the array to the few cells that matter.
-- wrong
memory a[100000];
process { skip; }
-- repaired
memory a[4];
process { skip; }

== PG063 a header stands twice
The headers `program` and `nodes` say something about the whole program, so each stands once. Memory, registers and
queues may be declared in several lines.
-- wrong
nodes 2;
nodes 3;
process { skip; }
-- repaired
nodes 3;
process { skip; }

== PG070 a malformed expectation
The very first comment of a file may say what is expected of it: `expect: robust`, `expect: not robust` or `expect:
error`, or several of them with the node counts they are for, each count once: `expect: robust at 2..3, not robust at
4`. A comment that means to be one but is not understood is an error, because it would otherwise be passed over and
nothing would be compared. How many pairs of lines race may follow it, `races: none` or `races: none at 2, 3 pairs at
4`, and a C file may add its node count, `nodes: 4`, in the same comment or the next.
-- wrong
// expect: rubust
process { skip; }
-- repaired
// expect: robust
process { skip; }

== PG101 a character or comment that C does not know
In C, a string and a character end in the line where they begin, a comment `/*` ends with `*/`, and outside of these
there are only the letters, digits and signs of ASCII. Quotation marks and dashes that a web page has made typographic
are a frequent cause.

== PG102 a directive of the preprocessor is malformed
The lines that begin with `#` are carried out before anything else: `#include`, `#define`, `#undef`, `#if` with its kin,
`#error`, `#pragma`. Conditions are made of integers, `defined` and macros; a name that is no macro counts as 0. Every
`#if` has its `#endif` in the same file.

== PG103 the text asks not to be compiled
An `#error` that no condition leaves out, or a static assertion that fails, says that this configuration is not meant.
Definitions for the conditions are given as with a compiler: `-D NAME=VALUE`.

== PG104 threads
A rank is one thread of control here. Programs with OpenMP pragmas, POSIX or C threads, or accelerators have more of
them in a rank, and an answer about the program without these would be one about another program.

== PG105 a macro cannot be expanded
Its arguments are not closed, their number is not that of its parameters, `##` gives no token, or what the macros give
is without bounds in practice. Macros otherwise work as in C, with `#`, `##`, `...` and `__VA_ARGS__`.

== PG106 a number, character or string that C does not know
Integers have at most 64 bits, and suffixes made of `u`, `l` and `ll`; characters are single and plain, not wide or
several in one; escapes in strings are those of C.

== PG107 a syntax error in C
There is no such sentence in the grammar of C. The message points at the first place where reading fails; what is wrong
is there or before, often a missing semicolon, bracket or operator, or a type whose definition is in a header that is
not read.

== PG108 C nested too deeply
Brackets nest at most 200 levels deep, and expressions and statements a few hundred: long chains of operators and of
`else if` nest as well. The bound keeps every tool that walks a program from running out of stack.

== PG109 a header that is not found
A header of the program itself is looked for beside the file that includes it, when its name stands in quotes, and in
the folders that `-I` or the compilation database (`--compile-commands`) names. What it declares and defines may change
what the program does, so nothing is said without it. Headers of the system and of the communication libraries are known
and need no folder.

== PG120 a construct of C that is not supported
The front end takes C11 without bit-fields, complex numbers, atomic types, assembler, packed structs and
`va_arg`, and a few extensions of GNU C. What it does not take it never skips: that could turn a wrong
program into a robust one. The hint says what to write instead.

== PG121 a declaration that C does not allow
A name is declared twice in one block or with different types, something has a type that nothing can have, or a `case`,
`break`, `continue` or label stands where it has no meaning.

== PG122 an unknown name in C
Every variable, type, member and label is declared before it is used, in the file, in one that it includes from beside
it, or in a header of a known API or of the C library. Other headers are not read: what they declare is unknown, and the
definitions that are needed have to stand in the file.

== PG123 types that do not fit
An operator, assignment, argument or `return` gets a value of a type that it cannot take, or something is used as a
function, pointer, struct or variable that is none. Conversions between numbers and between pointers are made as in C.

== PG124 something must be constant
The lengths of arrays in structs, of inner arrays and of those outside of functions, the values of cases and
enumerators, designators, and the first values of static variables are computed from the text alone. A local array may
have a length that is only known when it is declared.

== PG125 an unknown function
The function is neither defined in the file nor one of a known API or of the C library, so nobody knows what it does to
memory. Give its definition; or, when it accesses no memory of the program, accept it with `--assume-pure NAME`: its
arguments are evaluated, it may return any value, and the call does nothing else.

== PG126 a C function gets the wrong number of arguments
The call has more or fewer arguments than the function's declaration, or than the call of the API that the header has.

== PG127 files that do not fit together
What one file declares and another one defines must be the same: a function with the same parameters and result, a
variable of the same type. What is not `static` is defined once; of two files that define it, the one is taken that is
built for the same target or lies in the same folder as `main`.

== PG140 a value must be known here
Which rank a transfer goes to may depend on data, but some arguments must be the same in every run of a rank: sizes,
numbers of queues and contexts, sets of ranks, the function that is called through a pointer. They may be computed from
ranks, constants and loop counters, and not from what is loaded from shared memory.
An argument that has not been set at all when the call is made is this error too, whichever it is.

== PG141 too large
A C program is executed for every rank as far as it is known what it does; loops whose conditions are known unroll.
This one takes too many steps, commands or cells, or one transfer too many elements. Mistakes in synchronisation show
with few iterations and small arrays already: define smaller constants, `-D N=4` say.

== PG142 memory is accessed with several types
Every variable that other ranks access is a cell that holds one value. Here bytes of such a variable are accessed as
another type, or a transfer tears it apart. Transfer whole variables, with one type at both ends.

== PG143 a pointer of which more must be known
Pointers are followed while the program is lowered, so it must be known which object they point into. They may be stored
and computed in memory of one's own; they cannot be transferred, be stored where other ranks write, or be compared with
pointers into other objects by `<`. Memory of another rank is accessed by the API's calls only.

== PG144 nothing is known of a function
The function is neither defined in the file nor one of an API that the file includes, nor of the C library as far as
that is supported. Nothing is skipped in silence: what it does decides whether the program is robust. If it touches no
shared memory, `--assume-pure NAME` says so; its arguments are evaluated then, and it may return any value.

== PG145 calls nest too deeply
Functions are lowered where they are called. A recursion must end by what is known on each rank, a counter say.

== PG146 a number of nodes is needed
`--nodes all` lowers a C program once for every number of nodes, with the rank and the number of nodes as symbols. What
is done here is another thing on every rank or number of nodes: memory of that size, a loop over all ranks within a
library, a broadcast. So there is a program for each number of nodes, and none for all.

== PG160 a call that an API does not allow, or that is not supported
The message says what is wrong with the call, and the hint what would make it checkable.

== PG161 there is no such API version
A comment `// api: NAME` in the head of a C file says which version of an API is meant where versions differ, as the
option `--api NAME` does.

== PG162 a function of an API is assumed to be pure
The option `--assume-pure NAME` says that a function accesses no memory of the program. A function whose name is that of
a communication library, or begins like its names (`shmem_`, `gaspi_`, `MPI_`), most likely does: it is misspelled, or
the header that declares it is not included.

== PG163 no compilation database, or a file that it compiles in several ways
`--compile-commands` takes a `compile_commands.json`, or its folder: a JSON list of objects with `directory`, `file`,
and `command` or `arguments`. CMake writes one with `-D CMAKE_EXPORT_COMPILE_COMMANDS=ON`, Meson always, and
`bear -- make` for anything that is built with make. Where a file with `main` is compiled in several ways, with other
macros for each target, name it without the database, with the `-D` and `-I` of one of them.

== PG170 a litmus test is written in another way
A litmus test declares locations with their nodes, then `::`, then its threads with their nodes, set apart by `||`, then
what is allowed and what is forbidden. The message says what could have stood at this place; reading goes on behind the
statement, declaration or line, so that other mistakes are found as well. Conditions are written as `choose` with
`assume`, and loops are bounded.
-- wrong
x@1=0 :: 1: x = 1 || 1: a := x
-- repaired
x@1=0 :: 1: x = 1 || 1: a = x

== PG171 a bracket or semicolon of a litmus test is missing
Statements are set apart by semicolons, and every bracket is closed. The message points at the end of the word before,
where the missing one belongs, and reading goes on as if it stood there.
-- wrong
x@1=0 :: 1: x = 1 a = x
-- repaired
x@1=0 :: 1: x = 1; a = x

== PG172 a name of a litmus test stands for two things
Names of locations are unique over all nodes. Every other name is a register, which is private to its thread: two
threads with a register of one name most likely mean a location, which is declared. So is a location that is the local
end of a get or put in one thread, where another thread is to access it.
-- wrong
x@1=0 :: 1: x = 1 || 1: a = x || 1: a = x
-- repaired
x@1=0 :: 1: x = 1 || 1: a = x || 1: b = x

== PG173 an unknown name in a litmus test
A location stands before `::` with its node. A register is set in its thread before it is of use: one that nothing sets
is taken for a misspelled location, and so is one that gets a constant, is read by nothing and is spelled much like a
location. Expectations name locations and registers of the program. The statements are loads,
stores and arithmetic, `get`, `put`, `rga`, `cas`, `flush`, `poll`, `rfence`, `mfence`, `CAS`, `assume`, `skip`,
`choose` and `loop`.
-- wrong
flag@1=0 :: 1: flag = 1 || 1: a = flog
-- repaired
flag@1=0 :: 1: flag = 1 || 1: a = flag

== PG174 a location of a litmus test is on another node
The CPU loads and stores locations of the node that its thread runs on. What is on another node is read and written by
the adapter, by a get `x = z^2` or a put `z^2 = x`, and there the node stands behind the location.
-- wrong
z@2=0 :: 1: z = 1 || 2: a = z
-- repaired
z@2=0 :: 1: z^2 = 1 || 2: a = z

== PG175 a statement of a litmus test takes something else
The adapter copies between a location of the thread's node and one with a node behind it, and computes nothing: a put
takes a location or a constant, and what `get`, `rga` and `cas` give goes to a location. `CAS` is the CPU's and works on
a location of the thread's node. `poll`, `rfence` and `flush` take the number of a node. Registers are not accessed
non-atomically.
-- wrong
x@1=0 z@2=0 :: 1: put(z^2, x + 1)
-- repaired
x@1=0 z@2=0 :: 1: x = x + 1; put(z^2, x)

== PG176 a remote location is read in an expression
A get is a statement of its own, which ends some time after it was issued: expressions compute with registers and with
locations of the thread's node. Get the value first, and wait for it where that matters.
-- wrong
z@2=0 :: 1: a = z^2 + 1
-- repaired
z@2=0 :: 1: t = z^2; poll(2); a = t + 1

== PG177 no such model, variant or rule
A line of expectations may name models: `rdma-tso`, `corerma`, `tso`, `sc`, `pgas`, each with words for what is not as
in its paper, `rdma-tso no-pcie` or `corerma without IR`. A line without a model is for all of them, and a model without
further words is the one of its paper.
-- wrong
x@1=0 :: 1: x = 1 || 1: a = x allowed rdma-tos: a=0
-- repaired
x@1=0 :: 1: x = 1 || 1: a = x allowed rdma-tso: a=0

== PG178 expectations of a litmus test that contradict each other
One line says that an outcome is allowed and another one that it is forbidden, for the same model. No model can meet
both.
-- wrong
x@1=0 :: 1: x = 1 || 1: a = x allowed a=0 forbidden a=0
-- repaired
x@1=0 :: 1: x = 1 || 1: a = x allowed a=0 forbidden a=2

== PG179 a thread of a litmus test is too long
Loops are written out, and loops in loops multiply: a thread has at most 20000 instructions then. Outcomes are found by
trying every run, so that loops of two or three turns are what can be asked about.

== PG180 a statement of a litmus test has no counterpart in the calculus
`pgasrob check` takes a litmus test for a program: a node is a rank, a get a `read`, a put a `write`, flush(n) a `wait`.
The calculus has no store buffers to speak of, no order of a get before what comes later (`rfence`), one thread a node,
and waits for all operations of a queue, not for the oldest. Ask about the network itself with `--network rdma-tso` or
`--network corerma`, or about outcomes with `pgasrob litmus`.

== PG181 a litmus test is no program of ranks
This command is about programs. `pgasrob litmus` lists what memory models allow of a litmus test, `pgasrob outcomes`
what the calculus does, and `pgasrob check` says whether the test is robust, also on a `--network`.

== PG182 a file of another kind
Programs are in the core language, in files of any name, or in C, in files whose names end in `.c`. A header is read
with the C file that includes it, and a compilation database says how C files are compiled. C++ and Fortran are not
read: `pgasrob build` and `pgasrob record` run programs in them and write down what they do, and `pgasrob check` says
whether some run that the recorded one stands for is a violation.
"""

CATALOGUE = {entry.code: entry for entry in entries(_TEXT)}
