/* Loops of several shapes over window memory. What they access is computed in test_accesses.py as well. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct point { double x, y, z; };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Win window;
    int *a;
    MPI_Win_allocate(4000 * sizeof *a, sizeof *a, MPI_INFO_NULL, MPI_COMM_WORLD, &a, &window);
    int n = argc > 1 ? atoi(argv[1]) : 100, sum = 0;
    for (int i = 0; i < n; i++) a[i] = i;                             /* one store */
    for (int i = 1; i < n; i++) a[i] += a[2 * i];                     /* strides that differ */
    for (int i = n - 1; i >= 0; i--) sum += a[i];                     /* backwards */
    for (int i = 0; i < n; i++) sum += a[(i * 7919) % n];             /* without order */
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = a[j * 5 + i];      /* nested */
    for (int i = 0; i < n; i++)
        if (i % 3 == 0) a[i] = sum;                                   /* a body that is not always the same */
    struct point *points = (struct point *)a;
    points[1] = points[0];                                            /* 24 bytes at once */
    memmove(a + 10, a + 12, 40);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
