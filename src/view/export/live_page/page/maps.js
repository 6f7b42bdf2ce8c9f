// The maps of all heads, small, layer by layer; a click chooses a head.
"use strict";

const Maps = (() => {
  /** The largest number of cells on a side of a map. A cell of a longer text shows the largest weight of its block. */
  const CELLS = 64;

  function create(root, state) {
    const { data, actions } = state;
    const maps = data.heads.map(({ title }, head) => {
      const canvas = Dom.element("canvas");
      const button = Object.assign(Dom.button("", () => actions.look({ head, key: null })), { title, ariaLabel: title });
      button.append(canvas);
      return { head, button, canvas, isDue: true };
    });
    state.pass.blocks.forEach((step, block) => {
      const line = Dom.element("div", "", "maps");
      line.append(Dom.element("span", data.blocks[block].title), ...maps.filter(({ head }) => data.heads[head].block === block).map(({ button }) => button));
      root.append(line);
    });

    function paint({ head, canvas }) {
      const { weights, step } = state.pass.heads[head];
      const [rows, cols] = [weights.rows, weights.cols].map((count) => Math.min(count, CELLS));
      [canvas.width, canvas.height] = [cols, rows];
      const context = canvas.getContext("2d");
      const largest = new Float64Array(rows * cols);
      for (let i = 0; i < weights.rows; i++) {
        for (let j = 0; j < weights.cols; j++) {
          const at = Math.floor((i * rows) / weights.rows) * cols + Math.floor((j * cols) / weights.cols);
          largest[at] = Math.max(largest[at], Engine.get(weights, i, j));
        }
      }
      largest.forEach((weight, at) => {
        context.fillStyle = Colors.weight(head - step.firstHead, weight);
        context.fillRect(at % cols, Math.floor(at / cols), 1, 1);
      });
    }

    // Only maps in sight are painted: a model may have a thousand.
    const seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        const map = maps.find(({ button }) => button === target);
        map.isSeen = isIntersecting;
        if (map.isSeen && map.isDue) paint(map);
        if (map.isSeen) map.isDue = false;
      }
    });
    maps.forEach(({ button }) => seen.observe(button));
    const look = () => maps.forEach(({ head, button }) => button.setAttribute("aria-pressed", String(head === state.head)));
    actions.on("view", State.whenChanged(() => [state.head], look));
    look();
    return {
      redraw() {
        for (const map of maps) {
          map.isDue = !map.isSeen;
          if (map.isSeen) paint(map);
        }
      },
    };
  }

  return { create };
})();
