// expect: robust
// nodes: 2
// synchronised: yes
// args: -m 1 -u 2
// Random access: every rank updates words all over a distributed table by xor. The same updates once more bring the
// table back to what it was, since none is lost.
#include <getopt.h>
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define POLYNOMIAL UINT64_C(0x0000000000000007)

static long wrong, all_wrong;

struct options {
    int bits;       /* of the index into a rank's part of the table */
    int updates;    /* of each rank */
};

static struct options parse(int argc, char *const argv[], int me)
{
    struct options chosen = { .bits = 10, .updates = 1024, };
    int option;

    while ((option = getopt(argc, argv, "m:u:h")) != -1)
        switch (option) {
        case 'm':
            chosen.bits = atoi(optarg);
            break;
        case 'u':
            chosen.updates = atoi(optarg);
            break;
        default:
            if (me == 0)
                fprintf(stderr, "usage: %s [-m bits] [-u updates]\n", argv[0]);
            shmem_finalize();
            exit(option == 'h' ? EXIT_SUCCESS : EXIT_FAILURE);
        }
    return chosen;
}

static inline uint64_t following(uint64_t random)
{
    return (random << 1) ^ ((int64_t) random < 0 ? POLYNOMIAL : 0);
}

static uint64_t start_of(int rank)
{
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    for (int i = 0; i < 7 * (rank + 1); i++)
        random = following(random);
    return random;
}

static void update(uint64_t *table, uint64_t words, int updates)
{
    const uint64_t size = shmem_n_pes();
    uint64_t random = start_of(shmem_my_pe());

    for (int i = 0; i < updates; i++) {
        random = following(random);
        uint64_t at = (random >> 5) % (words * size);
        shmem_uint64_atomic_xor(&table[at % words], random, (int) (at / words));
    }
}

int main(int argc, char *argv[])
{
    shmem_init();
    const int me = shmem_my_pe(), size = shmem_n_pes();
    const struct options chosen = parse(argc, argv, me);
    const uint64_t words = UINT64_C(1) << chosen.bits;
    uint64_t *table = shmem_malloc(words * sizeof *table);

    if (table == NULL) {
        fprintf(stderr, "%d: no memory for %" PRIu64 " words\n", me, words);
        shmem_global_exit(EXIT_FAILURE);
    }
    for (uint64_t i = 0; i < words; i++)
        table[i] = me * words + i;
    shmem_barrier_all();
    update(table, words, chosen.updates);
    shmem_barrier_all();
    update(table, words, chosen.updates);
    shmem_barrier_all();
    for (uint64_t i = 0; i < words; i++)
        wrong += table[i] != me * words + i;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
    if (me == 0)
        printf("%d updates of %d ranks: %ld wrong words\n", chosen.updates, size, all_wrong);
    shmem_free(table);
    shmem_finalize();
    return all_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
