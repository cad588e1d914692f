//! The tables of Python, field by field.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::races::rules::RawRules;
use crate::raw::Raw;

pub fn raw(tables: &Bound<'_, PyAny>) -> PyResult<Raw> {
    Ok(Raw {
        format: field(tables, "format")?,
        nodes: field(tables, "nodes")?,
        home: field(tables, "home")?,
        size: field(tables, "size")?,
        registers: field(tables, "registers")?,
        values: field(tables, "values")?,
        memory: field(tables, "memory")?,
        touchable: field(tables, "touchable")?,
        waited: field(tables, "waited")?,
        unordered: field(tables, "unordered")?,
        states: field(tables, "states")?,
        leaving: field(tables, "leaving")?,
        transitions: field(tables, "transitions")?,
        endless: field(tables, "endless")?,
        kept_starts: field(tables, "kept_starts")?,
        kept: field(tables, "kept")?,
        commands: field(tables, "commands")?,
        uses_starts: field(tables, "uses_starts")?,
        uses: field(tables, "uses")?,
        expressions: field(tables, "expressions")?,
        code: field(tables, "code")?,
        sources: field(tables, "sources")?,
        set_starts: field(tables, "set_starts")?,
        sets: field(tables, "sets")?,
        soon: field(tables, "soon")?,
        ever: field(tables, "ever")?,
        barrier_later: field(tables, "barrier_later")?,
        live_starts: field(tables, "live_starts")?,
        live: field(tables, "live")?,
        relevant: field(tables, "relevant")?,
        queue_starts: field(tables, "queue_starts")?,
        queues: field(tables, "queues")?,
        class_starts: field(tables, "class_starts")?,
        classes: field(tables, "classes")?,
        moving: field(tables, "moving")?,
        rank_registers: field(tables, "rank_registers")?,
        rank_cells: field(tables, "rank_cells")?,
        moving_targets: field(tables, "moving_targets")?,
        conditions: field(tables, "conditions")?,
        counted: field(tables, "counted")?,
        tests: field(tables, "tests")?,
        kinds: field(tables, "kinds")?,
        landmarks: field(tables, "landmarks")?,
        most: field(tables, "most")?,
    })
}

pub fn raw_rules(rules: &Bound<'_, PyAny>) -> PyResult<RawRules> {
    Ok(RawRules {
        starts: field(rules, "starts")?,
        accesses: field(rules, "accesses")?,
        kinds: field(rules, "kinds")?,
        facts: field(rules, "facts")?,
        excluded: field(rules, "excluded")?,
        made_up: field(rules, "made_up")?,
        strict: field(rules, "strict")?,
    })
}

/// A field of the tables; whatever is wrong with it is a ValueError.
fn field<T: for<'a, 'py> FromPyObject<'a, 'py>>(tables: &Bound<'_, PyAny>, name: &str) -> PyResult<T> {
    let malformed = |error: PyErr| {
        if error.is_instance_of::<PyMemoryError>(tables.py()) {
            return error;
        }
        PyValueError::new_err(format!("malformed tables: {name}: {error}"))
    };
    tables.getattr(name).and_then(|value| value.extract().map_err(Into::into)).map_err(malformed)
}
