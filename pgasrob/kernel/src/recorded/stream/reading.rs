//! What the records of a trace do to what is known of it.

use std::rc::Rc;

use crate::recorded::stream::log::*;
use crate::recorded::stream::places::{ADDRESSES, BUFFER, Region, Sure};
use crate::recorded::stream::ranges::Row;
use crate::recorded::stream::segment::{Form, Looped, MOST};
use crate::recorded::stream::template::{BASES, LOCAL, OWN, REMOTE, Template};
use crate::recorded::stream::{Ask, Stream};

const NUMBER: u64 = (1 << 48) - 1;
const WITH_REQUEST: u64 = 16;
const PUT: u8 = 1;
const GET: u8 = 2;
const ATOMIC: u8 = 3;
const WAIT_UNTIL: u8 = 5;
const FENCE: u8 = 7;
const QUIET: u8 = 8;
const COLLECTIVE: u8 = 9;
const FLUSH: u8 = 36;
const RECEIVE: u8 = 41;
/// The calls whose commands come when they return: `WAIT_UNTIL`, `TEST`, locks.
const DONE_AT_RETURN: [u8; 6] = [WAIT_UNTIL, 6, 10, 11, 32, 34];
const UPDATES: u64 = 18;
/// A loop of more accesses is left to Python.
const MOST_ROUNDS: u64 = 1 << 40;

/// The latest call of a rank that has not returned: its record, and whether it is known here what it does.
#[derive(Clone, Debug, Default)]
pub struct Called {
    words: Vec<u64>,
    here: bool,
}

impl Called {
    fn operation(&self) -> Option<u8> {
        self.words.first().map(|first| (first >> 8) as u8)
    }

    /// Whether its commands are still to come.
    pub fn is_left(&self) -> bool {
        self.operation().is_some_and(|operation| DONE_AT_RETURN.contains(&operation))
    }

    /// Whether it brings what memory holds before it returns.
    fn brings(&self) -> bool {
        self.operation().is_some_and(|operation| operation == RECEIVE || operation == COLLECTIVE)
            && self.words[1] >> 48 & WITH_REQUEST == 0
    }
}

type Operands = (&'static [(usize, u8)], &'static [usize]);

/// The places of the addresses among the words of a call, with their bases, and those of values; none for a call that is
/// not like others.
fn operands(words: &[u64]) -> Option<Operands> {
    if words[1] >> 48 & WITH_REQUEST != 0 {
        return None;
    }
    match (words[0] >> 8) as u8 {
        PUT | GET if words.len() == 15 && words[5] <= 1 && words[9] <= 1 => Some((&[(4, REMOTE), (8, LOCAL)], &[13])),
        ATOMIC if words.len() == 14 => Some((&[(4, REMOTE), (10, LOCAL), (11, LOCAL + 1), (12, LOCAL + 2)], &[8, 9])),
        WAIT_UNTIL if words.len() == 10 && words[5] == 1 && words[8] <= 1 => Some((&[(3, OWN)], &[7])),
        FENCE | QUIET if words.len() == 4 => Some((&[], &[])),
        FLUSH if words.len() == 5 => Some((&[], &[])),
        _ => None,
    }
}

fn within(address: u64, size: u64) -> bool {
    address <= ADDRESSES && size <= ADDRESSES && address + size <= ADDRESSES
}

impl Stream {
    fn pass(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        self.logs[rank].pass(size);
        Ok(None)
    }

    /// The next record of a rank, of so many words.
    pub(super) fn record(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        let words = self.logs[rank].record(size);
        let kind = words[0] as u8;
        if matches!(kind, CALL | RETURN | END) {
            let number = (if kind == END { words[1] } else { words[1] & NUMBER }) as i64;
            if number != self.turn || self.logs[rank].number == number {
                if !(self.logs[rank].number < number && number < self.clock) {
                    return Err("the numbers of records are out of order");
                }
                self.waiting.push(std::cmp::Reverse((number, rank)));
                self.current = None;
                return Ok(None);
            }
            if number <= self.last {
                return Err("two records have one number");
            }
        }
        let holds = self.logs[rank].holds;
        let ask = match kind {
            LOAD | STORE | LOAD_RANGE | STORE_RANGE | UPDATE => self.access(rank, size)?,
            RUN => self.run_of(rank, size)?,
            CALL => self.call(rank, size)?,
            RETURN => self.returned(rank, size)?,
            REGION if (words[0] >> 8) as u8 == BUFFER => self.buffer(rank, size)?,
            END_OF_REGION => {
                let words = words.to_vec();
                self.end_of_region(rank, &words);
                self.pass(rank, size)?
            }
            CONTENTS => self.contents(rank, size, holds)?,
            MEMORY => {
                let how = (words[0] >> 8) as u8;
                let good = (how == 1 || how == 2) && within(words[1], words[2]) && self.is_place(rank, words[0] >> 32);
                if !good {
                    return Err("memory of a kind that is not known");
                }
                self.pass(rank, size)?
            }
            END => {
                self.logs[rank].ended = true;
                self.pass(rank, size)?
            }
            _ => Some(Ask::Record(rank, words.to_vec())),
        };
        if ask.is_none() && matches!(kind, CALL | RETURN | END) {
            self.logs[rank].number = self.turn;
            self.last = self.turn;
        }
        if ask.is_none() && kind != CONTENTS {
            self.logs[rank].holds = kind == RUN || kind == STORE_RANGE;
        }
        Ok(ask)
    }

    /// Python has seen the record that it was asked about, of so many words, which does this; `neutral`: what the rank
    /// does later is not changed.
    pub fn seen(&mut self, rank: usize, template: Option<Template>, place: Option<u64>, neutral: bool) -> Sure<()> {
        let super::log::Next::Record(size) = self.logs[rank].next()? else { return Err("no record") };
        let words = self.logs[rank].record(size).to_vec();
        let kind = words[0] as u8;
        match kind {
            REGION => {
                let (kind, place) = ((words[0] >> 8) as u8, place.unwrap_or_default());
                let region = Region {
                    number: words[1],
                    kind,
                    address: words[2],
                    bytes: words[3],
                    identity: words[4],
                    rank: words[5] as i64,
                    remote: words[6],
                    place: place << super::places::SHIFT,
                };
                self.places.begin(rank, region)?;
            }
            SITE => {
                self.sites[rank].insert(words[0] >> 32);
            }
            CALL => self.called[rank] = Called { words, here: false },
            RETURN => self.called[rank] = Called::default(),
            _ => {}
        }
        if !neutral {
            self.templates[rank].clear();
        }
        self.logs[rank].pass(size);
        self.logs[rank].holds = false;
        if matches!(kind, CALL | RETURN) {
            self.logs[rank].number = self.turn;
            self.last = self.turn;
        }
        let Some(template) = template else { return Ok(()) };
        let first = self.segment.addresses.len();
        template.resolve(&self.places, rank, &[0; BASES], &mut self.segment.addresses)?;
        self.issue(rank, Rc::new(template), first)
    }

    /// What the call does that Python was asked about; `neutral`: the same, if it is made again.
    pub fn does(&mut self, rank: usize, call: &[u64], template: Template, neutral: bool) -> Sure<()> {
        if !neutral {
            self.templates[rank].clear();
        }
        self.templates[rank].insert(alike(call).ok_or("a call that is not like others")?.0, Rc::new(template));
        self.changing[rank] = !neutral;
        Ok(())
    }

    /// The records of buffers of a rank that Python has not seen.
    pub fn unseen(&mut self, rank: usize) -> Vec<Vec<u64>> {
        std::mem::take(&mut self.unseen[rank])
    }

    pub fn form(&mut self, rank: usize, pc: u64, what: u64, form: Form) {
        self.formed[rank].insert((pc, what), self.forms.len() as u32);
        self.forms.push(form);
    }

    fn is_place(&self, rank: usize, pc: u64) -> bool {
        pc >> 31 == 0 || self.sites[rank].contains(&(pc & 0x7fff_ffff))
    }

    // Calls

    fn call(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        if self.called[rank].is_left() {
            return Err("a call that has not returned");
        }
        let words = self.logs[rank].record(size).to_vec();
        if operands(&words).is_none() {
            return Ok(Some(Ask::Record(rank, words)));
        }
        if (words[0] >> 8) as u8 != WAIT_UNTIL
            && let Some(ask) = self.made(rank, &words, &[])?
        {
            return Ok(Some(ask));
        }
        self.called[rank] = Called { words, here: true };
        self.pass(rank, size)
    }

    fn returned(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        let words = self.logs[rank].record(size).to_vec();
        let operation = (words[0] >> 8) as u8;
        let called = std::mem::take(&mut self.called[rank]);
        if called.operation() != Some(operation) {
            return Err("a return of a call that is not there");
        }
        if !called.here {
            self.called[rank] = called;
            return Ok(Some(Ask::Record(rank, words)));
        }
        if words.len() != 2 + usize::from(matches!(operation, GET | ATOMIC | WAIT_UNTIL)) {
            return Err("a return with other results");
        }
        if operation == WAIT_UNTIL
            && let Some(ask) = self.made(rank, &called.words, &words)?
        {
            self.called[rank] = called;
            return Ok(Some(ask));
        }
        self.pass(rank, size)
    }

    /// Adds what a call does that is like others.
    fn made(&mut self, rank: usize, words: &[u64], returned: &[u64]) -> Sure<Option<Ask>> {
        let (key, given) = alike(words).ok_or("a call that is not like others")?;
        let Some(template) = self.templates[rank].get(&key) else {
            return Ok(Some(Ask::Call(rank, words.to_vec(), returned.to_vec())));
        };
        let template = Rc::clone(template);
        if std::mem::take(&mut self.changing[rank]) {
            self.templates[rank].clear();
        }
        let mut given = given;
        let operation = (words[0] >> 8) as u8;
        if matches!(operation, PUT | GET) && !(within(words[4], words[6]) && within(words[8], words[10])) {
            return Err("a transfer of memory that cannot be");
        }
        if given.iter().any(|&address| address >= ADDRESSES) {
            return Err("an address that no memory has");
        }
        if template.has(REMOTE) {
            let at = given[REMOTE as usize];
            given[REMOTE as usize] = if self.openshmem {
                self.places.symmetric(rank, at)?
            } else {
                let window = words[if operation == ATOMIC { 13 } else { 14 }];
                self.places.in_window(words[3] as usize, window, at)?
            };
        }
        let first = self.segment.addresses.len();
        template.resolve(&self.places, rank, &given, &mut self.segment.addresses)?;
        self.issue(rank, template, first)?;
        Ok(None)
    }

    // Memory

    fn buffer(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        let words = self.logs[rank].record(size).to_vec();
        let (number, address, bytes, identity, of, remote) =
            (words[1], words[2], words[3], words[4], words[5] as i64, words[6]);
        let good = within(address, bytes) && within(remote, 0) && (-1..self.nodes as i64).contains(&of);
        if !good || !self.is_place(rank, words[0] >> 32) {
            return Err("a buffer that cannot be");
        }
        self.places
            .begin(rank, Region { number, kind: BUFFER, address, bytes, identity, rank: of, remote, place: 0 })?;
        self.unseen[rank].push(words);
        self.pass(rank, size)
    }

    fn end_of_region(&mut self, rank: usize, words: &[u64]) {
        self.places.end(rank, words[1]);
        let unseen = &mut self.unseen[rank];
        let began = unseen.iter().rposition(|each| each[0] as u8 == REGION && each[1] == words[1]);
        match began {
            Some(began) => {
                unseen.remove(began);
            }
            None => unseen.push(words.to_vec()),
        }
    }

    /// Contents tell of changes that nobody has recorded, behind which private memory is another place. That matters
    /// only where an operation on it is pending.
    fn contents(&mut self, rank: usize, size: usize, holds: bool) -> Sure<Option<Ask>> {
        let words = self.logs[rank].record(size);
        let (address, bytes, data) = (words[1], words[2], 8 * (size as u64 - 3));
        if !within(address, bytes) || bytes > 1 << 20 || data >= bytes + 8 {
            return Err("contents of a wrong length");
        }
        if !holds
            && !self.called[rank].brings()
            && !self.private[rank].is_empty()
            && self.places.may_have_changed(rank, address)?
        {
            return Err("private memory may have changed while it was in use");
        }
        self.pass(rank, size)
    }

    // Accesses

    /// The form of an access, or what has to be asked for it.
    fn form_of(&self, rank: usize, first: u64, pc: u64, owner: u32) -> Result<u32, Ask> {
        let what = (first & 0xff) | (first >> 8 & 0x30) << 8 | u64::from(owner as usize != rank) << 16;
        self.formed[rank].get(&(pc, what)).copied().ok_or(Ask::Form(rank, pc, what))
    }

    fn access(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        let words = self.logs[rank].record(size);
        let (first, pc) = (words[0], words[1] & 0xffff_ffff);
        let (kind, flags, address) = (first as u8, first >> 8 & 0xf8, first >> 16);
        let bytes = if matches!(kind, LOAD_RANGE | STORE_RANGE) { words[2] } else { 1 << (first >> 8 & 7) };
        let known = kind != UPDATE || (first >> 8 & 7 <= 3 && words[1] >> 32 < UPDATES);
        if !within(address, bytes) || flags & 0x88 != 0 || !known || !self.is_place(rank, pc) {
            return Err("an access that cannot be");
        }
        if let Some((owner, at)) = self.places.at(rank, address)? {
            match self.form_of(rank, first, pc, owner) {
                Err(ask) => return Ok(Some(ask)),
                Ok(form) => {
                    let row = Row { address: at, size: bytes, stride: 0, rounds: 1 };
                    self.accessed(rank, &[Looped { form: Some(form), owner, row }], 1)?;
                }
            }
        }
        self.pass(rank, size)
    }

    fn accessed(&mut self, rank: usize, entries: &[Looped], count: u64) -> Sure<()> {
        let rounds = entries.iter().filter(|each| each.form.is_some()).map(|each| each.row.rounds).sum::<u64>();
        if rounds == 0 {
            return Ok(());
        }
        if self.stands[rank] {
            return Err("a rank went on before all had come to a barrier");
        }
        self.events += rounds;
        self.segment.run(rank, entries, count);
        Ok(())
    }

    fn run_of(&mut self, rank: usize, size: usize) -> Sure<Option<Ask>> {
        let words = self.logs[rank].record(size);
        let (count, period) = (words[1], (size as u64 - 2) / 2);
        if count > MOST_ROUNDS {
            return Err("more accesses of a loop than are looked at");
        }
        let (mut entries, mut mixed) = (Vec::new(), false);
        for (place, entry) in words[2..].chunks_exact(2).enumerate() {
            let (first, pc) = (entry[0], entry[1] & 0xffff_ffff);
            let (kind, address, log2) = (first as u8, first >> 16, first >> 8 & 7);
            let stride = i64::from((entry[1] >> 32) as u32 as i32);
            let reach = i128::from(stride) * i128::from(count.saturating_sub(1) / period);
            let furthest = i128::from(address) + reach;
            let good =
                matches!(kind, LOAD | STORE) && log2 <= 4 && (0..=i128::from(ADDRESSES - 16)).contains(&furthest);
            if !good || !self.is_place(rank, pc) {
                return Err("accesses of a loop that cannot be");
            }
            let rounds = (count + period - 1).saturating_sub(place as u64) / period;
            let row = Row { address, size: 1 << log2, stride, rounds };
            let mut looped = Looped { form: None, owner: 0, row };
            if rounds > 0 {
                let last = row.at(rounds - 1);
                mixed |= !self.places.is_uniform(rank, address.min(last), address.max(last));
                if let Some((owner, at)) = self.places.at(rank, address)? {
                    match self.form_of(rank, first, pc, owner) {
                        Err(ask) => return Ok(Some(ask)),
                        Ok(form) => looped.form = Some(form),
                    }
                    (looped.owner, looped.row.address) = (owner, at);
                }
            }
            entries.push(looped);
        }
        if mixed {
            return self.one_by_one(rank, size, count);
        }
        self.accessed(rank, &entries, count)?;
        self.pass(rank, size)
    }

    /// The accesses of a loop that goes through several pieces of memory.
    fn one_by_one(&mut self, rank: usize, size: usize, count: u64) -> Sure<Option<Ask>> {
        if count > MOST {
            return Err("more accesses of a loop than are looked at");
        }
        let words = self.logs[rank].record(size).to_vec();
        let period = (size as u64 - 2) / 2;
        let mut found = Vec::new();
        for turn in 0..count {
            let place = 2 + 2 * (turn % period) as usize;
            let (first, pc) = (words[place], words[place + 1] & 0xffff_ffff);
            let stride = i64::from((words[place + 1] >> 32) as u32 as i32);
            let address = (first >> 16).wrapping_add_signed(stride.wrapping_mul((turn / period) as i64));
            let Some((owner, at)) = self.places.at(rank, address)? else { continue };
            match self.form_of(rank, first, pc, owner) {
                Err(ask) => return Ok(Some(ask)),
                Ok(form) => {
                    let row = Row { address: at, size: 1 << (first >> 8 & 7), stride: 0, rounds: 1 };
                    found.push(Looped { form: Some(form), owner, row });
                }
            }
        }
        for each in found {
            self.accessed(rank, &[each], 1)?;
        }
        self.pass(rank, size)
    }
}

/// What calls of a rank have in common that do the same but for their addresses, and these by their bases.
fn alike(words: &[u64]) -> Option<(Vec<u64>, [u64; BASES])> {
    let (addresses, values) = operands(words)?;
    let (mut key, mut given) = (words.to_vec(), [0; BASES]);
    key[1] &= !NUMBER;
    for &(place, base) in addresses {
        given[base as usize] = words[place];
        // In MPI 0 is a place in a window; elsewhere it is no address.
        key[place] = if base == REMOTE { 0 } else { u64::from(words[place] != 0) };
    }
    for &place in values {
        key[place] = 0;
    }
    Some((key, given))
}
