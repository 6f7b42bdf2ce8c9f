// The vocabulary's words in the notebook's text: hovering one highlights it everywhere on the page, and one that is
// highlighted elsewhere is highlighted here.
"use strict";

const Prose = (() => {
  /** Matches a word as lessons write it: in italics, with a small number if the sentence has it twice. */
  const WORD = /([\p{L}\p{Nd}][\p{L}\p{Nd}'’-]*)([₀-₉]*)/gu;

  /** Puts each known word of an element into a span of its own. */
  function mark(element, data) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    for (const node of texts) {
      const parts = [];
      let end = 0;
      for (const { 0: whole, 1: word, 2: number, index } of node.data.matchAll(WORD)) {
        const row = data.rowOfWord(word);
        if (row === undefined) continue;
        const span = Dom.element("span", whole, "word");
        span.dataset.word = row;
        if (number) span.dataset.number = [...number].map((digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit)).join("");
        parts.push(node.data.slice(end, index), span);
        end = index + whole.length;
      }
      if (parts.length > 0) node.replaceWith(...parts, node.data.slice(end));
    }
  }

  function create(root, state) {
    const { actions, data } = state;
    const pages = [root, ...[...root.querySelectorAll("template")].map((template) => template.content)];
    pages.flatMap((page) => [...page.querySelectorAll("em")]).forEach((element) => mark(element, data));

    /** Returns the position in the sentence of a word in the text, if its number says which occurrence is meant. */
    const placeOf = ({ word, number }) => {
      const places = state.pass.tokens.map((token, i) => i).filter((i) => state.pass.tokens[i] === Number(word));
      return number === undefined ? undefined : places[Number(number) - 1];
    };
    const hover = (event) => {
      const span = event.target.closest && event.target.closest(".word");
      if (!span) return;
      const position = placeOf(span.dataset);
      const lit = position === undefined ? { word: Number(span.dataset.word) } : { side: "sentence", position };
      actions.look({ hovered: event.type === "pointerover" ? lit : null });
    };
    root.addEventListener("pointerover", hover);
    root.addEventListener("pointerout", hover);

    const look = () => {
      const { hovered, pass } = state;
      const tokens = hovered && (hovered.side === "source" ? pass.source : pass.tokens);
      const word = hovered && (hovered.word === undefined ? tokens[hovered.position] : hovered.word);
      for (const span of root.querySelectorAll(".word")) {
        const position = placeOf(span.dataset);
        const isOther = hovered && hovered.position !== undefined && position !== undefined && position !== hovered.position;
        span.classList.toggle("hovered", hovered !== null && Number(span.dataset.word) === word && !isOther);
      }
    };
    actions.on("view", State.whenChanged(() => [state.hovered], look));
  }

  return { create };
})();
