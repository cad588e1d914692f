// expect: not robust
// nodes: 2
// races: 1 pair
// The barrier of a team orders its threads and no put: the flag of one thread may overtake the data of another one.
#include <omp.h>
#include <shmem.h>

long data, flag, seen;

int main(void)
{
    int provided;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (shmem_my_pe() == 0) {
#pragma omp parallel num_threads(2)
        {
            long value = 5;
            if (omp_get_thread_num() == 0) {
                shmem_long_put(&data, &value, 1, 1);
            }
#pragma omp barrier
            if (omp_get_thread_num() == 1)
                shmem_long_p(&flag, 1, 1);
        }
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        seen = data;
    }
    shmem_finalize();
    return 0;
}
