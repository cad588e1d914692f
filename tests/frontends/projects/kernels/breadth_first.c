// expect: robust
// nodes: 2
// synchronised: yes
// One-sided breadth-first search, level by level. The vertices are spread over the ranks. Who visits a vertex first
// claims it by compare-and-swap of its parent and appends it to the frontier of its owner.
#include <assert.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define LOCAL 2
#define NONE (-1L)

static long parent[LOCAL];
static long level[LOCAL];
static long frontier[2][LOCAL];     /* of this level and of the next one, in turns */
static long filled[2];
static long here, anywhere;

/* A binary tree with an edge from each vertex to the next, too. */
static int edges_of(long vertex, long vertices, long to[3])
{
    int count = 0;

    if (2 * vertex + 1 < vertices)
        to[count++] = 2 * vertex + 1;
    if (2 * vertex + 2 < vertices)
        to[count++] = 2 * vertex + 2;
    if (vertex + 1 < vertices && vertex % 2 == 1)
        to[count++] = vertex + 1;
    return count;
}

static void visit(long vertex, long from, int next)
{
    int owner = (int) (vertex / LOCAL);
    long local = vertex % LOCAL;

    if (shmem_long_atomic_compare_swap(&parent[local], NONE, from, owner) == NONE) {
        long place = shmem_long_atomic_fetch_inc(&filled[next], owner);
        shmem_long_p(&frontier[next][place], local, owner);
    }
}

int main(void)
{
    long to[3], depth = 0;
    int now = 0;

    shmem_init();
    const int me = shmem_my_pe(), size = shmem_n_pes();

    for (int i = 0; i < LOCAL; i++)
        parent[i] = level[i] = NONE;
    if (me == 0) {
        parent[0] = 0;
        frontier[now][filled[now]++] = 0;
    }
    shmem_barrier_all();
    do {
        for (long i = 0; i < filled[now]; i++) {
            long local = frontier[now][i], vertex = me * LOCAL + local;
            level[local] = depth;
            int count = edges_of(vertex, (long) size * LOCAL, to);
            for (int e = 0; e < count; e++)
                visit(to[e], vertex, 1 - now);
        }
        filled[now] = 0;
        shmem_barrier_all();
        now = 1 - now;
        depth++;
        here = filled[now];
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &anywhere, &here, 1);
    } while (anywhere > 0);

    for (int i = 0; i < LOCAL; i++) {
        long expected = 0;
        for (long vertex = me * LOCAL + i; vertex > 0; vertex = (vertex - 1) / 2)
            expected++;
        assert(level[i] == expected);
    }
    if (me == 0)
        printf("%ld levels\n", depth);
    shmem_finalize();
    return 0;
}
