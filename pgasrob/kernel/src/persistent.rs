//! Persistent sets of ranks (`proofs/reductions.md`): which ranks may be expanded alone at a state.

use crate::access::Access;
use crate::analyses::Analyses;
use crate::meanwhile::{Meanwhile, Standing};
use crate::memory::{Result, append, filled};
use crate::moves::Space;
use crate::operands::Operands;
use crate::races::rules::Next;
use crate::state::State;
use crate::world::World;

/// What one rank may do next.
#[derive(Debug, Default)]
struct Rank {
    /// Some command leaves its control state.
    active: bool,
    at_barrier: bool,
    /// It has a move that chooses no source and ends nothing.
    moves: bool,
    /// The accesses of its next commands.
    next: Vec<Access>,
    /// Those that count for ranks whose next command is an await: in search for races those that may race with it.
    awaited: Vec<Access>,
    /// The control states behind those that can be passed without a barrier.
    behind: Vec<usize>,
    /// For every command that leaves its control state whether it may ever be passed.
    passes: Vec<bool>,
}

/// Finds the sets of a state, from the best on.
#[derive(Debug, Default)]
pub struct Persistent {
    ranks: Vec<Rank>,
    active: usize,
    /// Where the next singleton is looked for, first by what others may do at all and then by what they may do while it
    /// stays where it is; and which have been found.
    seed: usize,
    found: Vec<bool>,
    meanwhile: Meanwhile,
    /// The sets with more than one rank in their order, once they are needed, and the place of the next.
    larger: Option<Vec<Vec<usize>>>,
    place: usize,
    /// The set that was found last.
    set: Vec<usize>,
}

impl Persistent {
    /// Looks at a state.
    pub fn look(&mut self, space: Space<'_>, world: &mut World, state: &State, analyses: &Analyses) -> Result<()> {
        let tables = space.tables;
        // Accesses to what decides nothing commute in SC runs: liveness stores no trace of their order.
        let by_values = !space.attack && tables.rules.is_none() && analyses.on.liveness;
        if self.ranks.len() < tables.processes {
            self.ranks.try_reserve_exact(tables.processes)?;
            self.ranks.resize_with(tables.processes, Rank::default);
            self.found = filled(false, tables.processes)?;
        }
        self.found.fill(false);
        (self.active, self.seed, self.larger, self.place) = (0, 0, None, 0);
        for (rank, looked) in self.ranks.iter_mut().enumerate() {
            let leaving = tables.leaving(rank, state.control[rank]);
            (looked.active, looked.at_barrier, looked.moves) = (!leaving.is_empty(), false, false);
            looked.next.clear();
            looked.awaited.clear();
            looked.behind.clear();
            looked.passes.clear();
            looked.passes.try_reserve(leaving.len())?;
            self.active += usize::from(looked.active);
            for transition in leaving {
                looked.passes.push(false);
                let Some(operands) = space.operands(world, state, rank, transition)? else { continue };
                if matches!(operands, Operands::Barrier { .. }) {
                    looked.at_barrier = true;
                    if tables.has_threads() {
                        // It may be passed while a rank stays where it is, by another thread of that.
                        append(&mut looked.behind, tables.control(rank, tables.transitions[transition].target))?;
                    }
                    continue;
                }
                let outlook = space.outlook(world, state, rank, &operands)?;
                looked.moves |= outlook.moves;
                looked.next.try_reserve(outlook.accesses.len())?;
                let counts = |access: &Access| !by_values || analyses.is_relevant(access.cell);
                looked.next.extend(outlook.accesses.into_iter().flatten().filter(counts));
                if let Some(rules) = &tables.rules {
                    looked.awaited.try_reserve(outlook.accesses.len())?;
                    for (place, access) in outlook.accesses.into_iter().flatten().enumerate() {
                        let kind = rules.kind(transition, place)?;
                        let remote = access.cell / tables.size != tables.home[rank];
                        if rules.counts_for_awaits(Next { kind, cell: access.cell, remote }) {
                            looked.awaited.push(access);
                        }
                    }
                }
                if outlook.passes {
                    looked.passes.last_mut().into_iter().for_each(|passes| *passes = true);
                    looked.behind.try_reserve(1)?;
                    looked.behind.push(tables.control(rank, tables.transitions[transition].target));
                }
            }
        }
        Ok(())
    }

    /// Finds the next set that may be expanded alone, smaller ones first and then those of lower ranks. False when
    /// there is no other; else it is [`Self::set`].
    pub fn find(&mut self, space: Space<'_>, world: &World, state: &State, analyses: &Analyses) -> Result<bool> {
        let nodes = self.ranks.len();
        // While a rank stays where it is no barrier is passed, if it has no other threads.
        let threads = space.tables.has_threads();
        while self.seed < if threads { nodes } else { 2 * nodes } {
            let (seed, closely) = (self.seed % nodes, self.seed >= nodes);
            self.seed += 1;
            if self.active < 2 || !self.is_seed(seed) || !self.ranks[seed].moves || self.found[seed] {
                continue;
            }
            let alone = if closely {
                let Persistent { ranks, meanwhile, .. } = self;
                let passes = |rank: usize, transition| {
                    ranks[rank].passes[transition - space.tables.leaving(rank, state.control[rank]).start]
                };
                let standing = Standing { tables: space.tables, analyses, world, state };
                meanwhile.is_left_alone(standing, seed, &ranks[seed].next, &ranks[seed].awaited, passes)?
            } else {
                (0..nodes).all(|other| other == seed || !self.demands(analyses, seed, other))
            };
            if alone {
                self.found[seed] = true;
                self.set.clear();
                self.set.try_reserve(1)?;
                self.set.push(seed);
                return Ok(true);
            }
        }
        if self.larger.is_none() {
            self.larger = Some(self.closures(analyses, threads)?);
        }
        let found = self.larger.as_mut().and_then(|larger| larger.get_mut(self.place));
        self.place += 1;
        Ok(found.map(|found| std::mem::swap(found, &mut self.set)).is_some())
    }

    pub fn set(&self) -> &[usize] {
        &self.set
    }

    /// No barrier can be passed while it stays where it is.
    fn is_seed(&self, rank: usize) -> bool {
        self.ranks[rank].active && !self.ranks[rank].at_barrier
    }

    /// Whether `other` belongs to every set with `member` in it.
    fn demands(&self, analyses: &Analyses, member: usize, other: usize) -> bool {
        let (member, other) = (&self.ranks[member], &self.ranks[other]);
        other.active
            && member.next.iter().any(|access| {
                let against = access.against();
                other.next.iter().any(|its| its.cell == access.cell && its.ways & against != 0)
                    || other.behind.iter().any(|&control| analyses.soon(control, access.cell) & against != 0)
            })
    }

    /// The usable sets with more than one rank.
    fn closures(&self, analyses: &Analyses, threads: bool) -> Result<Vec<Vec<usize>>> {
        let nodes = self.ranks.len();
        let mut demanded: Vec<Option<Vec<usize>>> = filled(None, nodes)?;
        let mut closures: Vec<Vec<usize>> = Vec::new();
        for seed in (0..nodes).filter(|&rank| self.is_seed(rank)) {
            let mut inside = filled(false, nodes)?;
            let mut set = Vec::new();
            set.try_reserve_exact(nodes)?;
            inside[seed] = true;
            set.push(seed);
            let mut place = 0;
            while let Some(&member) = set.get(place) {
                place += 1;
                let demands = demanded[member].get_or_insert_with(|| {
                    (0..nodes).filter(|&other| other != member && self.demands(analyses, member, other)).collect()
                });
                for &other in demands.iter() {
                    if !std::mem::replace(&mut inside[other], true) {
                        set.push(other);
                    }
                }
            }
            let usable = set.len() > 1
                && set.len() < self.active
                && set.iter().any(|&rank| self.ranks[rank].moves)
                && !(threads && set.iter().any(|&rank| self.ranks[rank].at_barrier));
            if usable {
                set.sort_unstable();
                if !closures.contains(&set) {
                    closures.try_reserve(1)?;
                    closures.push(set);
                }
            }
        }
        // Stable: sets of one size stay in the order of their seeds.
        closures.sort_by_key(Vec::len);
        Ok(closures)
    }
}
