//! Where in a run a command that waits for a value could have been issued before.

use crate::intern::ValueId;
use crate::memory::Result;
use crate::tables::Tables;
use crate::traces::clock::Clock;
use crate::traces::exploration::Exploration;
use crate::traces::layers::{Entry, Layer};
use crate::traces::standing::{Next, passes};
use crate::traces::subsets::{Commuting, MOST_SETS, Passes, Updates, value_after};
use crate::world::World;

impl Exploration {
    /// Whether `command` is enabled when `event` and all that comes after it are left out.
    pub(super) fn passes_without(
        &self,
        tables: &Tables,
        world: &mut World,
        rank: usize,
        command: &Next,
        event: usize,
    ) -> Result<bool> {
        if !command.waits {
            return Ok(true);
        }
        let mut value = self.run.memory[command.cell];
        let left = |entry: &Entry| self.run.events[event].is_in(&self.run.events[entry.event].clock);
        if let Some(layer) = self.run.cells.layers(command.waits_at).iter().find(|layer| layer.entries.iter().any(left))
        {
            let kept = layer.entries.iter().filter(|entry| !left(entry)).filter_map(|entry| entry.update);
            value = value_after(world, layer.before, kept)?;
        }
        passes(tables, world, rank, self.run.at(rank), command, value)
    }

    /// Sees to the runs in which `command`, which waits for a value, comes before some event so far.
    pub(super) fn find_earlier(
        &mut self,
        tables: &Tables,
        world: &mut World,
        rank: usize,
        command: &Next,
    ) -> Result<()> {
        let access = self.run.waits_for(command);
        let last = self.run.last(rank);
        let mut out: Vec<Vec<usize>> = Vec::new();
        for layer in self.run.cells.layers(access.cell).iter().rev() {
            if layer.ways & access.against() == 0 {
                continue;
            }
            let free: Vec<Entry> = layer.entries.iter().filter(|entry| !self.is_in(entry, &last)).copied().collect();
            match self.left_out(tables, world, rank, command, layer, &free)? {
                None => self.gave_up = true,
                Some(found) => out = found,
            }
            if !out.is_empty() || free.len() < layer.entries.len() {
                break;
            }
        }
        for events in &out {
            self.reverse(tables, events, rank, command);
        }
        Ok(())
    }

    fn is_in(&self, entry: &Entry, clock: &Clock) -> bool {
        self.run.events[entry.event].is_in(clock)
    }

    /// What of `free` may be left out of `layer`, with all layers after it, so that what waits passes; None when that
    /// is too much to find out.
    fn left_out(
        &self,
        tables: &Tables,
        world: &mut World,
        rank: usize,
        command: &Next,
        layer: &Layer,
        free: &[Entry],
    ) -> Result<Option<Vec<Vec<usize>>>> {
        let standing = self.run.at(rank);
        if !layer.commutes() {
            let all = if passes(tables, world, rank, standing, command, layer.before)? { free } else { &[] };
            return Ok(Some(all.iter().map(|entry| vec![entry.event]).collect()));
        }
        let is_free = |entry: &&Entry| free.iter().any(|other| other.event == entry.event);
        let forced: Vec<Commuting> =
            layer.entries.iter().filter(|entry| !is_free(entry)).filter_map(|entry| entry.update).collect();
        let before = value_after(world, layer.before, forced)?;
        let mut wanted = |world: &mut World, value: ValueId| passes(tables, world, rank, standing, command, value);
        let Some(sets) = self.greatest_kept(world, before, free, &mut wanted)? else { return Ok(None) };
        let rest = |kept: Vec<Entry>| {
            let out = free.iter().filter(|entry| !kept.iter().any(|other| other.event == entry.event));
            out.map(|entry| entry.event).collect()
        };
        Ok(Some(sets.into_iter().map(rest).collect()))
    }

    /// The greatest parts of `entries`, updates of a cell that held `before`, after which it passes; not all of them, and
    /// none without those that it comes after. None when that is too much to find out.
    fn greatest_kept(
        &self,
        world: &mut World,
        before: ValueId,
        entries: &[Entry],
        passes: &mut impl Passes,
    ) -> Result<Option<Vec<Vec<Entry>>>> {
        let alike = |one: &[Entry], other: &[Entry]| {
            one.len() == other.len() && one.iter().zip(other).all(|(each, its)| each.event == its.event)
        };
        let (mut found, mut waiting): (Vec<Vec<Entry>>, _) = (Vec::new(), vec![entries.to_vec()]);
        let mut place = 0;
        while place < waiting.len() {
            let some = waiting[place].clone();
            place += 1;
            let updates = Updates::new(before, some.iter().filter_map(|entry| entry.update));
            let Some(sets) = updates.greatest(world, passes)? else { return Ok(None) };
            for numbers in sets {
                let mut is_left = vec![true; some.len()];
                numbers.iter().for_each(|&number| is_left[number] = false);
                let left: Vec<usize> = (0..some.len()).filter(|&number| is_left[number]).collect();
                let comes_after = |entry: &&Entry| {
                    let clock = &self.run.events[entry.event].clock;
                    left.iter().any(|&number| self.run.events[some[number].event].is_in(clock))
                };
                let kept: Vec<Entry> = some.iter().filter(|entry| !comes_after(entry)).copied().collect();
                let value = value_after(world, before, kept.iter().filter_map(|entry| entry.update))?;
                let into = if kept.len() == numbers.len() || passes(world, value)? { &mut found } else { &mut waiting };
                if !into.iter().any(|known| alike(known, &kept)) {
                    into.push(kept);
                }
            }
            if waiting.len() > MOST_SETS {
                return Ok(None);
            }
        }
        let within = |one: &[Entry], other: &[Entry]| {
            one.len() < other.len() && one.iter().all(|each| other.iter().any(|its| its.event == each.event))
        };
        let greatest = found.iter().filter(|kept| !found.iter().any(|other| within(kept, other)));
        Ok(Some(greatest.cloned().collect()))
    }
}
