//! The tables as lists of integers, as they come from Python, and what it takes to check them
//! (`pgasrob/robustness/kernel_tables.py`, which writes them, documents their format).

use crate::code::Value;
use crate::memory::{Error, Result};

/// The tables as they come from Python.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    pub format: i64,
    pub nodes: i64,
    pub home: Vec<i64>,
    pub size: i64,
    pub registers: i64,
    pub values: Vec<Value>,
    pub memory: Vec<i64>,
    pub touchable: Vec<i64>,
    pub waited: Vec<i64>,
    pub unordered: Vec<i64>,
    pub states: Vec<i64>,
    pub leaving: Vec<i64>,
    pub transitions: Vec<i64>,
    pub endless: Vec<i64>,
    pub kept_starts: Vec<i64>,
    pub kept: Vec<i64>,
    pub sources: Vec<i64>,
    pub commands: Vec<i64>,
    pub uses_starts: Vec<i64>,
    pub uses: Vec<i64>,
    pub expressions: Vec<i64>,
    pub code: Vec<i64>,
    pub set_starts: Vec<i64>,
    pub sets: Vec<i64>,
    pub soon: Vec<i64>,
    pub ever: Vec<i64>,
    pub barrier_later: Vec<i64>,
    pub live_starts: Vec<i64>,
    pub live: Vec<i64>,
    pub relevant: Vec<i64>,
    pub queue_starts: Vec<i64>,
    pub queues: Vec<i64>,
    pub class_starts: Vec<i64>,
    pub classes: Vec<i64>,
    pub moving: Vec<i64>,
    pub rank_registers: Vec<i64>,
    pub rank_cells: Vec<i64>,
    pub moving_targets: i64,
    pub conditions: Vec<i64>,
    pub counted: Vec<i64>,
    pub tests: Vec<i64>,
    pub kinds: i64,
    pub landmarks: Vec<Value>,
    pub most: Vec<Value>,
}

pub fn malformed<T>(how: impl Into<String>) -> Result<T> {
    Err(Error::Malformed(how.into()))
}

pub fn number(value: i64, table: &str, least: usize, greatest: usize) -> Result<usize> {
    match usize::try_from(value) {
        Ok(number) if (least..=greatest).contains(&number) => Ok(number),
        _ => malformed(format!("{value} in {table} is outside {least}..{greatest}")),
    }
}

pub fn below(value: i64, table: &str, end: usize) -> Result<usize> {
    match usize::try_from(value) {
        Ok(number) if number < end => Ok(number),
        _ => malformed(format!("{value} in {table} names nothing")),
    }
}

pub fn collect<T>(items: impl ExactSizeIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(items.len())?;
    for item in items {
        collected.push(item?);
    }
    Ok(collected)
}

pub fn rows<'a, const ROW: usize>(
    flat: &'a [i64],
    table: &str,
) -> Result<impl ExactSizeIterator<Item = &'a [i64; ROW]> + use<'a, ROW>> {
    let (rows, rest) = flat.as_chunks::<ROW>();
    if rest.is_empty() { Ok(rows.iter()) } else { malformed(format!("{table} must have rows of {ROW}")) }
}

/// `count` pieces of a table of `length` rows, given by where each begins and the end of the last.
pub fn offsets(flat: &[i64], count: usize, length: usize, table: &str) -> Result<Vec<usize>> {
    if flat.len() != count + 1 {
        return malformed(format!("{table} must have {} entries", count + 1));
    }
    let offsets = collect(flat.iter().map(|&offset| number(offset, table, 0, length)))?;
    if offsets[0] != 0 || offsets[count] != length || !offsets.is_sorted() {
        return malformed(format!("{table} must ascend from 0 to {length}"));
    }
    Ok(offsets)
}
