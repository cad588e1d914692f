"use strict";
// What a run has done after each of its steps, worked out from its events.
// Row 0 is the start; row k is after the k-th row of the run, which is one event, or one barrier of all ranks.

const STEPS = ["popa", "popd", "popb", "popc"];
const ARRIVING = ["read", "write", "put", "update", "update_from", "notify", "signal"];

const nameOf = (address) => `${address.name}@${address.rank}`;

class Run {
  constructor(witness, about) {
    this.witness = witness;
    this.about = about;
    this.events = witness.computation;
    this.rows = about.rows;
    this.length = this.rows.length;
    this.row = 0;
    this.memory = new Map(witness.memory.map((cell) => [nameOf(cell), cell.value]));
    this.registers = new Map();
    const doubles = new Set(witness.doubles); // whose values come as texts
    for (let rank = 0; rank < witness.nodes; rank++) {
      for (const name of witness.registers) this.registers.set(`${name}@${rank}`, doubles.has(name) ? "0.0" : 0);
    }
    this.operations = [];
    this.issue = []; // of each event the place of the event that issued it
    this.rowOf = [];
    this.issuedBy = Array.from({ length: witness.nodes }, () => []); // of each rank its issued places, in order
    const found = new Map();
    this.events.forEach((event, place) => {
      const key = `${event.rank} ${event.operation}`;
      if (STEPS.includes(event.event)) {
        const operation = found.get(key);
        operation.steps.push(place);
        this.issue.push(operation.issue);
      } else {
        const operation = { issue: place, steps: [] };
        found.set(key, operation);
        if (event.queue && ARRIVING.includes(event.event)) this.operations.push(operation);
        this.issuedBy[event.rank].push(place);
        this.issue.push(place);
      }
    });
    this.rows.forEach(([first, count], index) => {
      for (let place = first; place < first + count; place++) this.rowOf[place] = index + 1;
    });
    for (const operation of this.operations) {
      const arrives = operation.steps.some((place) => this.events[place].event === "popb");
      // In a run that ends with operations pending, the steps that such a one will have are not known.
      operation.open = !witness.complete && !arrives;
    }
    this.cycle = new Set((witness.cycle || []).flatMap((edge) => [edge.from, edge.to]));
  }

  /** The places of the events of a row. */
  places(row) {
    if (row === 0) return [];
    const [first, count] = this.rows[row - 1];
    return Array.from({ length: count }, (_, offset) => first + offset);
  }

  /** The last place that has happened at a row, -1 at the start. */
  end(row) {
    return row === 0 ? -1 : this.rows[row - 1][0] + this.rows[row - 1][1] - 1;
  }

  /** Go to a row; gives the keys of the cells and the registers that differ or may differ from before. */
  go(row) {
    const touched = new Set();
    while (this.row < row) this.apply(++this.row, "after", touched);
    while (this.row > row) this.apply(this.row--, "before", touched);
    return touched;
  }

  apply(row, side, touched) {
    for (const place of this.places(row)) {
      const event = this.events[place];
      if (event.written) {
        this.memory.set(event.written.cell, event.written[side]);
        touched.add(`memory:${event.written.cell}`);
      }
      if (event.register) {
        const key = `${event.register.name}@${event.rank}`;
        this.registers.set(key, event.register[side]);
        touched.add(`register:${key}`);
      }
    }
  }

  /** The operations that have been issued and have a step to come, in the order of their issue. */
  pending() {
    const now = this.end(this.row);
    return this.operations.filter(
      (operation) => operation.issue <= now && (operation.open || operation.steps.some((place) => place > now)),
    );
  }

  /** What an operation carries: the value that it read last, null when it has read none yet. */
  carried(operation) {
    const now = this.end(this.row);
    let value = null;
    for (const place of [operation.issue, ...operation.steps]) {
      const read = this.events[place].read;
      if (place <= now && read !== null) value = read;
    }
    return value;
  }

  /** The place of the command that a rank has issued last, null when it has issued none. */
  standing(rank) {
    const now = this.end(this.row);
    const issued = this.issuedBy[rank];
    let low = 0;
    let high = issued.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (issued[middle] <= now) low = middle + 1;
      else high = middle;
    }
    return low ? issued[low - 1] : null;
  }

  /** The first and last rows of the parts of the normal form, as [part, row, row]. */
  parts() {
    const found = [];
    this.rows.forEach(([first], index) => {
      const part = this.events[first].part;
      if (part === null) return;
      if (!found.length || found[found.length - 1][0] !== part) found.push([part, index + 1, index + 1]);
      found[found.length - 1][2] = index + 1;
    });
    return found;
  }
}
