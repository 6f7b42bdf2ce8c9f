// The heat maps: one table for each head, with queries as rows and keys as columns.
"use strict";

const Attention = (() => {
  /** The largest number of heads whose maps are all shown; with more heads, only one layer's maps are, or of a given pass one head's. */
  const ALL_SHOWN = 8;

  function create(root, state) {
    const { data, actions } = state;
    let maps = [];
    let shown = "";

    const { element, heading } = Dom;

    function table(head) {
      const { title } = data.heads[head];
      const [queries, keys] = [actions.queriesOf(head), actions.keysOf(head)];
      const { step } = state.pass.heads[head];
      const queriesSide = step.isOfSource ? "source" : "sentence";
      const keysSide = step.isOfSource || step.config.attends_to === "source" ? "source" : "sentence";
      const section = element("section", "", "head");
      section.style.setProperty("--hue", `var(--head-${(head - step.firstHead) % 6})`);
      const label = element("label", "", "head-name");
      const box = Object.assign(element("input"), { type: "checkbox", title: `Switch ${title} on or off`, hidden: Boolean(data.given) });
      box.addEventListener("change", () => actions.setHead(head, box.checked));
      label.append(box, ` ${title}`);
      const map = element("table", "", "map");
      map.setAttribute("aria-label", `${title}: each row is a word that looks, each column a word that is looked at`);
      const top = map.createTHead().insertRow();
      top.append(element("td"));
      keys.forEach((key) => {
        const cell = heading("col");
        cell.append(element("span", key));
        top.append(cell);
      });
      const body = map.createTBody();
      const cells = queries.map((query, i) => {
        const row = body.insertRow();
        row.append(heading("row", query));
        return keys.map((key, j) => {
          const cell = row.insertCell();
          cell.tabIndex = -1;
          cell.dataset.at = `${i},${j}`;
          const choose = () => {
            const view = { head, key: j };
            if (!step.isOfSource) view.query = i;
            actions.look(view);
          };
          cell.addEventListener("click", () => {
            choose();
            cell.focus();
          });
          cell.addEventListener("focus", choose);
          cell.addEventListener("pointerenter", () => actions.look({ hovered: { side: keysSide, position: j, from: { side: queriesSide, position: i } } }));
          cell.addEventListener("pointerleave", () => actions.look({ hovered: null }));
          cell.addEventListener("keydown", (event) => {
            const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
            const next = way && cells[i + way[0]] && cells[i + way[0]][j + way[1]];
            if (!next) return;
            event.preventDefault();
            next.focus();
          });
          return cell;
        });
      });
      const frame = element("div", "", "scroll");
      frame.append(map);
      section.append(label, frame);
      root.append(section);
      return { head, box, cells, rows: [...body.rows], columns: [...top.children].slice(1), queriesSide, keysSide };
    }

    const blockOf = (head) => data.heads[head].block;
    const hasAll = data.heads.length <= ALL_SHOWN;
    const shownHeads = () => [...data.heads.keys()].filter((head) => hasAll || (data.given ? head === state.head : blockOf(head) === blockOf(state.head)));

    /** Returns a control that chooses the layer whose maps are shown. */
    function layerChoice() {
      const label = element("label", "Layer ", "layer-choice");
      const choice = element("select");
      /** Layers of a recording have numbers of their own. */
      const named = (block) => (data.given ? data.blocks[block].title.replace(/^layer /, "") : block + 1);
      [...new Set(data.heads.map(({ block }) => block))].forEach((block) => choice.add(new Option(named(block), block)));
      choice.value = blockOf(state.head);
      choice.addEventListener("change", () => {
        actions.look({ head: data.heads.findIndex(({ block }) => block === Number(choice.value)), key: null });
        root.querySelector("select").focus();
      });
      label.append(choice);
      return label;
    }

    function build() {
      const now = JSON.stringify(shownHeads().map((head) => [head, actions.queriesOf(head), actions.keysOf(head)]));
      if (now !== shown) {
        shown = now;
        root.replaceChildren(...(hasAll ? [] : [layerChoice()]));
        maps = shownHeads().map(table);
      }
      for (const { head, box, cells } of maps) {
        const { weights, scores, step } = state.pass.heads[head];
        const isOn = actions.isOn(head);
        box.checked = isOn;
        box.closest("section").classList.toggle("off", !isOn);
        const [queries, keys] = [actions.queriesOf(head), actions.keysOf(head)];
        cells.forEach((row, i) =>
          row.forEach((cell, j) => {
            const weight = Engine.get(weights, i, j);
            const isHidden = Engine.get(scores, i, j) === -Infinity;
            const fill = Colors.weight(head - step.firstHead, isHidden ? 0 : weight);
            cell.style.backgroundColor = fill;
            cell.style.color = Colors.inkOn(fill);
            cell.textContent = isHidden ? "·" : weight.toFixed(2).replace(/^0/, "");
            const said = isHidden ? `${queries[i]} does not see ${keys[j]}` : `${queries[i]} looks at ${keys[j]}: ${weight.toFixed(4)}`;
            cell.title = said;
            cell.setAttribute("aria-label", said);
          }),
        );
      }
      look();
    }

    /** Marks the chosen cell, and the row and column of the hovered word. */
    function look() {
      const { hovered } = state;
      for (const { head, cells, rows, columns, queriesSide, keysSide } of maps) {
        const tokens = { sentence: state.pass.tokens, source: state.pass.source || [] };
        const isHovered = (side, position) => {
          if (!hovered) return false;
          if (hovered.word !== undefined) return tokens[side][position] === hovered.word;
          return [hovered, hovered.from].some((word) => word && word.side === side && word.position === position);
        };
        rows.forEach((row, i) => row.classList.toggle("hovered", isHovered(queriesSide, i)));
        columns.forEach((column, j) => column.classList.toggle("hovered", isHovered(keysSide, j)));
        const isChosen = (i, j) => head === state.head && i === state.query && j === state.key;
        cells.forEach((row, i) =>
          row.forEach((cell, j) => {
            cell.classList.toggle("chosen", isChosen(i, j));
            // The Tab key reaches one cell of each map: the chosen one, or else the first in the row of the chosen
            // word.
            const isEntry = head === state.head && state.key !== null ? isChosen(i, j) : i === Math.min(state.query, cells.length - 1) && j === 0;
            cell.tabIndex = isEntry ? 0 : -1;
          }),
        );
      }
    }

    actions.on("pass", build);
    const seen = () => [state.pass, state.head, state.query, state.key, state.hovered];
    actions.on("view", State.whenChanged(seen, () => (hasAll || maps[0].head === shownHeads()[0] ? look() : build())));
    build();
    return { build };
  }

  return { create };
})();
