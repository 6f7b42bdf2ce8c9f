// Rules of quantities, as the program writes them into the page: evaluated, and written with their numbers in.
//
// A rule is an object of one field: `{ product: [a, b] }`, `{ over: { fold, letter, count, of } }` and so on; an entry has letters
// for its indices. Nothing here knows what a quantity is: `of` has the numbers, `{ entry, setting, count }`.
"use strict";

const Rules = (() => {
  /** Terms of a sum that are written out. */
  const TERMS_MAX = 4;
  /** Those that a number of single precision has. */
  const DIGITS = 7;

  const written = (x) => {
    if (x === -Infinity) return "−∞";
    const size = Math.abs(x);
    const text = size !== 0 && (size < 0.001 || size >= 1e5) ? x.toExponential(2) : x.toFixed(size < 10 ? 3 : 2);
    return text.replace("-", "−");
  };

  /** A number of the model's own, with all its digits. */
  const plain = (x) => String(Number(x.toPrecision(DIGITS))).replace("-", "−");

  const FUNCTIONS = { exp: Math.exp, tanh: Math.tanh, root: Math.sqrt, square: (x) => x * x, sin: Math.sin, cos: Math.cos };
  /** Settings that change nothing with another value than 1, or that always count. */
  const NEUTRAL = { mask: 0, seen: null, unseen: null, queries: null };

  const rounded = (x) => x.toFixed(3).replace("-", "−");

  const parts = (rule) => Object.entries(rule)[0];
  const sum = (all) => all.reduce((total, x) => total + x, 0);

  function index({ first: [, , from], letters, minus }, bound) {
    const at = from.map((number, place) => number + (letters[place] ? bound[letters[place]] : 0));
    if (minus) at[letters.length - 1] -= bound[minus];
    return at;
  }

  /** The bindings of what a fold is over. */
  const instances = ({ letter, count }, bound, of) =>
    Array.from({ length: of.count(letter) ?? count }, (_, number) => ({ ...bound, [letter]: number }));

  function value(rule, bound, of) {
    const [kind, part] = parts(rule);
    const inner = (one) => value(one, bound, of);
    switch (kind) {
      case "named": return inner(part);
      case "entry": return of.entry(part.first[0], part.first[1], index(part, bound));
      case "number": return part.setting ? of.setting(part.setting, bound) : part.value;
      case "sum": return sum(part.map(inner));
      case "difference": return inner(part[0]) - inner(part[1]);
      case "product": return part.map(inner).reduce((total, x) => total * x, 1);
      case "quotient": return inner(part[0]) / inner(part[1]);
      case "apply": return FUNCTIONS[part[0]](inner(part[1]));
      case "over": {
        const all = instances(part, bound, of).map((at) => value(part.of, at, of));
        return part.fold === "largest" ? Math.max(...all) : sum(all);
      }
      default: return NaN;
    }
  }

  /** A setting that changes nothing. */
  function isNeutral(rule, bound, of) {
    const [kind, part] = parts(rule);
    if (kind === "number") return part.setting != null && of.setting(part.setting, bound) === (part.setting in NEUTRAL ? NEUTRAL[part.setting] : 1);
    if (kind === "apply") return part[0] === "root" && isNeutral(part[1], bound, of);
    if (kind === "named") return isNeutral(part, bound, of);
    return kind === "product" && part.every((factor) => isNeutral(factor, bound, of));
  }

  /** The terms of a sum, and of the sums that it is of. */
  function terms(rule, bound, of) {
    const [kind, part] = parts(rule);
    if (kind === "named") return terms(part, bound, of);
    if (kind === "sum") return part.filter((term) => !isNeutral(term, bound, of)).flatMap((term) => terms(term, bound, of));
    if (kind === "over" && part.fold !== "largest") return instances(part, bound, of).flatMap((at) => terms(part.of, at, of));
    return [{ rule, bound, value: value(rule, bound, of) }];
  }

  function sumText(rule, bound, of) {
    const all = terms(rule, bound, of).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const first = all.slice(0, TERMS_MAX).map((term) => text(term.rule, term.bound, of)).join(" + ").replace(/\+ −/g, "− ");
    return all.length > TERMS_MAX ? `${first} + … (${all.length} terms, the largest first)` : first;
  }

  /** A factor, in brackets where it is more than a number that is not negative. */
  function factor(rule, bound, of, kinds) {
    const [kind, part] = parts(rule);
    const isOne = kind === "product" && part.filter((one) => !isNeutral(one, bound, of)).length < 2;
    return kinds.includes(kind) && !isOne ? `(${text(rule, bound, of)})` : text(rule, bound, of);
  }

  function applied([name, inner], bound, of) {
    const found = text(inner, bound, of);
    if (name === "square") return `(${found})²`;
    if (name !== "root") return `${name}(${found})`;
    return parts(inner)[0] === "number" ? `√${found}` : `√(${found})`;
  }

  /** A rule with its numbers in. */
  function text(rule, bound, of) {
    const [kind, part] = parts(rule);
    const isKept = (one) => !isNeutral(one, bound, of);
    switch (kind) {
      case "named": return text(part, bound, of);
      case "number": return plain(value(rule, bound, of));
      case "sum": case "over": return part.fold === "largest" ? written(value(rule, bound, of)) : sumText(rule, bound, of);
      case "difference": return part.map((one) => factor(one, bound, of, ["sum", "difference", "over"])).join(" − ");
      case "product": {
        const factors = part.filter(isKept).map((one) => factor(one, bound, of, ["sum", "difference", "over"]));
        return factors.map((one, nth) => (nth > 0 && one.startsWith("−") ? `(${one})` : one)).join(" · ") || "1";
      }
      case "quotient": {
        const over = factor(part[0], bound, of, ["sum", "difference", "over"]);
        return isKept(part[1]) ? `${over} / ${factor(part[1], bound, of, ["sum", "difference", "over", "product", "quotient"])}` : over;
      }
      case "apply": return applied(part, bound, of);
      default: return written(value(rule, bound, of));
    }
  }

  /** Whether all of these conditions hold. */
  const hold = (tests, bound, of) =>
    tests.every((test) => {
      const [kind, part] = parts(test);
      if (kind === "fact") return of.fact(part, bound);
      if (kind === "not") return !hold([part], bound, of);
      const found = value(part[0], bound, of);
      return kind === "equal" ? found === part[1] : found < part[1];
    });

  /** Returns the first of the choices `[conditions, choice]` of which the conditions hold. */
  const chosen = (choices, bound, of) => choices.find(([when]) => hold(when, bound, of))[1];

  /** Fills the slots of a clause; a name that is no slot stands for a word. */
  const filled = ({ text, slots = [] }, bound, of) => {
    const own = new Map(slots);
    return text.replace(/\{(\w+)\}/g, (_, name) => (own.has(name) ? slot(own.get(name), bound, of) : of.word(name, bound)));
  };

  function slot(filling, bound, of) {
    const [kind, part] = parts(filling);
    if (kind !== "largest") return (kind === "rounded" ? rounded : plain)(value(part, bound, of));
    const { over, most, each, between, rest } = part;
    const all = instances(over, bound, of).map((at) => ({ at, size: value(over.of, at, of) })).sort((a, b) => b.size - a.size);
    return all.slice(0, most).map(({ at }) => filled(each, at, of)).join(between) + (all.length > most ? rest : "");
  }

  /** The clauses that hold, with their slots filled. */
  const spoken = (clauses, bound, of) => clauses.filter(({ when = [] }) => hold(when, bound, of)).map((clause) => filled(clause, bound, of));

  /** `s = 0.437 / √3 = 0.252`; without the rule of a number that is given, or not finite. */
  function equation({ symbol, rules }, bound, of, given) {
    const rule = chosen(rules, bound, of);
    const computed = value(rule, bound, of);
    const shown = written(Number.isNaN(computed) ? given() : computed);
    return Number.isFinite(computed) ? `${symbol} = ${text(rule, bound, of)} = ${shown}` : `${symbol} = ${shown}`;
  }

  return { value, chosen, spoken, equation, written, rounded };
})();
