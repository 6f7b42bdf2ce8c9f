// Checks of exercises that are done without code: a small part of the language of code cells, over the live tensors.
// It reads what lessons' checks are made of, and says so of the rest: numbers, words, tensors and their entries, `let`,
// `if`, `for`, comparisons, arithmetic with `@`, and the functions below.
"use strict";

const Code = (() => {
  /** Steps of one piece of code: a check takes some hundreds. */
  const STEPS_MAX = 200000;
  /** Entries that they may work out: a check takes some thousands. */
  const ENTRIES_MAX = 5000000;
  let entries = 0;

  /** Counts entries before they are worked out. */
  function charge(count) {
    entries += count;
    if (!(entries <= ENTRIES_MAX)) throw new Error("the check takes too long");
  }

  const TOKEN = /\s+|\/\/[^\n]*|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|("(?:[^"\\]|\\.)*"|`[^`]*`)|([A-Za-z_]\w*)|(\.\.=?|&&|\|\||[=!<>+\-*/]=|[-+*/%@=<>!()[\]{};,.])/gy;

  function tokens(text) {
    const found = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const at = TOKEN.lastIndex;
      const match = TOKEN.exec(text);
      if (!match) throw new Error(`unreadable at ${text.slice(at, at + 12)}`);
      const [, number, string, name, sign] = match;
      if (number !== undefined) found.push({ kind: "number", value: Number(number) });
      else if (string !== undefined) found.push({ kind: "text", value: string.slice(1, -1).replace(/\\(.)/g, "$1") });
      else if (name !== undefined) found.push({ kind: "name", value: name });
      else if (sign !== undefined) found.push({ kind: "sign", value: sign });
    }
    return found;
  }

  /** How tightly operators bind. */
  const BINDS = { "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "..": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7, "@": 7 };

  /** A syntax tree as nested arrays: an operation, then its operands. */
  function parse(text) {
    const all = tokens(text);
    let at = 0;
    const peek = (value) => at < all.length && all[at].kind !== "text" && all[at].value === value;
    const take = (value) => peek(value) && Boolean(++at);
    const need = (value) => {
      if (!take(value)) throw new Error(`expected ${value}`);
    };

    function block(isWhole) {
      const statements = [];
      while (at < all.length && !peek("}")) {
        if (take(";")) continue;
        statements.push(statement());
        // Only what stands last, without a semicolon, is the block's value.
        if (peek(";")) statements.push(["nothing"]);
      }
      if (!isWhole) need("}");
      while (statements.length > 1 && isWhole && statements[statements.length - 1][0] === "nothing") statements.pop();
      return ["block", statements];
    }

    function statement() {
      if (take("let")) {
        const name = all[at++].value;
        need("=");
        return ["let", name, expression(0)];
      }
      if (take("for")) {
        const name = all[at++].value;
        need("in");
        const range = expression(0);
        need("{");
        return ["for", name, range, block(false)];
      }
      const left = expression(0);
      for (const sign of ["+=", "-=", "*=", "/="]) {
        if (take(sign)) return ["set", left, [sign[0], left, expression(0)]];
      }
      return take("=") ? ["set", left, expression(0)] : left;
    }

    function expression(binds) {
      let left = unary();
      while (at < all.length && all[at].kind === "sign" && BINDS[all[at].value] > binds) {
        const sign = all[at++].value;
        const isOpen = sign === ".." && (peek("]") || peek(","));
        left = [sign, left, isOpen ? null : expression(BINDS[sign])];
      }
      return left;
    }

    function unary() {
      if (take("-")) return ["negative", unary()];
      if (take("!")) return ["not", unary()];
      if (take("..")) return ["..", null, peek("]") || peek(",") ? null : expression(BINDS[".."])];
      return postfix(primary());
    }

    function list(end) {
      const items = [];
      while (!take(end)) {
        items.push(expression(0));
        if (!take(",") && !peek(end)) throw new Error(`expected ${end}`);
      }
      return items;
    }

    function postfix(left) {
      for (;;) {
        if (take("[")) left = ["index", left, list("]")];
        else if (left[0] === "name" && take("(")) left = ["call", left[1], list(")")];
        else if (peek(".") && all[at + 1] && all[at + 1].value === "T") {
          at += 2;
          left = ["call", "transpose", [left]];
        } else return left;
      }
    }

    function primary() {
      const token = all[at++];
      if (!token) throw new Error("it ends too early");
      if (token.kind === "number" || token.kind === "text") return ["value", token.value];
      if (token.value === "(") {
        const inner = expression(0);
        need(")");
        return inner;
      }
      if (token.value === "[") return ["list", list("]")];
      if (token.value === "{") return block(false);
      if (token.value === "true" || token.value === "false") return ["value", token.value === "true"];
      if (token.value === "if") {
        const test = expression(0);
        need("{");
        const then = block(false);
        if (!take("else")) return ["if", test, then, ["nothing"]];
        if (peek("if")) return ["if", test, then, primary()];
        need("{");
        return ["if", test, then, block(false)];
      }
      if (token.kind !== "name") throw new Error(`unexpected ${token.value}`);
      return ["name", token.value];
    }

    return block(true);
  }

  // A tensor: its shape, its numbers row by row, and the names of each axis's entries, or null.
  const tensor = (shape, data, names = shape.map(() => null)) => ({ shape, data, names });
  const isTensor = (x) => x !== null && typeof x === "object" && Array.isArray(x.shape);
  const size = (shape) => shape.reduce((a, b) => a * b, 1);
  const scalar = (x) => (x.shape.length === 0 ? x.data[0] : x);

  /** Entry by entry; a number or a row goes with every row. */
  function each(a, b, with_) {
    if (!isTensor(a) && !isTensor(b)) return with_(a, b);
    const shaped = !isTensor(b) || (isTensor(a) && a.data.length >= b.data.length) ? a : b;
    const entry = (x, at) => (isTensor(x) ? x.data[at % x.data.length] : x);
    for (const x of [a, b]) {
      if (isTensor(x) && x.shape.some((n, i) => n !== shaped.shape[shaped.shape.length - x.shape.length + i])) throw new Error("the shapes do not match");
    }
    charge(shaped.data.length);
    return tensor(shaped.shape, Array.from(shaped.data, (_, at) => with_(entry(a, at), entry(b, at))), shaped.names);
  }

  const map = (x, f) => (isTensor(x) ? tensor(x.shape, Array.from(x.data, f), x.names) : f(x));

  /** Rows of the last axis, each to one number or to a row. */
  function rows(x, f) {
    const width = x.shape[x.shape.length - 1];
    const found = Array.from({ length: size(x.shape) / width }, (_, i) => f(x.data.slice(i * width, (i + 1) * width)));
    return scalar(tensor(x.shape.slice(0, -1), found, x.names.slice(0, -1)));
  }

  /** a @ b, where vectors have one axis. */
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

  /** Entries by place, name or range; of a single head, the head need not be said. */
  function index(x, given) {
    if (Array.isArray(x)) return x[given[0] < 0 ? x.length + given[0] : given[0]];
    let picks = given;
    if (x.shape.length === 3 && x.shape[0] === 1 && (given.length === 2 || typeof given[0] === "string")) picks = [0, ...given];
    const all = { from: 0 };
    picks = x.shape.map((n, axis) => {
      const pick = axis < picks.length ? picks[axis] : all;
      if (typeof pick === "object") {
        const [from, to] = [pick.from === null || pick.from === undefined ? 0 : pick.from, pick.to === null || pick.to === undefined ? n : pick.to];
        return { places: Array.from({ length: to - from }, (_, i) => from + i), isRange: true };
      }
      const place = typeof pick === "string" ? (x.names[axis] || []).indexOf(pick) : pick < 0 ? n + pick : pick;
      if (!(place >= 0 && place < n)) throw new Error(`there is no ${pick}`);
      return { places: [place] };
    });
    let offsets = [0];
    x.shape.forEach((n, axis) => (offsets = offsets.flatMap((before) => picks[axis].places.map((place) => before * n + place))));
    const kept = picks.map((pick, axis) => ({ ...pick, axis })).filter((pick) => pick.isRange);
    const names = kept.map(({ places, axis }) => x.names[axis] && places.map((place) => x.names[axis][place]));
    return scalar(tensor(kept.map(({ places }) => places.length), offsets.map((at) => x.data[at]), names));
  }

  const norm = (row) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
  const vector = (list) => tensor([list.length], list.slice());
  function filled(shape, f) {
    charge(size(shape));
    return tensor(shape, Array.from({ length: size(shape) }, (_, at) => f(at)));
  }

  /** From here on all numbers are whole. */
  const WHOLE = 2 ** 52;

  /** A number to so many digits behind the point, or before it where they are negative; halves away from 0. */
  function rounded(x, digits) {
    const scale = 10 ** Math.min(Math.abs(digits), 308);
    const scaled = digits < 0 ? x / scale : x * scale;
    if (!(Math.abs(scaled) < WHOLE)) return x;
    const whole = Math.sign(scaled) * Math.round(Math.abs(scaled));
    return digits < 0 ? whole * scale : whole / scale;
  }

  const FUNCTIONS = {
    max: (x, y) => (y === undefined ? rows(x, (row) => Math.max(...row)) : Math.max(x, y)),
    min: (x, y) => (y === undefined ? rows(x, (row) => Math.min(...row)) : Math.min(x, y)),
    sum: (x) => rows(x, (row) => row.reduce((a, b) => a + b, 0)),
    norm: (x) => rows(x, norm),
    abs: (x) => map(x, Math.abs),
    sqrt: (x) => map(x, Math.sqrt),
    exp: (x) => map(x, Math.exp),
    round: (x, digits = 0) => map(x, (entry) => rounded(entry, digits)),
    cosine: (a, b) => product(a, b) / norm(a.data) / norm(b.data),
    dot: product,
    softmax: (x) => {
      const width = x.shape[x.shape.length - 1];
      const found = [];
      for (let at = 0; at < x.data.length; at += width) found.push(...Engine.softmax(x.data.slice(at, at + width)));
      return tensor(x.shape, found, x.names);
    },
    argmax: (x) => {
      const names = x.names[x.names.length - 1];
      const best = (row) => {
        if (row.some(Number.isNaN)) throw new Error("argmax: an entry is NaN, so none is the largest");
        return row.indexOf(Math.max(...row));
      };
      const found = rows(x, (row) => (names ? names[best(row)] : best(row)));
      return isTensor(found) ? found.data : found;
    },
    shape: (x) => x.shape.slice(),
    vector,
    matrix: (list) => {
      const all = list.map((row) => (isTensor(row) ? Array.from(row.data) : row));
      return tensor([all.length, all[0].length], all.flat());
    },
    transpose: (x) => {
      const [n, m] = x.shape;
      return tensor([m, n], Array.from({ length: n * m }, (_, at) => x.data[(at % n) * m + Math.floor(at / n)]), [x.names[1], x.names[0]]);
    },
    eye: (n) => filled([n, n], (at) => (at % (n + 1) === 0 ? 1 : 0)),
    zeros: (...shape) => filled(shape, () => 0),
    ones: (...shape) => filled(shape, () => 1),
    show: () => null,
    print: () => null,
  };

  /** Runs a tree with these names; `live` finds a name that no `let` has given. */
  function run(tree, names, live) {
    let steps = 0;
    entries = 0;
    const operators = {
      "+": (a, b) => (typeof a === "string" || typeof b === "string" ? `${a}${b}` : each(a, b, (x, y) => x + y)),
      "-": (a, b) => each(a, b, (x, y) => x - y),
      "*": (a, b) => each(a, b, (x, y) => x * y),
      "/": (a, b) => each(a, b, (x, y) => x / y),
      "%": (a, b) => a % b,
      "@": product,
      "==": (a, b) => a === b,
      "!=": (a, b) => a !== b,
      "<": (a, b) => a < b,
      ">": (a, b) => a > b,
      "<=": (a, b) => a <= b,
      ">=": (a, b) => a >= b,
    };
    function value(node) {
      if (++steps > STEPS_MAX) throw new Error("the check takes too long");
      const [kind, a, b, c] = node;
      switch (kind) {
        case "nothing":
          return undefined;
        case "value":
          return a;
        case "list":
          return a.map(value);
        case "block":
          return a.reduce((_, statement) => value(statement), undefined);
        case "let":
          names.set(a, value(b));
          return undefined;
        case "set":
          if (a[0] !== "name") throw new Error("it writes to a tensor");
          names.set(a[1], value(b));
          return undefined;
        case "for": {
          const { from, to } = value(b);
          for (let i = from; i < to; i++) {
            names.set(a, i);
            value(c);
          }
          return undefined;
        }
        case "if":
          return value(value(a) ? b : c);
        case "name": {
          const found = names.has(a) ? names.get(a) : live(a);
          if (found === undefined) throw new Error(`${a} is not known`);
          return found;
        }
        case "..":
          return { from: a && value(a), to: b && value(b) };
        case "&&":
          return value(a) && value(b);
        case "||":
          return value(a) || value(b);
        case "not":
          return !value(a);
        case "negative":
          return map(value(a), (x) => -x);
        case "index":
          return index(value(a), b.map(value));
        case "call": {
          if (!Object.prototype.hasOwnProperty.call(FUNCTIONS, a)) throw new Error(`${a}(…) is not known`);
          // What is only shown need not be computed.
          return a === "show" || a === "print" ? undefined : FUNCTIONS[a](...b.map(value));
        }
        default:
          return operators[kind](value(a), value(b));
      }
    }
    return value(tree);
  }

  const of = ({ rows: n, cols: m, data }, names) => tensor([n, m], Array.from(data), names);

  /** The live tensors by their names in code: of the present pass. */
  function liveNames(state) {
    const { data, model } = state;
    const plain = (labels) => labels.map((label) => label.replace(/[₀-₉]/g, (digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit)));
    const tokens = plain(state.labels);
    const sources = plain(state.sourceLabels);
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
      if (name === "Y") return of(pass.output, [tokens, null]);
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

  /** An exercise as it stands: of each case whether it is right, its value, and what that is to be. */
  function tried({ cases, check, value, expected }, state) {
    const live = liveNames(state);
    return (cases.length > 0 ? cases : [""]).map((setup) => {
      const given = new Map();
      run(parse(setup), given, live);
      const of_ = (text) => {
        try {
          return text ? run(parse(text), new Map(given), live) : undefined;
        } catch (fault) {
          return undefined;
        }
      };
      const wanted = of_(expected);
      return { isRight: run(parse(check), new Map(given), live) === true, value: of_(value), expected: wanted === undefined ? given.get("expected") : wanted };
    });
  }

  return { tried, isTensor };
})();
