import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import Markdown from "./markdown";

const shown = (text: string) => renderToStaticMarkup(createElement(Markdown, { text })).replace(/<[^>]+>/g, "").replaceAll("&amp;", "&").replaceAll("&lt;", "<").trim();
const html = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

test("formulas keep their backslashes, and nothing in them is emphasis", () => {
  for (const text of [
    String.raw`So \(a^2 + b^2 = c^2\) holds.`,
    String.raw`\[ \int_0^1 x\,dx = \frac{1}{2} \\ y = 2 \]`,
    String.raw`Inline $a_{1} * b * c_2$ and $\alpha\,\beta$.`,
    String.raw`$$ \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} $$`,
    String.raw`In a list: \(x\_1\) and \(\{1, 2\}\).`,
  ]) {
    assert.equal(shown(text), text);
    assert.doesNotMatch(html(text), /<em>/);
  }
  const lines = "\\[\nx \\\\\ny\n\\]";
  assert.equal(shown(lines), lines);
});

test("prices, escapes and code stay what they are", () => {
  assert.equal(shown("It costs $5 and *not* $6."), "It costs $5 and not $6.");
  assert.match(html("It costs $5 and *not* $6."), /<em>not<\/em>/);
  assert.equal(shown(String.raw`No \*emphasis\*, no \[link\](x) without an end \(`), "No *emphasis*, no [link](x) without an end (");
  assert.equal(shown("`\\(x\\)` and `$a$`"), "\\(x\\) and $a$");
  assert.equal(shown("US$ 20, €5, $ 3 $"), "US$ 20, €5, $ 3 $");
  const many = "\\( ".repeat(3000);
  assert.equal(shown(many), "( ".repeat(3000).trim());
});

test("a box to tick has a name", () => {
  const out = html("- [x] buy milk\n- [ ] feed the heron");
  assert.equal(out.match(/<input/g)?.length, 2);
  assert.equal(out.match(/aria-label="[^"]+"/g)?.length, 2);
});
