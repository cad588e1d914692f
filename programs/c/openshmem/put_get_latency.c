// expect: robust
// synchronised: yes
// races: none
// args: --iterations 2 -s 2 -x 1 --validate
// A latency benchmark of puts and gets between pairs of ranks, with its options and sizes from the command line. Each
// put is complete at its target when the quiet returns, and the barrier lets the other rank look at it.
#include <getopt.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define MOST_BYTES 64

static char sent[MOST_BYTES], received[MOST_BYTES];
static long errors, all_errors, psync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

struct options {
    int iterations, skip, largest, validate;
};

static double now(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec * 1e6 + t.tv_usec;
}

static void usage(const char *program, int me)
{
    if (me == 0)
        fprintf(stderr, "usage: %s [--iterations N] [-s largest size] [-x skipped] [--validate]\n", program);
    shmem_finalize();
    exit(EXIT_FAILURE);
}

static struct options read_options(int argc, char **argv, int me)
{
    static struct option names[] = {
        {"iterations", required_argument, NULL, 'i'},
        {"size", required_argument, NULL, 's'},
        {"skip", required_argument, NULL, 'x'},
        {"validate", no_argument, NULL, 'c'},
        {NULL, 0, NULL, 0},
    };
    struct options found = {100, 10, MOST_BYTES, 0};
    int option;

    while ((option = getopt_long(argc, argv, "i:s:x:c", names, NULL)) != -1) {
        switch (option) {
        case 'i':
            found.iterations = atoi(optarg);
            break;
        case 's':
            if (sscanf(optarg, "%d", &found.largest) != 1)
                usage(argv[0], me);
            break;
        case 'x':
            found.skip = (int)strtol(optarg, NULL, 10);
            break;
        case 'c':
            found.validate = 1;
            break;
        default:
            usage(argv[0], me);
        }
    }
    if (optind != argc || found.iterations < 1 || found.largest < 1 || found.largest > MOST_BYTES)
        usage(argv[0], me);
    return found;
}

static double put_latency(int size, int partner, const struct options *options)
{
    double begin = 0;

    for (int i = 0; i < options->iterations + options->skip; i++) {
        if (i == options->skip)
            begin = now();
        shmem_putmem(received, sent, size, partner);
        shmem_quiet();
    }
    return (now() - begin) / options->iterations;
}

static double get_latency(int size, int partner, const struct options *options)
{
    double begin = now();

    for (int i = 0; i < options->iterations; i++)
        shmem_getmem(received, sent, size, partner);
    return (now() - begin) / options->iterations;
}

static void check_received(int size, int writer)
{
    for (int i = 0; i < size; i++)
        if (received[i] != 'a' + writer)
            errors++;
}

int main(int argc, char *argv[])
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    struct options options = read_options(argc, argv, me);

    if (npes % 2) {
        if (me == 0)
            fprintf(stderr, "an even number of PEs is needed\n");
        shmem_finalize();
        return EXIT_FAILURE;
    }
    int half = npes / 2, partner = me < half ? me + half : me - half;
    memset(sent, 'a' + me, MOST_BYTES);
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int size = 1; size <= options.largest; size *= 2) {
        if (me < half)
            printf("put %d bytes: %.2f us\n", size, put_latency(size, partner, &options));
        shmem_barrier_all();
        if (options.validate && me >= half)
            check_received(size, partner);
        shmem_barrier_all();
        if (me < half)
            printf("get %d bytes: %.2f us\n", size, get_latency(size, partner, &options));
        if (options.validate && me < half)
            check_received(size, partner);
        shmem_barrier_all();
    }
    shmem_long_sum_to_all(&all_errors, &errors, 1, 0, 0, npes, work, psync);
    if (me == 0 && all_errors)
        printf("%ld errors\n", all_errors);
    shmem_finalize();
    return 0;
}
