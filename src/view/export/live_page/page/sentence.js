// The sentence as a line of words, with the weights of the chosen word as arcs above it. If the model has a source, its
// words are shown above as another line.
"use strict";

const Sentence = (() => {
  // Arcs as in the program: the width at weight 0, the additional width at weight 1, the share below which an arc is
  // faint, and the opacity of a faint one.
  const [THIN, WEIGHT_WIDTH, FAINT_BELOW, FAINT] = [0.6, 8, 0.05, 0.14];
  const ARC_HEIGHT = 46;
  const SVG = "http://www.w3.org/2000/svg";

  function create(root, state) {
    const { data, actions } = state;
    const line = (side, label) => {
      const list = Dom.element("div", "", "words");
      list.setAttribute("role", "group");
      list.setAttribute("aria-label", label);
      root.append(list);
      return { side, list };
    };
    const source = data.rewriter ? line("source", "The sentence that the model reads") : null;
    const arcs = document.createElementNS(SVG, "svg");
    arcs.classList.add("arcs");
    arcs.setAttribute("aria-hidden", "true");
    root.append(arcs);
    const own = line("sentence", data.rewriter ? "The sentence that the model writes" : "The sentence");

    function fill({ side, list }, words, tokens) {
      const buttons = words.map((text, position) => {
        const chosen = () => actions.look(side === "sentence" ? { query: position, key: null } : { key: position });
        const button = Dom.button(text, chosen);
        button.dataset.position = position;
        button.title = side === "sentence" ? `Show where ${text} looks` : text;
        const group = tokens[position] === null ? null : data.group_of[tokens[position]];
        button.style.setProperty("--hue", group === null ? "var(--ink)" : `var(--group-${group % 8})`);
        const hover = (hovered) => () => actions.look({ hovered });
        button.addEventListener("pointerenter", hover({ side, position }));
        button.addEventListener("focus", hover({ side, position }));
        button.addEventListener("pointerleave", hover(null));
        button.addEventListener("blur", hover(null));
        return button;
      });
      // If the sentence is the same, its focused word keeps the focus.
      const focused = list.contains(document.activeElement) ? document.activeElement.dataset.position : null;
      list.replaceChildren(...buttons);
      if (focused !== null && buttons[focused]) buttons[focused].focus();
    }

    let shown = "";
    function build() {
      const now = JSON.stringify([state.labels, state.sourceLabels]);
      if (now !== shown) {
        shown = now;
        fill(own, state.labels, state.pass.tokens);
        if (source) fill(source, state.sourceLabels, state.pass.source);
      }
      look();
    }

    const placeOf = (button) => {
      const [box, frame] = [button.getBoundingClientRect(), arcs.getBoundingClientRect()];
      return { x: box.left + box.width / 2 - frame.left, top: box.top - frame.top, bottom: box.bottom - frame.top, width: box.width };
    };

    /** Scrolls the chosen word into view if the line is longer than its frame. */
    function follow() {
      const { list } = own;
      const word = list.children[state.query];
      list.scrollLeft = word.offsetLeft - (list.clientWidth - word.offsetWidth) / 2;
    }

    /** Draws the arcs of the chosen word in all heads of the chosen head's layer. */
    function look() {
      const { pass, query, hovered } = state;
      const chosen = pass.heads[state.head];
      const isOfSource = chosen.step.isOfSource;
      const looksAtSource = isOfSource || chosen.step.config.attends_to === "source";
      const queries = (isOfSource ? source : own).list.children;
      const keys = (looksAtSource ? source : own).list.children;
      const row = isOfSource ? Math.min(state.key || 0, queries.length - 1) : query;
      const paths = [];
      chosen.step.heads.forEach((head, h) => {
        const weights = Engine.row(head.weights, row);
        const isOn = actions.isOn(chosen.step.firstHead + h);
        const shift = 3 * (h - (chosen.step.heads.length - 1) / 2);
        weights.forEach((weight, j) => {
          if (!isOn || weight < 0.004 || !keys[j] || !queries[row]) return;
          const [from, to] = [placeOf(queries[row]), placeOf(keys[j])];
          const path = document.createElementNS(SVG, "path");
          const [a, b] = [from.x + shift, to.x + shift];
          if (queries !== keys) {
            path.setAttribute("d", `M${a} ${from.top} C${a} ${(from.top + to.bottom) / 2} ${b} ${(from.top + to.bottom) / 2} ${b} ${to.bottom}`);
          } else if (row === j) {
            const [w, up] = [Math.min(from.width * 0.3, 12), 20];
            path.setAttribute("d", `M${a - w} ${from.top} C${a - w} ${from.top - up} ${a + w} ${from.top - up} ${a + w} ${from.top}`);
          } else {
            const up = ARC_HEIGHT * (0.34 + 0.66 * Math.sqrt(Math.abs(b - a) / Math.max(arcs.clientWidth, 1))) * (4 / 3);
            path.setAttribute("d", `M${a} ${from.top} C${a} ${from.top - up} ${b} ${to.top - up} ${b} ${to.top}`);
          }
          const isKey = state.key === j && chosen.step.firstHead + h === state.head;
          path.setAttribute("stroke-width", THIN + WEIGHT_WIDTH * weight);
          path.setAttribute("stroke-opacity", isKey ? 1 : weight < FAINT_BELOW ? FAINT : Math.sqrt(weight));
          path.setAttribute("stroke", isKey ? Colors.of("ink") : Colors.head(h));
          path.setAttribute("fill", "none");
          paths.push(path);
        });
      });
      arcs.replaceChildren(...paths);
      for (const { side, list } of [own, source].filter(Boolean)) {
        [...list.children].forEach((button, position) => {
          const word = side === "sentence" ? pass.tokens[position] : pass.source[position];
          const isHovered =
            hovered && (hovered.word !== undefined ? hovered.word === word : hovered.side === side && hovered.position === position);
          button.classList.toggle("hovered", Boolean(isHovered));
          button.classList.toggle("chosen", side === "sentence" && position === query);
          button.setAttribute("aria-pressed", String(side === "sentence" && position === query));
          button.classList.toggle("quiet", state.lit.length > 0 && !state.lit.includes(data.vocabulary[word]));
        });
      }
    }

    actions.on("pass", build);
    actions.on("view", State.whenChanged(() => [state.query, state.labels], follow));
    actions.on("view", State.whenChanged(() => [state.pass, state.query, state.key, state.head, state.hovered, state.lit], look));
    new ResizeObserver(look).observe(root);
    [own, source].filter(Boolean).forEach(({ list }) => list.addEventListener("scroll", look));
    build();
    return { look };
  }

  /** Returns the number of typing mistakes between two words: insertions, deletions and replacements. */
  function distance(a, b) {
    let before = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const now = [i];
      for (let j = 1; j <= b.length; j++) {
        now.push(Math.min(now[j - 1] + 1, before[j] + 1, before[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
      }
      before = now;
    }
    return before[b.length];
  }

  /** Returns the word of the vocabulary that is nearest to a misspelt one. */
  const nearest = (word, vocabulary) => vocabulary.reduce((best, other) => (distance(word, other) < distance(word, best) ? other : best));

  /** Reads the reader's own sentence: returns rows of the vocabulary, or a message that says what is wrong. */
  function read(text, data) {
    const rows = data.rowsOf(text);
    if (data.isEmpty(text)) return { wrong: "Write at least one word." };
    if (rows.length > data.model.max_tokens) {
      const what = data.pieces ? "pieces" : "words";
      return { wrong: `This model reads at most ${data.model.max_tokens} ${what}, but the sentence has ${rows.length}.` };
    }
    const words = data.pieces ? [] : text.split(/\s+/).filter(Boolean);
    const unknown = [...new Set(words.filter((word) => data.rowOfWord(word) === undefined))];
    if (unknown.length > 0) {
      const told = unknown.slice(0, 4).map((word) => `“${word.slice(0, 40)}” (the nearest is “${nearest(word.slice(0, 40), data.vocabulary)}”)`);
      return { wrong: `The model does not know ${told.join(", ")}.` };
    }
    return { words: rows };
  }

  return { create, read };
})();
