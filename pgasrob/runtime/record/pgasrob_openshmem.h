/* What the generated functions of OpenSHMEM (openshmem.py) call before and after the library's own. */
#ifndef PGASROB_OPENSHMEM_H
#define PGASROB_OPENSHMEM_H

#include "ending.h"
#include "trace.h"

#include <shmem.h>

void pgasrob_shmem_begin(word number, int thread_level, const char *function, void *caller);
void pgasrob_shmem_end(const char *function, void *caller);

int pgasrob_own_pe(void);
word pgasrob_queue(shmem_ctx_t context);
void pgasrob_context_created(shmem_ctx_t context, int status);
void pgasrob_context_destroyed(shmem_ctx_t context);

struct side { const void *address; ptrdiff_t stride; };

/* n elements of a size, of which consecutive ones are `stride` elements apart at each side. `local` NULL: `value` is
 * put. */
void pgasrob_transfer(enum operation operation, unsigned flags, const char *function, const char *type, void *caller,
                      word queue, struct side remote, struct side local, size_t size, size_t n, int pe, word value,
                      const word *signal);
void pgasrob_atomic(unsigned flags, const char *function, const char *type, void *caller, word queue,
                    const void *target, size_t size, enum update update, word operand, word expected,
                    const void *result, int pe);
void pgasrob_wait(enum operation operation, const char *function, const char *type, void *caller,
                  const volatile void *address, size_t size, int comparison, word value);
void pgasrob_quieted(word queue);
void pgasrob_set_collective(enum collective kind, enum update update, const char *function, const char *type,
                            void *caller, int start, int log_stride, int size, int root, const void *destination,
                            const void *source, size_t element, size_t elements);
void pgasrob_allocated(const void *address, size_t bytes, void *caller);
void pgasrob_freed(const void *address);
void pgasrob_pointer(const void *view, const void *object, int pe, void *caller);

#endif
