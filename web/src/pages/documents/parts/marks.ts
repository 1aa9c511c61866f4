// Which parts of a passage are words of the question. The server knows the endings of ten languages; here two words
// are the same that begin alike and end in one of the usual ways, which is near enough to lead the eye.

export type Piece = { text: string; hit: boolean };

/** Words that say nothing of what is asked for. */
const EMPTY = new Set(
  ("a an and are as at be been by can did do does for from had has have how if in into is it its may must not of on or shall should so than that the their them then there these they this those to was we were what when where which who whom whose why will with would you your " +
    "aber als am an auch auf aus bei bin bis da das dass dem den der des die dies diese dieser doch du ein eine einem einen einer eines er es euch fur habe haben hat ich ihr im in ist ja kann kein keine man mein mit muss nach nicht noch nur ob oder sein seine sich sie sind so soll uber um und uns unter vom von vor wann war warum was welche welcher welches wenn wer werden wie wir wird wo zu zum zur").split(" "),
);
/** Shortest beginning that two words must share, letters. */
const SHARED = 4;
const ENDINGS = new Set(["", ..."s es e ed d ing y ies er ers en n ens em ern r t st te ten ly al".split(" ")]);

const WORD = /[\p{L}\p{N}]+/gu;
/** Lower case, without accents. */
const plain = (word: string) => word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replaceAll("ß", "ss");

type Found = { text: string; from: number; to: number };
const wordsOf = (text: string): Found[] => [...text.matchAll(WORD)].map((match) => ({ text: plain(match[0]), from: match.index, to: match.index + match[0].length }));

/** Whether they are the same word, but for an ending. */
export function alike(one: string, other: string): boolean {
  if (one === other) return true;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return same >= SHARED && ENDINGS.has(one.slice(same)) && ENDINGS.has(other.slice(same));
}

/** The question's words, and what it has in quotes word for word. */
export function wanted(question: string): { words: string[]; phrases: string[][] } {
  const phrases = [...question.matchAll(/"([^"]+)"/g)].map((match) => wordsOf(match[1] ?? "").map((word) => word.text)).filter((phrase) => phrase.length > 0);
  const all = wordsOf(question.replace(/"[^"]*"/g, " ")).map((word) => word.text);
  const telling = all.filter((word) => !EMPTY.has(word));
  // A question of such words only is meant so.
  return { words: telling.length > 0 || phrases.length > 0 ? telling : all, phrases };
}

/** A passage in pieces, those marked that the question asks for. Together they are the passage. */
export function marked(text: string, question: string): Piece[] {
  const { words, phrases } = wanted(question);
  const found = wordsOf(text);
  const hits: [from: number, to: number][] = [];
  for (let at = 0; at < found.length; at += 1) {
    const phrase = phrases.find((one) => one.every((word, n) => found[at + n]?.text === word));
    const last = phrase ? found[at + phrase.length - 1] : undefined;
    const first = found[at];
    if (!first) break;
    if (phrase && last) {
      hits.push([first.from, last.to]);
      at += phrase.length - 1;
    } else if (words.some((word) => alike(word, first.text))) hits.push([first.from, first.to]);
  }
  const pieces: Piece[] = [];
  let end = 0;
  for (const [from, to] of hits) {
    if (from > end) pieces.push({ text: text.slice(end, from), hit: false });
    pieces.push({ text: text.slice(from, to), hit: true });
    end = to;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hit: false });
  return pieces;
}

/** The pieces around the first mark, `length` characters or somewhat more; cut where words end. */
export function excerpt(pieces: readonly Piece[], length: number): Piece[] {
  const text = pieces.map((piece) => piece.text).join("");
  if (text.length <= length) return [...pieces];
  let first = 0;
  for (const piece of pieces) {
    if (piece.hit) break;
    first += piece.text.length;
  }
  if (first >= text.length) first = 0;
  let from = first <= length / 2 ? 0 : first - Math.floor(length / 3);
  while (from > 0 && !/\s/.test(text[from - 1] ?? " ")) from -= 1;
  let to = Math.min(text.length, from + length);
  while (to < text.length && !/\s/.test(text[to] ?? " ")) to += 1;
  const shown: Piece[] = [];
  let at = 0;
  for (const piece of pieces) {
    const part = piece.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part) shown.push({ ...piece, text: part });
    at += piece.text.length;
  }
  if (from > 0) shown.unshift({ text: "… ", hit: false });
  if (to < text.length) shown.push({ text: " …", hit: false });
  return shown;
}
