// SPDX-License-Identifier: Apache-2.0
// The texts of a page that stand out too little from what is behind them: less than 4.5 to 1 (WCAG 2, AA).
(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/rgba\(0, 0, 0, 0\)|transparent/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const low = [];
  for (const node of document.querySelectorAll("p, small, b, td, th, a, button, dt, dd, h1, h2, h3, summary, .pill")) {
    if (!node.offsetParent || !node.textContent.trim()) continue;
    const color = getComputedStyle(node).color;
    const [one, other] = [light(color), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) low.push(`${node.textContent.slice(0, 20)}: ${color} on ${behind(node)}`);
  }
  return low;
})()
