//! The records of one rank, undecoded (`pgasrob/runtime/record/trace_reader.py`).

use crate::recorded::stream::places::Sure;

pub const LOAD: u8 = 1;
pub const STORE: u8 = 2;
pub const LOAD_RANGE: u8 = 3;
pub const STORE_RANGE: u8 = 4;
pub const UPDATE: u8 = 5;
pub const RUN: u8 = 6;
pub const CALL: u8 = 0x10;
pub const RETURN: u8 = 0x11;
pub const STRING: u8 = 0x20;
pub const SITE: u8 = 0x21;
pub const MODULE: u8 = 0x22;
pub const GROUP: u8 = 0x23;
pub const REGION: u8 = 0x24;
pub const END_OF_REGION: u8 = 0x25;
pub const MEMORY: u8 = 0x26;
pub const CONTENTS: u8 = 0x27;
pub const END: u8 = 0x3f;

/// What stands next in a log. `Record`: how many words it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Chunk,
    End,
    Record(usize),
}

/// `left`: chunks that have not been given yet.
#[derive(Default)]
pub struct Log {
    words: Vec<u64>,
    at: usize,
    left: usize,
    pub ended: bool,
    pub number: i64,
    /// Contents that follow are those that a store or a loop has left.
    pub holds: bool,
}

impl Log {
    pub fn new(chunks: usize) -> Self {
        Log { left: chunks, number: -1, ..Log::default() }
    }

    pub fn give(&mut self, words: Vec<u64>) -> Sure<()> {
        self.left = self.left.checked_sub(1).ok_or("a chunk too many")?;
        self.words = words;
        self.at = 0;
        Ok(())
    }

    pub fn next(&self) -> Sure<Next> {
        let rest = &self.words[self.at..];
        match rest.first() {
            None | Some(0) => {
                if rest.iter().any(|&word| word != 0) {
                    return Err("a record without a first word");
                }
                Ok(if self.left > 0 { Next::Chunk } else { Next::End })
            }
            Some(_) if self.ended => Err("a record behind the end of the log"),
            Some(&first) => match size(first) {
                size if (1..=rest.len()).contains(&size) => Ok(Next::Record(size)),
                _ => Err("a record of a wrong length"),
            },
        }
    }

    pub fn record(&self, size: usize) -> &[u64] {
        &self.words[self.at..self.at + size]
    }

    pub fn pass(&mut self, size: usize) {
        self.at += size;
    }
}

/// The words of a record; 0: it cannot have so many.
fn size(first: u64) -> usize {
    let given = (first >> 16 & 0xffff) as usize;
    let least = |least: usize| if given >= least { given } else { 0 };
    match first as u8 {
        LOAD | STORE => [2, 2, 2, 3, 4, 0, 0, 0][(first >> 8 & 7) as usize],
        LOAD_RANGE | STORE_RANGE => 3,
        UPDATE => 6,
        RUN if given == 2 + 2 * (first >> 8 & 0xff) as usize => least(4),
        CALL => least(3),
        RETURN => least(2),
        STRING => least(1),
        GROUP => least(2),
        CONTENTS => least(3),
        END => 2,
        SITE | MEMORY if given == 3 => 3,
        MODULE if given == 4 => 4,
        REGION if given == 7 => 7,
        END_OF_REGION if given == 2 => 2,
        _ => 0,
    }
}
