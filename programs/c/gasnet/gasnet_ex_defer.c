// expect: not robust
// nodes: 2
// races: 1 pair
// GASNet-EX: with GEX_EVENT_DEFER the source is read until the implicit set is complete; here it is changed before.
// store of 2 -> put by the conflict on the source, put -> store by program order.
#include <gasnetex.h>
#include <assert.h>

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Segment_t segment;

int main(int argc, char *argv[])
{
  gex_Client_Init(&client, &endpoint, &team, "example", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);
  const gex_Rank_t me = gex_TM_QueryRank(team), ranks = gex_TM_QuerySize(team);
  const gex_Rank_t right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  int *cells = gex_Segment_QueryAddr(segment);
  void *remote;
  uintptr_t size;
  gex_Segment_QueryBound(team, right, &remote, NULL, &size);

  cells[0] = 1;
  gex_RMA_PutNBI(team, right, (int *) remote + 1, cells, sizeof(int), GEX_EVENT_DEFER, 0);
  cells[0] = 2;
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  assert(cells[1] > 0 && left < ranks);

  gasnet_exit(0);
  return 0;
}
