"""RDMA-TSO: InfiniBand verbs between x86 CPUs (Ambal, Dongol, Eran, Klimis, Lahav, Raad, OOPSLA 2024).

Three semantics that are the same: the machine with the six buffers of a queue pair (`concrete`), the one with a pipe
(`simplified`), and consistent executions (`declarative`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pgasrob.models import operational
from pgasrob.models.forms import Forms
from pgasrob.models.litmus.instructions import Flush, GetAccumulate, RemoteCompareAndSet
from pgasrob.models.litmus.litmus_program import Program, Value
from pgasrob.models.model_interface import Execution, Forbidden, Outcomes, Refusal
from pgasrob.models.model_table import Options
from pgasrob.models.rdma_tso.orders import RULES
from pgasrob.robustness.watch import Watch

if TYPE_CHECKING:
    from pgasrob.models.rdma_tso.declarative import Declarative

Semantics = Literal["declarative", "simplified", "concrete"]
Atomics = Literal["hca", "glob"]


NO_ATOMICS = "RDMA-TSO has no {word}: the operands of its remote atomics, rcas and rfaa, are not in memory"
FORMS = Forms(
    {
        GetAccumulate: NO_ATOMICS,
        RemoteCompareAndSet: NO_ATOMICS,
        Flush: "RDMA-TSO has no flush: poll({node}) waits for the oldest operation to node {node}",
    },
    non_atomic="RDMA-TSO has no non-atomic accesses",
    own_node="RDMA-TSO has no operations of a node on itself, here of node {node}",
)


DECLARATIVE = replace(
    FORMS,
    loops="consistent executions are those of programs without unbounded loops",
)


class RdmaTso:
    """The model with its options: ``pcie``, the guarantee that a read of the adapter pushes the writes before it;
    ``placed``, that a poll of a put says that it is in memory, as on all hardware there is; ``without``, rules of the
    declarative semantics that are left out; ``atomics``, against what remote atomics are atomic: others on the same
    node (IBV_ATOMIC_HCA), or everything (IBV_ATOMIC_GLOB)."""

    RULES = RULES
    name = "rdma-tso"

    def __init__(
        self,
        semantics: Semantics = "declarative",
        pcie: bool = True,
        placed: bool = False,
        without: Iterable[str] = (),
        atomics: Atomics = "hca",
    ) -> None:
        self.semantics: Semantics = semantics
        self.atomics: Atomics = atomics
        self.pcie, self.placed, self.without = pcie, placed, frozenset(without)
        if self.without and semantics != "declarative":
            raise ValueError(f"the {semantics} semantics has no rules to leave out; the declarative one has")
        if unknown := self.without - RULES.keys():
            raise ValueError(f"no rule {', '.join(sorted(unknown))}")

    @property
    def variant(self) -> str:
        chosen = Options(pcie=self.pcie, placed=self.placed, atomics=self.atomics, without=tuple(self.without))
        return " ".join(chosen.words)

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        """What RDMA-TSO does not know: coreRMA's remote atomics, flush, non-atomic accesses, queue pairs to the own
        node."""
        return FORMS.refusals(program)

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes, those of a program with unbounded loops by its runs. Raises :class:`Refused`."""
        if self.semantics == "declarative" and program.bounded:
            return self._declarative(program).outcomes(program, watch)
        return operational.outcomes(self.machine(program), watch)

    def executions(self, program: Program, watch: Watch | None = None) -> Iterator[Execution]:
        """All consistent executions. Raises :class:`Refused`, and LimitReached of ``watch``."""
        return self._declarative(program).executions(program, watch)

    def forbidden(self, program: Program, outcome: Mapping[str, Value]) -> Forbidden | None:
        """Why no consistent execution has the values of ``outcome``; None when one has."""
        return self._declarative(program).forbidden(program, outcome)

    def machine(self, program: Program, reduced: bool = True) -> operational.Machine[Any]:
        """The machine that runs ``program``, the simplified one unless the semantics is the concrete one; ``reduced``
        as in `operational`. Raises :class:`Refused`."""
        FORMS.require(program)
        glob = self.atomics == "glob"
        if self.semantics == "concrete":
            from pgasrob.models.rdma_tso.concrete import concrete

            return concrete(program, self.pcie, self.placed, reduced=reduced, glob=glob)
        from pgasrob.models.rdma_tso.simplified import simplified

        return simplified(program, self.pcie, self.placed, reduced=reduced, glob=glob)

    def _declarative(self, program: Program) -> Declarative:
        """The declarative semantics, if the model knows ``program``."""
        from pgasrob.models.rdma_tso.declarative import Declarative

        DECLARATIVE.require(program)
        glob = self.atomics == "glob"
        return Declarative(pcie=self.pcie, placed=self.placed, glob=glob, without=self.without)


__all__ = ["RULES", "RdmaTso"]
