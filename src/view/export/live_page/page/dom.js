// Elements of the page.
"use strict";

const Dom = (() => {
  /** Creates an element with a text. */
  const element = (name, text = "", className = "") => Object.assign(document.createElement(name), { textContent: text, className });

  function button(text, clicked, className = "") {
    const found = Object.assign(element("button", text, className), { type: "button" });
    found.addEventListener("click", clicked);
    return found;
  }

  /** Creates the head of a table's row or column. */
  const heading = (scope, text) => Object.assign(element("th", text), { scope });

  return { element, button, heading };
})();
