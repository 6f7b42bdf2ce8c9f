// All learned numbers: each tensor as a map, and one entry with a slider, a text field and its trained value.
"use strict";

const Weights = (() => {
  const CELL_MAX = 18;
  const CELL_MIN = 5;
  /** The range of a slider, as a multiple of the tensor's largest entry. */
  const REACH = 2;
  const SLIDER_STEPS = 1000;

  function create(root, state) {
    const { data, actions } = state;
    // A model may have no learned parameters.
    if (data.parameters.length === 0) return { show() {} };
    const at = { symbol: data.parameters[0].symbol, row: 0, col: 0 };
    const find = (name) => root.querySelector(`[data-part="${name}"]`);
    const parts = ["tensor", "row", "col", "slider", "number", "map", "about", "reset-entry"];
    const [choice, rowField, colField, slider, number, canvas, about, reset] = parts.map(find);
    data.parameters.forEach(({ symbol, shape }) => choice.add(new Option(`${symbol} (${shape[0]} × ${shape[1]})`, symbol)));

    const now = () => data.model.parameters[at.symbol];
    const trained = () => data.trained.parameters[at.symbol];
    const entry = (from) => Engine.get(from, at.row, at.col);
    const largest = (from) => from.data.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;

    function draw() {
      if (root.offsetParent === null) return;
      const tensor = now();
      const room = root.clientWidth || 320;
      const cell = Math.max(Math.min(Math.floor(room / tensor.cols), CELL_MAX), CELL_MIN);
      const ratio = window.devicePixelRatio || 1;
      canvas.style.width = `${tensor.cols * cell}px`;
      canvas.style.height = `${tensor.rows * cell}px`;
      canvas.width = tensor.cols * cell * ratio;
      canvas.height = tensor.rows * cell * ratio;
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      const most = largest(tensor);
      for (let i = 0; i < tensor.rows; i++) {
        for (let j = 0; j < tensor.cols; j++) {
          context.fillStyle = Colors.diverging(Engine.get(tensor, i, j) / most);
          context.fillRect(j * cell, i * cell, cell - 0.5, cell - 0.5);
        }
      }
      context.strokeStyle = Colors.of("ink");
      context.lineWidth = 2;
      context.strokeRect(at.col * cell, at.row * cell, cell, cell);
    }

    function show() {
      const tensor = now();
      at.row = Math.min(Math.max(at.row, 0), tensor.rows - 1);
      at.col = Math.min(Math.max(at.col, 0), tensor.cols - 1);
      const value = entry(tensor);
      const reach = REACH * Math.max(largest(trained()), Math.abs(value) / REACH);
      choice.value = at.symbol;
      rowField.max = tensor.rows - 1;
      colField.max = tensor.cols - 1;
      if (document.activeElement !== rowField) rowField.value = at.row;
      if (document.activeElement !== colField) colField.value = at.col;
      if (document.activeElement !== slider) [slider.min, slider.max, slider.step] = [-reach, reach, reach / SLIDER_STEPS];
      slider.value = value;
      if (document.activeElement !== number) number.value = Number(value.toPrecision(6));
      const { purpose } = data.parameters.find(({ symbol }) => symbol === at.symbol);
      const name = `${at.symbol}[${at.row}, ${at.col}]`;
      const before = entry(trained());
      about.textContent = `${at.symbol}: ${purpose}. ${name} is ${Rules.written(value)}; before your change: ${Rules.written(before)}.`;
      reset.disabled = value === before;
      slider.setAttribute("aria-label", name);
      canvas.setAttribute("aria-label", `${at.symbol}, ${tensor.rows} rows by ${tensor.cols} columns; ${name} is chosen. Arrow keys choose another entry.`);
      draw();
    }

    // A value with which the model cannot compute is refused.
    const set = (value) => actions.setWeight(at.symbol, at.row, at.col, value) || show();
    choice.addEventListener("change", () => {
      Object.assign(at, { symbol: choice.value, row: 0, col: 0 });
      show();
    });
    rowField.addEventListener("input", () => {
      at.row = Number(rowField.value) || 0;
      show();
    });
    colField.addEventListener("input", () => {
      at.col = Number(colField.value) || 0;
      show();
    });
    slider.addEventListener("input", () => set(Number(slider.value)));
    number.addEventListener("change", () => {
      set(number.valueAsNumber);
      number.value = Number(entry(now()).toPrecision(6));
    });
    reset.addEventListener("click", () => set(entry(trained())));
    canvas.addEventListener("pointerdown", (event) => {
      const box = canvas.getBoundingClientRect();
      at.row = Math.floor(((event.clientY - box.top) / box.height) * now().rows);
      at.col = Math.floor(((event.clientX - box.left) / box.width) * now().cols);
      show();
    });
    canvas.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!way) return;
      event.preventDefault();
      at.row += way[0];
      at.col += way[1];
      show();
    });
    actions.on("pass", () => root.offsetParent !== null && show());
    new ResizeObserver(draw).observe(root);
    show();
    return { show };
  }

  return { create };
})();
