//! What is next in a state, and what of it races.

use crate::facts::Standing;
use crate::memory::Result;
use crate::moves::{Space, access_at_issue};
use crate::operands::Operands;
use crate::placement::first_bound;
use crate::races::rules::{Next, Rules};
use crate::state::State;
use crate::world::World;

/// The second access of a race, where the first is the source's.
#[derive(Clone, Copy, Debug)]
pub enum Second {
    /// It belongs to the next command of a rank.
    Standing(Standing),
    /// It is a step of the next command of a rank, of which `now` steps happen before it.
    Step { standing: Standing, now: usize, steps: usize },
}

/// Two accesses that race: the first belongs to the next command of a rank, or is the source, when None.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub first: Option<Standing>,
    pub second: Second,
    /// The places of their commands in the source, the smaller one first.
    pub places: (usize, usize),
}

/// What is seen in one state, kept to use its memory again.
#[derive(Debug, Default)]
pub struct Look {
    pub pairs: Vec<Pair>,
    /// The source conflicts with what is next, and that is no race.
    pub harmless: bool,
    standing: Vec<(Standing, Next)>,
}

impl Look {
    /// Looks at `state`.
    pub fn at(&mut self, space: Space<'_>, rules: &Rules, world: &mut World, state: &State) -> Result<()> {
        self.pairs.clear();
        self.standing.clear();
        self.harmless = false;
        let tables = space.tables;
        for rank in 0..tables.processes {
            for transition in tables.leaving(rank, state.control[rank]) {
                let Some(operands) = space.operands(world, state, rank, transition)? else { continue };
                let Some(access) = access_at_issue(&operands) else { continue };
                let kind = rules.kind(transition, 0)?;
                let next = Next { kind, cell: access.cell, remote: access.cell / tables.size != tables.home[rank] };
                self.standing.try_reserve(1)?;
                self.standing.push((Standing { rank, transition }, next));
            }
            if state.source.is_some() {
                self.meet_source(space, rules, world, state, rank)?;
                self.standing.clear();
            }
        }
        for (place, &(first, one)) in self.standing.iter().enumerate() {
            for &(second, other) in &self.standing[place + 1..] {
                if first.rank != second.rank && rules.conflict(one, other) && rules.race(tables.size, one, other) {
                    let pair = pair(rules, Some(first), one, Second::Standing(second), other);
                    self.pairs.try_reserve(1)?;
                    self.pairs.push(pair);
                }
            }
        }
        Ok(())
    }

    /// Compares the source with the next commands of `rank`.
    fn meet_source(
        &mut self,
        space: Space<'_>,
        rules: &Rules,
        world: &mut World,
        state: &State,
        rank: usize,
    ) -> Result<()> {
        let (tables, Some(source)) = (space.tables, state.source) else { return Ok(()) };
        let source = Next { kind: source.kind, cell: source.cell, remote: true };
        let Look { pairs, harmless, standing } = self;
        let mut meet = |other: Next, second: Second| -> Result<()> {
            if !rules.conflict(source, other) {
                return Ok(());
            }
            if !rules.race(tables.size, source, other) {
                *harmless = true;
                return Ok(());
            }
            pairs.try_reserve(1)?;
            pairs.push(pair(rules, None, source, second, other));
            Ok(())
        };
        for &(before, next) in standing.iter() {
            meet(next, Second::Standing(before))?;
        }
        for transition in tables.leaving(rank, state.control[rank]) {
            let Some(Operands::Transfer(transfer)) = space.operands(world, state, rank, transition)? else { continue };
            let before = usize::from(transfer.captured().is_some());
            let steps = transfer.steps();
            for now in 0..first_bound(tables, world, state, rank, &transfer) {
                let cell = transfer.access(&steps[now]).cell;
                let kind = rules.kind(transition, before + now)?;
                let standing = Standing { rank, transition };
                meet(Next { kind, cell, remote: true }, Second::Step { standing, now, steps: steps.len() })?;
            }
        }
        Ok(())
    }
}

fn pair(rules: &Rules, first: Option<Standing>, one: Next, second: Second, other: Next) -> Pair {
    let (one, other) = (rules.kinds[one.kind].place, rules.kinds[other.kind].place);
    Pair { first, second, places: (one.min(other), one.max(other)) }
}
