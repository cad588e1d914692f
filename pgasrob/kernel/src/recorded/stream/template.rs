//! What a call does, with its addresses left open: so the same call made again needs not be understood again.

use crate::recorded::events::{Command, Recorded, read};
use crate::recorded::stream::places::{Places, Sure};

/// From which operand of a call an address comes.
pub const FIXED: u8 = 0;
pub const REMOTE: u8 = 1;
/// The operands `local`, `expected_at`, `result`, `address`; of the last one the memory has to be the rank's.
pub const LOCAL: u8 = 2;
pub const OWN: u8 = 5;
pub const BASES: usize = 6;

/// One side of an access: `size` bytes of the memory of `owner`.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub owner: u32,
    pub base: u8,
    pub address: u64,
    pub size: u64,
}

/// The commands of a call. The cells of their accesses are numbers of `ends`, those of each from its number in `starts`
/// on. `cut`: which may be done piece by piece; `barrier`: the name of the barrier that comes last, if one does.
#[derive(Debug)]
pub struct Template {
    pub commands: Vec<Recorded>,
    pub starts: Vec<usize>,
    pub ends: Vec<End>,
    pub cut: Vec<bool>,
    pub barrier: Option<u32>,
}

impl Template {
    /// `ends`: owner, base, address and size of each.
    pub fn new(words: &[i64], ends: &[i64], cut: &[u8], barrier: Option<u32>, nodes: usize) -> Sure<Self> {
        let (ends, rest) = ends.as_chunks::<4>();
        let (commands, wrong) = (read(words, nodes, ends.len()), "commands that cannot be read");
        let commands = commands.map_err(|_| wrong)?;
        let ends: Vec<End> = ends
            .iter()
            .map(|&[owner, base, address, size]| End {
                owner: owner as u32,
                base: base as u8,
                address: address as u64,
                size: size as u64,
            })
            .collect();
        let mut starts = Vec::new();
        let mut next = 0;
        for each in &commands {
            starts.push(next);
            for access in each.command.accesses() {
                if access.cell as usize != next {
                    return Err(wrong);
                }
                next += 1;
            }
        }
        starts.push(next);
        let last = commands.len().wrapping_sub(1);
        let misplaced = commands
            .iter()
            .enumerate()
            .any(|(number, each)| matches!(each.command, Command::Barrier) != (barrier.is_some() && number == last));
        let good = ends.iter().all(|each| (each.owner as usize) < nodes && (each.base as usize) < BASES);
        if next != ends.len() || !rest.is_empty() || cut.len() != commands.len() || misplaced || !good {
            return Err(wrong);
        }
        Ok(Template { commands, starts, ends, cut: cut.iter().map(|&may| may != 0).collect(), barrier })
    }

    /// Adds the address of each end for a call of `rank` with these operands, of which that of `REMOTE` is one already.
    pub fn resolve(&self, places: &Places, rank: usize, given: &[u64; BASES], into: &mut Vec<u64>) -> Sure<()> {
        for end in &self.ends {
            let from = given[end.base as usize];
            into.push(match end.base {
                FIXED | REMOTE => from + end.address,
                OWN => match places.at(rank, from + end.address)? {
                    Some((owner, at)) if owner as usize == rank => at,
                    _ => return Err("a wait for memory that is not the rank's"),
                },
                _ => places.local(rank, from + end.address)?,
            });
        }
        Ok(())
    }

    pub fn has(&self, base: u8) -> bool {
        self.ends.iter().any(|end| end.base == base)
    }
}
