#define _GNU_SOURCE
#include "trace.h"
#include "pgasrob_mpi.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grown(void *list, size_t count, size_t size) {
    if (count & (count - 1)) return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list) abort();
    return list;
}

#define NONE UINT64_MAX
#define SIGNED(x) ((word)(int64_t)(x))

/* --- communicators --- */

struct communicator { MPI_Comm handle; word group, calls; int size, *world; };

static struct communicator **communicators;
static size_t communicator_count;

static int *world_ranks(MPI_Group group, int *size) {
    MPI_Group world;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, size);
    int *ranks = malloc((size_t)(*size + 1) * sizeof *ranks), *own = malloc((size_t)(*size + 1) * sizeof *own);
    if (!ranks || !own) abort();
    for (int i = 0; i < *size; i++) own[i] = i;
    PMPI_Group_translate_ranks(group, *size, own, world, ranks);
    free(own);
    PMPI_Group_free(&world);
    return ranks;
}

static struct communicator *add_communicator(MPI_Comm handle, word group) {
    struct communicator *made = calloc(1, sizeof *made);
    if (!made) abort();
    MPI_Group members;
    PMPI_Comm_group(handle, &members);
    made->handle = handle;
    made->group = group;
    made->world = world_ranks(members, &made->size);
    PMPI_Group_free(&members);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < communicator_count; i++)  /* the library uses handles again */
        if (communicators[i]->handle == handle) communicators[i]->handle = MPI_COMM_NULL;
    communicators = grown(communicators, communicator_count, sizeof *communicators);
    communicators[communicator_count++] = made;
    pthread_mutex_unlock(&lock);
    if (group != 1) pgasrob_group(group, made->world, (size_t)made->size);
    return made;
}

static struct communicator *communicator_of(MPI_Comm handle) {
    struct communicator *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = communicator_count; i-- && !found;)
        if (communicators[i]->handle == handle) found = communicators[i];
    pthread_mutex_unlock(&lock);
    if (found || handle == MPI_COMM_NULL) return found;
    if (handle == MPI_COMM_WORLD) return add_communicator(handle, 1);
    return handle == MPI_COMM_SELF ? add_communicator(handle, pgasrob_fresh_identity()) : NULL;
}

/* An identity on which all members agree: the first one's. */
static word agreed(MPI_Comm communicator) {
    unsigned long long identity = pgasrob_fresh_identity();
    PMPI_Bcast(&identity, 1, MPI_UNSIGNED_LONG_LONG, 0, communicator);
    return identity;
}

void pgasrob_communicator(MPI_Comm made) {
    int between = 0;
    if (made != MPI_COMM_NULL) PMPI_Comm_test_inter(made, &between);
    word group = made == MPI_COMM_NULL || between ? 0 : agreed(made);
    if (group) add_communicator(made, group);
    pgasrob_return(OP_COMMUNICATOR, WORDS(group));
    if (between) pgasrob_not_known("MPI_Comm", "an intercommunicator", NULL);
}

word pgasrob_group_of(MPI_Comm communicator) {
    struct communicator *found = communicator_of(communicator);
    return found ? found->group : 0;
}

word pgasrob_members(MPI_Group group) {
    int size, *ranks = world_ranks(group, &size);
    word identity = pgasrob_fresh_identity();
    pgasrob_group(identity, ranks, (size_t)size);
    free(ranks);
    return identity;
}

/* A rank of the world. */
static word rank_in(const struct communicator *communicator, int rank) {
    if (rank == MPI_ANY_SOURCE || rank < 0 || rank >= communicator->size) return NONE;
    return (word)communicator->world[rank];
}

void pgasrob_mpi_begin(int level, const char *function, void *caller) {
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    pgasrob_begin(API_MPI, rank, size);
    if (!pgasrob_begun) return;
    pgasrob_call(OP_INITIALISE, 0, function, NULL, caller, WORDS((word)rank, (word)size, SIGNED(level)));
    /* Nobody records anything else before all have their call in the trace. */
    PMPI_Barrier(MPI_COMM_WORLD);
    pgasrob_return(OP_INITIALISE, NULL, 0);
}

/* --- datatypes --- */

struct layout { word blocks, block, stride, element; MPI_Aint start; const char *name; bool known; };

static const char *name_of(MPI_Datatype type) {
    static struct { MPI_Datatype type; const char *name; } *names;
    static size_t count;
    const char *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !found; i++)
        if (names[i].type == type) found = names[i].name;
    if (!found) {
        char name[MPI_MAX_OBJECT_NAME];
        int length = 0;
        PMPI_Type_get_name(type, name, &length);
        names = grown(names, count, sizeof *names);
        names[count].type = type;
        found = names[count++].name = strndup(name, (size_t)length);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* The predefined type that a type is made of, and of which it has `elements`; MPI_DATATYPE_NULL: of several. */
static MPI_Datatype basic(MPI_Datatype type) {
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return type;
    if (types != 1) return MPI_DATATYPE_NULL;
    int *numbers = malloc((size_t)(integers + 1) * sizeof *numbers);
    MPI_Aint *places = malloc((size_t)(addresses + 1) * sizeof *places);
    MPI_Datatype of;
    PMPI_Type_get_contents(type, integers, addresses, types, numbers, places, &of);
    free(numbers);
    free(places);
    MPI_Datatype found = basic(of);
    int named;
    PMPI_Type_get_envelope(of, &integers, &addresses, &types, &named);
    if (named != MPI_COMBINER_NAMED) PMPI_Type_free(&of);
    return found;
}

/* Contiguous bytes, or the blocks of one vector. */
static struct layout layout_of(int count, MPI_Datatype type) {
    struct layout layout = {1, 0, 0, 1, 0, "", false};
    MPI_Aint low, extent, true_low, true_extent;
    int size;
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    MPI_Datatype of = basic(type);
    int element = 1;
    if (of != MPI_DATATYPE_NULL) PMPI_Type_size(of, &element), layout.name = name_of(of);
    layout.element = (word)element;
    layout.start = true_low;
    if (!size || count <= 0) {
        layout.known = true;
    } else if (size == true_extent && (extent == size || count == 1)) {
        layout.block = layout.stride = (word)count * (word)size;
        layout.known = true;
    } else {
        int integers, addresses, types, combiner;
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
        int numbers[3];
        MPI_Aint places[1], inner_low, inner;
        MPI_Datatype within;
        if (count != 1 || (combiner != MPI_COMBINER_VECTOR && combiner != MPI_COMBINER_HVECTOR)) return layout;
        PMPI_Type_get_contents(type, integers, addresses, types, numbers, places, &within);
        int inner_size;
        PMPI_Type_size(within, &inner_size);
        PMPI_Type_get_extent(within, &inner_low, &inner);
        MPI_Aint stride = combiner == MPI_COMBINER_VECTOR ? numbers[2] * inner : places[0];
        layout.known = inner_size == inner && stride > 0;
        layout.blocks = (word)numbers[0];
        layout.block = (word)numbers[1] * (word)inner_size;
        layout.stride = (word)stride;
        int named;
        PMPI_Type_get_envelope(within, &integers, &addresses, &types, &named);
        if (named != MPI_COMBINER_NAMED) PMPI_Type_free(&within);
    }
    return layout;
}

/* From its first to its last byte. */
static size_t span(const struct layout *layout) {
    return layout->blocks ? (layout->blocks - 1) * layout->stride + layout->block : 0;
}

static const char NOT_CONTIGUOUS[] = "a datatype that is not contiguous";
static const char DATATYPE[] = "a datatype that is neither contiguous nor one vector";

/* --- windows --- */

struct window { MPI_Win handle; word identity; enum window_flavour flavour; int size, *world, *units; };

static struct window **windows;
static size_t window_count;

static struct window *window_of(MPI_Win handle) {
    struct window *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = window_count; i-- && !found;)
        if (windows[i]->handle == handle) found = windows[i];
    pthread_mutex_unlock(&lock);
    return found;
}

word pgasrob_window_of(MPI_Win handle) {
    struct window *window = window_of(handle);
    return window ? window->identity : 0;
}

word pgasrob_rank_in(MPI_Win handle, int rank) {
    struct window *window = window_of(handle);
    return !window || rank < 0 || rank >= window->size ? NONE : (word)window->world[rank];
}

void pgasrob_window(MPI_Win made, MPI_Comm of, enum window_flavour flavour, void *address, MPI_Aint bytes, int unit,
                    void *caller) {
    struct window *window = calloc(1, sizeof *window);
    MPI_Group members;
    if (!window) abort();
    PMPI_Win_get_group(made, &members);
    window->world = world_ranks(members, &window->size);
    PMPI_Group_free(&members);
    window->handle = made;
    window->flavour = flavour;
    window->identity = agreed(of);
    window->units = malloc((size_t)window->size * sizeof *window->units);
    if (!window->units) abort();
    PMPI_Allgather(&unit, 1, MPI_INT, window->units, 1, MPI_INT, of);
    int *model = NULL, known = 0;
    PMPI_Win_get_attr(made, MPI_WIN_MODEL, &model, &known);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < window_count; i++)
        if (windows[i]->handle == made) windows[i]->handle = MPI_WIN_NULL;
    windows = grown(windows, window_count, sizeof *windows);
    windows[window_count++] = window;
    pthread_mutex_unlock(&lock);
    pgasrob_return(OP_WINDOW_CREATE, WORDS(window->identity, (word)address, known && *model == MPI_WIN_UNIFIED));
    int own;
    PMPI_Comm_rank(of, &own);
    pgasrob_region(REGION_WINDOW, address, (size_t)bytes, window->identity, -1, 0, caller);
    for (int rank = 0; flavour == WINDOW_SHARED && rank < window->size; rank++) {
        MPI_Aint size;
        int its_unit;
        void *there = NULL;
        if (rank == own) continue;
        PMPI_Win_shared_query(made, rank, &size, &its_unit, &there);
        pgasrob_region(REGION_VIEW, there, (size_t)size, window->identity, window->world[rank], 0, caller);
    }
    PMPI_Barrier(of);  /* nobody changes what others have not yet recorded */
}

void pgasrob_window_gone(word window) {
    pgasrob_return(OP_WINDOW_FREE, NULL, 0);
    pgasrob_buffers_done(window, -1);
    pgasrob_end_of_region(REGION_WINDOW, NULL, window);
    pgasrob_end_of_region(REGION_VIEW, NULL, window);
}

static bool known_target(struct window *window, int rank, const char *function, void *caller) {
    if (!window) pgasrob_not_known(function, "a window that was made by a function not described", caller);
    return window && rank != MPI_PROC_NULL;
}

static word remote_address(const struct window *window, int rank, MPI_Aint displacement, const struct layout *layout) {
    word scaled = window->flavour == WINDOW_DYNAMIC ? (word)displacement : (word)(displacement * window->units[rank]);
    return scaled + (word)layout->start;
}

static void in_use(struct window *window, int rank, struct part part, const struct layout *layout, void *caller) {
    if (part.address && part.address != MPI_BOTTOM)
        pgasrob_buffer(window->identity, window->world[rank], (const char *)part.address + layout->start, span(layout),
                       caller);
}

void pgasrob_rma(enum operation operation, const char *function, void *caller, struct part origin, int rank,
                 MPI_Aint displacement, int count, MPI_Datatype type, MPI_Win handle, word request) {
    struct window *window = window_of(handle);
    if (!known_target(window, rank, function, caller)) return;
    struct layout here = layout_of(origin.count, origin.type), there = layout_of(count, type);
    if (!here.known || !there.known) {
        pgasrob_not_known(function, DATATYPE, caller);
        return;
    }
    const char *address = (const char *)origin.address + here.start;
    in_use(window, rank, origin, &here, caller);
    const word operands[] = {
        (word)window->world[rank], remote_address(window, rank, displacement, &there), there.blocks, there.block,
        there.stride, (word)address, here.blocks, here.block, here.stride, there.element,
        operation == OP_PUT ? pgasrob_value(address, here.block) : 0, window->identity, request,
    };
    pgasrob_call(operation, CALL_NONBLOCKING | (request ? CALL_REQUEST : 0), function, there.name, caller, operands,
                 request ? 13 : 12);
}

void pgasrob_accumulate(unsigned flags, const char *function, void *caller, struct part origin, struct part result,
                        struct part expected, int rank, MPI_Aint displacement, int count, MPI_Datatype type,
                        enum update update, MPI_Win handle, word request) {
    struct window *window = window_of(handle);
    if (!known_target(window, rank, function, caller)) return;
    struct layout there = layout_of(count, type);
    struct part parts[] = {origin, result, expected};
    word addresses[3] = {0};
    bool known = there.known && there.blocks == 1;
    for (int i = 0; i < 3; i++) {
        if (!parts[i].address || (i == 0 && update == UPDATE_NONE)) continue;
        struct layout here = layout_of(parts[i].count, parts[i].type);
        known &= here.known && here.blocks == 1;
        addresses[i] = (word)parts[i].address + (word)here.start;
        in_use(window, rank, parts[i], &here, caller);
    }
    if (!known) {
        pgasrob_not_known(function, DATATYPE, caller);
        return;
    }
    const word operands[] = {
        (word)window->world[rank], remote_address(window, rank, displacement, &there), there.element,
        there.block / there.element, update,
        pgasrob_value((const void *)addresses[0], there.element),
        pgasrob_value((const void *)addresses[2], there.element),
        addresses[0], addresses[2], addresses[1], window->identity, request,
    };
    pgasrob_call(OP_ATOMIC, flags | CALL_NONBLOCKING | (request ? CALL_REQUEST : 0), function, there.name, caller,
                 operands, request ? 12 : 11);
}

enum update pgasrob_update(MPI_Op operation) {
    const struct { MPI_Op operation; enum update update; } known[] = {
        {MPI_NO_OP, UPDATE_NONE}, {MPI_REPLACE, UPDATE_SET}, {MPI_SUM, UPDATE_ADD}, {MPI_BAND, UPDATE_AND},
        {MPI_BOR, UPDATE_OR}, {MPI_BXOR, UPDATE_XOR}, {MPI_MIN, UPDATE_MIN}, {MPI_MAX, UPDATE_MAX},
        {MPI_PROD, UPDATE_PRODUCT}, {MPI_LAND, UPDATE_LOGICAL_AND}, {MPI_LOR, UPDATE_LOGICAL_OR},
        {MPI_LXOR, UPDATE_LOGICAL_XOR}, {MPI_MINLOC, UPDATE_MIN_LOCATION}, {MPI_MAXLOC, UPDATE_MAX_LOCATION},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].operation == operation) return known[i].update;
    return UPDATE_OWN;
}

/* --- messages --- */

struct request {
    MPI_Request handle;
    word identity;
    bool receives, persistent;
    int mode, rank, tag;
    struct part part;
    MPI_Comm communicator;
};

static struct request *requests;
static size_t request_count;

word pgasrob_request(void) { return pgasrob_fresh_identity(); }

static void add_request(struct request made) {
    if (made.handle == MPI_REQUEST_NULL) return;
    pthread_mutex_lock(&lock);
    size_t at = 0;
    while (at < request_count && requests[at].handle != MPI_REQUEST_NULL) at++;
    if (at == request_count) {
        requests = grown(requests, request_count, sizeof *requests);
        request_count++;
    }
    requests[at] = made;
    pthread_mutex_unlock(&lock);
}

void pgasrob_requested(MPI_Request handle, word identity, bool receives, MPI_Comm communicator) {
    struct request made = {.handle = handle, .identity = identity, .receives = receives, .communicator = communicator};
    add_request(made);
}

void pgasrob_persistent(MPI_Request handle, bool receives, int mode, const void *buffer, int count, MPI_Datatype type,
                        int rank, int tag, MPI_Comm communicator) {
    if (rank == MPI_PROC_NULL) return;
    add_request((struct request){handle, 0, receives, true, mode, rank, tag, {buffer, count, type}, communicator});
}

/* The request behind a handle; gone: it is over unless it is persistent. False: not known. */
static bool request_of(MPI_Request handle, bool gone, struct request *found) {
    bool known = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < request_count && !known; i++) {
        if (handle == MPI_REQUEST_NULL || requests[i].handle != handle) continue;
        known = true;
        *found = requests[i];
        if (gone && !requests[i].persistent) requests[i].handle = MPI_REQUEST_NULL;
        if (gone) requests[i].identity = 0;
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void pgasrob_started(MPI_Request handle, const char *function, void *caller) {
    struct request request;
    if (!request_of(handle, false, &request)) return;
    word identity = pgasrob_request();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < request_count; i++)
        if (requests[i].handle == handle) requests[i].identity = identity;
    pthread_mutex_unlock(&lock);
    if (request.receives)
        pgasrob_receive(function, caller, request.part, request.rank, request.tag, request.communicator, identity);
    else
        pgasrob_send(CALL_NONBLOCKING, function, caller, request.mode, request.part, request.rank, request.tag,
                     request.communicator, identity);
}

void pgasrob_request_free(MPI_Request handle, const char *function, void *caller) {
    struct request request;
    if (!request_of(handle, true, &request)) return;
    if (request.persistent) {
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < request_count; i++)
            if (requests[i].handle == handle) requests[i].handle = MPI_REQUEST_NULL;
        pthread_mutex_unlock(&lock);
    }
    if (request.identity) pgasrob_call(OP_REQUEST_FREE, 0, function, NULL, caller, WORDS(request.identity));
}

static struct communicator *known_peer(MPI_Comm handle, int rank, const char *function, void *caller) {
    if (rank == MPI_PROC_NULL) return NULL;
    struct communicator *found = communicator_of(handle);
    if (!found) pgasrob_not_known(function, "a communicator that was made by a function not described", caller);
    return found;
}

void pgasrob_send(unsigned flags, const char *function, void *caller, int mode, struct part part, int rank, int tag,
                  MPI_Comm handle, word request) {
    struct communicator *communicator = known_peer(handle, rank, function, caller);
    if (!communicator) return;
    struct layout layout = layout_of(part.count, part.type);
    if (!layout.known || layout.blocks > 1) pgasrob_not_known(function, NOT_CONTIGUOUS, caller);
    const word operands[] = {communicator->group, rank_in(communicator, rank), SIGNED(tag),
                             (word)part.address + (word)layout.start, span(&layout), (word)mode, request};
    pgasrob_call(OP_SEND, flags | (request ? CALL_REQUEST : 0), function, layout.name, caller, operands,
                 request ? 7 : 6);
}

void pgasrob_receive(const char *function, void *caller, struct part part, int rank, int tag, MPI_Comm handle,
                     word request) {
    struct communicator *communicator = known_peer(handle, rank, function, caller);
    if (!communicator) return;
    struct layout layout = layout_of(part.count, part.type);
    if (!layout.known || layout.blocks > 1) pgasrob_not_known(function, NOT_CONTIGUOUS, caller);
    const word operands[] = {communicator->group, rank_in(communicator, rank), tag == MPI_ANY_TAG ? NONE : SIGNED(tag),
                             (word)part.address + (word)layout.start, span(&layout), request};
    pgasrob_call(OP_RECEIVE, request ? CALL_NONBLOCKING | CALL_REQUEST : 0, function, layout.name, caller, operands,
                 request ? 6 : 5);
}

static word bytes_of(const MPI_Status *status) {
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return (word)bytes;
}

/* Senders of a status are recorded as ranks of the communicator of the request, which is looked up by the request. */
struct got { word rank, tag, bytes; };

static struct got got(const struct communicator *communicator, const MPI_Status *status) {
    return (struct got){communicator ? rank_in(communicator, status->MPI_SOURCE) : NONE, SIGNED(status->MPI_TAG),
                        bytes_of(status)};
}

void pgasrob_probe(const char *function, void *caller, int rank, int tag, MPI_Comm handle, int waits) {
    struct communicator *communicator = communicator_of(handle);
    word from = communicator ? rank_in(communicator, rank) : NONE;
    pgasrob_call(OP_PROBE, 0, function, NULL, caller,
                 WORDS(pgasrob_group_of(handle), from, tag == MPI_ANY_TAG ? NONE : SIGNED(tag), (word)waits));
}

void pgasrob_probed(int found, const MPI_Status *status, MPI_Comm handle) {
    struct got what = {NONE, NONE, 0};
    if (found && status != MPI_STATUS_IGNORE) what = got(communicator_of(handle), status);
    pgasrob_return(OP_PROBE, WORDS((word)(found != 0), what.rank, what.tag, what.bytes));
}

void pgasrob_mpi_collective(enum collective kind, enum update update, const char *function, void *caller, int root,
                            const void *destination, const void *source, int count, MPI_Datatype type, MPI_Comm handle,
                            word request) {
    struct communicator *communicator = communicator_of(handle);
    if (!communicator) {
        pgasrob_not_known(function, "a communicator that was made by a function not described", caller);
        return;
    }
    struct layout layout = {.element = 0, .name = ""};
    if (type != MPI_DATATYPE_NULL) {
        layout = layout_of(2, type);
        if (!layout.known) pgasrob_not_known(function, NOT_CONTIGUOUS, caller);
    }
    int size = 0;
    if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
    const word operands[] = {communicator->group, communicator->calls++, kind,
                             root < 0 ? NONE : rank_in(communicator, root), (word)destination,
                             (word)(source == MPI_IN_PLACE ? destination : source), (word)size,
                             count < 0 ? NONE : (word)count, update, request};
    pgasrob_call(OP_COLLECTIVE, request ? CALL_NONBLOCKING | CALL_REQUEST : 0, function, layout.name, caller, operands,
                 request ? 10 : 9);
}

void pgasrob_collected(word request) {
    if (!request) pgasrob_return(OP_COLLECTIVE, NULL, 0);
}

/* --- functions whose status or requests are needed, whether or not the program asked for them --- */

#define REAL(name) \
    static __typeof__(&MPI_##name) real; \
    if (!real) real = pgasrob_real("PMPI_" #name, "MPI_" #name)
#define ALSO(name) __attribute__((alias("MPI_" #name)))

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm handle, MPI_Status *status) {
    REAL(Recv);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    bool recorded = pgasrob_enter() && rank != MPI_PROC_NULL && communicator_of(handle);
    if (pgasrob_log.depth == 1 && pgasrob_begun)
        pgasrob_receive("MPI_Recv", HERE, (struct part){buffer, count, type}, rank, tag, handle, 0);
    int result = real(buffer, count, type, rank, tag, handle, status);
    if (recorded) {
        struct got from = got(communicator_of(handle), status);
        pgasrob_return(OP_RECEIVE, WORDS(from.rank, from.tag, from.bytes));
    }
    pgasrob_leave();
    return result;
}
int PMPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) ALSO(Recv);

/* The results of requests that have completed: `which` of the `count` that were asked for. */
static void completed(struct request *asked, const bool *known, const int *which, int done,
                      const MPI_Status *statuses) {
    word *results = malloc((size_t)(4 * done + 1) * sizeof *results), *next = results;
    if (!results) abort();
    for (int i = 0; i < done; i++) {
        int at = which ? which[i] : i;
        struct request gone;
        if (!known[at] || !asked[at].identity) continue;
        request_of(asked[at].handle, true, &gone);
        struct got from = {NONE, NONE, 0};
        if (asked[at].receives) from = got(communicator_of(asked[at].communicator), &statuses[i]);
        *next++ = asked[at].identity;
        *next++ = from.rank;
        *next++ = from.tag;
        *next++ = from.bytes;
    }
    pgasrob_return(OP_COMPLETE_REQUESTS, results, (size_t)(next - results));
    free(results);
}

/* Around the library's function: which requests there are, a status of each, and what has completed. */
#define COMPLETING(name, asked_count, handles, waits, call, done_count, which, status_of) \
    REAL(name); \
    bool recorded = pgasrob_enter(); \
    int asked_for = (asked_count), result; \
    struct request *asked = recorded ? calloc((size_t)asked_for + 1, sizeof *asked) : NULL; \
    bool *known = recorded ? calloc((size_t)asked_for + 1, sizeof *known) : NULL; \
    if (recorded) { \
        for (int i = 0; i < asked_for; i++) known[i] = request_of((handles)[i], false, &asked[i]); \
        pgasrob_call(OP_COMPLETE_REQUESTS, 0, "MPI_" #name, NULL, HERE, WORDS((word)asked_for, waits)); \
    } \
    result = call; \
    if (recorded) completed(asked, known, which, done_count, status_of); \
    free(asked); \
    free(known); \
    pgasrob_leave(); \
    return result

#define OWN_STATUS \
    MPI_Status own; \
    if (status == MPI_STATUS_IGNORE) status = &own
#define OWN_STATUSES \
    MPI_Status *own = NULL; \
    if (statuses == MPI_STATUSES_IGNORE) statuses = own = malloc((size_t)(count + 1) * sizeof *own); \
    __attribute__((cleanup(release))) MPI_Status *kept = own; \
    (void)kept

static void release(MPI_Status **kept) { free(*kept); }

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    OWN_STATUS;
    COMPLETING(Wait, 1, request, 1, real(request, status), 1, NULL, status);
}
int PMPI_Wait(MPI_Request *, MPI_Status *) ALSO(Wait);

int MPI_Waitall(int count, MPI_Request list[], MPI_Status statuses[]) {
    OWN_STATUSES;
    COMPLETING(Waitall, count, list, 1, real(count, list, statuses), count, NULL, statuses);
}
int PMPI_Waitall(int, MPI_Request[], MPI_Status[]) ALSO(Waitall);

int MPI_Waitany(int count, MPI_Request list[], int *index, MPI_Status *status) {
    OWN_STATUS;
    COMPLETING(Waitany, count, list, 1, real(count, list, index, status), *index != MPI_UNDEFINED, index, status);
}
int PMPI_Waitany(int, MPI_Request[], int *, MPI_Status *) ALSO(Waitany);

int MPI_Waitsome(int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]) {
    OWN_STATUSES;
    COMPLETING(Waitsome, count, list, 1, real(count, list, done, indices, statuses),
               *done == MPI_UNDEFINED ? 0 : *done, indices, statuses);
}
int PMPI_Waitsome(int, MPI_Request[], int *, int[], MPI_Status[]) ALSO(Waitsome);

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    OWN_STATUS;
    COMPLETING(Test, 1, request, 0, real(request, flag, status), *flag != 0, NULL, status);
}
int PMPI_Test(MPI_Request *, int *, MPI_Status *) ALSO(Test);

int MPI_Testall(int count, MPI_Request list[], int *flag, MPI_Status statuses[]) {
    OWN_STATUSES;
    COMPLETING(Testall, count, list, 0, real(count, list, flag, statuses), *flag ? count : 0, NULL, statuses);
}
int PMPI_Testall(int, MPI_Request[], int *, MPI_Status[]) ALSO(Testall);

int MPI_Testany(int count, MPI_Request list[], int *index, int *flag, MPI_Status *status) {
    OWN_STATUS;
    COMPLETING(Testany, count, list, 0, real(count, list, index, flag, status), *flag && *index != MPI_UNDEFINED, index,
               status);
}
int PMPI_Testany(int, MPI_Request[], int *, int *, MPI_Status *) ALSO(Testany);

int MPI_Testsome(int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]) {
    OWN_STATUSES;
    COMPLETING(Testsome, count, list, 0, real(count, list, done, indices, statuses),
               *done == MPI_UNDEFINED ? 0 : *done, indices, statuses);
}
int PMPI_Testsome(int, MPI_Request[], int *, int[], MPI_Status[]) ALSO(Testsome);

static int exchange(int (*real)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
                                MPI_Comm, MPI_Status *),
                    const char *function, void *caller, const void *source, struct part part, int to, int send_tag,
                    struct part into, int from, int receive_tag, MPI_Comm handle, MPI_Status *status) {
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    bool recorded = pgasrob_enter() && communicator_of(handle);
    word sent = 0, received = 0;
    if (recorded) {
        sent = to == MPI_PROC_NULL ? 0 : pgasrob_request();
        received = from == MPI_PROC_NULL ? 0 : pgasrob_request();
        if (sent) pgasrob_send(CALL_NONBLOCKING, function, caller, 0, part, to, send_tag, handle, sent);
        if (received) pgasrob_receive(function, caller, into, from, receive_tag, handle, received);
        pgasrob_call(OP_COMPLETE_REQUESTS, 0, function, NULL, caller, WORDS(!!sent + !!received, 1));
    } else if (pgasrob_log.depth == 1 && pgasrob_begun) {
        pgasrob_not_known(function, "a communicator that was made by a function not described", caller);
    }
    int result = real(source, part.count, part.type, to, send_tag, (void *)into.address, into.count, into.type, from,
                      receive_tag, handle, status);
    if (recorded) {
        struct got with = {NONE, NONE, 0};
        if (received) with = got(communicator_of(handle), status);
        word results[8];
        size_t count = 0;
        if (sent) results[count++] = sent, results[count++] = NONE, results[count++] = NONE, results[count++] = 0;
        if (received) {
            results[count++] = received, results[count++] = with.rank;
            results[count++] = with.tag, results[count++] = with.bytes;
        }
        pgasrob_return(OP_COMPLETE_REQUESTS, results, count);
    }
    pgasrob_leave();
    return result;
}

int MPI_Sendrecv(const void *buffer, int count, MPI_Datatype type, int to, int send_tag, void *into, int most,
                 MPI_Datatype into_type, int from, int receive_tag, MPI_Comm handle, MPI_Status *status) {
    REAL(Sendrecv);
    return exchange(real, "MPI_Sendrecv", HERE, buffer, (struct part){buffer, count, type}, to, send_tag,
                    (struct part){into, most, into_type}, from, receive_tag, handle, status);
}
int PMPI_Sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                  MPI_Status *) ALSO(Sendrecv);
