#include <assert.h>
#include <shmem.h>
#include <stdio.h>

#include "ring.h"
#include "total.h"

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), ranks = shmem_n_pes();
    total_t total = {0, 0};
    for (int round = 0; round < ROUNDS; round++) {
        ring_send(10 + me, me, ranks);
        shmem_sync_all();
        total_add(&total, inbox);
        shmem_sync_all();
    }
    assert(total.sum >= 20 && total.count == ROUNDS);
    printf("%s %ld\n", total_name, total.sum);
    shmem_finalize();
    return 0;
}
