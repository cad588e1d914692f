// nodes: 2
// right
#include <GASPI.h>
#include <stdio.h>
#include <assert.h>
int main(void) {
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_rank_t me;
    gaspi_proc_rank(&me);
    gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_pointer_t p;
    gaspi_segment_ptr(0, &p);
    long *x = (long *)p;
    x[0] = me ? 0x500000003L : 0;
    x[1] = 0;
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    if (me == 0) { gaspi_read(0, 8, 1, 0, 4, 4, 0, GASPI_BLOCK); gaspi_wait(0, GASPI_BLOCK); printf("%ld", x[1]); assert(x[1] == 5); }
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
