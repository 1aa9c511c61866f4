// A server's configuration as other programs write it down, read into the form.
import { EMPTY, type Form } from "./form";

/** What was read. `secrets`: names of variables or headers whose values stay where they are: they belong into the vault. */
export type Read = { form: Form; secrets: string[]; others: number };
export type Unread = "paste_no_json" | "paste_nothing";

const FETCHING = ["npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn"];

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isServer = (value: unknown): value is Fields => isFields(value) && (typeof value.command === "string" || typeof value.url === "string" || typeof value.serverUrl === "string");
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const nameOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 32);

/** Takes `{"mcpServers": {"name": {…}}}`, what is inside of it, or one server alone. */
export function readConfiguration(text: string): Read | Unread {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "paste_no_json";
  }
  if (!isFields(value)) return "paste_nothing";
  const inner = [value.mcpServers, value.servers].find(isFields) ?? value;
  const servers: [string, Fields][] = isServer(inner) ? [["", inner]] : Object.entries(inner).filter((entry): entry is [string, Fields] => isServer(entry[1]));
  const [first] = servers;
  if (!first) return "paste_nothing";
  const [name, server] = first;
  const others = servers.length - 1;
  if (typeof server.command !== "string") {
    const headers = isFields(server.headers) ? Object.keys(server.headers) : [];
    return { form: { ...EMPTY, name: nameOf(name), kind: "http", url: String(server.url ?? server.serverUrl) }, secrets: headers, others };
  }
  const variables = isFields(server.env) ? Object.keys(server.env) : [];
  const args = texts(server.args);
  // What fetches the server itself needs the network; a path among the arguments is what the server is to look at.
  const network = FETCHING.includes(server.command.replace(/^.*\//, ""));
  const read = args.filter((arg) => /^\/./.test(arg)).join("\n");
  return { form: { ...EMPTY, name: nameOf(name), kind: "stdio", program: server.command, args: args.join("\n"), read, network, variable: variables.length === 1 ? variables[0]! : "" }, secrets: variables, others };
}
