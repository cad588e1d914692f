"""Random C programs for any number of nodes, with GASNet or ARMCI, whose ranks find each other's memory in tables."""

from __future__ import annotations

from random import Random

GASNET = """#include <gasnet.h>
#include <stdlib.h>
static void meet(void) { gasnet_barrier_notify(0, 1); gasnet_barrier_wait(0, 1); }
static int *of(gasnet_seginfo_t *table, int rank) { return (int *) table[rank].addr; }
int main(void) {
  gasnet_init(0, 0); gasnet_attach(0, 0, 64, 0);
  int me = gasnet_mynode(), n = gasnet_nodes(), x = 1, r = 0;
  gasnet_seginfo_t *table = malloc(n * sizeof *table);
  gasnet_getSegmentInfo(table, n);
  int *mine = table[me].addr;
"""
ARMCI = """#include <armci.h>
#include <mpi.h>
#include <stdlib.h>
static void meet(void) { armci_msg_barrier(); }
static int *of(void **table, int rank) { return (int *) table[rank]; }
int main(void) {
  int me, n, x = 1, r = 0;
  MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  ARMCI_Init();
  void **table = calloc(n, sizeof *table);
  ARMCI_Malloc(table, 64);
  int *mine = table[me];
"""
PEERS = (
    "(me + 1) % n", "(me + 1) % n", "(me + n - 1) % n", "0", "1", "n - 1", "me", "n - 1 - me", "(me + 2) % n",
    "me ^ (me < n / 2 * 2)",
)  # fmt: skip
TESTS = ("me == 0", "me == n - 1", "me % 2", "peer < n", "peer > me", "me > 0 && me < n - 1", "n > 3", "r == 0", "x")
CALLS = {
    GASNET: (
        "gasnet_put({to}, of(table, {to}) + {at}, &x, 4);",
        "gasnet_put_nbi({to}, of(table, {to}) + {at}, &x, 4); {done}",
        "gasnet_put_nbi_val({to}, of(table, {to}) + {at}, {v}, 4); {done}",
        "gasnet_put_nbi_bulk({to}, of(table, {to}) + {at}, mine, 4); {done}",
        "r = gasnet_get_val({to}, of(table, {to}) + {at}, 4);",
        "gasnet_get_nbi(mine + 2, {to}, of(table, {to}) + {at}, 4); {done}",
        "{{ int *there = table[{to}].addr; gasnet_put_nbi({to}, there + {at}, &x, 4); {done} }}",
        "{{ gasnet_seginfo_t *entry = &table[{to}], whole = *entry; gasnet_put_val({to}, whole.addr, 1, 4); }}",
        "for (int i = 0; i < n; i++) gasnet_put_nbi_val(i, of(table, i) + {at}, 1, 4); {done}",
        "{{ gasnet_handle_t h = gasnet_put_nb({to}, of(table, {to}) + {at}, &x, 4); {done} gasnet_wait_syncnb(h); }}",
        "gasnet_barrier_notify(0, 1); mine[{at}] = {v}; gasnet_barrier_wait(0, 1);",
        "gasnet_put_nbi({to}, of(table, {to}), &x, 4); gasnet_barrier_notify(0, 1); {done} gasnet_barrier_wait(0, 1);",
        "gasnet_barrier_notify(0, 1); while (gasnet_barrier_try(0, 1) == GASNET_ERR_NOT_READY) gasnet_AMPoll();",
    ),
    ARMCI: (
        "ARMCI_Put(&x, of(table, {to}) + {at}, 4, {to}); {done}",
        "ARMCI_PutValueInt({v}, of(table, {to}) + {at}, {to}); {done}",
        "ARMCI_NbPut(mine, of(table, {to}) + {at}, 4, {to}, NULL); {done}",
        "ARMCI_Get(of(table, {to}) + {at}, mine + 2, 4, {to});",
        "ARMCI_NbGet(of(table, {to}) + {at}, mine + 2, 4, {to}, NULL); {done}",
        "{{ int *there = table[{to}]; ARMCI_Put(&x, there + {at}, 4, {to}); {done} ARMCI_Put(&x, there, 4, {to}); }}",
        "{{ void **entry = table + {to}; ARMCI_PutValueInt(1, *entry, {to}); {done} }}",
        "for (int i = 0; i < n; i++) ARMCI_PutValueInt({v}, of(table, i) + {at}, i); {done}",
        "ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &r, of(table, {to}) + {at}, 1, {to});",
        "{{ armci_hdl_t h; ARMCI_INIT_HANDLE(&h); ARMCI_NbPut(mine, of(table, {to}), 4, {to}, &h); ARMCI_Wait(&h); }}",
    ),
}
COMPLETIONS = {
    GASNET: ("gasnet_wait_syncnbi_all();", "gasnet_wait_syncnbi_puts();", "gasnet_wait_syncnbi_gets();", ""),
    ARMCI: ("ARMCI_Fence({to});", "ARMCI_Fence(peer);", "ARMCI_WaitAll();", "ARMCI_WaitProc({to});",
            "ARMCI_AllFence();", "ARMCI_Barrier();", ""),
}  # fmt: skip
LOCAL = ("mine[{at}] = {v};", "r = mine[{at}];", "peer = {peer};", "meet();", "meet();")


def drawn_tables(seed: int) -> str:
    """The program of ``seed``."""
    random = Random(seed)
    pick = random.choice
    api = pick((GASNET, ARMCI))
    peers = random.sample(PEERS, 2)
    calls = random.sample(CALLS[api], 3)

    def statement() -> str:
        to = pick(("peer", "peer", *(f"({each})" for each in peers)))
        done = pick(COMPLETIONS[api]).format(to=to)
        return pick((*calls, *LOCAL)).format(
            to=to, at=pick("01"), v=pick(("1", "me", "r")), done=done, peer=pick(peers)
        )

    lines = [f"int peer = {peers[0]};"]
    for _ in range(random.randint(2, 5)):
        one = statement()
        lines.append(one if random.random() < 0.7 else f"if ({pick(TESTS)}) {{ {one} }} else {{ {statement()} }}")
    end = "gasnet_wait_syncnbi_all();" if api is GASNET else "ARMCI_AllFence();"
    return api + "\n".join((*(f"  {each}" for each in lines), f"  {end} meet(); free(table);", "  return r + x;", "}"))
