"""The native kernel (`pgasrob/kernel`), if it has been built."""

from pgasrob.robustness.tables import Tables

_Move = tuple[int | None, list[int], list[int]]

FORMAT: int
SHAPES: list[str]
STEPS: list[str]
INSTRUCTIONS: list[str]
REDUCTIONS: list[str]
RELATIONS: list[str]

class Search:
    def __init__(
        self,
        tables: Tables,
        *,
        attack: bool = True,
        guesses: bool = False,
        reductions: list[str] = ...,
        memory_limit: int | None = None,
        threads: int = 1,
    ) -> None: ...
    def run(self, states: int) -> bool: ...
    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def sc_states(self) -> int: ...
    @property
    def sc_transitions(self) -> int: ...
    @property
    def sc_complete(self) -> bool: ...
    @property
    def memory(self) -> int: ...
    @property
    def record_bytes(self) -> tuple[int, int]: ...
    @property
    def checks_assertions(self) -> bool: ...
    @property
    def checks_deadlock(self) -> bool: ...
    @property
    def violation(self) -> list[_Move] | None: ...
    @property
    def fault(self) -> tuple[list[_Move], int, int] | None: ...
    @property
    def violated(self) -> tuple[list[_Move], int, int] | None: ...
    @property
    def deadlock(self) -> list[_Move] | None: ...
