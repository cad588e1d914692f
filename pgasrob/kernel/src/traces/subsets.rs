//! Which of some updates of one kind have to be there for a cell to hold what somebody waits for
//! (`pgasrob/reference/subsets.py`).

use std::collections::HashSet;

use crate::code::Type;
use crate::intern::ValueId;
use crate::memory::Result;
use crate::updates::{Given, Operation, Update};
use crate::world::World;

const MOST_VALUES: usize = 1 << 12;
pub const MOST_SETS: usize = 1 << 10;

/// An update that commutes with others of its kind, with its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commuting {
    pub operation: Operation,
    pub kind: Type,
    pub operand: ValueId,
}

impl Commuting {
    pub fn of(self, world: &mut World, old: ValueId) -> Result<ValueId> {
        let Commuting { operation, kind, operand } = self;
        Update { operation, kind, operand: Given::Number(operand), expected: operand }.of(world, old)
    }
}

/// What a cell holds after updates of one kind, in whatever order.
pub fn value_after(
    world: &mut World,
    before: ValueId,
    updates: impl IntoIterator<Item = Commuting>,
) -> Result<ValueId> {
    let mut value = before;
    for update in updates {
        value = update.of(world, value)?;
    }
    Ok(value)
}

/// Whether the cell may hold a value.
pub trait Passes: FnMut(&mut World, ValueId) -> Result<bool> {}
impl<F: FnMut(&mut World, ValueId) -> Result<bool>> Passes for F {}

/// Updates of one kind of a cell that held `before`, numbered as they are given. Those that are alike can stand for each
/// other.
pub struct Updates {
    before: ValueId,
    alike: Vec<(Commuting, Vec<usize>)>,
}

/// None: there are more than anybody wants to look at.
pub type Sets = Option<Vec<Vec<usize>>>;

impl Updates {
    pub fn new(before: ValueId, updates: impl IntoIterator<Item = Commuting>) -> Self {
        let mut alike: Vec<(Commuting, Vec<usize>)> = Vec::new();
        for (number, update) in updates.into_iter().enumerate() {
            match alike.iter_mut().find(|(known, _)| *known == update) {
                Some((_, numbers)) => numbers.push(number),
                None => alike.push((update, vec![number])),
            }
        }
        Updates { before, alike }
    }

    /// Whether there is a set of them after which the cell passes; None when that is too much to find out.
    pub fn any(&self, world: &mut World, passes: &mut impl Passes) -> Result<Option<bool>> {
        Ok(self.good(world, passes)?.map(|good| !good[0].is_empty()))
    }

    /// The sets of them after which the cell passes.
    pub fn passing(&self, world: &mut World, passes: &mut impl Passes) -> Result<Sets> {
        Ok(self.counts(world, passes)?.and_then(|counts| self.expanded(&counts)))
    }

    /// Those of these sets, the set of all left out, that are in no other one.
    pub fn greatest(&self, world: &mut World, passes: &mut impl Passes) -> Result<Sets> {
        let Some(all) = self.counts(world, passes)? else { return Ok(None) };
        let covers = |one: &[usize], other: &[usize]| one.iter().zip(other).all(|(count, least)| count >= least);
        let mut found: Vec<Vec<usize>> = Vec::new();
        for counts in all {
            let whole = counts.iter().zip(&self.alike).all(|(&count, (_, numbers))| count == numbers.len());
            if !whole && !found.iter().any(|other| covers(other, &counts)) {
                found.retain(|other| !covers(&counts, other));
                found.push(counts);
            }
        }
        Ok(self.expanded(&found))
    }

    /// By how many kinds of updates have been decided, the values from which the cell can still come to pass.
    fn good(&self, world: &mut World, passes: &mut impl Passes) -> Result<Option<Vec<HashSet<ValueId>>>> {
        let mut reached = vec![HashSet::from([self.before])];
        for (update, numbers) in &self.alike {
            let mut values = HashSet::new();
            for &start in &reached[reached.len() - 1] {
                values.extend(in_turn(world, start, *update, numbers.len())?);
            }
            if values.len() > MOST_VALUES {
                return Ok(None);
            }
            reached.push(values);
        }
        let mut last = HashSet::new();
        for value in reached.pop().unwrap_or_default() {
            if passes(world, value)? {
                last.insert(value);
            }
        }
        let mut good = vec![last];
        for (update, numbers) in self.alike.iter().rev() {
            let mut values = HashSet::new();
            for value in reached.pop().unwrap_or_default() {
                let after = in_turn(world, value, *update, numbers.len())?;
                if after.iter().any(|value| good[good.len() - 1].contains(value)) {
                    values.insert(value);
                }
            }
            good.push(values);
        }
        good.reverse();
        Ok(Some(good))
    }

    /// How many there are of each in the sets that pass, greater numbers first.
    fn counts(&self, world: &mut World, passes: &mut impl Passes) -> Result<Option<Vec<Vec<usize>>>> {
        let Some(good) = self.good(world, passes)? else { return Ok(None) };
        let mut found = Vec::new();
        let mut waiting: Vec<(ValueId, Vec<usize>)> = Vec::new();
        if !good[0].is_empty() {
            waiting.push((self.before, Vec::new()));
        }
        while let Some((value, counts)) = waiting.pop() {
            let Some((update, numbers)) = self.alike.get(counts.len()) else {
                if found.len() == MOST_SETS {
                    return Ok(None);
                }
                found.push(counts);
                continue;
            };
            for (count, after) in in_turn(world, value, *update, numbers.len())?.into_iter().enumerate() {
                if good[counts.len() + 1].contains(&after) {
                    waiting.push((after, [&counts[..], &[count]].concat()));
                }
            }
        }
        Ok(Some(found))
    }

    fn expanded(&self, all: &[Vec<usize>]) -> Sets {
        let mut sets = Vec::new();
        for counts in all {
            let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
            for (&count, (_, numbers)) in counts.iter().zip(&self.alike) {
                let mut longer = Vec::new();
                for before in &chosen {
                    for more in combinations(numbers, count, MOST_SETS + 1) {
                        longer.push([&before[..], &more[..]].concat());
                        if longer.len() > MOST_SETS {
                            return None;
                        }
                    }
                }
                chosen = longer;
            }
            sets.append(&mut chosen);
            if sets.len() > MOST_SETS {
                return None;
            }
        }
        Some(sets)
    }
}

/// What the cell holds after none, one ... `times` of an update.
fn in_turn(world: &mut World, value: ValueId, update: Commuting, times: usize) -> Result<Vec<ValueId>> {
    let mut values = vec![value];
    for _ in 0..times {
        values.push(update.of(world, values[values.len() - 1])?);
    }
    Ok(values)
}

/// The first `most` choices of so many of the items, in lexicographic order.
pub fn combinations(items: &[usize], count: usize, most: usize) -> Vec<Vec<usize>> {
    let mut places: Vec<usize> = (0..count).collect();
    let mut found = Vec::new();
    if count > items.len() {
        return found;
    }
    loop {
        found.push(places.iter().map(|&place| items[place]).collect());
        let Some(moved) = (0..count).rev().find(|&at| places[at] < items.len() - count + at) else { return found };
        if found.len() >= most {
            return found;
        }
        places[moved] += 1;
        for at in moved + 1..count {
            places[at] = places[at - 1] + 1;
        }
    }
}
