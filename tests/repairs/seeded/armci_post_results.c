// nodes: 3
// Workers post their results to process 0, which polls a word of each to see that the result is there.
#include <armci.h>
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>

#define RESULT 2

struct slot {
  int result[RESULT];
  int posted;
};

static int me, nproc;
static struct slot *slots[64];

static void post(const int *result)
{
  struct slot *slot = &slots[0][me];
  armci_hdl_t handle;

  ARMCI_INIT_HANDLE(&handle);
  if (ARMCI_NbPut((void *) result, slot->result, RESULT * sizeof(int), 0, &handle) != 0)
    ARMCI_Error("NbPut", me);
  ARMCI_Wait(&handle);
  ARMCI_Fence(0); // seeded (completion): remove
  ARMCI_PutValueInt(1, &slot->posted, 0);
}

static int collect(void)
{
  int sum = 0;
  for (int worker = 1; worker < nproc; worker++) {
    volatile int *posted = &slots[0][worker].posted;
    while (*posted == 0)
      ;
    for (int i = 0; i < RESULT; i++)
      sum += slots[0][worker].result[i];
  }
  return sum;
}

int main(int argc, char *argv[])
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);
  ARMCI_Init();
  ARMCI_Malloc((void **) slots, nproc * sizeof(struct slot));

  if (me > 0) {
    int result[RESULT] = {me, 10 * me};
    post(result);
  } else {
    assert(collect() == 11 * nproc * (nproc - 1) / 2);
  }

  armci_msg_barrier();
  ARMCI_Free(slots[me]);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
