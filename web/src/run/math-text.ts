// Formulas as the text they were written as: Markdown would take `\(`, `\\` or `\,` for its own escapes and `*` for
// emphasis. Dollars count by pandoc's rule, so that prices stay prices.

type Code = number | null;
type State = (code: Code) => State | undefined;
type Effects = { enter: (type: string) => void; exit: (type: string) => void; consume: (code: Code) => void };

const [BACKSLASH, DOLLAR, ZERO, NINE, PARENTHESIS] = [92, 36, 48, 57, 40] as const;
/** What ends a formula, by what begins it. */
const CLOSES: Record<number, number> = { 40: 41, 91: 93 };
/** Longest formula; an opening without an end is given up after that. */
const LONGEST = 2000;
// micromark counts line endings below -2, tabs and their spaces below 0.
const isEnding = (code: Code) => code !== null && code < -2;
const isSpace = (code: Code) => code === null || code < 0 || code === 32;

/** One formula in running text; it becomes plain text. A paragraph has no empty line, so none is gone over. */
function tokenize(effects: Effects, ok: State, nok: State): State {
  let left = LONGEST;
  let inText = false;
  const leave = () => {
    if (inText) effects.exit("data");
    inText = false;
  };
  /** Takes a character; `then` sees the next one. */
  const take = (code: Code, then: State): State => {
    left -= 1;
    if (isEnding(code)) {
      leave();
      effects.enter("lineEnding");
      effects.consume(code);
      effects.exit("lineEnding");
    } else {
      if (!inText) effects.enter("data");
      inText = true;
      effects.consume(code);
    }
    return then;
  };
  const end: State = (code) => (leave(), ok(code));
  /** `\[a\](b)` is a link that was meant as text. */
  const bracketEnd: State = (code) => (code === PARENTHESIS ? nok(code) : end(code));

  /** `\(…\)` and `\[…\]`. */
  const bracket = (close: number): State => {
    const inside: State = (code) => (code === null || left < 0 ? nok(code) : take(code, code === BACKSLASH ? escaped : inside));
    const escaped: State = (code) => (code === null ? nok(code) : take(code, code === close ? bracketEnd : inside));
    return inside;
  };
  /** `$$…$$`. */
  const display: State = (code) => (code === null || left < 0 ? nok(code) : take(code, code === DOLLAR ? displayEnd : display));
  const displayEnd: State = (code) => (code === DOLLAR ? take(code, end) : display(code));
  /** `$…$` in one line, with nothing empty at its edges and no digit behind it. */
  const inline = (before: Code): State => (code) => {
    if (code === null || isEnding(code) || left < 0) return nok(code);
    if (code === DOLLAR) return isSpace(before) ? nok(code) : take(code, (after) => (after !== null && after >= ZERO && after <= NINE ? nok(after) : end(after)));
    return take(code, code === BACKSLASH ? (next) => (next === null || isEnding(next) ? nok(next) : take(next, inline(next))) : inline(code));
  };

  const opened: State = (code) => {
    const close = code === null ? undefined : CLOSES[code];
    return close === undefined ? nok(code) : take(code, bracket(close));
  };
  const dollar: State = (code) => (code === DOLLAR ? take(code, (next) => (next === DOLLAR ? nok(next) : display(next))) : isSpace(code) ? nok(code) : inline(code)(code));
  return (code) => take(code, code === BACKSLASH ? opened : dollar);
}

const formula = { name: "formula", tokenize };

/** A plugin for remark. */
export function remarkFormulas(this: unknown): void {
  const data = (this as { data: () => { micromarkExtensions?: unknown[] } }).data();
  (data.micromarkExtensions ??= []).push({ text: { [BACKSLASH]: formula, [DOLLAR]: formula } });
}
