"""Which functions of the APIs move data between ranks: by that it is seen that no rank comes to such a call."""

from __future__ import annotations

import re
from functools import cache

_MOVES = re.compile(
    r"p?shmemx?_(?!set_cache|\w*get_(team|config|name|version)|addr_)(\w*?(put|get|atomic|swap|fadd|finc|lock|signal_(set|add)|"
    r"broadcast|collect|to_all|reduce|alltoall|scan)|(\w+_)?(p|g|add|inc|fetch|set)$)"
    r"|p?gaspi_(?!\w*_(max|size)$)(write|read|notify(?!_(wait|reset))|passive|atomic|allreduce)"
    r"|(read|write|atomic|allReduce|sendDma|recvDma|passive)\w*GPI$|globalResourceLockGPI"
    r"|p?armci_(\w*(put|get(?!_(default|world))|acc(?!ess)|rmw)|lock|notify|msg_(\w*gop|snd|rcv|brdcst|bcast))"
    r"|gasnete?_(put|get|memset)(?=_|$)|gex_(RMA_|AD_Op|Coll_(?!Barrier)|VIS_)"
    r"|p?mpi_((r?(put|get)|r?(get_)?accumulate|fetch_and_op|compare_and_swap)$|i?[bsr]?send|i?m?recv|sendrecv"
    r"|i?(bcast|reduce|all(reduce|gather|toall)|gather|scatter|e?x?scan)|start(all)?$)",
    re.IGNORECASE,
)


@cache
def moves_data(name: str) -> bool:
    """Whether calls of the function ``name`` may move data between ranks."""
    return _MOVES.match(name) is not None
