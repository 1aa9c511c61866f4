// Servers' configurations as other programs write them down, read into forms.
import { EMPTY, type Form } from "./form";
import { readCommands } from "./shell";

export type Note = "paste_docker" | "paste_sse" | "paste_write" | "paste_placeholders";
/** A server that was read. `secrets`: names of variables or headers whose values are not taken: they belong into the vault. */
export type Entry = { form: Form; secrets: string[]; notes: Note[] };
export type Unread = "paste_unreadable" | "paste_nothing";

const FETCHING = ["npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn", "uv"];
const SECRET = /(^|_)(KEY|KEYS|APIKEY|TOKEN|TOKENS|SECRET|SECRETS|PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|CREDENTIAL|CREDENTIALS|AUTH|AUTHORIZATION|BEARER|PAT|DSN|COOKIE|COOKIES|SESSION|WEBHOOK)(_|$)/i;
/** Files that a program keeps things in, or options that name one. */
const KEPT = /\.(db|sqlite3?|duckdb|jsonl|log)$/i;
const KEEPING = /(^|[-_])(db|database|store|storage|data|memory|output|out|log|logs|cache|state|persist\w*)([-_]|$)/i;

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const addressOf = (value: Fields): string | undefined => [value.url, value.serverUrl, value.httpUrl, value.uri].find((one): one is string => typeof one === "string");
/** Program and arguments: `"npx"` with `args`, a list, or Zed's `{path, args, env}`. */
function commandOf(value: Fields): { command: string[]; env: Fields } | null {
  const { command } = value;
  const env = [value.env, value.environment].find(isFields) ?? {};
  const texts = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : []);
  if (typeof command === "string" && command !== "") return { command: [command, ...texts(value.args)], env };
  if (Array.isArray(command) && command.length > 0) return { command: [...texts(command), ...texts(value.args)], env };
  if (isFields(command) && typeof command.path === "string") return { command: [command.path, ...texts(command.args)], env: isFields(command.env) ? command.env : env };
  return null;
}
const isServer = (value: unknown): value is Fields => isFields(value) && (commandOf(value) !== null || addressOf(value) !== undefined);
const nameOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 32);

/** Takes the JSON of Claude, VS Code, Zed and others, with comments or without its outer braces, Codex' TOML, and lines such as `claude mcp add`. */
export async function readConfiguration(text: string): Promise<Entry[] | Unread> {
  const value = readCommands(text) ?? readJson(text) ?? readJson(`{${text}}`) ?? (await readToml(text));
  if (value === undefined) return "paste_unreadable";
  const servers = serversOf(value);
  return servers.length === 0 ? "paste_nothing" : servers.map(([name, server]) => entryOf(name, server));
}

function readJson(text: string): unknown {
  // Strings stay as they are; comments go, then commas before an end.
  const plain = text.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, string?: string) => string ?? " ");
  try {
    return JSON.parse(plain.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, string?: string) => string ?? "")) ?? [];
  } catch {
    return undefined;
  }
}

async function readToml(text: string): Promise<unknown> {
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function serversOf(value: unknown): [string, Fields][] {
  if (!isFields(value)) return [];
  if (isServer(value)) return [["", value]];
  const found = Object.entries(value).filter((entry): entry is [string, Fields] => isServer(entry[1]));
  if (found.length > 0) return found;
  const inner = ["mcpServers", "mcp_servers", "servers", "context_servers", "mcp"].map((key) => value[key]).find(isFields);
  return inner ? serversOf(inner) : [];
}

function entryOf(name: string, server: Fields): Entry {
  const started = commandOf(server);
  const address = addressOf(server);
  if (!started) {
    const headers = [server.headers, server.http_headers, server.env_http_headers].filter(isFields).flatMap((one) => Object.keys(one));
    const secrets = typeof server.bearer_token_env_var === "string" ? [...headers, server.bearer_token_env_var] : headers;
    const old = server.type === "sse" || server.transport === "sse" || /\/sse\/?([?#]|$)/.test(address ?? "");
    return { form: { ...EMPTY, name: nameOf(name), kind: "http", url: address ?? "" }, secrets, notes: old ? ["paste_sse"] : [] };
  }
  const [program = "", ...args] = started.command;
  const { settings, secrets } = variablesOf(started.env);
  const places = placesOf(program, args, settings);
  const notes: Note[] = [];
  if (/(^|\/)(docker|podman)$/.test(program)) notes.push("paste_docker");
  if (places.write.length > 0) notes.push("paste_write");
  if ([...args, ...Object.values(settings)].some((one) => /\$\{|<[^>]+>|\bYOUR[_-]|\/path\/to\//i.test(one))) notes.push("paste_placeholders");
  const form: Form = {
    ...EMPTY,
    name: nameOf(name),
    kind: "stdio",
    program,
    args: args.join("\n"),
    read: places.read.join("\n"),
    write: places.write.join("\n"),
    // What fetches the server itself needs the network.
    network: FETCHING.includes(program.replace(/^.*\//, "")),
    env: Object.entries(settings).map(([key, one]) => `${key}=${one}`).join("\n"),
    variable: secrets.length === 1 ? secrets[0]! : "",
    secrets: secrets.length > 1 ? secrets.map((key) => `${key}=`).join("\n") : "",
  };
  return { form, secrets, notes };
}

/** A value counts as a secret if its name says so or it may be one: then it is not taken. */
function variablesOf(env: Fields): { settings: Record<string, string>; secrets: string[] } {
  const settings: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [key, one] of Object.entries(env)) {
    const value = String(one);
    const random = /^[\w+/=.-]{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) && !/^[./~]/.test(value);
    const inside = /:\/\/[^/\s@]*:[^/\s@]*@/.test(value) || /[?&;](password|pwd|token|key|secret)=/i.test(value) || /\$\{input:/.test(value);
    if (SECRET.test(key) || random || inside || value.includes("\n")) secrets.push(key);
    else settings[key] = value;
  }
  return { settings, secrets };
}

/** Paths among arguments and settings: what the server looks at; of what it keeps things in, the folder, to be changed. */
function placesOf(program: string, args: string[], settings: Record<string, string>): { read: string[]; write: string[] } {
  const read = new Set<string>();
  const write = new Set<string>();
  const files = [program, ...args].some((word) => /filesystem/i.test(word) && !word.startsWith("/"));
  const add = (path: string, option: string) => {
    if (!/^\/./.test(path)) return;
    const named = path.replace(/\/+$/, "");
    if (KEPT.test(named) || (KEEPING.test(option) && /\/[^/]+\.\w+$/.test(named))) write.add(named.replace(/\/[^/]+$/, "") || named);
    else if (files || KEEPING.test(option)) write.add(named);
    else read.add(named);
  };
  args.forEach((arg, at) => {
    const [, option, glued] = /^(--?[\w-]+)=(.*)$/.exec(arg) ?? [];
    const before = args[at - 1] ?? "";
    add(glued ?? arg, option ?? (/^--?[\w-]+$/.test(before) ? before : ""));
  });
  for (const [key, value] of Object.entries(settings)) add(value, key);
  const within = (path: string) => [...write].some((folder) => path === folder || path.startsWith(`${folder}/`));
  return { read: [...read].filter((path) => !within(path)), write: [...write] };
}
