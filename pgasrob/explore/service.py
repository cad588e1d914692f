"""Whom a server serves, and with how much of the machine: one user of it (`pgasrob explore`), or many (`serve`)."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from socket import gethostname

NAMES = ("127.0.0.1", "localhost")
"""What this machine is called in the addresses of pages that it serves to itself."""


@dataclass(frozen=True, slots=True)
class Service:
    """The server of a ``command`` at ``host`` and ``port`` (any that is free when 0).

    ``token``: a part of each address, which keeps out the other users of the machine; without one the page is for all
    who reach it, and no program reads a file. ``at_once``: requests that are worked on at a time, each in a process of
    its own that may have so many bytes of address space (``memory``); ``waiting``: how many more may wait. ``rate``:
    requests that an address may make in a minute, 0 for any number. ``behind``: the address of a proxy that says in the
    header X-Forwarded-For who asks. ``connections``: how many may be open.
    """

    command: str
    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    at_once: int = 2
    waiting: int = 8
    memory: int = 4 << 30
    rate: int = 0
    behind: str = ""
    connections: int = 64

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"/{self.token}/" if self.token else "/"

    @property
    def local(self) -> bool:
        """Whether it serves this machine alone."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """What requests may name as their host; None where that is not known, for others have names for this one."""
        if not self.local or self.behind:
            return None
        names = tuple(dict.fromkeys((*NAMES, self.written)))
        bare = names if self.port == 80 else ()  # browsers leave out the port that is meant anyway
        return (*(f"{name}:{self.port}" for name in names), *bare)

    @property
    def written(self) -> str:
        """The host as addresses have it: where it is all of this machine's, the name of the machine."""
        if self.host in ("0.0.0.0", "::"):
            return gethostname()
        return f"[{self.host}]" if ":" in self.host else self.host
