# ruff: noqa: E501
"""OpenSHMEM, `collectives`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.openshmem.calls import lowered

CALLS = {
    "static long ps[9]; shmem_broadcast64(la, lb, 2, 0, 0, 0, n, ps);": "fence(0); bundle; put(lb[0], 1, la[0], 0); put(lb[1], 1, la[1], 0); signal(add, 1, 1, shmem_broadcast, 0);",
    "static long ps[9]; shmem_broadcast64(la, lb, 1, 1, 0, 0, n, ps);": "await_add(0, mem[shmem_broadcast] > 0, -1);",
    "shmem_int_broadcast(SHMEM_TEAM_WORLD, a, b, 1, 0);": "fence(0); bundle; put(b[0], 1, a[0], 0); signal(add, 1, 1, shmem_broadcast, 0); value <- mem[b[0]]; mem[a[0]] <- value;",
    "shmem_broadcast(SHMEM_TEAM_WORLD, a, b, 1, 0);": "fence(0); bundle; put(b[0], 1, a[0], 0); signal(add, 1, 1, shmem_broadcast, 0); value <- mem[b[0]]; mem[a[0]] <- value;",
    "static long ps[9]; shmem_fcollect64(la, lb, 1, 0, 0, n, ps);": "value <- mem[lb[0]]; mem[shmem_0_1_value_0_0] <- value; barrier; value_2 <- fetch(1, shmem_0_1_value_0_0); mem[la[0]] <- value; mem[la[1]] <- value_2;",
    "shmem_long_collect(SHMEM_TEAM_WORLD, la, lb, me + 1);": "value <- mem[lb[0]]; mem[shmem_0_1_value_0_0] <- value; barrier; value_2 <- fetch(1, shmem_0_1_value_0_0); value_3 <- fetch(1, shmem_0_1_value_0_1); mem[la[0]] <- value; mem[la[1]] <- value_2; mem[la[2]] <- value_3;",
    "shmem_long_alltoall(SHMEM_TEAM_WORLD, la, lb, 1);": "value <- mem[lb[0]]; value_2 <- mem[lb[1]]; mem[shmem_0_1_value_0_0] <- value; mem[shmem_0_1_value_0_1] <- value_2; barrier; value_3 <- fetch(1, shmem_0_1_value_0_0); mem[la[0]] <- value; mem[la[1]] <- value_3;",
    "shmem_int_sum_reduce(SHMEM_TEAM_WORLD, a, b, 1);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 + value; mem[a[0]] <- total;",
    "static int w[2]; static long ps[9]; shmem_int_max_to_all(&x, &y, 1, 0, 0, n, w, ps);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 > value ? 0 : value; mem[x] <- total;",
    "shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &da[0], &d, 1);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 +. value; mem[da[0]] <- total;",
    "shmem_max_reduce(SHMEM_TEAM_WORLD, la, lb, 1);": "mem[shmem_0_1_value_0_0] <- 0; barrier; value <- fetch(1, shmem_0_1_value_0_0); total <- 0 > value ? 0 : value; mem[la[0]] <- total;",
    "shmem_int_sum_inscan(SHMEM_TEAM_WORLD, a, b, 1);": "of_4_messages_under_way <- mem[shmem_0_1_shmem_int_sum_inscan_1_0_1_full_0]; mem[shmem_0_1_shmem_int_sum_inscan_1_0_1_message_0_0] <- 0; mem[shmem_0_1_shmem_int_sum_inscan_1_0_1_full_0] <- 1 / (of_4_messages_under_way == 0); mem[a[0]] <- 0;",
}

ON_THREE = {
    "static long ps[9]; if (me < 2) shmem_int_sum_to_all(&x, &y, 1, 0, 0, 2, a, ps);": "mem[shmem_0_1_value_0_0] <- 0; await_add(0, mem[shmem_0_1_shmem_int_sum_to_all_of_1_0] < 2, 1); await_add(0, mem[shmem_0_1_shmem_int_sum_to_all_of_1_0] == 2, 0); value <- fetch(1, shmem_0_1_value_0_0); total <- 0 + value; mem[x] <- total;",
}

ERRORS = {
    "int k = 1; if (shmem_int_g(&x, 1)) k = 2; shmem_long_collect(SHMEM_TEAM_WORLD, la, lb, k); x = 1;": "PE 0 brings different numbers of elements to one call of shmem_long_collect",
    "if (me) shmem_long_collect(SHMEM_TEAM_WORLD, la, lb, 1);": "PE 0 does not come to this call of shmem_long_collect",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ON_THREE.items())
def test_call_on_three_nodes(call: str, expected: str) -> None:
    assert lowered(call, 3) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)
