program halo
  use mpi
  implicit none
  integer :: error, me, ranks, window
  integer(kind=MPI_ADDRESS_KIND) :: displacement, bytes
  real(8) :: cells(8), copied(3), x
  common /shared/ cells
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  bytes = 64
  call MPI_Win_create(cells, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_fence(0, window, error)
  x = 0.5d0
  displacement = 1
  call MPI_Put(x, 1, MPI_DOUBLE_PRECISION, mod(me + 1, ranks), displacement, 1, MPI_DOUBLE_PRECISION, window, error)
  call MPI_Win_fence(0, window, error)
  cells(4) = 2 * cells(2)
  copied = cells(1:3)
  if (copied(2) < 0) print *, copied
  call MPI_Win_free(window, error)
  call MPI_Finalize(error)
end program
