/* The library's own function behind one that a shim defines. */
#ifndef PGASROB_REAL_H
#define PGASROB_REAL_H

/* The next definition of the profiling name, or else of the plain name. Ends the program with a message if neither is
 * there. */
void *pgasrob_real(const char *profiling_name, const char *name);

#endif
