"""The memory models by name, with the options that each takes, for `--model` and the options beside it.

A model is imported only when it is used. Its class takes its options as keyword arguments, and nothing else, so other
modules need this table alone: the name of a model, which of several equal semantics it has, its options, and the words
by which a report or an expectation names a difference from its paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from pgasrob.diagnostics.suggestions import did_you_mean

if TYPE_CHECKING:
    from pgasrob.models.litmus.litmus_program import Program
    from pgasrob.models.model_interface import Model

Atomics = Literal["hca", "glob"]
HappensBefore = Literal["any", "least"]
LocalOrder = Literal["figure", "text"]


class UnknownModel(ValueError):
    """No model has this name, or the model does not take this option; the message lists those that exist."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the models. By default a model is as in its paper.

    ``semantics``: which of several equal ones, None for the usual one. ``pcie``: RDMA-TSO with the guarantee of PCI
    Express that a read pushes the writes before it. ``placed``: a put that has been polled is in the remote memory.
    ``atomics``: whether remote atomics of RDMA-TSO are atomic against those on the same node, or against everything.
    ``vpi``: coreRMA for adapters in which gets overtake puts. ``hb``: coreRMA's happens-before is any partial order
    that satisfies the rules, or the least one. ``repair``: a non-atomic read without a conflict reads the last write
    before it, which the text of coreRMA does not require. ``local_order``: its rule LO as in its Figure 4, or as in the
    text. ``without``: the rules that are left out, by their names.
    """

    semantics: str | None = None
    pcie: bool = True
    placed: bool = False
    atomics: Atomics = "hca"
    vpi: bool = False
    hb: HappensBefore = "any"
    repair: bool = True
    local_order: LocalOrder = "figure"
    without: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The differences from the paper, in the words of an expectation: ("no-pcie",), ("without IR", "without
        GA")."""
        chosen = (word for word, (option, value) in WORDS.items() if getattr(self, option) == value)
        return (*chosen, *(f"without {rule}" for rule in sorted(set(self.without))))


STOCK = Options()


@dataclass(frozen=True, slots=True)
class Known:
    """A row of the table: where the class of a model is, its ``semantics`` (the usual one first), and its other
    ``options``. ``description``: the model in one line."""

    name: str
    description: str
    module: str
    attribute: str
    semantics: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def rules(self) -> tuple[str, ...]:
        """The names that ``without`` takes: those in `RULES` of its class."""
        return tuple(getattr(self.load(), "RULES", ())) if "without" in self.options else ()

    def load(self) -> type[Model]:
        loaded: type[Model] = getattr(import_module(f"pgasrob.models.{self.module}"), self.attribute)
        return loaded


MODELS = {
    known.name: known
    for known in (
        Known("pgas", "the model of pgasrob, with a queue for each peer", "pgas", "Pgas", ("fifo", "unordered")),
        Known(
            "corerma",
            "coreRMA: puts, gets, flushes and remote atomics by axioms (Dan, Lam, Hoefler, Vechev, OOPSLA 2016)",
            "corerma",
            "CoreRma",
            options=("vpi", "hb", "repair", "local_order", "without"),
        ),
        Known(
            "rdma-tso",
            "RDMA-TSO: InfiniBand verbs on x86 (Ambal et al., OOPSLA 2024)",
            "rdma_tso",
            "RdmaTso",
            ("declarative", "simplified", "concrete"),
            ("pcie", "placed", "atomics", "without"),
        ),
        Known("tso", "x86-TSO: the CPUs of one node, without a network", "tso", "Tso"),
        Known("sc", "sequential consistency: a put or get is one step, or two", "sc", "Sc", ("merged", "split")),
    )
}
NAMES = tuple(MODELS)
WORDS: dict[str, tuple[str, Any]] = {
    "no-pcie": ("pcie", False),
    "placed": ("placed", True),
    "glob": ("atomics", "glob"),
    "vpi": ("vpi", True),
    "hb-least": ("hb", "least"),
    "no-repair": ("repair", False),
    "local-order-text": ("local_order", "text"),
}
"""The option that each word of a variant sets, with its value."""
SPELLED = {
    "pcie": "--no-pcie",
    "placed": "--placed",
    "atomics": "--glob",
    "vpi": "--vpi",
    "hb": "--hb",
    "repair": "--no-repair",
    "local_order": "--local-order",
    "without": "--without",
}
"""The options as the command line writes them."""


MOST_NAMED = 16
"""How many rules an error message lists at most."""


def known(name: str) -> Known:
    """The row of the model ``name``. Raises :class:`UnknownModel`."""
    found = MODELS.get(name)
    if found is None:
        hint = did_you_mean(name, NAMES) or f"there is {', '.join(NAMES)}"
        raise UnknownModel(f"no model {name!r}; {hint}")
    return found


def parted(text: str) -> tuple[str, ...]:
    """Split ``text`` into models, which commas separate. Words about a model may also follow a comma: "corerma vpi,
    without LO" is one model."""
    found: list[str] = []
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        first = piece.replace(":", " ").split()[:1]
        name = found[-1].replace(":", " ").split()[:1] if found else []
        if name and name[0] in MODELS and first and first[0] in ("without", *words_of(name[0])):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return tuple(found)


def words_of(name: str) -> tuple[str, ...]:
    """The words for variants of the model ``name``, except `without` and a rule."""
    entry = known(name)
    return (*entry.semantics, *(word for word, (option, _) in WORDS.items() if option in entry.options))


def asked(text: str, options: Options = STOCK) -> Model:
    """The model that ``text`` asks for: its name, then its semantics and its differences from the paper in the words of
    an expectation, separated by blanks, commas or colons: "rdma-tso concrete no-pcie", "corerma without IR".

    It gets those of ``options`` that it takes. Raises :class:`UnknownModel`.
    """
    name, *words = text.replace(",", " ").replace(":", " ").split() or [""]
    entry = known(name)
    kept = {option: getattr(options, option) for option in entry.options}
    kept["without"] = tuple(rule for rule in options.without if rule in entry.rules())
    found = Options(semantics=options.semantics if options.semantics in entry.semantics else None, **kept)
    without = named = False
    for place, word in enumerate(words, 1):
        if word == "without":
            without = True
            if "without" not in entry.options:
                raise UnknownModel(unfit(entry, Options(without=("",))))
            if (*words, "without")[place] in ("without", *words_of(name)):
                raise UnknownModel(f"`without` names no rule of {name}; there is {_some(entry.rules())}")
        elif word in WORDS:
            option, value = WORDS[word]
            found, without = replace(found, **{option: value}), False
        elif word in entry.semantics:
            if found.semantics not in (None, word):
                named_twice = f"{text!r}{'' if named else f' and --semantics {found.semantics}'}"
                raise UnknownModel(f"{named_twice}: these are two semantics of {name}; choose one")
            found, without, named = replace(found, semantics=word), False, True
        elif without:
            found = replace(found, without=(*found.without, word))
        else:
            there = words_of(name)
            hint = did_you_mean(word, there) or (f"it has {', '.join(there)}" if there else "it has none")
            raise UnknownModel(f"{name} has no variant {word!r}; {hint}")
    return model(name, found)


def all_asked(texts: Iterable[str], options: Options = STOCK) -> list[Model]:
    """The models that ``texts`` ask for (see :func:`asked`), each once. Raises :class:`UnknownModel` also for
    an option that none of the models takes."""
    texts = list(texts)
    entries = [known((text.replace(",", " ").replace(":", " ").split() or [""])[0]) for text in texts]
    if not entries:
        return []
    if any(entry.rules() for entry in entries):
        for rule in options.without:
            if not any(rule in entry.rules() for entry in entries):
                raise UnknownModel(_no_rule(rule, entries))
    elif options.without:
        raise UnknownModel(unfit(entries[0], replace(STOCK, without=options.without)))
    for option in fields(Options):
        alone = replace(STOCK, **{option.name: getattr(options, option.name)})
        if option.name != "without" and all(unfit(entry, alone) for entry in entries):
            if option.name == "semantics" and len(entries) > 1:
                raise UnknownModel(_no_semantics(options.semantics or "", entries))
            raise UnknownModel(unfit(entries[0], alone))
    return list({label(each): each for each in (asked(text, options) for text in texts)}.values())


def idle(options: Options, names: Iterable[str]) -> list[str]:
    """A sentence for each of the ``options`` that none of the models ``names`` takes, with the models that do: "--vpi
    is about corerma"."""
    entries = [known(name) for name in names]
    found = []
    for option in fields(Options):
        alone = replace(STOCK, **{option.name: getattr(options, option.name)})
        if alone != STOCK and all(unfit(entry, alone) for entry in entries):
            takers = [name for name, entry in MODELS.items() if not unfit(entry, alone)]
            if takers:
                found.append(f"{SPELLED.get(option.name, '--semantics')} is about {' and '.join(takers)}")
    return found


def label(model: Model) -> str:
    """The name of ``model`` with its variant, as :func:`asked` takes it: "rdma-tso", "rdma-tso concrete no-pcie",
    "corerma vpi without GA without IR"."""
    entry, variant = known(model.name), variant_of(model)
    usual = model.semantics is None or model.semantics in (entry.semantics[0], *variant.split())
    return " ".join(filter(None, (model.name, "" if usual else model.semantics, variant)))


def variant_of(model: Model) -> str:
    """The variant of ``model`` as an expectation writes it after the name: without commas."""
    return model.variant.replace(",", "")


def model(name: str, options: Options = STOCK) -> Model:
    """The model ``name`` with ``options``. Raises :class:`UnknownModel`, also for an option that it does not take."""
    entry = known(name)
    if error := unfit(entry, options):
        raise UnknownModel(error)
    given: dict[str, Any] = {option: getattr(options, option) for option in entry.options}
    if entry.semantics:
        given["semantics"] = options.semantics or entry.semantics[0]
    return entry.load()(**given)


def unfit(entry: Known, options: Options) -> str:
    """Why the model does not take ``options``, as a sentence without a full stop; empty where it does."""
    chosen = options.semantics
    if chosen is not None and chosen not in entry.semantics:
        if not entry.semantics:
            return f"{entry.name} has one semantics, and none that is called {chosen!r}"
        hint = did_you_mean(chosen, entry.semantics) or f"it has {', '.join(entry.semantics)}"
        return f"{entry.name} has no semantics {chosen!r}; {hint}"
    for option in fields(Options):
        differs = getattr(options, option.name) != getattr(STOCK, option.name)
        if differs and option.name != "semantics" and option.name not in entry.options:
            return f"{entry.name} takes no {SPELLED[option.name]}; {_takers(option.name)} does"
    if options.without:
        for rule in options.without:
            if rule not in entry.rules():
                return _no_rule(rule, [entry])
    if options.without and entry.name == "rdma-tso" and options.semantics not in (None, "declarative"):
        return f"the {options.semantics} semantics of rdma-tso has no rules to leave out; the declarative one has"
    return ""


def models_for(program: Program, options: Options = STOCK) -> list[Model]:
    """The models, with ``options``, that know every instruction of ``program``."""
    chosen = [asked(name, options) for name in NAMES]
    return [each for each in chosen if not each.refusals(program)]


def of_others(rule: str, names: Iterable[str]) -> list[str]:
    """The models that have a ``rule``, other than those with ``names``."""
    return [name for name, entry in MODELS.items() if name not in set(names) and rule in entry.rules()]


def _no_rule(rule: str, entries: Sequence[Known]) -> str:
    """A message that none of the models has the ``rule``."""
    rules = list(dict.fromkeys(rule for entry in entries for rule in entry.rules()))
    names = list(dict.fromkeys(entry.name for entry in entries if entry.rules()))
    what = f"{names[0]} has no rule {rule!r}" if len(names) == 1 else f"no rule {rule!r}"
    if others := of_others(rule, names):
        return f"{what}; it is a rule of {' and '.join(others)}"
    return f"{what}; {did_you_mean(rule, rules, 0.4) or f'there is {_some(rules)}'}"


def _no_semantics(wanted: str, entries: Sequence[Known]) -> str:
    """A message that none of the models has a semantics with the name ``wanted``."""
    of = {each: entry.name for entry in entries for each in entry.semantics}
    near = did_you_mean(wanted, of)
    return f"no model has a semantics {wanted!r}; {near or f'there is {_some(list(of))}'}"


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:MOST_NAMED])}{', ...' * (len(names) > MOST_NAMED)}"


def _takers(option: str) -> str:
    return " or ".join(name for name, entry in MODELS.items() if option in entry.options)
