// nodes: 3
// Planes go to the ghost planes of both neighbours with nonblocking puts, and all meet before they are read.
#include <armci.h>
#include <mpi.h>
#include <stdio.h>

#define PLANE 2

static int me, nproc;
static void *base[64]; /* [from the left, from the right, own] of PLANE elements */

static double *plane(int process, int which)
{
  return (double *) base[process] + which * PLANE;
}

static void exchange(void)
{
  const int left = (me + nproc - 1) % nproc, right = (me + 1) % nproc;
  armci_hdl_t to_left, to_right;

  ARMCI_INIT_HANDLE(&to_left);
  ARMCI_INIT_HANDLE(&to_right);
  ARMCI_NbPut(plane(me, 2), plane(left, 1), PLANE * sizeof(double), left, &to_left);
  ARMCI_NbPut(plane(me, 2), plane(right, 0), PLANE * sizeof(double), right, &to_right);
  ARMCI_Wait(&to_left);
  ARMCI_Wait(&to_right);
  ARMCI_Barrier(); // seeded (completion): armci_msg_barrier();
}

int main(int argc, char *argv[])
{
  double sum = 0.0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);
  ARMCI_Init();
  ARMCI_Malloc(base, 3 * PLANE * sizeof(double));
  for (int i = 0; i < PLANE; i++)
    plane(me, 2)[i] = me + 0.25 * i;

  exchange();
  for (int i = 0; i < PLANE; i++)
    sum += plane(me, 0)[i] + plane(me, 1)[i];
  printf("%d: %g\n", me, sum);

  armci_msg_barrier();
  ARMCI_Free(base[me]);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
