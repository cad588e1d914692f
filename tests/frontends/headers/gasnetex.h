/* Declarations of GASNet-EX, for checking with a compiler that the programs of the corpus are C. */
#ifndef GASNETEX_H
#define GASNETEX_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t gex_Rank_t;
typedef uint32_t gex_Flags_t;
typedef uint32_t gex_EC_t;
typedef uintptr_t gex_RMA_Value_t;
typedef struct gex_event *gex_Event_t;
typedef struct gex_client *gex_Client_t;
typedef struct gex_endpoint *gex_EP_t;
typedef struct gex_team *gex_TM_t;
typedef struct gex_segment *gex_Segment_t;

#define GASNET_OK 0
#define GASNET_ERR_NOT_READY 10004
#define GASNET_PAGESIZE 4096
#define GEX_EVENT_INVALID ((gex_Event_t) 0)
#define GEX_EVENT_NOW ((gex_Event_t *) 1)
#define GEX_EVENT_DEFER ((gex_Event_t *) 2)
#define GEX_EVENT_GROUP ((gex_Event_t *) 3)
#define GEX_EC_PUT 1
#define GEX_EC_GET 2
#define GEX_EC_ALL 3

int gex_Client_Init(gex_Client_t *, gex_EP_t *, gex_TM_t *, const char *name, int *argc, char ***argv, gex_Flags_t);
int gex_Segment_Attach(gex_Segment_t *, gex_TM_t, uintptr_t size);
void *gex_Segment_QueryAddr(gex_Segment_t);
int gex_Segment_QueryBound(gex_TM_t, gex_Rank_t, void **owner, void **here, uintptr_t *size);
gex_Rank_t gex_TM_QueryRank(gex_TM_t);
gex_Rank_t gex_TM_QuerySize(gex_TM_t);
void gasnet_exit(int code);

int gex_RMA_PutBlocking(gex_TM_t, gex_Rank_t, void *dest, void *src, size_t, gex_Flags_t);
gex_Event_t gex_RMA_PutNB(gex_TM_t, gex_Rank_t, void *dest, void *src, size_t, gex_Event_t *local, gex_Flags_t);
int gex_RMA_PutNBI(gex_TM_t, gex_Rank_t, void *dest, void *src, size_t, gex_Event_t *local, gex_Flags_t);
int gex_RMA_GetBlocking(gex_TM_t, void *dest, gex_Rank_t, void *src, size_t, gex_Flags_t);
gex_Event_t gex_RMA_GetNB(gex_TM_t, void *dest, gex_Rank_t, void *src, size_t, gex_Flags_t);
int gex_RMA_GetNBI(gex_TM_t, void *dest, gex_Rank_t, void *src, size_t, gex_Flags_t);
int gex_RMA_PutBlockingVal(gex_TM_t, gex_Rank_t, void *dest, gex_RMA_Value_t, size_t, gex_Flags_t);
gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t, gex_Rank_t, void *src, size_t, gex_Flags_t);

void gex_Event_Wait(gex_Event_t);
int gex_Event_Test(gex_Event_t);
void gex_Event_WaitAll(gex_Event_t *, size_t, gex_Flags_t);
void gex_NBI_Wait(gex_EC_t, gex_Flags_t);
int gex_NBI_Test(gex_EC_t, gex_Flags_t);
gex_Event_t gex_Coll_BarrierNB(gex_TM_t, gex_Flags_t);

#endif
