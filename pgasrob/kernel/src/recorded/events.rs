//! The commands of a recording, read from a row of numbers (`pgasrob/recording/native_recordings.py`).

use crate::memory::{Error, Result};

/// An access. `kind`: the kind of update as which it commutes, 0 for none.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub cell: u32,
    pub reads: bool,
    pub writes: bool,
    pub kind: u8,
    pub fact: Fact,
}

/// What is to be known of an access for races (`pgasrob/races/access_facts.py`), `number` among all that there are.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    pub number: u16,
    pub atomic: bool,
    pub waits: bool,
    pub never_races: bool,
    /// Whether it is to the memory of another rank.
    pub remote: bool,
}

impl Access {
    pub fn conflicts(&self, other: &Access) -> bool {
        self.cell == other.cell && (self.writes || other.writes) && (self.kind == 0 || self.kind != other.kind)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub access: Access,
    pub stage: u8,
    pub local: bool,
    pub fenced: bool,
    pub after_writes: bool,
    pub after_bundle: bool,
    pub located: bool,
}

#[derive(Clone, Debug)]
pub enum Command {
    Barrier,
    Immediate {
        access: Access,
        waits: bool,
    },
    Transfer {
        target: i64,
        queue: i64,
        unordered: bool,
        everywhere: bool,
        captured: Option<Access>,
        steps: Box<[Step]>,
    },
    Wait {
        queue: i64,
        local: bool,
    },
    Fence {
        queue: i64,
        target: i64,
        unordered: bool,
    },
    Bundle,
}

impl Command {
    pub fn at_issue(&self) -> Option<&Access> {
        match self {
            Command::Immediate { access, .. } => Some(access),
            Command::Transfer { captured, .. } => captured.as_ref(),
            Command::Barrier | Command::Wait { .. } | Command::Fence { .. } | Command::Bundle => None,
        }
    }

    pub fn steps(&self) -> &[Step] {
        if let Command::Transfer { steps, .. } = self { steps } else { &[] }
    }

    /// Its accesses, the one at its issue first.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        self.at_issue().into_iter().chain(self.steps().iter().map(|step| &step.access))
    }

    /// How many accesses are made at the issue.
    pub fn bound(&self) -> usize {
        usize::from(self.at_issue().is_some())
    }

    pub fn access(&self, place: usize) -> &Access {
        match self.at_issue() {
            Some(made) if place == 0 => made,
            made => &self.steps()[place - usize::from(made.is_some())].access,
        }
    }

    /// Whether it matters to steps that are delayed, or waits for them.
    pub fn synchronises(&self) -> bool {
        !matches!(self, Command::Barrier | Command::Immediate { .. })
    }

    /// Whether it depends on the value of a cell whether it is enabled.
    pub fn waits(&self) -> bool {
        matches!(self, Command::Immediate { waits: true, .. })
    }
}

/// A command of `rank`; of a barrier, which is all ranks', the rank says nothing. `place`: where it stands in the source.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub rank: usize,
    pub place: u32,
    /// Whether it was issued; else the rank stood before it at the end.
    pub issued: bool,
    pub command: Command,
}

/// The commands that `words` encode.
pub fn read(words: &[i64], nodes: usize, cells: usize) -> Result<Vec<Recorded>> {
    let mut reader = Reader { words, at: 0, nodes, cells };
    let mut found = Vec::new();
    while reader.at < words.len() {
        found.push(reader.recorded()?);
    }
    Ok(found)
}

struct Reader<'a> {
    words: &'a [i64],
    at: usize,
    nodes: usize,
    cells: usize,
}

/// The most accesses that a command has.
const MOST_ACCESSES: i64 = 4;

fn malformed() -> Error {
    Error::Malformed("a recorded command".to_owned())
}

impl Reader<'_> {
    fn word(&mut self) -> Result<i64> {
        let word = *self.words.get(self.at).ok_or_else(malformed)?;
        self.at += 1;
        Ok(word)
    }

    fn recorded(&mut self) -> Result<Recorded> {
        let head = self.word()?;
        let rank = self.word()? as usize;
        let place = self.word()? as u32;
        if rank >= self.nodes {
            return Err(malformed());
        }
        let command = match head & 15 {
            0 => Command::Barrier,
            1 => Command::Immediate { waits: self.word()? != 0, access: self.access()? },
            2 => self.transfer()?,
            3 => Command::Wait { queue: self.word()?, local: self.word()? != 0 },
            4 => Command::Fence { queue: self.word()?, target: self.word()?, unordered: self.word()? != 0 },
            5 => Command::Bundle,
            _ => return Err(malformed()),
        };
        Ok(Recorded { rank, place, issued: head & 16 == 0, command })
    }

    fn transfer(&mut self) -> Result<Command> {
        let (target, queue, flags, count) = (self.word()?, self.word()?, self.word()?, self.word()?);
        if !(1..=MOST_ACCESSES - (flags >> 2 & 1)).contains(&count) {
            return Err(malformed());
        }
        let captured = if flags & 4 != 0 { Some(self.access()?) } else { None };
        let mut steps = Vec::new();
        for _ in 0..count {
            let word = self.word()?;
            steps.push(Step {
                access: self.access()?,
                stage: (word >> 8) as u8,
                local: word & 1 != 0,
                fenced: word & 2 != 0,
                after_writes: word & 4 != 0,
                after_bundle: word & 8 != 0,
                located: word & 16 != 0,
            });
        }
        let (unordered, everywhere) = (flags & 1 != 0, flags & 2 != 0);
        Ok(Command::Transfer { target, queue, unordered, everywhere, captured, steps: steps.into() })
    }

    fn access(&mut self) -> Result<Access> {
        let cell = self.word()?;
        let word = self.word()?;
        if cell < 0 || cell as usize >= self.cells {
            return Err(malformed());
        }
        let fact = Fact {
            number: (word >> 16) as u16,
            atomic: word & 32 != 0,
            waits: word & 4 != 0,
            never_races: word & 8 != 0,
            remote: word & 16 != 0,
        };
        Ok(Access { cell: cell as u32, reads: word & 1 != 0, writes: word & 2 != 0, kind: (word >> 8) as u8, fact })
    }
}
