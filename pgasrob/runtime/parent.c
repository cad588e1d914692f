/* Ends this rank when the `pgasrob` that has had it started is no more, also where that was killed and could end
 * nobody. PGASROB_PARENT: its process id and the namespace that this counts in, as /proc has it. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static void *watch(void *of) {
    pid_t parent = (pid_t)(intptr_t)of;
    struct pollfd ended = {(int)syscall(SYS_pidfd_open, parent, 0), POLLIN, 0};
    if (ended.fd >= 0) while (poll(&ended, 1, -1) != 1) {}
    else while (!kill(parent, 0)) usleep(100000);  /* before Linux 5.3 */
    kill(0, SIGKILL);  /* and what this rank has started */
    return NULL;
}

static __attribute__((constructor)) void begin(void) {
    const char *named = getenv("PGASROB_PARENT");
    char namespace[64], here[64];
    int parent;
    if (!named || sscanf(named, "%d %63s", &parent, namespace) != 2) return;
    ssize_t length = readlink("/proc/self/ns/pid", here, sizeof here - 1);
    if (length < 0 || (here[length] = 0, strcmp(here, namespace)) || kill(parent, 0)) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  /* signals are the program's */
    pthread_t thread;
    if (!pthread_create(&thread, NULL, watch, (void *)(intptr_t)parent)) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
