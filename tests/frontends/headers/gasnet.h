/* Declarations of GASNet 1.8, for checking with a compiler that the programs of the corpus are C. */
#ifndef GASNET_H
#define GASNET_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t gasnet_node_t;
typedef uintptr_t gasnet_register_value_t;
typedef struct gasnet_handle *gasnet_handle_t;
typedef struct { void *addr; uintptr_t size; } gasnet_seginfo_t;
typedef struct { uint8_t index; void (*fnptr)(void); } gasnet_handlerentry_t;

#define GASNET_OK 0
#define GASNET_ERR_NOT_READY 10004
#define GASNET_ERR_BARRIER_MISMATCH 10005
#define GASNET_INVALID_HANDLE ((gasnet_handle_t) 0)
#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH 2
#define GASNET_PAGESIZE 4096
#define GASNET_BLOCKUNTIL(condition) do { while (!(condition)) gasnet_AMPoll(); } while (0)

int gasnet_init(int *argc, char ***argv);
int gasnet_attach(gasnet_handlerentry_t *table, int entries, uintptr_t size, uintptr_t offset);
void gasnet_exit(int code);
gasnet_node_t gasnet_mynode(void);
gasnet_node_t gasnet_nodes(void);
uintptr_t gasnet_getMaxLocalSegmentSize(void);
int gasnet_getSegmentInfo(gasnet_seginfo_t *table, int entries);
int gasnet_AMPoll(void);

void gasnet_put(gasnet_node_t node, void *dest, void *src, size_t bytes);
void gasnet_get(void *dest, gasnet_node_t node, void *src, size_t bytes);
void gasnet_put_bulk(gasnet_node_t node, void *dest, void *src, size_t bytes);
void gasnet_get_bulk(void *dest, gasnet_node_t node, void *src, size_t bytes);
gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest, void *src, size_t bytes);
gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, void *src, size_t bytes);
gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest, void *src, size_t bytes);
gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node, void *src, size_t bytes);
void gasnet_put_nbi(gasnet_node_t node, void *dest, void *src, size_t bytes);
void gasnet_get_nbi(void *dest, gasnet_node_t node, void *src, size_t bytes);
void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, void *src, size_t bytes);
void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, void *src, size_t bytes);
void gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t bytes);
gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t bytes);
void gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t bytes);
gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void *src, size_t bytes);

void gasnet_wait_syncnb(gasnet_handle_t handle);
int gasnet_try_syncnb(gasnet_handle_t handle);
void gasnet_wait_syncnb_all(gasnet_handle_t *handles, size_t number);
void gasnet_wait_syncnb_some(gasnet_handle_t *handles, size_t number);
void gasnet_wait_syncnbi_puts(void);
void gasnet_wait_syncnbi_gets(void);
void gasnet_wait_syncnbi_all(void);
void gasnet_begin_nbi_accessregion(void);
gasnet_handle_t gasnet_end_nbi_accessregion(void);

void gasnet_barrier_notify(int id, int flags);
int gasnet_barrier_wait(int id, int flags);
int gasnet_barrier_try(int id, int flags);

#endif
