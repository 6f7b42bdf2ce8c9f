"use strict";
// Finds lessons, their texts and terms by words in any order, ignoring case and accents.
(() => {
  const FOUND_MAX = 30, AROUND = 60;
  const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const entries = JSON.parse(document.getElementById("attune-index").textContent)
    .map((entry) => ({ ...entry, name: fold(entry.title), all: fold(entry.title + " " + entry.text) }));
  const field = document.getElementById("search");
  const list = document.getElementById("found");
  const told = document.getElementById("told");

  const excerpt = (entry, word) => {
    const at = Math.max(0, fold(entry.text).indexOf(word));
    const from = Math.max(0, at - AROUND), to = Math.min(entry.text.length, at + AROUND);
    return (from > 0 ? "…" : "") + entry.text.slice(from, to) + (to < entry.text.length ? "…" : "");
  };
  const row = (entry, word) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
    link.href = entry.href;
    link.textContent = entry.title;
    text.textContent = excerpt(entry, word);
    item.append(link, " ", text);
    return item;
  };
  const show = () => {
    const words = fold(field.value).split(/\s+/).filter(Boolean);
    const found = words.length ? entries.filter((entry) => words.every((word) => entry.all.includes(word))) : [];
    const inTitle = (entry) => words.filter((word) => entry.name.includes(word)).length;
    found.sort((a, b) => inTitle(b) - inTitle(a));
    list.replaceChildren(...found.slice(0, FOUND_MAX).map((entry) => row(entry, words[0])));
    told.textContent = words.length ? `${found.length} found` : "";
  };
  field.addEventListener("input", show);
  document.getElementById("search-row").hidden = false;
  show();
})();
