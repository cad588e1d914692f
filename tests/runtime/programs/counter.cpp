// An array on the symmetric heap behind a class; its destructor is in another language than the library.
#include <shmem.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

class Cells {
public:
    explicit Cells(std::size_t n) : at(static_cast<long *>(shmem_malloc(n * sizeof(long)))), n(n) {}
    ~Cells() { shmem_free(at); }
    long &operator[](std::size_t i) { return at[i]; }
    long *begin() { return at; }
    long *end() { return at + n; }

private:
    long *at;
    std::size_t n;
};

int main() {
    shmem_init();
    {
        Cells cells(4);
        std::fill(cells.begin(), cells.end(), 3L);
        shmem_barrier_all();
        long old = shmem_long_atomic_fetch_add(&cells[1], 2L, (shmem_my_pe() + 1) % shmem_n_pes());
        reinterpret_cast<std::atomic<long> &>(cells[0]).store(old);
        std::copy(cells.begin(), cells.begin() + 2, cells.begin() + 2);
    }
    shmem_finalize();
    return 0;
}
