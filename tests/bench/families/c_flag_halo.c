// Halo of a field in C with OpenSHMEM: borders with a signal each to both sides, waited for by their number, no barrier.
// expect: robust
// shmem_quiet completes the borders before the signals; a neighbour is at most one step ahead, in the other buffer.
// grows: a wait by >= is told apart by the value that it saw.
// nodes: 3
#include <shmem.h>
#include <stdio.h>

int field;
int left[2], right[2];
int from_left, from_right;

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    field = me + 1;
    for (int step = 1; step <= /*steps*/2; step++) {
        int value = field;
        shmem_int_put(&left[step % 2], &value, 1, (me + 1) % n);
        shmem_int_put(&right[step % 2], &value, 1, (me + n - 1) % n);
        shmem_quiet();
        shmem_int_atomic_set(&from_left, step, (me + 1) % n);
        shmem_int_atomic_set(&from_right, step, (me + n - 1) % n);
        shmem_int_wait_until(&from_left, SHMEM_CMP_GE, step);
        shmem_int_wait_until(&from_right, SHMEM_CMP_GE, step);
        field = left[step % 2] + right[step % 2];
    }
    printf("%d\n", field);
    shmem_finalize();
    return 0;
}
