// The form of an MCP server: its start, what is wrong with it, and what is sent.
import type { CredentialKind, CredentialWanted, McpServer, McpServerInput } from "@/api/types";

/** Kinds that a server of each sort takes. */
export const KINDS: Record<Form["kind"], readonly CredentialKind[]> = { http: ["token", "api_key", "oauth2"], stdio: ["token", "api_key", "oauth2", "password"] };

export type Form = {
  name: string;
  kind: "stdio" | "http";
  program: string;
  /** One a line. */
  args: string;
  read: string;
  write: string;
  network: boolean;
  /** Plain settings, `NAME=VALUE` one a line. */
  env: string;
  variable: string;
  /** Further variables that take a secret, `NAME=CREDENTIAL` one a line. */
  secrets: string;
  url: string;
  allow: string;
  /** Nothing, `name:NAME` or `kind:KIND`. */
  credential: string;
  optional: boolean;
  per_user: boolean;
  enabled: boolean;
};

export const EMPTY: Form = { name: "", kind: "stdio", program: "", args: "", read: "", write: "", network: false, env: "", variable: "", secrets: "", url: "", allow: "", credential: "", optional: false, per_user: false, enabled: true };

type Pairs = Record<string, string>;
type Local = Extract<McpServer["transport"], { kind: "stdio" }> & { env?: Pairs; secrets?: Pairs };
export const variablesOf = (transport: McpServer["transport"]): { env: Pairs; secrets: Pairs } => {
  const { env = {}, secrets = {} } = transport as Local;
  return { env, secrets };
};
const textOf = (pairs: Pairs): string => Object.entries(pairs).map(([name, value]) => `${name}=${value}`).join("\n");
/** `NAME=VALUE` a line; the value as it stands. */
const pairsOf = (text: string): [string, string][] =>
  text.split("\n").filter((line) => line.trim() !== "").map((line) => {
    const [name = "", ...value] = line.split("=");
    return [name.trim(), value.join("=")];
  });
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const choiceOf = (wanted: CredentialWanted | null): string => (wanted?.name ? `name:${wanted.name}` : wanted?.kind ? `kind:${wanted.kind}` : "");
export function formOf(server: McpServer): Form {
  const { transport } = server;
  const common = { ...EMPTY, name: server.name, kind: transport.kind, credential: choiceOf(server.credential), optional: server.credential?.optional ?? false, per_user: server.per_user, enabled: server.enabled };
  if (transport.kind === "http") return { ...common, url: transport.url, allow: (transport.allow ?? []).join("\n") };
  const [program = "", ...args] = transport.command;
  return { ...common, program, args: args.join("\n"), read: (transport.read ?? []).join("\n"), write: (transport.write ?? []).join("\n"), network: transport.network ?? false, env: textOf(variablesOf(transport).env), variable: transport.secret_variable ?? "", secrets: textOf(variablesOf(transport).secrets) };
}

/** Lines as they stand, for an argument may begin with a space; empty ones at the end are none. */
export const argsOf = (text: string): string[] => {
  const lines = text.replace(/\n+$/, "");
  return lines === "" ? [] : lines.split("\n");
};
const linesOf = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter(Boolean);

export type Problem = "name_bad" | "program_missing" | "read_bad" | "write_bad" | "env_bad" | "variable_missing" | "variable_bad" | "secrets_bad" | "variable_twice" | "url_bad" | "allow_bad";
export type Problems = Partial<Record<"name" | "program" | "read" | "write" | "env" | "variable" | "secrets" | "url" | "allow", Problem>>;

const isAddress = (text: string): boolean => {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
};

export function problemsOf(form: Form): Problems {
  const out: Problems = {};
  if (!/^[a-z0-9_]{1,32}$/.test(form.name)) out.name = "name_bad";
  if (form.kind === "stdio") {
    if (form.program.trim() === "") out.program = "program_missing";
    if (linesOf(form.read).some((path) => !path.startsWith("/"))) out.read = "read_bad";
    if (linesOf(form.write).some((path) => !path.startsWith("/"))) out.write = "write_bad";
    if (form.credential !== "" && form.variable === "") out.variable = "variable_missing";
    else if (form.variable !== "" && !VARIABLE.test(form.variable)) out.variable = "variable_bad";
    const env = pairsOf(form.env);
    const secrets = pairsOf(form.secrets);
    if (env.some(([name]) => !VARIABLE.test(name)) || form.env.split("\n").some((line) => line.trim() !== "" && !line.includes("="))) out.env = "env_bad";
    if (secrets.some(([name, credential]) => !VARIABLE.test(name) || credential.trim() === "")) out.secrets = "secrets_bad";
    const names = [...env, ...secrets].map(([name]) => name).concat(form.variable === "" ? [] : [form.variable]);
    if (!out.env && new Set(names).size < names.length) out.env = "variable_twice";
  } else {
    if (!isAddress(form.url.trim())) out.url = "url_bad";
    if (linesOf(form.allow).some((place) => !/^.+:\d{1,5}$/.test(place))) out.allow = "allow_bad";
  }
  return out;
}

export function inputOf(form: Form): McpServerInput {
  const [sort, ...rest] = form.credential.split(":");
  const what = rest.join(":");
  const credential: CredentialWanted | null = sort === "name" ? { name: what, optional: form.optional } : sort === "kind" ? { kind: what as CredentialKind, optional: form.optional } : null;
  const env = Object.fromEntries(pairsOf(form.env));
  const secrets = Object.fromEntries(pairsOf(form.secrets).map(([name, credential]) => [name, credential.trim()]));
  const variables = { ...(form.env.trim() && { env }), ...(form.secrets.trim() && { secrets }) };
  const transport: McpServerInput["transport"] =
    form.kind === "stdio"
      ? { kind: "stdio", command: [form.program.trim(), ...argsOf(form.args)], secret_variable: (form.credential !== "" && form.variable) || null, ...variables, network: form.network, read: linesOf(form.read), write: linesOf(form.write) }
      : { kind: "http", url: form.url.trim(), allow: linesOf(form.allow) };
  return { name: form.name, transport, credential, per_user: form.kind === "http" && form.per_user, enabled: form.enabled };
}

/** How a server is reached, in one line. */
export const placeOf = ({ transport }: McpServer): string => (transport.kind === "http" ? transport.url : transport.command.join(" "));
