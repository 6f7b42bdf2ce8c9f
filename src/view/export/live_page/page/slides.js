// Starts the slides: one at a time, and beside it the stage of its cell or a stop of the walk.
"use strict";

(() => {
  const { $, root } = Frame;

  function begin() {
    root.classList.add("slides");
    const { state, stage, redraws, say } = Frame.begin(Data.read($("attune-data").textContent), true);
    const { actions, data } = state;
    const slides = [...document.querySelectorAll(".slide")];
    Provenance.tell($("lab-result"), state);
    Frame.timeline(state, stage);
    redraws.push(Ribbons.create($("lab-ribbons"), state).redraw);
    const cells = Cells.create(state, stage, say);
    Prose.create(document.querySelector("main"), state);
    let [at, staged] = [0, null];

    function show(to) {
      at = Math.min(Math.max(to, 0), slides.length - 1);
      const { stage: section, walk } = slides[at].dataset;
      slides.forEach((slide, index) => slide.classList.toggle("now", index === at));
      $("slide-place").textContent = `${at + 1} / ${slides.length}`;
      location.replace(`#slide=${at + 1}`);
      const answered = slides.slice(0, at + 1).map(({ dataset }) => dataset.answers);
      actions.look({ keepers: data.keepers.filter((id) => !answered.includes(id)) });
      const cell = data.cells.find((found) => found.section === section);
      if (cell && cell !== staged) cells.showStage(cell);
      if (walk !== undefined) stage.glideToPlace(Number(walk));
      else if (cell && cell === staged && state.isWalked) stage.glideToTime(cell.time);
      staged = cell;
    }

    const keys = {
      ArrowRight: () => at + 1,
      PageDown: () => at + 1,
      ArrowLeft: () => at - 1,
      PageUp: () => at - 1,
      Home: () => 0,
      End: () => slides.length - 1,
    };
    // The keys turn the slides even if the stage has the keyboard, but not in a field.
    const press = (event) => {
      const isOwn = keys[event.key] && !(event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select"));
      if (!isOwn) return;
      event.preventDefault();
      event.stopPropagation();
      show(keys[event.key]());
    };
    document.addEventListener("keydown", press, true);
    $("slide-back").addEventListener("click", () => show(at - 1));
    $("slide-on").addEventListener("click", () => show(at + 1));
    $("turns").hidden = false;
    const asked = () => Number(new URLSearchParams(location.hash.slice(1)).get("slide") || 1) - 1;
    const follow = () => Number.isInteger(asked()) && asked() !== at && show(asked());
    window.addEventListener("hashchange", follow);
    show(Number.isInteger(asked()) ? asked() : 0);
  }

  begin();
})();
