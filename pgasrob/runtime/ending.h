/* The end of an OpenSHMEM program. */
#ifndef PGASROB_ENDING_H
#define PGASROB_ENDING_H

/* To be called right after the library has been initialised. `last` runs when the program exits, however it does. */
void pgasrob_initialised(void (*last)(void));
/* In the place of shmem_finalize, whose definition is `real`. */
void pgasrob_finalise(void (*real)(void));

#endif
