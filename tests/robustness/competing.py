"""Programs in which ranks compete or wait for each other, of any number of nodes: what is easy for one engine and hard
for another."""

from __future__ import annotations

COMPETING: dict[str, str] = {
    # Work that is shared out
    "work stealing": """
        memory top, one = 1, out[8]; register t; queue q unordered;
        process { t <- fetch_add(0, top, 1);
          while (t < 8) { write(one, 0, out + t, q); t <- fetch_add(0, top, 1); } }""",
    "work stealing, results read at once": """
        memory top, one = 1, out[6]; register t, s; queue q unordered;
        process { t <- fetch_add(0, top, 1);
          while (t < 6) { write(one, 0, out + t, q); s <- fetch(0, out + t); t <- fetch_add(0, top, 1); } }""",
    "a log": """
        memory end, mine = 7, entry[16]; register t, n; queue q;
        process { n <- 0;
          while (n < 2) { t <- fetch_add(0, end, 1); write(mine, 0, entry + t, q); n <- n + 1; } wait(q); }""",
    "a stack": """
        memory head, mine, next[9]; register h, s; queue q;
        process { s <- fetch(0, head); h <- s + 1;
          while (s != h) { h <- s; mem[mine] <- h; write(mine, 0, next + me, q); wait(q);
            s <- compare_swap(0, head, h, me + 1); } }""",
    "a stack, linked late": """
        memory head, mine, next[9]; register h, s, l; queue q;
        process { s <- fetch(0, head); h <- s + 1;
          while (s != h) { h <- s; mem[mine] <- h; write(mine, 0, next + me, q);
            s <- compare_swap(0, head, h, me + 1); }
          s <- fetch(0, head); if (s > 0) { l <- fetch(0, next + s - 1); } }""",
    # Barriers
    "a central barrier": """
        memory count, one = 1, go, data[8], seen; register r, p; queue q;
        process { write(one, 0, data + me, q); wait(q); r <- fetch_add(0, count, 1);
          if (r == nodes - 1) { p <- 0; while (p < nodes) { write(one, p, go, q); p <- p + 1; } }
          await(mem[go] == 1); r <- fetch(0, data + (me + 1) % nodes); }""",
    "a central barrier, nobody waits for the data": """
        memory count, one = 1, go, data[8]; register r, p; queue q;
        process { write(one, 0, data + me, q); r <- fetch_add(0, count, 1);
          if (r == nodes - 1) { p <- 0; while (p < nodes) { write(one, p, go, q); p <- p + 1; } }
          await(mem[go] == 1); r <- fetch(0, data + (me + 1) % nodes); }""",
    "a counted barrier": """
        memory count, one = 1, data[8]; register r; queue q;
        process { write(one, 0, data + me, q); wait(q); update(add, 1, 0, count, q); wait(q);
          while (r != nodes) { r <- fetch(0, count); } r <- fetch(0, data + (me + 1) % nodes); }""",
    "two barriers of a library": """
        memory x, one = 1; register r; queue q;
        process { write(one, (me + 1) % nodes, x, q); wait(q); barrier; r <- mem[x]; assert(r == 1); barrier;
          mem[x] <- 0; }""",
    # Locks
    "a lock by swap": """
        memory lock, mine = 3, last; register r; queue q;
        process { r <- swap(0, lock, 1); while (r != 0) { r <- swap(0, lock, 1); }
          write(mine, 0, last, q); wait(q); r <- swap(0, lock, 0); }""",
    "a lock by swap, the put still on its way": """
        memory lock, mine = 3, last; register r; queue q;
        process { r <- swap(0, lock, 1); while (r != 0) { r <- swap(0, lock, 1); }
          write(mine, 0, last, q); r <- swap(0, lock, 0); }""",
    "a ticket lock": """
        memory ticket, turn, mine, last; register t, s; queue q;
        process { t <- fetch_add(0, ticket, 1); while (s != t) { s <- fetch(0, turn); }
          write(mine, 0, last, q); wait(q); s <- fetch_add(0, turn, 1); }""",
    "an array lock": """
        memory ticket, one = 1, go[9] = {1}, mine, last; register t, s; queue q;
        process { t <- fetch_add(0, ticket, 1); while (s == 0) { s <- fetch(0, go + t); }
          write(mine, 0, last, q); wait(q); write(one, 0, go + t + 1, q); }""",
    "a queue lock on cells of the ranks": """
        memory tail, zero, locked, next, me1, mine, last; register p, n; queue q;
        process { mem[me1] <- me + 1; mem[locked] <- 1; p <- swap(0, tail, me + 1);
          if (p != 0) { write(me1, p - 1, next, q); await(mem[locked] == 0); }
          write(mine, 0, last, q); wait(q); n <- mem[next];
          if (n == 0) { p <- compare_swap(0, tail, me + 1, 0);
            if (p != me + 1) { await(mem[next] != 0); n <- mem[next]; } }
          if (n != 0) { write(zero, n - 1, locked, q); } }""",
    "a queue lock, taken and left": """
        memory tail, zero, locked, next, me1; register p, n; queue q;
        process { mem[me1] <- me + 1; mem[locked] <- 1; p <- swap(0, tail, me + 1);
          if (p != 0) { write(me1, p - 1, next, q); await(mem[locked] == 0); }
          n <- mem[next];
          if (n == 0) { p <- compare_swap(0, tail, me + 1, 0);
            if (p != me + 1) { await(mem[next] != 0); n <- mem[next]; } }
          if (n != 0) { write(zero, n - 1, locked, q); } }""",
    "readers and a writer": """
        memory readers, writing, one = 1, value; register r, s; queue q;
        process 0 { s <- compare_swap(0, readers, 0, 100); while (s != 0) { s <- compare_swap(0, readers, 0, 100); }
          write(one, 0, value, q); wait(q); s <- fetch_add(0, readers, -100); }
        process { s <- fetch_add(0, readers, 1); while (s >= 100) { s <- fetch(0, readers); }
          r <- fetch(0, value); s <- fetch_add(0, readers, -1); }""",
    "philosophers": """
        memory fork; register r; queue q;
        process { await_add(me, mem[fork] == 0, 1); await_add((me + 1) % nodes, mem[fork] == 0, 1);
          r <- swap(me, fork, 0); r <- swap((me + 1) % nodes, fork, 0); }""",
    "philosophers who eat": """
        memory fork, plate, one = 1; register r; queue q;
        process { await_add(0, mem[fork] == 0, 1); write(one, (me + 1) % nodes, plate, q); wait(q);
          r <- fetch_add(0, fork, -1); r <- mem[plate]; }""",
    # Counters
    "a counter by compare_swap": """
        memory count, mine, slot[9]; register r, s; queue q;
        process { s <- compare_swap(0, count, 0, 1); while (s != r) { r <- s; s <- compare_swap(0, count, r, r + 1); }
          write(mine, 0, slot + r, q); wait(q); }""",
    "a histogram": """
        memory bin[4]; register r; queue q;
        process { update(add, 1, me % nodes, bin + me % 4, q); update(add, 1, (me + 1) % nodes, bin, q); barrier;
          r <- mem[bin]; }""",
    "a histogram that is complete": """
        memory bin[4]; register r; queue q;
        process { update(add, 1, me % nodes, bin + me % 4, q); update(add, 1, (me + 1) % nodes, bin, q);
          wait(q); barrier; r <- mem[bin]; }""",
    "the greatest": """
        memory most, mine; register r; queue q;
        process { update(max, me * 3 % 5, 0, most, q); wait(q); barrier; r <- fetch(0, most); assert(r <= 4); }""",
    "credits": """
        memory slot[2], credit = 2, full, one = 1; register r, n; queue q;
        process 0 { n <- 0; while (n < 4) { await_add(0, mem[credit] > 0, -1); write(one, 1, slot + n % 2, q);
          update(add, 1, 1, full, q); n <- n + 1; } }
        process 1 { n <- 0; while (n < 4) { await_add(1, mem[full] > 0, -1); r <- mem[slot + n % 2]; n <- n + 1;
          update(add, 1, 0, credit, q); } }
        process { skip; }""",
    # Flags
    "a flag behind the data": """
        memory data, flag, one = 1; register r; queue q;
        process { write(one, (me + 1) % nodes, data, q); write(one, (me + 1) % nodes, flag, q);
          await(mem[flag] == 1); r <- mem[data]; }""",
    "a flag beside the data": """
        memory data, flag, one = 1; register r; queue q unordered;
        process { write(one, (me + 1) % nodes, data, q); write(one, (me + 1) % nodes, flag, q);
          await(mem[flag] == 1); r <- mem[data]; }""",
    "flags from all to all": """
        memory data[9], flag[9], one = 1; register r, p; queue q;
        process { p <- 0; while (p < nodes) { write(one, p, data + me, q); write(one, p, flag + me, q); p <- p + 1; }
          p <- 0;
          while (p < nodes) { while (r == 0) { r <- mem[flag + p]; } r <- mem[data + p]; r <- 0; p <- p + 1; } }""",
    "flags from all to all, each put waited for": """
        memory data[9], flag[9], one = 1; register r, p; queue q;
        process { p <- 0;
          while (p < nodes) { write(one, p, data + me, q); wait(q); write(one, p, flag + me, q); wait(q); p <- p + 1; }
          p <- 0;
          while (p < nodes) { while (r == 0) { r <- mem[flag + p]; }
            r <- mem[data + p]; assert(r == 1); r <- 0; p <- p + 1; } }""",
    "flags from all to all, in some order": """
        memory data[9], flag[9], one = 1, count; register r, p; queue q;
        process { r <- fetch_add(0, count, 1); r <- 0; p <- 0;
          while (p < nodes) { write(one, p, data + me, q); write(one, p, flag + me, q); p <- p + 1; }
          p <- 0;
          while (p < nodes) { while (r == 0) { r <- mem[flag + p]; } r <- mem[data + p]; r <- 0; p <- p + 1; } }""",
    "a counter of arrivals": """
        memory data[9], n, one = 1; register r, p; queue q;
        process { p <- 0;
          while (p < nodes) { write(one, p, data + me, q); wait(q); update(add, 1, p, n, q); wait(q); p <- p + 1; }
          await(mem[n] == nodes); p <- 0;
          while (p < nodes) { r <- mem[data + p]; assert(r == 1); p <- p + 1; } }""",
    "whoever comes first": """
        memory first, mine, box; register r, s; queue q;
        process { mem[mine] <- me; r <- compare_swap(0, first, 0, me + 1);
          if (r == 0) { write(mine, 0, box, q); wait(q); } barrier; s <- fetch(0, box); }""",
    "store buffering in pairs": """
        memory x, y, one = 1; register r; queue q;
        process { if (me % 2 == 0) { write(one, me, x, q); r <- fetch((me + 1) % nodes, y); }
          else { write(one, me, y, q); r <- fetch(me - 1, x); } }""",
    "a poll that counts its rounds": """
        memory flag, one = 1; register r, n; queue q;
        process 0 { write(one, 1, flag, q); }
        process { while (r == 0) { r <- mem[flag]; n <- (n + 1) % 3; if (me > 1) { r <- 1; } } }""",
    # What ends in a fault, or may
    "a divisor that is 0 in the end": """
        memory count; register r, s;
        process { r <- fetch_add(0, count, 1); s <- 10 / (nodes - 1 - r); }""",
    "an index from memory": """
        memory at, cell[4], one = 1; register r, s; queue q;
        process { r <- fetch_add(0, at, 1); s <- fetch(0, at); while (s < nodes) { s <- fetch(0, at); }
          write(one, s - nodes, cell + r % 4, q); }""",
    "a round that never ends": """
        memory x, one = 1; register r, n; queue q;
        process { loop { n <- (n + 1) % 4; write(one, (me + 1) % nodes, x, q); r <- mem[x]; wait(q); } }""",
}  # fmt: skip
