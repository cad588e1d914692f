// expect: robust
// nodes: 4
// races: none
// Halo cells from both neighbours; the barriers complete the puts and keep the next step from overwriting them.
#include <shmem.h>
#include <stdio.h>

#define WIDTH 2
#define STEPS 2

static long field[WIDTH + 2];

int main(void)
{
    int me, n, left, right;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    left = (me + n - 1) % n;
    right = (me + 1) % n;
    for (int i = 1; i <= WIDTH; i++)
        field[i] = me;
    for (int step = 0; step < STEPS; step++) {
        shmem_long_put(&field[WIDTH + 1], &field[1], 1, left);
        shmem_long_put(&field[0], &field[WIDTH], 1, right);
        shmem_barrier_all();
        long before = field[0];
        for (int i = 1; i <= WIDTH; i++) {
            long old = field[i];
            field[i] = (before + old + field[i + 1]) % 5;
            before = old;
        }
        shmem_barrier_all();
    }
    printf("%d: %ld\n", me, field[1]);
    shmem_finalize();
    return 0;
}
