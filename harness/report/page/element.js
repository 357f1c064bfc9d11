// SPDX-License-Identifier: Apache-2.0
// Control characters, separators of lines, directions of text and joiners act without being seen: they are spelt out.
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

function harmless(text) {
  return String(text).replace(ACTING, (acting) => `\\u{${acting.codePointAt(0).toString(16)}}`);
}

// Makes an element with attributes, handlers (on…) and children; what is null or empty is left out.

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, harmless(value));
  }
  const shown = children.filter((child) => child !== null && child !== undefined && child !== "");
  node.append(...shown.map((child) => (child instanceof Node ? child : harmless(child))));
  return node;
}
