/* Declarations of the GASPI standard (17.1), for checking with a compiler that the programs of the corpus are C.
 * Nothing here is defined: they are never linked. */
#ifndef GASPI_H
#define GASPI_H

typedef int gaspi_int;
typedef unsigned int gaspi_uint;
typedef float gaspi_float;
typedef double gaspi_double;
typedef unsigned long gaspi_timeout_t, gaspi_size_t, gaspi_alloc_t, gaspi_offset_t, gaspi_atomic_value_t, gaspi_cycles_t;
typedef unsigned short gaspi_rank_t, gaspi_notification_id_t;
typedef unsigned char gaspi_group_t, gaspi_queue_id_t, gaspi_segment_id_t;
typedef unsigned int gaspi_number_t, gaspi_notification_t;
typedef void *gaspi_pointer_t;
typedef unsigned char *gaspi_state_vector_t;
typedef float gaspi_time_t;
typedef char *gaspi_string_t;
typedef int gaspi_memory_description_t;

typedef enum { GASPI_ERROR = -1, GASPI_SUCCESS = 0, GASPI_TIMEOUT = 1 } gaspi_return_t;
typedef enum { GASPI_OP_MIN, GASPI_OP_MAX, GASPI_OP_SUM } gaspi_operation_t;
typedef enum {
  GASPI_TYPE_INT, GASPI_TYPE_UINT, GASPI_TYPE_FLOAT, GASPI_TYPE_DOUBLE, GASPI_TYPE_LONG, GASPI_TYPE_ULONG
} gaspi_datatype_t;
enum { GASPI_MEM_UNINITIALIZED = 0, GASPI_MEM_INITIALIZED = 1 };

#define GASPI_GROUP_ALL ((gaspi_group_t) 0)
#define GASPI_BLOCK ((gaspi_timeout_t) 0xfffffffffffffffful)
#define GASPI_TEST ((gaspi_timeout_t) 0)
#define GASPI_ALLOC_DEFAULT GASPI_MEM_UNINITIALIZED

gaspi_return_t gaspi_proc_init(gaspi_timeout_t);
gaspi_return_t gaspi_proc_term(gaspi_timeout_t);
gaspi_return_t gaspi_proc_rank(gaspi_rank_t *);
gaspi_return_t gaspi_proc_num(gaspi_rank_t *);

gaspi_return_t gaspi_group_create(gaspi_group_t *);
gaspi_return_t gaspi_group_add(gaspi_group_t, gaspi_rank_t);
gaspi_return_t gaspi_group_commit(gaspi_group_t, gaspi_timeout_t);
gaspi_return_t gaspi_group_delete(gaspi_group_t);
gaspi_return_t gaspi_group_size(gaspi_group_t, gaspi_number_t *);
gaspi_return_t gaspi_group_ranks(gaspi_group_t, gaspi_rank_t *);

gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t, gaspi_size_t, gaspi_alloc_t);
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t, gaspi_rank_t, gaspi_timeout_t);
gaspi_return_t gaspi_segment_create(gaspi_segment_id_t, gaspi_size_t, gaspi_group_t, gaspi_timeout_t, gaspi_alloc_t);
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t, gaspi_pointer_t, gaspi_size_t, gaspi_memory_description_t);
gaspi_return_t gaspi_segment_use(
    gaspi_segment_id_t, gaspi_pointer_t, gaspi_size_t, gaspi_group_t, gaspi_timeout_t, gaspi_memory_description_t);
gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t);
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t, gaspi_pointer_t *);
gaspi_return_t gaspi_segment_size(gaspi_segment_id_t, gaspi_rank_t, gaspi_size_t *);

gaspi_return_t gaspi_write(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_segment_id_t, gaspi_offset_t,
                           gaspi_size_t, gaspi_queue_id_t, gaspi_timeout_t);
gaspi_return_t gaspi_read(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_segment_id_t, gaspi_offset_t,
                          gaspi_size_t, gaspi_queue_id_t, gaspi_timeout_t);
gaspi_return_t gaspi_write_list(gaspi_number_t, gaspi_segment_id_t *, gaspi_offset_t *, gaspi_rank_t,
                                gaspi_segment_id_t *, gaspi_offset_t *, gaspi_size_t *, gaspi_queue_id_t,
                                gaspi_timeout_t);
gaspi_return_t gaspi_read_list(gaspi_number_t, gaspi_segment_id_t *, gaspi_offset_t *, gaspi_rank_t,
                               gaspi_segment_id_t *, gaspi_offset_t *, gaspi_size_t *, gaspi_queue_id_t,
                               gaspi_timeout_t);
gaspi_return_t gaspi_notify(gaspi_segment_id_t, gaspi_rank_t, gaspi_notification_id_t, gaspi_notification_t,
                            gaspi_queue_id_t, gaspi_timeout_t);
gaspi_return_t gaspi_write_notify(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_segment_id_t, gaspi_offset_t,
                                  gaspi_size_t, gaspi_notification_id_t, gaspi_notification_t, gaspi_queue_id_t,
                                  gaspi_timeout_t);
gaspi_return_t gaspi_write_list_notify(gaspi_number_t, gaspi_segment_id_t *, gaspi_offset_t *, gaspi_rank_t,
                                       gaspi_segment_id_t *, gaspi_offset_t *, gaspi_size_t *, gaspi_segment_id_t,
                                       gaspi_notification_id_t, gaspi_notification_t, gaspi_queue_id_t,
                                       gaspi_timeout_t);
gaspi_return_t gaspi_read_notify(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_segment_id_t, gaspi_offset_t,
                                 gaspi_size_t, gaspi_notification_id_t, gaspi_queue_id_t, gaspi_timeout_t);
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t, gaspi_notification_id_t, gaspi_number_t,
                                     gaspi_notification_id_t *, gaspi_timeout_t);
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t, gaspi_notification_id_t, gaspi_notification_t *);
gaspi_return_t gaspi_wait(gaspi_queue_id_t, gaspi_timeout_t);

gaspi_return_t gaspi_queue_create(gaspi_queue_id_t *, gaspi_timeout_t);
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t);
gaspi_return_t gaspi_queue_size(gaspi_queue_id_t, gaspi_number_t *);
gaspi_return_t gaspi_queue_size_max(gaspi_number_t *);

gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_atomic_value_t,
                                      gaspi_atomic_value_t *, gaspi_timeout_t);
gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_atomic_value_t,
                                         gaspi_atomic_value_t, gaspi_atomic_value_t *, gaspi_timeout_t);
gaspi_return_t gaspi_passive_send(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t, gaspi_size_t, gaspi_timeout_t);
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t, gaspi_offset_t, gaspi_rank_t *, gaspi_size_t,
                                     gaspi_timeout_t);
gaspi_return_t gaspi_barrier(gaspi_group_t, gaspi_timeout_t);
gaspi_return_t gaspi_allreduce(gaspi_pointer_t, gaspi_pointer_t, gaspi_number_t, gaspi_operation_t, gaspi_datatype_t,
                               gaspi_group_t, gaspi_timeout_t);
void gaspi_printf(const char *, ...);

#endif
