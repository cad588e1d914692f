"""Reads the functions that the header of a communication library declares, and writes shim functions for them.

A shim defines every function of the library under its own name. The linker prefers the definitions of the program, so
the program calls the shim, which calls the library's function by its name in the profiling interface
(OpenSHMEM 1.4, section 10; MPI 3.1, section 14.2): ``pshmem_put`` and ``PMPI_Put``, or, where the library has none, by
the next definition of the plain name.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tree_sitter import Node

Library = Literal["openshmem", "mpi"]

INCLUDES: dict[Library, str] = {
    "openshmem": "#include <shmem.h>\n#if __has_include(<shmemx.h>)\n#include <shmemx.h>\n#endif\n",
    "mpi": "#include <mpi.h>\n",
}
PREFIXES: dict[Library, tuple[str, ...]] = {
    "openshmem": ("shmem_", "shmemx_", "start_pes", "shmalloc", "shfree", "shrealloc", "shmemalign"),
    "mpi": ("MPI_",),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function; ``declared`` is its whole declaration, with its name."""

    name: str
    declared: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the library. ``result`` is the C type of what it returns; "void": nothing."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]
    variadic: bool = False

    @property
    def profiling_name(self) -> str:
        return ("P" if self.name.startswith("MPI_") else "p") + self.name

    @property
    def passed(self) -> str:
        """The parameters as arguments of a call."""
        return ", ".join(parameter.name for parameter in self.parameters)

    @property
    def declared(self) -> str:
        """The parameters as declared."""
        return ", ".join(parameter.declared for parameter in self.parameters) or "void"


class HeaderError(Exception):
    """The library's header cannot be read; the message says why."""


def functions(compiler: Sequence[str], library: Library) -> tuple[Function, ...]:
    """The functions that the library's header declares, in its order, as ``compiler`` (``oshcc``, ``mpicc``) reads it.

    Raises ``HeaderError`` when the compiler does not find the header.
    """
    preprocessed = subprocess.run(
        [*compiler, "-E", "-P", "-x", "c", "-"], input=INCLUDES[library], capture_output=True, text=True, check=False
    )
    if preprocessed.returncode:
        raise HeaderError(f"{' '.join(compiler)} does not find the header of {library}: {preprocessed.stderr.strip()}")
    return tuple(declarations(preprocessed.stdout, PREFIXES[library]))


def declarations(text: str, prefixes: tuple[str, ...]) -> Iterable[Function]:
    """The functions that a preprocessed C ``text`` declares, with names that begin with one of ``prefixes``."""
    import tree_sitter_c
    from tree_sitter import Language, Parser

    source = text.encode()
    seen = set()
    for node in Parser(Language(tree_sitter_c.language())).parse(source).root_node.children:
        found = _function(node) if node.type == "declaration" else None
        if found is not None and found.name.startswith(prefixes) and found.name not in seen:
            seen.add(found.name)
            yield found


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else " ".join(node.text.decode().split())


def _function(declaration: Node) -> Function | None:
    """The function that ``declaration`` declares; None where it declares something else."""
    result, node = _text(declaration.child_by_field_name("type")), declaration.child_by_field_name("declarator")
    while node is not None and node.type == "pointer_declarator":
        result, node = f"{result} *", node.child_by_field_name("declarator")
    if node is None or node.type != "function_declarator":
        return None
    name = node.child_by_field_name("declarator")
    listed = node.child_by_field_name("parameters")
    if name is None or name.type != "identifier" or listed is None:
        return None
    if any(_text(child) == "const" for child in declaration.children):
        result = f"const {result}"
    parameters = [child for child in listed.named_children if child.type == "parameter_declaration"]
    if [_text(parameter) for parameter in parameters] == ["void"]:
        parameters = []
    variadic = any(child.type in ("variadic_parameter", "...") for child in listed.children)
    return Function(_text(name), result, tuple(_parameter(p, i) for i, p in enumerate(parameters)), variadic)


def _parameter(node: Node, position: int) -> Parameter:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type not in ("identifier", "abstract_pointer_declarator"):
        inner = declarator.child_by_field_name("declarator")
        declarator = inner if inner is not None else next(iter(declarator.named_children), None)
    if declarator is not None and declarator.type == "identifier":
        return Parameter(_text(declarator), _text(node))
    return Parameter(f"argument_{position}", f"{_text(node)} argument_{position}")


def definitions(library: Library, found: Iterable[Function], body: Callable[[Function], str | None]) -> str:
    """C source that defines each function whose ``body`` is not None. In a body the library's own is ``real(...)``.

    ``real`` is a pointer to a function of the same type, looked up at the first call.
    """
    written = ["#define _GNU_SOURCE", "#include <dlfcn.h>", '#include "real.h"', INCLUDES[library]]
    for function in found:
        if (text := body(function)) is not None:
            written.append(_definition(function, text))
    return "\n".join(written) + "\n"


def _definition(function: Function, body: str) -> str:
    return (
        f"#undef {function.name}\n"
        f"{function.result} {function.name}({function.declared}) {{\n"
        f"    static {function.result} (*real)({function.declared});\n"
        f'    if (!real) real = pgasrob_real("{function.profiling_name}", "{function.name}");\n'
        f"{body}}}\n"
    )
