// expect: robust
// nodes: 4
// races: none
// A 1-D heat stencil: halo cells go to the neighbours by puts between fences, into one of two fields by turns. The ranks
// agree on the greatest change by a reduction, and rank 0 collects the field at the end under shared locks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 3
#define STEPS 2
#define WIDTH (CELLS + 2)

struct domain {
    int rank;
    int size;
    int left;
    int right;
    double *field; /* two fields of WIDTH cells, one after the other */
    MPI_Win window;
};

static double absolute(double x)
{
    return x < 0 ? -x : x;
}

static double *row(struct domain *domain, int which)
{
    return domain->field + which * WIDTH;
}

static void create(struct domain *domain)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &domain->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &domain->size);
    domain->left = domain->rank > 0 ? domain->rank - 1 : MPI_PROC_NULL;
    domain->right = domain->rank < domain->size - 1 ? domain->rank + 1 : MPI_PROC_NULL;
    if (MPI_Win_allocate(2 * WIDTH * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &domain->field,
                         &domain->window) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (int i = 0; i < 2 * WIDTH; i++)
        domain->field[i] = 0.0;
    if (domain->rank == 0)
        row(domain, 0)[1] = 100.0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, domain->window);
}

/* Exchange the edges of field `which` with both neighbours. The field is not touched between the fences. */
static void exchange(struct domain *domain, int which)
{
    double *cells = row(domain, which);
    MPI_Aint first = which * WIDTH;

    MPI_Put(&cells[1], 1, MPI_DOUBLE, domain->left, first + WIDTH - 1, 1, MPI_DOUBLE, domain->window);
    MPI_Put(&cells[CELLS], 1, MPI_DOUBLE, domain->right, first, 1, MPI_DOUBLE, domain->window);
    MPI_Win_fence(0, domain->window);
}

static double update(struct domain *domain, int which)
{
    const double *from = row(domain, which);
    double *to = row(domain, 1 - which);
    double most = 0.0;

    for (int i = 1; i <= CELLS; i++) {
        double difference;

        to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1];
        difference = absolute(to[i] - from[i]);
        most = difference > most ? difference : most;
    }
    return most;
}

static void print_field(struct domain *domain, int which)
{
    double line[CELLS];

    if (domain->rank != 0)
        return;
    MPI_Win_lock_all(0, domain->window);
    for (int rank = 0; rank < domain->size; rank++) {
        MPI_Get(line, CELLS, MPI_DOUBLE, rank, which * WIDTH + 1, CELLS, MPI_DOUBLE, domain->window);
        MPI_Win_flush(rank, domain->window);
        for (int i = 0; i < CELLS; i++)
            printf("%g ", line[i]);
    }
    MPI_Win_unlock_all(domain->window);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct domain domain;
    double change = 0.0, greatest = 0.0;
    int which = 0;

    MPI_Init(&argc, &argv);
    create(&domain);
    for (int step = 0; step < STEPS; step++) {
        exchange(&domain, which);
        change = update(&domain, which);
        which = 1 - which;
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, domain.window);
    MPI_Allreduce(&change, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (domain.rank == 0)
        printf("change %g\n", greatest);
    print_field(&domain, which);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&domain.window);
    MPI_Finalize();
    return 0;
}
