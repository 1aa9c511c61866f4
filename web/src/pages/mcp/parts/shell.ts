// Command lines as READMEs give them: `claude mcp add …` and its like.

/** The words of a line as a shell would take them; what it would put in for a variable stays as it is. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, ...parts] of line.matchAll(/((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+)/g)) {
    const word = parts[0] ?? "";
    words.push(word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_, double?: string, single?: string, escaped?: string) => double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? ""));
  }
  return words;
}

const COMMAND = /^\s*(?:\$\s+|>\s+)?(?:claude|codex|gemini|copilot|amp|droid)\s+mcp\s+(add|add-json)\s+(.+)$/;
/** Options of these programs that take a value and say nothing about the server. */
const OTHER = ["-s", "--scope", "--client-id", "--client-secret", "--callback-port", "--timeout", "--description"];

type Fields = Record<string, unknown>;

/** The servers that a text of commands adds; `null` if it is no such text. */
export function readCommands(text: string): Record<string, Fields> | null {
  const found: Record<string, Fields> = {};
  for (const line of text.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const [, verb, rest] = COMMAND.exec(line) ?? [];
    if (!verb || !rest) continue;
    const words = wordsOf(rest);
    const server = verb === "add-json" ? readJson(words) : readAdd(words);
    if (server) found[server[0]] = server[1];
  }
  return Object.keys(found).length > 0 ? found : null;
}

function readJson(words: string[]): [string, Fields] | null {
  const [name, json] = words.filter((word, at) => !word.startsWith("-") && !OTHER.includes(words[at - 1] ?? ""));
  try {
    const value: unknown = JSON.parse(json ?? "");
    return name && typeof value === "object" && value !== null ? [name, value as Fields] : null;
  } catch {
    return null;
  }
}

function readAdd(words: string[]): [string, Fields] | null {
  const env: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const plain: string[] = [];
  let kind = "";
  let url = "";
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const [option, ...glued] = word.startsWith("--") ? word.split("=") : [word];
    const value = () => (glued.length > 0 ? glued.join("=") : (words[++at] ?? ""));
    if (word === "--") {
      plain.push(...words.slice(at + 1));
      break;
    }
    // What follows the program's name is the program's.
    if (plain.length > 1 && kind === "") {
      plain.push(...words.slice(at).filter((one) => one !== "--"));
      break;
    }
    if (option === "-e" || option === "--env") {
      do {
        const [name = "", ...rest] = value().split("=");
        env[name] = rest.join("=");
      } while (glued.length === 0 && /^[A-Za-z_][A-Za-z0-9_]*=/.test(words[at + 1] ?? ""));
    } else if (option === "-H" || option === "--header") headers[value().split(":")[0]!.trim()] = "";
    else if (option === "-t" || option === "--transport") kind = value();
    else if (option === "--url") url = value();
    else if (OTHER.includes(option!)) value();
    else if (!word.startsWith("-") || plain.length > 1) plain.push(word);
  }
  const [name, first, ...args] = plain;
  if (!name) return null;
  const address = url || (first && /^https?:\/\//.test(first) ? first : "");
  if (address) return [name, { type: kind, url: address, headers }];
  return first ? [name, { command: first, args, env }] : null;
}
