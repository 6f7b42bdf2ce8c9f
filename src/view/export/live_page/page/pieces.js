// Splits text into pieces like BERT's uncased tokenizer: punctuation marks are separate words, and each word is split
// into the longest pieces in the vocabulary.
"use strict";

const Pieces = (() => {
  const CONTROL = /[\p{C}\u{FFFD}]/u;
  const WORD = /[!-/:-@[-`{-~]|\p{P}|[^\s!-/:-@[-`{-~\p{P}]+/gu;

  /** Returns a text in lower case, without accents and control characters. */
  function plain(text) {
    const clean = [...text].filter((sign) => "\t\n\r".includes(sign) || !CONTROL.test(sign));
    const bare = clean.join("").normalize("NFD").replace(/\p{Mn}/gu, "");
    return [...bare].map((sign) => sign.toLowerCase()).join("");
  }

  /** Splits a word into pieces, each time the longest one that matches. */
  function cut(word, { prefix, unknown, longest }, rowOf) {
    const letters = [...word];
    if (letters.length > longest) return [unknown];
    const found = [];
    for (let start = 0, end; start < letters.length; start = end) {
      end = letters.length;
      const row = () => rowOf.get((start > 0 ? prefix : "") + letters.slice(start, end).join(""));
      while (end > start && row() === undefined) end--;
      if (end === start) return [unknown];
      found.push(row());
    }
    return found;
  }

  /** Returns a function that splits a text, or a pair of texts with the mark between them, into rows of the vocabulary. */
  function reader(form, mark, rowOf) {
    const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    // Of two matches at the same position, the longer one is taken.
    const spelled = [...form.spelled].sort((a, b) => b.length - a.length).map(literal).join("|");
    const parts = (text) => (spelled === "" ? [text] : text.split(new RegExp(`(${spelled})`)));
    const rows = (part, i) =>
      i % 2 === 1 ? [rowOf.get(part)] : (plain(part).match(WORD) || []).flatMap((word) => cut(word, form, rowOf));
    return (text) => {
      const at = form.pair ? text.indexOf(mark) : -1;
      const texts = at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
      const template = (at < 0 ? form.single : form.pair).map(({ Added: added, Text: own }) => ({
        rows: added ? added.ids : parts(texts[own.text]).flatMap(rows),
        segment: (added || own).segment,
        isOwn: !added,
      }));
      return {
        rows: template.flatMap((part) => part.rows),
        segments: template.flatMap((part) => part.rows.map(() => part.segment)),
        isEmpty: template.every((part) => !part.isOwn || part.rows.length === 0),
      };
    };
  }

  return { reader };
})();
