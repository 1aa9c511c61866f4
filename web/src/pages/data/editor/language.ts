// Colours of the language of domains and views, and what the editor looks like. Only colours: what is right, the server says.
import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const HEADS = new Set(["domain", "view", "permission", "field", "relation", "meta", "ai", "aliases", "example", "toolbar", "new", "refresh", "save", "delete", "table", "on_select", "column", "section", "row", "widget"]);
/** Words that go on with a statement of this head; elsewhere they are names. */
const MORE: Record<string, readonly string[]> = {
  domain: ["from"], view: ["over"], field: ["readonly", "filterable", "trusted", "untrusted", "options"], relation: ["bind"], meta: ["from", "order_by"], new: ["bind", "as", "tab"], on_select: ["bind", "as", "tab"], column: ["width", "format"], widget: ["bind"],
};
const KINDS = new Set(["int", "float", "string", "text", "bool", "date", "datetime", "has_many", "belongs_to", "has_one"]);
const WIDGETS = new Set(["text", "textarea", "select", "checkbox", "number", "date"]);
const RIGHTS = new Set(["read", "write", "delete"]);
const OPS = new Set(["eq", "ne", "gt", "gte", "lt", "lte", "contains", "neq", "like"]);
const NAMED = new Set(["domain", "view", "field", "relation", "meta"]);

type State = { head: string; words: number; colon: boolean };

function token(stream: StringStream, state: State): string | null {
  if (stream.sol()) Object.assign(state, { head: "", words: 0, colon: false });
  if (stream.eatSpace()) return null;
  if (stream.match(/^#.*/)) return "comment";
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return (state.words++, "string");
  if (stream.match("->")) return "operator";
  if (stream.match(/^[{};[\]]/)) return Object.assign(state, { head: "", words: 0, colon: false }), "punctuation";
  if (stream.match(/^[:,.@=|]/)) {
    if (stream.current() === ":") state.colon = true;
    return "punctuation";
  }
  if (stream.match(/^-?\d[\w.:+-]*/)) return (state.words++, "number");
  if (!stream.match(/^[\p{L}_][\p{L}\p{M}\p{N}_]*/u)) return stream.next(), null;
  const word = stream.current();
  const { head, words, colon } = state;
  state.words++;
  if (head === "") return HEADS.has(word) ? ((state.head = word), (state.words = 0), "keyword") : null;
  if (words === 0 && NAMED.has(head)) return "definition";
  if (words >= 1 && MORE[head]?.includes(word)) return "keyword";
  if (colon && (head === "field" || head === "relation") && KINDS.has(word)) return "typeName";
  if (head === "widget" && words === 0 && WIDGETS.has(word)) return "typeName";
  if (head === "permission" && words === 0 && (word === "role" || word === "group") && stream.match(/^\s*:/, false)) return ((state.words = 0), "keyword");
  if (head === "permission") return words > 0 && RIGHTS.has(word) ? "atom" : "variableName";
  if (head === "example" && words === 0 && OPS.has(word)) return "operatorKeyword";
  return "variableName";
}

const language = StreamLanguage.define<State>({
  name: "oos",
  startState: () => ({ head: "", words: 0, colon: false }),
  copyState: (state) => ({ ...state }),
  token,
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["{", "[", '"'] } },
  tokenTable: { definition: tags.definition(tags.variableName) },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--hl-key)" },
  { tag: [tags.typeName, tags.atom], color: "var(--hl-fn)" },
  { tag: tags.string, color: "var(--hl-str)" },
  { tag: tags.number, color: "var(--hl-num)" },
  { tag: tags.comment, color: "var(--hl-com)", fontStyle: "italic" },
  { tag: tags.definition(tags.variableName), color: "var(--ink)", fontWeight: "600" },
  { tag: [tags.punctuation, tags.operator], color: "var(--ink-3)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono, ui-monospace, monospace)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "0.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in oklch, var(--accent) 26%, transparent)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--line-2)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line-2)", borderRadius: "7px", boxShadow: "var(--lift-2)", maxWidth: "34rem", fontFamily: "system-ui, sans-serif" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono, ui-monospace, monospace)", maxHeight: "16rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.75", marginLeft: "1em" },
  ".cm-hover": { padding: "0.4rem 0.7rem", whiteSpace: "pre-wrap" },
  ".cm-hover code": { fontFamily: "var(--font-mono, ui-monospace, monospace)", backgroundColor: "var(--sunken)", borderRadius: "4px", padding: "0 0.25em" },
  ".cm-diagnostic": { padding: "0.35rem 0.7rem" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--warn-line)" },
  ".cm-hint": { display: "block", color: "var(--ink-2)", fontSize: "0.75rem" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-2)", borderRadius: "5px" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-2)", borderRadius: "5px" },
});

export const oos = [language, syntaxHighlighting(colours), look];
