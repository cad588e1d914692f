// nodes: 2
// right
#include <mpi.h>
#include <string.h>
#include <stdint.h>
#include <assert.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    char b[4], c = 5 + me, d; memset(b, 2, 4); 
    MPI_Sendrecv(&c, 1, MPI_CHAR, 1 - me, 0, b, 1, MPI_CHAR, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int h; memcpy(&h, b, 4); assert(h == 0x02020200 + 6 - me);
    MPI_Finalize();
    return 0;
}
