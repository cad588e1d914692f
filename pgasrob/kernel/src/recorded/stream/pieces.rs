//! Memory as cells: the largest pieces of which every access has all or nothing.

use std::collections::HashMap;

use crate::recorded::events::{Access, Command, Recorded};
use crate::recorded::stream::places::Sure;

/// `size` bytes of the memory of `owner`.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub owner: u32,
    pub address: u64,
    pub size: u64,
}

/// A command with `count` ends from the number `first` on; `cut`: it may be done piece by piece.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    pub command: &'a Recorded,
    pub cut: bool,
    pub first: usize,
    pub count: usize,
}

/// Where memory is cut, in order. Both sides of a transfer are cut alike.
fn all_cuts(wholes: &[Whole<'_>], ends: &[End], mut cuts: Vec<u64>) -> Vec<u64> {
    cuts.extend(ends.iter().flat_map(|end| [end.address, end.address + end.size]));
    let pairs: Vec<&Whole<'_>> = wholes.iter().filter(|each| each.count > 1).collect();
    loop {
        cuts.sort_unstable();
        cuts.dedup();
        let mut more = Vec::new();
        for each in &pairs {
            let ends = &ends[each.first..each.first + each.count];
            for one in ends {
                for further in inside(&cuts, one) {
                    let at = ends.iter().map(|other| other.address + further);
                    more.extend(at.filter(|at| cuts.binary_search(at).is_err()));
                }
            }
        }
        if more.is_empty() {
            return cuts;
        }
        cuts.extend(more);
    }
}

/// How far from its beginning an access is cut.
fn inside(cuts: &[u64], end: &End) -> impl Iterator<Item = u64> {
    let first = cuts.partition_point(|&cut| cut <= end.address);
    let last = cuts.partition_point(|&cut| cut < end.address + end.size).max(first);
    let address = end.address;
    cuts[first..last].iter().map(move |cut| cut - address)
}

/// The commands with numbers of cells, and how many cells there are. `cuts`: where memory is cut besides.
pub fn in_cells(wholes: &[Whole<'_>], ends: &[End], cuts: Vec<u64>) -> Sure<(Vec<Recorded>, usize)> {
    let cuts = all_cuts(wholes, ends, cuts);
    let mut cells: HashMap<(u32, u64), u32> = HashMap::new();
    let mut found = Vec::with_capacity(wholes.len());
    let mut starts = Vec::new();
    for each in wholes {
        let ends = &ends[each.first..each.first + each.count];
        starts.clear();
        starts.push(0);
        for end in ends {
            starts.extend(inside(&cuts, end));
        }
        if starts.len() > 1 && !each.cut {
            return Err("the memory of an atomic is accessed in other sizes");
        }
        starts.sort_unstable();
        starts.dedup();
        for &start in &starts {
            let mut recorded = each.command.clone();
            let mut number = 0;
            on_accesses(&mut recorded.command, |access| {
                let next = cells.len() as u32;
                let end = &ends[number];
                access.cell = *cells.entry((end.owner, end.address + start)).or_insert(next);
                number += 1;
            });
            found.push(recorded);
        }
    }
    let count = cells.len();
    Ok((found, count))
}

fn on_accesses(command: &mut Command, mut change: impl FnMut(&mut Access)) {
    match command {
        Command::Immediate { access, .. } => change(access),
        Command::Transfer { captured, steps, .. } => {
            captured.iter_mut().for_each(&mut change);
            steps.iter_mut().for_each(|step| change(&mut step.access));
        }
        Command::Barrier | Command::Wait { .. } | Command::Fence { .. } | Command::Bundle => {}
    }
}

/// Makes updates of one kind conflict with each other.
pub fn all_in_conflict(commands: &mut [Recorded]) {
    for each in commands {
        if let Command::Transfer { steps, .. } = &mut each.command {
            steps.iter_mut().for_each(|step| step.access.kind = 0);
        }
    }
}

/// Whether some updates commute.
pub fn some_commute(commands: &[Recorded]) -> bool {
    commands.iter().any(|each| each.command.accesses().any(|access| access.kind != 0))
}
