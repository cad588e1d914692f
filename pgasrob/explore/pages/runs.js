/** The runs side by side: each a list of choices, and how many of them are taken. Nothing that was chosen is lost. */
class Runs {
  constructor(run) {
    this.count = 1;
    this.all = [{ name: "Run 1", run, steps: [], at: run.length }];
    this.current = this.all[0];
  }

  get taken() {
    return this.current.run.slice(0, this.current.at);
  }

  /** Go on by `choice`: along the run where it has been chosen before, else on a new run beside it. */
  choose(choice) {
    const here = this.current;
    if (here.at < here.run.length && here.run[here.at] !== choice) this.fork();
    if (this.current.at === this.current.run.length) this.current.run.push(choice);
    this.current.at += 1;
  }

  /** A copy of the run up to here. */
  fork() {
    const { run, steps, at } = this.current;
    this.add(run.slice(0, at), steps.slice(0, at), at);
  }

  add(run, steps, from) {
    this.count += 1;
    this.current = { name: `Run ${this.count}`, run, steps, at: run.length, from };
    this.all.push(this.current);
  }

  close(run) {
    const place = this.all.indexOf(run);
    this.all.splice(place, 1);
    if (this.current === run) this.current = this.all[Math.max(0, place - 1)];
  }

  go(at) {
    const before = this.current.at;
    this.current.at = Math.max(0, Math.min(at, this.current.run.length));
    return this.current.at !== before;
  }

  beside(by) {
    const place = this.all.indexOf(this.current) + by;
    if (!this.all[place]) return false;
    this.current = this.all[place];
    return true;
  }

  /** What the server has made of the choices that are taken: those that it knows, with what they do. */
  settle({ run, steps, stop }) {
    const here = this.current;
    const later = stop ? [] : here.run.slice(here.at);
    here.steps = [...steps, ...(stop ? [] : here.steps.slice(here.at))];
    here.run = [...run, ...later];
    here.at = run.length;
  }

  /** The program has changed: what comes later need not be possible any more. */
  forget() {
    for (const each of this.all) {
      each.run = each.run.slice(0, each.at);
      each.steps = each.steps.slice(0, each.at);
    }
  }
}
