/* Every family of calls once, on 2 PEs: what is recorded of them is in test_openshmem.py, by their lines. */
#include <shmem.h>
#include <string.h>
#include <unistd.h>

long word, other, words[8], lock, sync_1[SHMEM_REDUCE_SYNC_SIZE], sync_2[SHMEM_REDUCE_SYNC_SIZE];
int number, numbers[4], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
double real;

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), peer = 1 - me;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync_1[i] = sync_2[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (me == 1) {
        shmem_barrier_all();
        goto together;
    }
    long source[4] = {11, 12, 13, 14}, into[4];
    shmem_long_p(&word, -5, peer);
    number = shmem_int_g(&numbers[1], peer);
    shmem_long_put(words, source, 3, peer);
    shmem_long_put_nbi(words + 1, source + 2, 2, peer);
    shmem_putmem(&number, source, 4, peer);
    shmem_put32_nbi(numbers, source, 2, peer);
    shmem_long_iput(words, source, 2, 1, 3, peer);
    shmem_long_get(into, words, 2, peer);
    shmem_long_get_nbi(into, words, 4, peer);
    shmem_fence();
    shmem_quiet();
    shmem_long_atomic_add(&word, 3, peer);
    other = shmem_long_atomic_fetch_add(&word, 4, peer);
    other = shmem_long_atomic_compare_swap(&word, 2, 9, peer);
    other = shmem_long_atomic_swap(&word, 7, peer);
    other = shmem_long_atomic_fetch(&word, peer);
    shmem_int_atomic_inc(&number, peer);
    number = shmem_int_atomic_fetch_inc(&number, peer);
    shmem_int_atomic_set(&number, 5, peer);
    shmem_uint_atomic_xor((unsigned *)&number, 1, peer);
    number = shmem_int_fadd(&number, 2, peer);
    shmem_double_put_nbi(&real, &real, 1, me);
    shmem_ctx_t context;
    shmem_ctx_create(SHMEM_CTX_PRIVATE, &context);
    shmem_ctx_long_put_nbi(context, &words[2], source, 1, peer);
    shmem_ctx_fence(context);
    shmem_ctx_quiet(context);
    shmem_ctx_destroy(context);
    shmem_barrier_all();
together:
    shmem_sync_all();
    shmem_long_p(&words[7], 1, peer);
    shmem_long_wait_until(&words[7], SHMEM_CMP_GE, 1);
    number = shmem_long_test(&words[7], SHMEM_CMP_LT, 1);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_barrier(0, 0, 2, sync_1);
    shmem_broadcast64(words, &word, 1, 0, 0, 0, 2, sync_2);
    shmem_int_max_to_all(numbers, &number, 1, 0, 0, 2, work, sync_1);
    long *heap = shmem_malloc(24);
    heap[1] = 3;
    memcpy(heap, source, 16);
    volatile long *shared = heap;
    shared[2] = 4;
    __atomic_fetch_add(&heap[0], 2, __ATOMIC_RELAXED);
    heap = shmem_realloc(heap, 48);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
