// nodes: 2
// gaspi_proc_init is missing.
#include <GASPI.h>

int main(void)
{
    gaspi_rank_t me;
#ifdef REPAIRED
    gaspi_proc_init(GASPI_BLOCK);
#endif
    gaspi_proc_rank(&me);
    gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
    gaspi_proc_term(GASPI_BLOCK);
    return 0;
}
