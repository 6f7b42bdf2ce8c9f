// Checks of exercises that are solved without code: an interpreter for the part of the code cells' language that
// lessons use in checks, over the live tensors: numbers, words, tensors and their entries, `let`, `if`, `for`,
// comparisons, arithmetic with `@`, and the functions below. The program has parsed the text into a tree: a node is an
// array of an operation and its operands. The results are those of the program; everything else is refused with a message.
"use strict";

const Code = (() => {
  /** The largest number of steps for one piece of code; a check needs some hundreds. */
  const STEPS_MAX = 200000;
  /** The largest number of entries to compute; a check needs some thousands. */
  const ENTRIES_MAX = 5000000;
  let entries = 0;

  /** Counts entries before they are computed. */
  function charge(count) {
    entries += count;
    if (!(entries <= ENTRIES_MAX)) throw new Error("the check takes too long");
  }

  // A value is a whole number (a bigint), a number, a text, true or false, a list, a range, or a tensor: its shape, its
  // numbers row by row, and for each axis the names of its entries or null.
  const tensor = (shape, data, names = shape.map(() => null)) => ({ shape, data, names });
  const isTensor = (x) => x !== null && typeof x === "object" && Array.isArray(x.shape);
  const size = (shape) => shape.reduce((a, b) => a * b, 1);
  const scalar = (x) => (x.shape.length === 0 ? x.data[0] : x);

  const WHOLE_MAX = 2n ** 63n - 1n;
  /** Returns a whole number, or throws if it exceeds the program's limits. */
  function whole(x) {
    if (x > WHOLE_MAX || x < -WHOLE_MAX - 1n) throw new Error("a whole number is too large");
    return x;
  }

  /** Returns the type of a value as a letter, as in the table of functions. */
  function kindOf(x) {
    if (isTensor(x)) return "T";
    if (Array.isArray(x)) return "l";
    return { bigint: "i", number: "f", string: "s", boolean: "b", undefined: "u" }[typeof x] || "r";
  }
  const KINDS = { T: "a tensor", l: "a list", i: "a whole number", f: "a number", s: "a text", b: "true or false", u: "nothing", r: "a range" };
  const named = (...values) => values.map((x) => KINDS[kindOf(x)]).join(" and ");
  const isNumber = (x) => typeof x === "bigint" || typeof x === "number";

  /** Returns the common axes of two tensors in an entrywise operation: a missing first axis, or one of length 1, is repeated. */
  function commonAxes(a, b) {
    const rank = Math.max(a.shape.length, b.shape.length);
    const axis = (x, i) => {
      const at = i + x.shape.length - rank;
      return at < 0 ? { length: 1, names: null } : { length: x.shape[at], names: x.names[at] };
    };
    return Array.from({ length: rank }, (_, i) => {
      const [left, right] = [axis(a, i), axis(b, i)];
      if (left.length === right.length) return { length: left.length, names: commonNames(left.names, right.names) };
      if (left.length === 1) return right;
      if (right.length === 1) return left;
      throw new Error("the shapes do not match");
    });
  }

  const isSameList = (a, b) => a === b || (a !== null && b !== null && a.length === b.length && a.every((x, i) => x === b[i]));
  const commonNames = (a, b) => (a === null ? b : b === null || isSameList(a, b) ? a : null);

  /** Applies a function to each pair of entries. */
  function each(a, b, with_) {
    const of_ = (x) => (isTensor(x) ? x : tensor([], [Number(x)]));
    const [left, right] = [of_(a), of_(b)];
    const axes = commonAxes(left, right);
    const shape = axes.map(({ length }) => length);
    charge(size(shape));
    const strides = (x) => {
      let stride = 1;
      const found = shape.map(() => 0);
      for (let i = x.shape.length - 1; i >= 0; i--) {
        found[i + shape.length - x.shape.length] = x.shape[i] === 1 ? 0 : stride;
        stride *= x.shape[i];
      }
      return found;
    };
    const [ofLeft, ofRight] = [strides(left), strides(right)];
    const data = Array.from({ length: size(shape) }, (_, flat) => {
      let [rest, i, j] = [flat, 0, 0];
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        const at = rest % shape[axis];
        rest = Math.floor(rest / shape[axis]);
        [i, j] = [i + at * ofLeft[axis], j + at * ofRight[axis]];
      }
      return with_(left.data[i], right.data[j]);
    });
    return tensor(shape, data, axes.map(({ names }) => names));
  }

  const map = (x, f) => tensor(x.shape, Array.from(x.data, f), x.names);
  /** Makes a function of a number into one that also applies to each entry of a tensor. */
  const entrywise = (f) => ({ T: (x) => map(x, f), n: (x) => f(Number(x)) });

  /** Returns the rows of the last axis. */
  function rowsOf(x) {
    const width = x.shape[x.shape.length - 1];
    return Array.from({ length: size(x.shape.slice(0, -1)) }, (_, i) => Array.from(x.data.slice(i * width, (i + 1) * width)));
  }

  /** Makes a function of a row into one that reduces each row of a tensor to a number. */
  const reduced = (f) => ({ T: (x) => scalar(tensor(x.shape.slice(0, -1), rowsOf(x).map(f), x.names.slice(0, -1))) });

  /** Returns a @ b; vectors have one axis. */
  function product(a, b) {
    const [left, right] = [a.shape.length === 1 ? [1, ...a.shape] : a.shape, b.shape.length === 1 ? [...b.shape, 1] : b.shape];
    const [n, k, m] = [left[0], left[1], right[1]];
    if (left.length !== 2 || right.length !== 2 || k !== right[0]) throw new Error("cannot multiply these shapes");
    charge(n * k * m);
    const data = [];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        let sum = 0;
        for (let d = 0; d < k; d++) sum += a.data[i * k + d] * b.data[d * m + j];
        data.push(sum);
      }
    }
    const shape = [...(a.shape.length === 1 ? [] : [n]), ...(b.shape.length === 1 ? [] : [m])];
    const names = [...(a.shape.length === 1 ? [] : [a.names[0]]), ...(b.shape.length === 1 ? [] : [b.names[1]])];
    return scalar(tensor(shape, data, names));
  }

  /** Returns the index of a word on an axis. A word that occurs several times is identified by a number: apple1. */
  function placeOf(names, word) {
    const plain = (label) => label.replace(/[₀-₉]/g, (digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit));
    const all = names || [];
    const own = all.indexOf(word);
    const place = own >= 0 ? own : all.findIndex((label) => /[₀-₉]$/.test(label) && plain(label) === word);
    if (place < 0) throw new Error(`there is no ${word}`);
    return place;
  }

  /** Returns the index of a number on an axis; a negative number counts from the end. */
  function placeAt(length, at) {
    const place = Number(at < 0n ? BigInt(length) + at : at);
    if (!(place >= 0 && place < length)) throw new Error(`there is no ${at}`);
    return place;
  }

  /** Returns the indices on an axis that an index expression selects. */
  function picked(length, names, pick) {
    switch (kindOf(pick)) {
      case "s":
        return { places: [placeOf(names, pick)] };
      case "i":
        return { places: [placeAt(length, pick)] };
      case "r": {
        const [from, to] = [Number(pick.from), pick.to === null ? length : Number(pick.to)];
        if (!(from >= 0 && from <= to && to <= length)) throw new Error(`there is no ${from}..${to}`);
        return { places: Array.from({ length: to - from }, (_, i) => from + i), isRange: true };
      }
      default:
        throw new Error(`${named(pick)} is not an index`);
    }
  }

  const ALL = { from: 0n, to: null };

  /** Returns what an index selects on each axis of a tensor, and the offsets of these entries; the index of an only head may be left out. */
  function selected(x, given) {
    if (!isTensor(x)) throw new Error(`${named(x)} has no such entries`);
    const isOfHead = x.shape.length === 3 && x.shape[0] === 1 && (given.length === 2 || typeof given[0] === "string");
    const picks = isOfHead ? [0n, ...given] : given;
    if (picks.length > x.shape.length) throw new Error("there are more indices than axes");
    const all = x.shape.map((length, axis) => picked(length, x.names[axis], axis < picks.length ? picks[axis] : ALL));
    charge(all.reduce((count, { places }) => count * places.length, 1));
    let offsets = [0];
    x.shape.forEach((n, axis) => (offsets = offsets.flatMap((before) => all[axis].places.map((place) => before * n + place))));
    const kept = all.map((pick, axis) => ({ ...pick, axis })).filter((pick) => pick.isRange);
    return { kept, shape: kept.map(({ places }) => places.length), offsets };
  }

  const isItem = (x, given) => Array.isArray(x) && given.length === 1 && kindOf(given[0]) === "i";

  /** Indexes a list, or a tensor by position, name or range. */
  function index(x, given) {
    if (isItem(x, given)) return x[placeAt(x.length, given[0])];
    const { kept, shape, offsets } = selected(x, given);
    const names = kept.map(({ places, axis }) => x.names[axis] && places.map((place) => x.names[axis][place]));
    return scalar(tensor(shape, offsets.map((at) => x.data[at]), names));
  }

  /** Returns a copy of a list or a tensor in which the indexed entries are replaced: by one number, or by as many as there are entries. */
  function replaced(x, given, by) {
    if (isItem(x, given)) {
      const place = placeAt(x.length, given[0]);
      return x.map((item, i) => (i === place ? by : item));
    }
    const { shape, offsets } = selected(x, given);
    if (!isNumber(by) && !(isTensor(by) && isSameList(by.shape, shape))) throw new Error(`${named(by)} does not fit into these entries`);
    charge(x.data.length);
    const data = Array.from(x.data);
    offsets.forEach((at, i) => (data[at] = isTensor(by) ? by.data[i] : Number(by)));
    return tensor(x.shape, data, x.names);
  }

  const norm = (row) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
  /** Returns the cosine of two vectors, or 0 if one is zero. */
  function cosine(a, b) {
    if (a.shape.length !== 1 || b.shape.length !== 1 || a.shape[0] !== b.shape[0]) throw new Error("cosine is of two vectors of one length");
    const lengths = norm(a.data) * norm(b.data);
    return lengths === 0 ? 0 : product(a, b) / lengths;
  }

  const count = (n) => {
    if (n < 0n) throw new Error(`${n} is not a count`);
    return Number(n);
  };
  function filled(shape, f) {
    const lengths = shape.map(count);
    charge(size(lengths));
    return tensor(lengths, Array.from({ length: size(lengths) }, (_, at) => f(at)));
  }
  const filledWith = (x) => ({ i: (n) => filled([n], () => x), ii: (n, m) => filled([n, m], () => x) });

  /** Returns the numbers of a list or a vector. */
  function numbers(list) {
    if (isTensor(list) && list.shape.length === 1) return Array.from(list.data);
    if (!Array.isArray(list) || !list.every(isNumber)) throw new Error("expected a list of numbers");
    return list.map(Number);
  }

  function matrix(list) {
    const all = list.map(numbers);
    const width = all.length === 0 ? 0 : all[0].length;
    if (all.some((row) => row.length !== width)) throw new Error("the rows of a matrix have one length");
    return tensor([all.length, width], all.flat());
  }

  /** The number from which every double is a whole number. */
  const WHOLE = 2 ** 52;

  /** Rounds a number to so many decimals, or to tens and hundreds for a negative count; halves are rounded away from 0. */
  function rounded(x, digits) {
    const scale = 10 ** Math.min(Math.abs(digits), 308);
    const scaled = digits < 0 ? x / scale : x * scale;
    if (!(Math.abs(scaled) < WHOLE)) return x;
    const nearest = Math.sign(scaled) * Math.round(Math.abs(scaled));
    return digits < 0 ? nearest * scale : nearest / scale;
  }

  /** Returns the larger number; NaN counts as largest, so that it is not hidden. */
  const larger = (a, b) => (Number.isNaN(a) || a > b ? a : b);
  const smaller = (a, b) => -larger(-a, -b);
  const extreme = (of, end, ofWhole) => ({
    ...reduced((row) => row.reduce(of, end)),
    ii: (a, b) => (ofWhole(a, b) ? a : b),
    nn: (a, b) => of(Number(a), Number(b)),
  });

  function argmax(x) {
    const names = x.names[x.names.length - 1];
    const best = (row) => {
      if (row.length === 0) throw new Error("argmax: there are no entries");
      if (row.some(Number.isNaN)) throw new Error("argmax: an entry is NaN, so none is the largest");
      const place = row.reduce((most, value, at) => (value > row[most] ? at : most), 0);
      return names ? names[place] : BigInt(place);
    };
    const found = rowsOf(x).map(best);
    return x.shape.length === 1 ? found[0] : found;
  }

  function transposed(x) {
    if (x.shape.length < 2) return x;
    if (x.shape.length > 2) throw new Error(".T of three axes is not read here");
    const [n, m] = x.shape;
    return tensor([m, n], Array.from({ length: n * m }, (_, at) => x.data[(at % n) * m + Math.floor(at / n)]), [x.names[1], x.names[0]]);
  }

  /** The functions by the types of their arguments, named as in `kindOf`; `n` is any number. */
  const FUNCTIONS = {
    max: extreme(larger, -Infinity, (a, b) => a > b),
    min: extreme(smaller, Infinity, (a, b) => a < b),
    sum: reduced((row) => row.reduce((a, b) => a + b, 0)),
    mean: reduced((row) => row.reduce((a, b) => a + b, 0) / row.length),
    norm: reduced(norm),
    abs: entrywise(Math.abs),
    sqrt: entrywise(Math.sqrt),
    exp: entrywise(Math.exp),
    log: entrywise(Math.log),
    tanh: entrywise(Math.tanh),
    relu: entrywise((x) => (x < 0 ? 0 : x)),
    round: { Ti: (x, digits) => map(x, (entry) => rounded(entry, Number(digits))), fi: (x, digits) => rounded(x, Number(digits)), f: (x) => rounded(x, 0) },
    cosine: { TT: cosine },
    dot: { TT: product },
    T: { T: transposed },
    softmax: { T: (x) => tensor(x.shape, rowsOf(x).flatMap((row) => Engine.softmax(row)), x.names) },
    argmax: { T: argmax },
    shape: { T: (x) => x.shape.map(BigInt) },
    vector: { l: (list) => tensor([list.length], numbers(list)) },
    matrix: { l: matrix },
    eye: { i: (n) => filled([n, n], (at) => (at % (Number(n) + 1) === 0 ? 1 : 0)) },
    zeros: filledWith(0),
    ones: filledWith(1),
  };

  function call(name, given) {
    if (!Object.prototype.hasOwnProperty.call(FUNCTIONS, name)) throw new Error(`${name}(…) is not known here`);
    const kinds = given.map(kindOf).join("");
    const forms = FUNCTIONS[name];
    const found = [kinds, kinds.replace(/[if]/g, "n")].find((form) => Object.prototype.hasOwnProperty.call(forms, form));
    if (found === undefined) throw new Error(`${name}(…) does not take ${given.length === 0 ? "nothing" : named(...given)}`);
    return forms[found](...given);
  }

  /** The operators, which bigints and numbers share. */
  const ARITHMETIC = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b };

  /** Applies an arithmetic operator: whole numbers stay whole, tensors are computed entrywise, and texts can be joined. */
  function computed(sign, a, b) {
    const of_ = ARITHMETIC[sign];
    const kinds = kindOf(a) + kindOf(b);
    if (kinds === "ii") {
      if ((sign === "/" || sign === "%") && b === 0n) throw new Error("a whole number cannot be divided by 0");
      return whole(of_(a, b));
    }
    if (isNumber(a) && isNumber(b)) return of_(Number(a), Number(b));
    if (["TT", "Ti", "Tf", "iT", "fT"].includes(kinds)) return each(a, b, of_);
    if (sign === "+" && (kinds === "ss" || kinds === "si")) return a + b;
    throw new Error(`${sign} is not of ${named(a, b)}`);
  }

  /** Returns the relative difference of two numbers. Numbers that differ only by rounding count as equal. */
  function excess(a, b) {
    const [x, y] = [Number(a), Number(b)];
    return (x - y) / (x * y === 0 ? 1 : Math.max(Math.abs(x), Math.abs(y)));
  }

  const isWhole = (a, b) => typeof a === "bigint" && typeof b === "bigint";

  /** Compares by value: tensors with their names, lists item by item; NaN is not equal to itself. */
  function isEqual(a, b) {
    if (isNumber(a) && isNumber(b)) return isWhole(a, b) ? a === b : Math.abs(excess(a, b)) <= Number.EPSILON;
    if (kindOf(a) !== kindOf(b)) return false;
    switch (kindOf(a)) {
      case "T":
        return isSameList(a.shape, b.shape) && a.names.every((names, axis) => isSameList(names, b.names[axis])) && Array.from(a.data).every((x, i) => x === b.data[i]);
      case "l":
        return a.length === b.length && a.every((x, i) => isEqual(x, b[i]));
      case "r":
        throw new Error("ranges are not compared here");
      default:
        return a === b;
    }
  }

  const ORDER = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b };
  const REAL_ORDER = {
    "<": (a, b) => excess(b, a) > Number.EPSILON,
    ">": (a, b) => excess(a, b) > Number.EPSILON,
    "<=": (a, b) => excess(b, a) > -Number.EPSILON,
    ">=": (a, b) => excess(a, b) > -Number.EPSILON,
    // Comparisons with NaN are false, including this one.
    "!=": (a, b) => Math.abs(excess(a, b)) > Number.EPSILON,
  };

  function compared(sign, a, b) {
    if (sign === "==") return isEqual(a, b);
    if (isNumber(a) && isNumber(b) && !isWhole(a, b)) return REAL_ORDER[sign](a, b);
    if (sign === "!=") return !isEqual(a, b);
    if (isWhole(a, b) || (typeof a === "string" && typeof b === "string")) return ORDER[sign](a, b);
    throw new Error(`${sign} is not of ${named(a, b)}`);
  }

  function isTrue(x) {
    if (typeof x !== "boolean") throw new Error(`expected true or false, and found ${named(x)}`);
    return x;
  }

  /** Nested scopes of names: a name defined in a block is removed at the block's end. */
  class Scope {
    constructor(names, outer = null) {
      Object.assign(this, { names, outer });
    }

    holder(name) {
      return this.names.has(name) ? this : this.outer && this.outer.holder(name);
    }
  }

  /** Runs a syntax tree with these names; `live` looks up a name that no `let` has defined. */
  function run(tree, names, live) {
    let steps = 0;
    entries = 0;
    let scope = new Scope(names);

    /** Evaluates something in a scope of its own. */
    function within(inner, work) {
      const outer = scope;
      scope = new Scope(inner, outer);
      try {
        return work();
      } finally {
        scope = outer;
      }
    }

    const block = (statements) => statements.reduce((_, statement) => value(statement), undefined);

    function set(name, x) {
      const holder = scope.holder(name);
      if (!holder) throw new Error(live(name) === undefined ? `${name} is not known` : "it writes to a tensor");
      holder.names.set(name, x);
    }

    /** Writes to a variable, or to entries of one: `W[i][j] = x`. */
    function write([kind, of_, indices], x) {
      if (kind === "name") set(of_, x);
      else if (kind === "index") write(of_, replaced(value(of_), indices.map(value), x));
      else throw new Error("only variables and their entries are written here");
    }

    function repeat(name, range, body) {
      if (kindOf(range) !== "r" || range.to === null) throw new Error(`for goes through a range here, not ${named(range)}`);
      for (let i = range.from; i < range.to; i++) within(new Map([[name, i]]), () => value(body));
    }

    /** Returns the value of a range's end. */
    function end(node) {
      const found = value(node);
      if (typeof found !== "bigint") throw new Error(`a range goes to a whole number, not ${named(found)}`);
      return found;
    }

    function value(node) {
      if (++steps > STEPS_MAX) throw new Error("the check takes too long");
      const [kind, a, b, c] = node;
      switch (kind) {
        case "unread":
          throw new Error(a);
        case "nothing":
          return undefined;
        case "value":
          return a;
        case "whole number":
          return BigInt(a);
        case "all":
          return ALL;
        case "list":
          return a.map(value);
        case "whole":
          return block(a);
        case "block":
          return within(new Map(), () => block(a));
        case "let":
          scope.names.set(a, value(b));
          return undefined;
        case "set":
          write(a, value(b));
          return undefined;
        case "for":
          repeat(a, value(b), c);
          return undefined;
        case "if":
          return value(isTrue(value(a)) ? b : c);
        case "name": {
          const holder = scope.holder(a);
          const found = holder ? holder.names.get(a) : live(a);
          if (found === undefined && !holder) throw new Error(`${a} is not known`);
          return found;
        }
        case "..":
          return { from: end(a), to: b && end(b) };
        case "&&":
          return isTrue(value(a)) && isTrue(value(b));
        case "||":
          return isTrue(value(a)) || isTrue(value(b));
        case "not":
          return !isTrue(value(a));
        case "negative": {
          const x = value(a);
          return isTensor(x) ? map(x, (entry) => -entry) : isNumber(x) ? (typeof x === "bigint" ? whole(-x) : -x) : computed("-", 0n, x);
        }
        case "index":
          return index(value(a), b.map(value));
        case "call":
          // A value that is only displayed need not be computed.
          return a === "show" || a === "print" ? undefined : call(a, b.map(value));
        case "@":
          return call("dot", [value(a), value(b)]);
        default:
          return kind in ARITHMETIC ? computed(kind, value(a), value(b)) : compared(kind, value(a), value(b));
      }
    }
    return value(tree);
  }

  const of = ({ rows: n, cols: m, data }, names) => tensor([n, m], Array.from(data), names);

  /** Returns a look-up of the current pass's tensors by their names in code. */
  function liveNames(state) {
    const { data, model } = state;
    const [tokens, sources] = [state.labels, state.sourceLabels];
    const heads = { Q: "query", K: "key", V: "value", S: "scores", A: "weights", M: "mix" };
    return (name) => {
      const { pass, changes } = state;
      const [, letter, number] = /^([A-Z])(?:_(\d+))?$/.exec(name) || [];
      const block = pass.blocks[number ? Number(number) - 1 : 0];
      if (heads[letter] && block) {
        const asks = block.isOfSource ? sources : tokens;
        const answers = block.isOfSource || block.config.attends_to === "source" ? sources : tokens;
        const all = block.heads.map((head) => head[heads[letter]]);
        const names = { Q: [asks, null], M: [asks, null], K: [answers, null], V: [answers, null] }[letter] || [asks, answers];
        return tensor([all.length, all[0].rows, all[0].cols], all.flatMap((part) => Array.from(part.data)), [null, ...names]);
      }
      if (name === "X") return of(pass.input, [tokens, null]);
      // The last block's output, before the norm behind it.
      if (name === "Y") return of(pass.blocks[pass.blocks.length - 1].output, [tokens, null]);
      if (name === "Z") return of(pass.logits, [pass.logits.rows === tokens.length ? tokens : null, data.classes]);
      if (name === "E") return of(model.parameters.E || model.statics, [data.vocabulary, null]);
      const first = pass.blocks[model.source_blocks];
      if (name === "visible") {
        const at = tokens.map((_, i) => tokens.map((_, j) => (first.sees(i, j) ? 1 : 0)));
        return tensor([tokens.length, tokens.length], at.flat(), [tokens, tokens]);
      }
      if (name === "temperature") return changes.temperature === null ? first.config.temperature : changes.temperature;
      const parameter = data.parameters.find(({ code }) => code === name);
      if (!parameter) return undefined;
      const found = model.parameters[parameter.symbol];
      return found.rows === 1 ? tensor([found.cols], Array.from(found.data)) : of(found, [null, null]);
    };
  }

  /** Checks an exercise. Returns for each case whether it is right, its value, and the expected value. */
  function tried({ cases, check, value, expected }, state) {
    const live = liveNames(state);
    return (cases.length > 0 ? cases : [["nothing"]]).map((setup) => {
      const given = new Map();
      run(setup, given, live);
      const of_ = (tree) => {
        try {
          return tree ? run(tree, new Map(given), live) : undefined;
        } catch (fault) {
          return undefined;
        }
      };
      const wanted = of_(expected);
      return { isRight: run(check, new Map(given), live) === true, value: of_(value), expected: wanted === undefined ? given.get("expected") : wanted };
    });
  }

  /** Evaluates a tree over the live tensors; throws an error if it is wrong or not supported. */
  const evaluate = (tree, state) => run(tree, new Map(), liveNames(state));

  return { tried, evaluate, isTensor };
})();
