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
    struct T { int i; short s; char c; } *t = (struct T *)(x + 4);
    t->i = me + 1;
    t->s = 2;
    t->c = 3;
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    if (me == 0) { gaspi_write_notify(0, 32, 1, 0, 40, 6, 1, 1, 0, GASPI_BLOCK); gaspi_wait(0, GASPI_BLOCK); } else if (me == 1) { gaspi_notification_id_t id; gaspi_notification_t old; gaspi_notify_waitsome(0, 1, 1, &id, GASPI_BLOCK); gaspi_notify_reset(0, id, &old); assert(*(int *)((char *)x + 40) == 1 && *(short *)((char *)x + 44) == 2); }
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
