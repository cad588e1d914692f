// expect: robust
// nodes: 2
// races: none
// GASNet-EX: the put is complete on the other side when its event is, before the barrier: put -> event -> barrier ->
// load.
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

  int value = me + 1;
  gex_Event_t done = gex_RMA_PutNB(team, right, (int *) remote + 1, &value, sizeof(int), GEX_EVENT_NOW, 0);
  value = 0;
  gex_Event_Wait(done);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  assert(cells[1] == left + 1);

  gasnet_exit(0);
  return 0;
}
