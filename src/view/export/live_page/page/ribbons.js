// The numbers of the walk's current step as ribbons of cells, as on the program's stage: a cell is filled for a
// positive number and hollow for a negative one, and covers a larger area the larger the number. The result of a step
// grows while the walk approaches it.
"use strict";

const Ribbons = (() => {
  /** The largest numbers of cells in a ribbon, of cells that still show numbers, and of values or heads that get a ribbon. */
  const [CELLS, NUMBERED, LARGEST] = [128, 6, 3];

  const number = (x, digits = 2) => x.toFixed(digits).replace("-", "−").replace("Infinity", "∞");
  const largest = (values) => Math.max(Number.MIN_VALUE, ...values.filter(Number.isFinite).map(Math.abs));
  const { order, norm } = Engine;

  const vector = (letter, label, values, hue, isMade = true) => ({ letter, label, values: Array.from(values), hue, isMade, times: 1 });
  const bars = (letter, values, words, most, sum) => ({ form: "bars", letter, values, words, most, sum });

  /** Returns the contributions of a layer's heads to a query: the chosen head first, then the longest ones. */
  function added(state, { step, own }, i) {
    const all = step.heads.map((head) => Engine.added(head, i));
    const lengths = all.map(norm);
    const ranks = lengths.map((length, h) => (h === own ? Infinity : length));
    const title = (h) => state.data.heads[step.firstHead + h].title.toLowerCase();
    const shown = order(ranks).filter((h) => lengths[h] > 0).slice(0, LARGEST);
    return shown.map((h) => vector(`+ head ${h + 1}`, title(h), all[h], `head-${h % Colors.HEADS}`));
  }

  /** Returns the lines of a step and the text below them; null for a step that shows nothing. */
  function card(state, at) {
    const head = state.pass.heads[state.head];
    const { i, j, query, keys } = state.actions.chosen();
    const [weights, scores] = [head.weights, head.scores].map((matrix) => Array.from(Engine.row(matrix, i)));
    const [q, k] = [Engine.row(head.query, i), Engine.row(head.key, j)];
    const products = keys.map((_, key) => Engine.dot(q, Engine.row(head.key, key)));
    const ofQuery = (isMade) => vector(`q ${query}`, `q(${query})`, q, "query", isMade);
    const ofKey = (isMade) => vector(`k ${keys[j]}`, `k(${keys[j]})`, k, "key", isMade);
    const ofValue = (key, isMade) => vector(`v ${keys[key]}`, `v(${keys[key]})`, Engine.row(head.value, key), "value", isMade);
    const ofMix = (isMade) => vector("mix", `mix(${query})`, Engine.row(head.mix, i), "value", isMade);
    const ofBlock = (letter, matrix, isMade) => vector(`${letter} ${query}`, `${letter}(${query})`, Engine.row(matrix, i), "ink-soft", isMade);
    const steps = [
      () => null,
      () => [[ofQuery(), ofKey(), ofValue(j)], "Each cell is a number; hollow cells are negative"],
      () => {
        const terms = Array.from(q, (x, d) => x * k[d]);
        const sum = bars("q · k", terms, [...terms.keys()], largest(terms), products[j]);
        return [[ofQuery(false), ofKey(false), sum], `${terms.length} products, and their sum`];
      },
      () => {
        const { distances, score_cap: cap } = head.step.config;
        const terms = [head.scaled, head.near].map((term) => keys.map((_, key) => term(i, key)));
        const biased = distances == null && cap == null ? [] : [["scaled", terms[0]], ...(distances == null ? [] : [["+ distance", terms[1]]])];
        const rows = [["q · k", products], ...biased, ["score", scores]];
        const lines = rows.map(([letter, values]) => bars(letter, values, keys, largest(products), values[j]));
        return [lines, `One bar for each word; on the right, the number for “${keys[j]}”`];
      },
      () => [[{ form: "shares", letter: "weight", values: weights, words: keys }], "The weights sum to 1"],
      () => {
        const carried = order(weights).filter((key) => weights[key] > 0).slice(0, LARGEST);
        const letter = (key) => `${number(weights[key])} v ${keys[key]}`;
        const values = carried.map((key) => ({ ...ofValue(key, false), letter: letter(key), times: weights[key] }));
        const isPart = carried.length < keys.length;
        return [[...values, ofMix()], isPart ? "The largest terms; the mix is the sum of all terms" : "Their sum is the mix"];
      },
      () => {
        const heads = added(state, head, i);
        if (heads.length === 0) return null;
        const mixes = head.step.heads.map((one) => Array.from(Engine.row(one.mix, i)));
        const [from, to] = [mixes.flat().length, heads[0].values.length];
        if (mixes.length === 1) {
          return [[ofMix(false), ...heads], `The ${from} numbers of the mix become ${to} numbers that are added`];
        }
        const joined = { ...vector(`mix 1 … ${mixes.length}`, `mix(${query})`, mixes.flat(), "value", false), every: mixes[0].length };
        const said = `The ${mixes.length} mixes, placed end to end, have ${from} numbers; each head adds ${to} numbers`;
        return [[joined, ...heads], said];
      },
      () => {
        const [before, after] = [ofBlock("x", head.step.input, false), ofBlock("y", head.step.output)];
        const { residual } = head.step.config;
        const said = residual ? "The input, what is added to it, and the output" : "What the heads add, and the output";
        return [[...(residual ? [before] : []), ...added(state, head, i), after], said];
      },
    ];
    return steps[at]();
  }

  const { element } = Dom;

  /** Fills a vector's cells; each number is multiplied by a share. */
  function paint(cells, { values, label, hue }, times) {
    const most = largest(values);
    cells.forEach((cell, at) => {
      const x = values[at] * times;
      const fill = Colors.cell(hue, Math.abs(x) / most);
      const [backgroundColor, color] = x < 0 ? ["", ""] : [fill, Colors.inkOn(fill)];
      Object.assign(cell.style, { borderColor: fill, backgroundColor, color });
      cell.textContent = values.length <= NUMBERED ? number(x) : "";
      cell.title = `${label}[${at}] = ${number(values[at], 4)}`;
    });
  }

  /** Draws bars with heights relative to the largest number, or weights side by side with proportional widths. */
  function measure(cells, { form, letter, values, words, most = 1 }) {
    cells.forEach((cell, at) => {
      const x = values[at];
      cell.title = `${letter}, ${words[at]}: ${number(x, 4)}`;
      cell.classList.toggle("negative", x < 0);
      cell.style.setProperty("--share", Number.isFinite(x) ? Math.min(Math.abs(x) / most, 1) : 0);
      if (form === "bars") return;
      const fill = Colors.cell("query", x);
      Object.assign(cell.style, { backgroundColor: fill, color: Colors.inkOn(fill) });
      cell.append(element("span", words[at]));
    });
  }

  function create(root, state) {
    let shown = [];

    function line(row) {
      const found = element("div", "", row.isMade ? "ribbon made" : "ribbon");
      const [name, frame] = [element("b", row.letter), element("span", "", row.form || "cells")];
      const isDivided = (at) => row.every && at > 0 && at % row.every === 0;
      const cells = row.values.slice(0, CELLS).map((_, at) => element("i", "", isDivided(at) ? "division" : ""));
      name.style.color = row.hue ? `var(--${row.hue})` : "";
      frame.style.setProperty("--count", cells.length);
      frame.append(...cells);
      found.append(name, frame);
      if (row.form === "bars") found.append(element("output", number(row.sum)));
      if (row.form) measure(cells, row);
      else paint(cells, row, 1);
      root.append(found);
      return { row, cells };
    }

    function build() {
      const { step } = state.actions.walked();
      const found = state.isWalked ? card(state, step) : null;
      root.hidden = !found;
      root.replaceChildren();
      shown = found ? found[0].map(line) : [];
      if (found) root.append(element("p", found[1], "said"));
      root.setAttribute("aria-label", found ? `${state.steps[step]}: ${found[1]}` : "");
    }

    const seen = () => [state.pass, state.isWalked, state.isWalked && state.actions.walked().step, state.head, state.query, state.key];
    const follow = State.whenChanged(seen, build);
    function show() {
      follow();
      const { grown } = state.actions.walked();
      root.style.setProperty("--grown", grown);
      shown.filter(({ row }) => row.times < 1).forEach(({ row, cells }) => paint(cells, row, 1 + (row.times - 1) * grown));
    }

    state.actions.on("pass", show);
    state.actions.on("view", show);
    // A change of the theme draws everything again.
    return { redraw: () => [build, show].forEach((draw) => draw()) };
  }

  return { create };
})();
