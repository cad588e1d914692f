//! The runs that lead to what a search has found: along the path by which a record was first reached.

use std::ops::ControlFlow;

use crate::facts::Standing;
use crate::memory::{Error, Result, copied, filled};
use crate::moves::Space;
use crate::moves::{Move, PlayedMove, Successor};
use crate::search::Search;
use crate::state::State;
use crate::store::Link;
use crate::world::World;

/// A move from one record to another, and what was merged into it.
#[derive(Debug, Default)]
pub struct Step {
    /// Ranks by their places in the record that it leaves.
    pub run: Vec<PlayedMove>,
    /// Where the ranks have gone; None when all keep their places.
    pub places: Option<Vec<usize>>,
}

impl Search {
    /// The run to the violation, None before it is found. Its last move is e.
    pub fn violation(&mut self) -> Result<Option<Vec<PlayedMove>>> {
        match self.visited.found {
            Some(found) if self.violated => {
                let last = self.step(found.parent, None)?;
                Ok(Some(self.run_to(found.parent, Some(last))?.0))
            }
            _ => Ok(None),
        }
    }

    /// The run to a state in which a command of a rank is next, and which rank and command it is in that run.
    pub fn run_before(&mut self, link: Link, standing: Standing) -> Result<(Standing, Vec<PlayedMove>)> {
        let (run, real) = self.run_to(link, None)?;
        let rank = real[standing.rank];
        let transition = self.tables.counterpart(standing.transition, standing.rank, rank);
        Ok((Standing { rank, transition }, run))
    }

    /// The moves along the path by which a record was first reached, and then `last`; and for every place in that
    /// record the rank that stands there in the run.
    pub fn run_to(&mut self, link: Link, last: Option<Step>) -> Result<(Vec<PlayedMove>, Vec<usize>)> {
        let mut steps = Vec::new();
        let mut after = link;
        loop {
            let before = self.visited.stores[after.class()].parent(after.index());
            if before == Link::NONE {
                break;
            }
            steps.try_reserve(1)?;
            steps.push(self.step(before, Some(after))?);
            after = before;
        }
        let mut real = filled(0, self.tables.processes)?;
        for (place, rank) in real.iter_mut().enumerate() {
            *rank = place;
        }
        let (mut run, mut old) = (Vec::new(), real.clone());
        for step in std::iter::once(&self.start).chain(steps.iter().rev()) {
            self.translate(step, &real, &mut run)?;
            if let Some(places) = &step.places {
                old.copy_from_slice(&real);
                for (place, &rank) in places.iter().zip(&old) {
                    real[*place] = rank;
                }
            }
        }
        if let Some(last) = &last {
            self.translate(last, &real, &mut run)?;
        }
        Ok((run, real))
    }

    /// Adds the moves of a step to `run`, with the ranks that stand at their places.
    fn translate(&self, step: &Step, real: &[usize], run: &mut Vec<PlayedMove>) -> Result<()> {
        for (mover, transitions, parts) in &step.run {
            let mut translated = filled(0, transitions.len())?;
            match *mover {
                Some(place) => translated[0] = self.tables.counterpart(transitions[0], place, real[place]),
                None => {
                    for (place, &transition) in transitions.iter().enumerate() {
                        translated[real[place]] = self.tables.counterpart(transition, place, real[place]);
                    }
                }
            }
            run.try_reserve(1)?;
            run.push((mover.map(|place| real[place]), translated, parts.clone()));
        }
        Ok(())
    }

    /// The first move from one record that leads to another, or to the state after e for None.
    ///
    /// Moves are not stored. A record is linked to the state that it was first reached from, by the first move there
    /// that reaches it; so this is the one, or one as good.
    fn step(&mut self, before: Link, after: Option<Link>) -> Result<Step> {
        // Not self.state: the state that is being expanded may have barriers left.
        let state = &mut self.state.duplicate()?;
        let Search { tables, attack, world, reduction, visited, next, .. } = self;
        let space = Space { tables, attack: *attack };
        visited.load(before, world, state)?;
        next.mix();
        let mut packed = Vec::new();
        let reaches = |world: &World, successor: &State, packed: &mut Vec<u8>| -> Result<bool> {
            let Some(after) = after else { return Ok(false) };
            if after.class() != usize::from(successor.source.is_some()) {
                return Ok(false);
            }
            visited.layout.pack(successor, &world.slots, packed)?;
            Ok(packed == visited.stores[after.class()].record(after.index()))
        };
        let mut taken: Option<Step> = None;
        for rank in 0..tables.processes {
            let mut visit = |world: &mut World, label: Move, successor: Successor<'_>| {
                let mut run = Vec::new();
                run.try_reserve(1)?;
                run.push(played(label));
                let same = match successor {
                    Successor::Found => after.is_none(),
                    Successor::State(next) => {
                        reduction.normalise(space, world, next, Some(rank), Some(&mut run))?
                            && reaches(world, next, &mut packed)?
                    }
                };
                Ok(if same {
                    taken = Some(Step { run, places: None });
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            };
            if space.commands(world, state, rank, next, &mut visit)?.is_break() {
                break;
            }
        }
        if taken.is_none() {
            for choice in 0..space.barriers(state) {
                let mut run = vec![(None, space.barrier(state, choice)?, Vec::new())];
                space.pass_barrier(state, choice, next)?;
                if reduction.normalise(space, world, next, None, Some(&mut run))? && reaches(world, next, &mut packed)?
                {
                    taken = Some(Step { run, places: None });
                    break;
                }
            }
        }
        let mut taken = taken.ok_or_else(|| Error::Malformed("no move leads along the path of a state".into()))?;
        next.mix();
        // The move that was taken is the one that was normalised last.
        taken.places = if after.is_some() { reduction.places().map(copied).transpose()? } else { None };
        Ok(taken)
    }
}

pub fn played(label: Move) -> PlayedMove {
    let Move { rank, transition, now, steps } = label;
    (Some(rank), vec![transition], (0..steps).map(|step| if step < now { 1 } else { 2 }).collect())
}
