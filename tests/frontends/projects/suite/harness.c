#include "harness.h"
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int verbose, rank_here = -1, window_key = MPI_KEYVAL_INVALID;
static const char *const kind_names[N_KINDS] = {"plain", "allocated", "of MPI",};
static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;

/* Signals: a test that crashes or hangs says where. */

static void crashed(int number, siginfo_t *info, void *context)
{
    (void) context;
    fprintf(stderr, "[%d] signal %d at %p (code %d, from %d)\n", rank_here, number, info->si_addr, info->si_code,
            (int) info->si_pid);
    _exit(128 + number);
}

static void too_long(number)
    int number;
{
    fprintf(stderr, "[%d] timed out (signal %d)\n", rank_here, number);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void catch_signals(void)
{
    static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    action.sa_sigaction = crashed;
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        if (sigaction(caught[i], &action, NULL) != 0)
            perror("sigaction");
    signal(SIGALRM, too_long);
    alarm(180);
}

/* Threads, which only some tests ask for. */

struct task {
    int (*run)(void *);
    void *argument;
    pthread_t thread;
};

static void *in_thread(void *given)
{
    struct task *task = given;
    pthread_mutex_lock(&output_lock);
    task->run(task->argument);
    pthread_mutex_unlock(&output_lock);
    return NULL;
}

int harness_thread(struct task *task)
{
    return pthread_create(&task->thread, NULL, in_thread, task);
}

/* Messages. */

static void say(const char *format, va_list list)
{
    char line[256];
    int length = vsnprintf(line, sizeof line, format, list);
    if (length > 0)
        fprintf(stderr, "[%d] %s\n", rank_here, line);
}

void harness_say(int level, const char *format, ...)
{
    va_list list, copy;
    if (level > verbose)
        return;
    va_start(list, format);
    va_copy(copy, list);
    say(format, list);
    va_end(copy);
    va_end(list);
}

/* The sum of further arguments; an old debugging aid. */
int harness_sum(int count, ...)
{
    int sum = 0;
    va_list list;
    va_start(list, count);
    while (count--)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

static void failed(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void) comm;
    MPI_Error_string(*code, text, &length);
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, *code);
}

/* Windows, with an attribute that counts those that are alive. */

static int on_delete(MPI_Win win, int key, void *value, void *state)
{
    struct window *w = value;
    (void) win;
    if (key == window_key && w != NULL)
        --*(int *) state;
    return MPI_SUCCESS;
}

void harness_begin(int *argc, char ***argv)
{
    const char *level = getenv("HARNESS_VERBOSE");
    int provided;
    setlocale(LC_NUMERIC, "C");
    catch_signals();
    MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
    verbose = level ? atoi(level) : 0;
    MPI_Comm_create_errhandler(failed, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &window_key, &harness_alive);
}

int harness_next_window(struct window *w, int count)
{
    int next = w->name ? (int) w->kind + 1 : 0;
    MPI_Info info;
    if (next == N_KINDS)
        return 0;
    w->kind = (enum memory) next;
    w->name = kind_names[next];
    w->count = count;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    switch (w->kind) {
    case PLAIN:
        w->base = calloc(count, sizeof(int));
        MPI_Win_create(w->base, count * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &w->win);
        break;
    case ALLOCATED:
        MPI_Win_allocate(count * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &w->base, &w->win);
        break;
    default:
        MPI_Alloc_mem(count * sizeof(int), MPI_INFO_NULL, &w->base);
        MPI_Win_create(w->base, count * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &w->win);
    }
    MPI_Info_free(&info);
    for (int i = 0; i < count; i++)
        w->base[i] = -1;
    MPI_Win_set_name(w->win, w->name);
    MPI_Win_set_attr(w->win, window_key, w);
    harness_alive++;
    harness_say(1, "window %s of %d integers", w->name, count);
    return 1;
}

void harness_free(struct window *w)
{
    struct window *found = NULL;
    int flag;
    MPI_Win_get_attr(w->win, window_key, &found, &flag);
    if (!flag || found != w)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_free(&w->win);
    if (w->kind == PLAIN)
        free(w->base);
    else if (w->kind == CREATED_OF_MPI)
        MPI_Free_mem(w->base);
    w->base = NULL;
}

int harness_errors_of_all(int errors)
{
    int all = 0;
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int size_of_log(const char *file)
{
    struct stat found;
    if (stat(file, &found) != 0)
        return errno;
    return S_ISREG(found.st_mode) ? (int) found.st_size : -1;
}

int harness_end(int errors)
{
    int all = harness_errors_of_all(errors + harness_alive);
    if (rank_here == 0)
        printf(all ? "%d errors\n" : "no errors\n", all);
    if (verbose > 1)
        harness_say(2, "log of %d bytes", size_of_log("harness.log"));
    MPI_Win_free_keyval(&window_key);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return all != 0;
}
