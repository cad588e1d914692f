#ifndef PGASROB_OPENSHMEM_H
#define PGASROB_OPENSHMEM_H

#include "hold.h"

#include <shmem.h>

void pgasrob_put(struct entry *entry, shmem_ctx_t context, void *to, const void *from, size_t size, size_t count,
                 ptrdiff_t to_stride, ptrdiff_t from_stride, int pe, int captured);
void pgasrob_get(struct entry *entry, shmem_ctx_t context, void *to, const void *from, size_t size, size_t count, int pe);
void pgasrob_begin(void);
/* In the place of shmem_finalize, whose definition is `real`. */
void pgasrob_finish(void (*real)(void));

#endif
