// expect: robust
// nodes: 2
// races: none
// GASNet-EX: the local event frees the source, the other one is waited for before the barrier. put -> local event ->
// store, put -> event -> barrier -> load.
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

  gex_Event_t local, done;
  cells[0] = 1;
  done = gex_RMA_PutNB(team, right, (int *) remote + 1, cells, sizeof(int), &local, 0);
  gex_Event_Wait(local);
  cells[0] = 2;
  gex_Event_Wait(done);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  assert(cells[1] == 1 && left < ranks);

  gasnet_exit(0);
  return 0;
}
