/* What the corpus uses of OpenSHMEM 1.5 beside a shmem.h of 1.4: for a compiler to check the programs with. */
#include <shmem.h>
#include <stdint.h>
#if SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION < 5
typedef struct { int num_contexts; } shmem_team_config_t;
typedef struct shmem_team *shmem_team_t;
extern shmem_team_t shmem_team_world;
#define SHMEM_TEAM_WORLD shmem_team_world
#define SHMEM_TEAM_INVALID ((shmem_team_t) 0)
enum { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };
void shmem_int_put_signal(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int_put_signal_nbi(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_long_put_signal(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);
uint64_t shmem_signal_fetch(const uint64_t *sig_addr);
void shmem_int_wait_until_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_int_wait_until_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_int_wait_until_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value);
int shmem_int_test_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_int_test_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_int_test_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value);
void shmem_int_atomic_fetch_add_nbi(int *fetch, int *dest, int value, int pe);
int shmem_team_split_strided(shmem_team_t parent, int start, int stride, int size, const shmem_team_config_t *config, long mask, shmem_team_t *new_team);
int shmem_team_my_pe(shmem_team_t team);
void shmem_team_destroy(shmem_team_t team);
int shmem_int_sum_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
#endif
