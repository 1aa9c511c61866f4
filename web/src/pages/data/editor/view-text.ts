// Reads the views of a text that is being written, for showing them at once. What is wrong with a text, the server says:
// here what can't be read is left out.
import type { Button, ColumnPart, Section, TablePart, Target, View, Widget, WidgetKind } from "@/api/types";

type Token = { kind: "name" | "string" | "literal" | "mark" | "line"; text: string; from: number; to: number };
/** A view or a domain with its place. */
export type Placed<T> = T & { from: number; to: number };
export type Described = { views: Placed<View>[]; domains: Placed<{ name: string }>[] };

const TOKEN = /(?<space>[^\S\n]+|#[^\n]*)|(?<line>\n|;)|"(?<string>(?:[^"\\\n]|\\.)*)"?|(?<mark>->|[{}[\]:,.@=|])|(?<literal>-?\d[\w.:+-]*)|(?<name>[\p{L}_][\p{L}\p{M}\p{N}_]*)|(?<other>.)/gsu;
const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

function tokensOf(text: string): Token[] {
  const out: Token[] = [];
  for (const found of text.matchAll(TOKEN)) {
    const groups = found.groups ?? {};
    const place = { from: found.index, to: found.index + found[0].length };
    if (groups.string !== undefined) out.push({ kind: "string", text: groups.string.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter), ...place });
    else if (groups.line !== undefined) out.push({ kind: "line", text: found[0], ...place });
    else for (const kind of ["mark", "literal", "name"] as const) if (groups[kind] !== undefined) out.push({ kind, text: found[0], ...place });
  }
  return out;
}

const WIDGETS: readonly string[] = ["text", "textarea", "select", "checkbox", "number", "date"] satisfies WidgetKind[];
const ACTIONS: readonly string[] = ["new", "refresh", "save", "delete"] satisfies Button["action"][];

class Reader {
  at = 0;
  constructor(readonly tokens: Token[]) {}

  peek = (ahead = 0): Token | undefined => this.tokens[this.at + ahead];
  done = (): boolean => this.at >= this.tokens.length;
  /** Takes the next token if it is this one. */
  eat(text: string): boolean {
    const token = this.peek();
    if (!token || token.kind === "string" || token.text !== text) return false;
    this.at++;
    return true;
  }
  name(): string {
    const token = this.peek();
    if (token?.kind !== "name" && token?.kind !== "string") return "";
    this.at++;
    return token.text;
  }
  string(): string {
    return this.peek()?.kind === "string" ? this.name() : "";
  }
  lines(): void {
    while (this.peek()?.kind === "line") this.at++;
  }
  /** Skips the rest of a statement, with what stands in its braces. */
  rest(): void {
    let depth = 0;
    for (; !this.done(); this.at++) {
      const token = this.peek()!;
      if (token.kind === "mark" && (token.text === "{" || token.text === "[")) depth++;
      else if (token.kind === "mark" && (token.text === "}" || token.text === "]")) {
        if (depth === 0) return;
        depth--;
      } else if (token.kind === "line" && depth === 0) return;
    }
  }
  /** Each statement between braces, which may begin on the next line; `read` takes what it knows. */
  block(read: (word: string) => void): void {
    const begun = this.at;
    this.lines();
    if (!this.eat("{")) return void (this.at = begun);
    while (!this.done()) {
      this.lines();
      if (this.eat("}")) return;
      const before = this.at;
      const word = this.peek();
      if (word?.kind === "name") {
        this.at++;
        read(word.text);
      }
      this.rest();
      // A bracket that closes nothing would be looked at for ever.
      if (this.at === before) this.at++;
    }
  }
  target(): Target | null {
    if (!this.eat("->")) return null;
    const target: Target = { view: this.name(), bind: null, tab: false };
    for (;;) {
      if (this.peek()?.text === "bind" && this.peek(1)?.text === "=") {
        this.at += 2;
        target.bind = this.name() || null;
      } else if (this.peek()?.text === "as" && this.peek(1)?.text === "tab") {
        this.at += 2;
        target.tab = true;
      } else return target.view ? target : null;
    }
  }
  format(): string {
    const parts: string[] = [];
    while (this.peek() && this.peek()!.kind !== "line" && this.peek()!.text !== "}") {
      const token = this.peek()!;
      const joined = parts.length > 0 && token.text !== ":" && parts.at(-1) !== ":";
      if (joined || (token.kind === "mark" && token.text !== ":")) break;
      parts.push(token.text);
      this.at++;
    }
    return parts.join("");
  }
}

function column(reader: Reader): ColumnPart {
  const part: ColumnPart = { field: reader.name(), label: reader.string(), width: null, format: null };
  while (reader.peek()?.kind === "name" && reader.peek(1)?.text === "=") {
    const setting = reader.name();
    reader.eat("=");
    if (setting === "width") {
      const width = Number(reader.peek()?.text);
      if (Number.isInteger(width) && width > 0) part.width = width;
      reader.at++;
    } else if (setting === "format") part.format = reader.format() || null;
    else reader.at++;
  }
  return part;
}

function table(reader: Reader): TablePart | null {
  if (!reader.eat("->")) return null;
  const part: TablePart = { domain: reader.name(), on_select: null, columns: [] };
  if (reader.eat(".")) reader.name();
  reader.block((word) => {
    if (word === "on_select") part.on_select = reader.target();
    else if (word === "column") {
      const read = column(reader);
      if (read.field) part.columns.push(read);
    }
  });
  return part.domain ? part : null;
}

function section(reader: Reader): Section {
  const part: Section = { title: reader.string(), rows: [] };
  reader.block((word) => {
    if (word !== "row") return;
    const widgets: Widget[] = [];
    reader.block((inner) => {
      if (inner !== "widget") return;
      const kind = reader.name();
      if (!WIDGETS.includes(kind) || !reader.eat("bind") || !reader.eat("=")) return;
      const field = reader.name();
      if (field) widgets.push({ kind: kind as WidgetKind, field });
    });
    part.rows.push(widgets);
  });
  return part;
}

function view(reader: Reader): View {
  const read: View = { name: reader.name(), title: reader.string(), domain: "", toolbar: [], tables: [], sections: [] };
  if (reader.eat("over")) read.domain = reader.name();
  reader.block((word) => {
    if (word === "toolbar") {
      reader.block((action) => {
        if (!ACTIONS.includes(action)) return;
        const label = reader.string();
        const target = reader.target();
        read.toolbar.push({ action: action as Button["action"], label: label || action, target: action === "new" ? target : null });
      });
    } else if (word === "table") {
      const part = table(reader);
      if (part) read.tables.push(part);
    } else if (word === "section") read.sections.push(section(reader));
  });
  return read;
}

/** The views and the names of the domains of a text. */
export function described(text: string): Described {
  const reader = new Reader(tokensOf(text));
  const out: Described = { views: [], domains: [] };
  while (!reader.done()) {
    reader.lines();
    const token = reader.peek();
    if (!token) break;
    const { from } = token;
    const end = () => ({ from, to: reader.tokens[reader.at - 1]?.to ?? text.length });
    if (reader.eat("view")) {
      const read = view(reader);
      if (read.name) out.views.push({ ...read, ...end() });
    } else if (reader.eat("domain")) {
      const name = reader.name();
      reader.rest();
      if (name) out.domains.push({ name, ...end() });
    } else reader.at++;
  }
  return out;
}

/** What a preview shows: the view or domain in which the cursor stands, else the first view, else the first domain as a table. */
export function previewOf(text: string, cursor: number): View | null {
  const { views, domains } = described(text);
  const within = <T,>(list: Placed<T>[]) => list.find((one) => cursor >= one.from && cursor <= one.to);
  const domain = within(domains);
  if (domain && !within(views)) return plainView(domain.name);
  return within(views) ?? views[0] ?? (domains[0] ? plainView(domains[0].name) : null);
}
const plainView = (name: string): View => ({ name, title: name, domain: name, toolbar: [], tables: [{ domain: name, on_select: null, columns: [] }], sections: [] });
