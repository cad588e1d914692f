//! What happened in a segment of a trace, and the commands that its answers depend on
//! (`pgasrob/recording/trace_segments.py`, `proofs/recorded-traces.md`, section 8).

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::recorded::events::{Command, Recorded};
use crate::recorded::stream::pieces::{End, Whole};
use crate::recorded::stream::places::Sure;
use crate::recorded::stream::ranges::{Ranges, Row};
use crate::recorded::stream::template::Template;

/// An access that a rank itself makes, wherever it is to: `always`, where it is atomic, is not left out; `cut`: it may be
/// done piece by piece.
#[derive(Clone, Debug)]
pub struct Form {
    pub recorded: Recorded,
    pub reads: bool,
    pub writes: bool,
    pub always: bool,
    pub cut: bool,
}

/// An access of a loop, and of which form; of memory that does not matter none.
#[derive(Clone, Copy, Debug)]
pub struct Looped {
    pub form: Option<u32>,
    pub owner: u32,
    pub row: Row,
}

enum Item {
    Barrier,
    /// Its ends are at the addresses from the number `first` on.
    Call {
        template: Rc<Template>,
        first: usize,
    },
    /// `count` accesses in turn of those from the number `first` on.
    Loop {
        rank: u32,
        first: usize,
        entries: usize,
        count: u64,
    },
}

/// More accesses than are taken apart.
pub const MOST: u64 = 1 << 25;

#[derive(Default)]
pub struct Segment {
    items: Vec<Item>,
    pub addresses: Vec<u64>,
    loops: Vec<Looped>,
}

/// What is accessed, and what of it is written.
type Accessed = (Vec<(u64, u64)>, Vec<(u64, u64)>);

/// The accesses of others, or of operations, to the memory of one rank.
#[derive(Clone, Default)]
struct Foreign {
    all: Rc<Ranges>,
    written: Rc<Ranges>,
}

/// The commands that matter, each with its ends.
#[derive(Default)]
pub struct Kept<'a> {
    pub wholes: Vec<Whole<'a>>,
    pub ends: Vec<End>,
}

impl Segment {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn clear(&mut self) {
        self.items.clear();
        self.addresses.clear();
        self.loops.clear();
    }

    pub fn barrier(&mut self) {
        self.items.push(Item::Barrier);
    }

    /// A call whose addresses have been added from the number `first` on.
    pub fn call(&mut self, template: Rc<Template>, first: usize) {
        self.items.push(Item::Call { template, first });
    }

    pub fn access(&mut self, rank: usize, access: Looped) {
        let first = self.loops.len();
        self.loops.push(access);
        self.items.push(Item::Loop { rank: rank as u32, first, entries: 1, count: access.row.rounds });
    }

    /// `count` accesses, over and over those of `entries`.
    pub fn run(&mut self, rank: usize, entries: &[Looped], count: u64) {
        let first = self.loops.len();
        self.loops.extend(entries);
        self.items.push(Item::Loop { rank: rank as u32, first, entries: entries.len(), count });
    }

    fn called(&self) -> impl Iterator<Item = (&Template, usize)> {
        self.items.iter().filter_map(|item| match item {
            Item::Call { template, first } => Some((&**template, *first)),
            _ => None,
        })
    }

    /// By rank and owner what others access of the owner's memory: all steps of operations count, and the accesses of other
    /// ranks.
    fn foreign(&self, forms: &[Form], nodes: usize) -> HashMap<(u32, u32), Foreign> {
        let mut steps = vec![Accessed::default(); nodes];
        let mut own: BTreeMap<u32, BTreeMap<u32, Accessed>> = BTreeMap::new();
        for (template, first) in self.called() {
            for (each, &start) in template.commands.iter().zip(&template.starts) {
                for (place, access) in each.command.accesses().enumerate() {
                    let (end, address) = (&template.ends[start + place], self.addresses[first + start + place]);
                    let of = if place < each.command.bound() {
                        own.entry(end.owner).or_default().entry(each.rank as u32).or_default()
                    } else {
                        &mut steps[end.owner as usize]
                    };
                    let reach = (address, address + end.size.max(1));
                    of.0.push(reach);
                    of.1.extend(access.writes.then_some(reach));
                }
            }
        }
        let steps: Vec<Foreign> =
            steps.into_iter().map(|(all, written)| foreign(Ranges::new(all), Ranges::new(written))).collect();
        for item in &self.items {
            let Item::Loop { rank, first, entries, .. } = *item else { continue };
            for each in &self.loops[first..first + entries] {
                let Some(form) = each.form else { continue };
                let of = own.entry(each.owner).or_default().entry(rank).or_default();
                of.0.push(each.row.hull());
                if forms[form as usize].writes {
                    of.1.push(each.row.hull());
                }
            }
        }
        let mut found = HashMap::new();
        for (owner, ranks) in own {
            let of: Vec<(u32, Foreign)> = if ranks.len() == 1 {
                ranks.into_keys().map(|rank| (rank, Foreign::default())).collect()
            } else {
                let each = |(rank, (all, written))| (rank, foreign(Ranges::new(all), Ranges::new(written)));
                ranks.into_iter().map(each).collect()
            };
            for &(rank, _) in &of {
                let mut others = steps[owner as usize].clone();
                for (_, other) in of.iter().filter(|(other, _)| *other != rank) {
                    others = foreign(others.all.joined(&other.all), others.written.joined(&other.written));
                }
                found.insert((rank, owner), others);
            }
        }
        found
    }

    /// The commands that matter: all but the accesses with which nothing of another rank, and no operation, conflicts.
    pub fn kept<'a>(&'a self, forms: &'a [Form], nodes: usize, barrier: &'a Recorded) -> Sure<Kept<'a>> {
        let foreign = self.foreign(forms, nodes);
        let mut kept = Kept::default();
        for item in &self.items {
            match *item {
                Item::Barrier => kept.add(barrier, true, [].into_iter()),
                Item::Call { ref template, first } => {
                    for (number, each) in template.commands.iter().enumerate() {
                        if matches!(each.command, Command::Barrier) {
                            continue;
                        }
                        let ends = template.starts[number]..template.starts[number + 1];
                        let ends = ends.map(|end| {
                            let known = &template.ends[end];
                            End { owner: known.owner, address: self.addresses[first + end], size: known.size }
                        });
                        kept.add(each, template.cut[number], ends);
                    }
                }
                Item::Loop { rank, first, entries, count } => {
                    self.expand(rank, first..first + entries, count, forms, &foreign, &mut kept)?;
                }
            }
        }
        Ok(kept)
    }

    /// Adds the accesses of a loop that matter.
    fn expand<'a>(
        &self,
        rank: u32,
        entries: std::ops::Range<usize>,
        count: u64,
        forms: &'a [Form],
        foreign: &HashMap<(u32, u32), Foreign>,
        kept: &mut Kept<'a>,
    ) -> Sure<()> {
        let mut found: Vec<(u64, usize)> = Vec::new();
        for number in entries.clone() {
            let each = &self.loops[number];
            let Some(form) = each.form.map(|form| &forms[form as usize]) else { continue };
            let others = &foreign[&(rank, each.owner)];
            let (low, high) = each.row.hull();
            let of = if form.writes { &others.all } else { &others.written };
            if form.always {
                found.extend((0..each.row.rounds).map(|round| (round, number)));
            } else {
                let mut next = 0;
                for range in of.in_reach(low, high) {
                    let (first, behind) = each.row.rounds_in(*range);
                    // With a negative stride the ranges come from the last round on.
                    let rounds = if each.row.stride < 0 { first..behind } else { first.max(next)..behind.max(next) };
                    next = next.max(behind);
                    found.extend(rounds.map(|round| (round, number)));
                }
            }
            if found.len() as u64 + kept.wholes.len() as u64 > MOST {
                return Err("too many accesses that others may conflict with");
            }
        }
        if entries.len() > 1 || count > 1 {
            found.sort_unstable();
            found.dedup();
        }
        for (round, number) in found {
            let each = &self.loops[number];
            let form = &forms[each.form.unwrap_or_default() as usize];
            let end = End { owner: each.owner, address: each.row.at(round), size: each.row.size };
            kept.add(&form.recorded, form.cut, [end].into_iter());
        }
        Ok(())
    }

    /// Where accesses that were left out begin and end inside of others.
    pub fn cuts(&self, kept: &Kept<'_>, cuts: &mut Vec<u64>) -> Sure<()> {
        let inside = Ranges::new(
            kept.ends.iter().filter(|end| end.size > 1).map(|end| (end.address, end.address + end.size)).collect(),
        );
        for each in self.loops.iter().filter(|each| each.form.is_some()) {
            let (low, high) = each.row.hull();
            for range in inside.in_reach(low, high) {
                let (first, behind) = each.row.rounds_in(*range);
                if (behind - first) + cuts.len() as u64 > MOST {
                    return Err("too many accesses");
                }
                cuts.extend((first..behind).flat_map(|round| [each.row.at(round), each.row.at(round) + each.row.size]));
            }
        }
        Ok(())
    }
}

fn foreign(all: Ranges, written: Ranges) -> Foreign {
    Foreign { all: Rc::new(all), written: Rc::new(written) }
}

impl<'a> Kept<'a> {
    fn add(&mut self, command: &'a Recorded, cut: bool, ends: impl Iterator<Item = End>) {
        let first = self.ends.len();
        self.ends.extend(ends);
        self.wholes.push(Whole { command, cut, first, count: self.ends.len() - first });
    }
}
