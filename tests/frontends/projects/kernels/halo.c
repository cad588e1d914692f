// expect: robust
// nodes: 2
// synchronised: yes
// A periodic grid of ranks: each puts its border rows and columns into the halo of its neighbours.
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2
#define COLUMNS 2

enum side { UP, DOWN, LEFT, RIGHT, };

static void fill(int rows, int columns, int (*grid)[columns], int value)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            grid[i][j] = i > 0 && i < rows - 1 && j > 0 && j < columns - 1 ? value : -1;
}

int main(int argc, char **argv)
{
    int size, rank, dims[2] = {0, 0,}, periods[2] = {1, 1,}, at[2], neighbours[4];
    const int rows = ROWS + 2, columns = COLUMNS + 2;
    MPI_Comm cart;
    MPI_Win window;
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 2, at);
    MPI_Cart_shift(cart, 0, 1, &neighbours[UP], &neighbours[DOWN]);
    MPI_Cart_shift(cart, 1, 1, &neighbours[LEFT], &neighbours[RIGHT]);
    MPI_Type_vector(ROWS, 1, columns, MPI_INT, &column);
    MPI_Type_commit(&column);

    int (*grid)[columns];
    MPI_Win_allocate(sizeof(int[rows][columns]), sizeof(int), MPI_INFO_NULL, cart, &grid, &window);
    fill(rows, columns, grid, rank);
#define PLACE(i, j) ((i) * columns + (j))
    MPI_Win_fence(0, window);
    MPI_Put(&grid[1][1], COLUMNS, MPI_INT, neighbours[UP], PLACE(rows - 1, 1), COLUMNS, MPI_INT, window);
    MPI_Put(&grid[rows - 2][1], COLUMNS, MPI_INT, neighbours[DOWN], PLACE(0, 1), COLUMNS, MPI_INT, window);
    MPI_Put(&grid[1][1], 1, column, neighbours[LEFT], PLACE(1, columns - 1), 1, column, window);
    MPI_Put(&grid[1][columns - 2], 1, column, neighbours[RIGHT], PLACE(1, 0), 1, column, window);
    MPI_Win_fence(0, window);

    for (int j = 1; j < columns - 1; j++)
        assert(grid[0][j] == neighbours[UP] && grid[rows - 1][j] == neighbours[DOWN]);
    for (int i = 1; i < rows - 1; i++)
        assert(grid[i][0] == neighbours[LEFT] && grid[i][columns - 1] == neighbours[RIGHT]);
    assert(grid[0][0] == -1);
    if (at[0] == 0 && at[1] == 0)
        printf("a grid of %d x %d ranks\n", dims[0], dims[1]);
    MPI_Type_free(&column);
    MPI_Win_free(&window);
    MPI_Comm_free(&cart);
    MPI_Finalize();
    return 0;
}
