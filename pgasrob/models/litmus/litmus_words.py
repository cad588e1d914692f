"""The keywords of litmus texts, with their arguments and forms, and hints for words that people write by habit."""

ARGUMENTS = {
    "get": ("remote location",),
    "put": ("remote location", "what is put"),
    "rga": ("remote location", "operand"),
    "cas": ("remote location", "expected", "new"),
    "rcas": ("remote location", "expected", "new"),
    "rfaa": ("remote location", "what is added"),
    "CAS": ("location", "expected", "new"),
    "poll": ("node",),
    "rfence": ("node",),
    "flush": ("node",),
    "assume": ("condition",),
    "mfence": (),
    "skip": (),
}
"""The words that begin a statement or give a value, and what they take."""
GIVES = frozenset(("get", "rga", "cas", "rcas", "rfaa", "CAS"))
"""Those of them that give a value."""
HEADS = ("allowed", "forbidden")
KEYWORDS = frozenset((*ARGUMENTS, *HEADS, "choose", "or", "loop", "otherwise"))
FORMS = {
    "get": "`x = get(z^2)`",
    "put": "`put(z^2, x)`",
    "rga": "`x = rga(z^2, y)`",
    "cas": "`x = cas(z^2, y, w)`",
    "rcas": "`x = rcas(z^2, 0, 1)`",
    "rfaa": "`x = rfaa(z^2, 1)`",
    "CAS": "`a = CAS(x, 0, 1)`",
    "poll": "`poll(2)`",
    "rfence": "`rfence(2)`",
    "flush": "`flush(2)`",
    "assume": "`assume(a == 1)`",
    "mfence": "`mfence`",
    "skip": "`skip`",
}
HABITS = {
    "if": "write `choose { assume(a == 1); ... } or { assume(a != 1); ... }`",
    "while": "write `loop { assume(a == 0); ... }` and `assume(a != 0)` behind it; `loop 3 { ... }` is a bounded loop",
    "else": "the blocks of `choose` are set apart by `or`",
    "for": "`loop 3 { ... }` runs its body at most 3 times",
    "fence": "`mfence` drains the store buffer, `rfence(2)` orders operations to node 2",
    "wait": "`poll(2)` waits for the oldest operation to node 2 (RDMA-TSO), `flush(2)` for all (coreRMA)",
    "barrier": "no model of litmus tests has barriers; `assume` makes a thread wait for a value",
    "exists": "outcomes are named by `allowed a=1 b=0` and `forbidden a=1 b=0`",
    "expect": "outcomes are named by `allowed a=1 b=0` and `forbidden a=1 b=0`",
}
