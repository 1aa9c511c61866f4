// The form of a connection: its start, and what is wrong with it.
import { charactersOf, lengthOf, limits, numbersOf, type Range, within } from "@/api/limits";
import type { Capabilities, Connection, ConnectionAuth, ConnectionInput, Price, Provider, Strategy, Wire } from "@/api/types";

export const PROVIDERS: readonly Provider[] = ["compatible", "ollama", "llama_cpp", "vllm", "text_gen", "open_ai", "azure_open_ai", "anthropic", "gemini", "cohere", "bedrock", "hugging_face"];
export const STRATEGIES: readonly Strategy[] = ["native", "guided_json", "react", "markers"];
export const WIRES: readonly Wire[] = ["chat", "responses", "native"];
export type AuthKind = ConnectionAuth["kind"];
/** Kinds whose key is typed in and lies in the vault. */
export const SEALED = ["bearer", "api_key", "basic", "header", "aws"] as const satisfies readonly AuthKind[];
/** Kinds whose key is in the server's environment. */
export const ENVIRONMENT = ["bearer_env", "api_key_env", "basic_env", "header_env", "aws_env"] as const satisfies readonly AuthKind[];
export const isSealed = (kind: AuthKind): boolean => (SEALED as readonly AuthKind[]).includes(kind);

export const EMPTY: ConnectionInput = { name: "", provider: "compatible", base_url: "", model: "", auth: { kind: "none" } };

/** What Steward takes for granted of a model it knows nothing of. */
export const CAPABILITIES: Capabilities = { strategy: "native", window: 32_768, json_schema: true, scoring: false, plans: true, summarises: true, max_tools: 64, parallel_calls: true, system_role: true, vision: false, thinks_first: false, trusted: true, constrained: null, num_ctx: null, prompt_tokens: null };

export const inputOf = ({ name, provider, base_url, model, auth, capabilities, wire, price, weight, in_house_by_hand }: Connection): ConnectionInput => ({ name, provider, base_url, model, auth, capabilities, wire, price, weight, in_house: in_house_by_hand ?? null });

/** A removed connection, to be made again. Only what a person set is sent: all that is sent counts as that, and no exam would change it. */
export const againOf = (connection: Connection): ConnectionInput => {
  const { capabilities, by_hand } = connection;
  const own = Object.entries(capabilities).filter(([name]) => by_hand.includes(name));
  return { ...inputOf(connection), capabilities: own.length > 0 ? (Object.fromEntries(own) as Capabilities) : null };
};

/** Another kind of key; what the two kinds have in common stays. */
export function authOf(kind: AuthKind, before: ConnectionAuth, provider?: Provider, url = ""): ConnectionAuth {
  const key = "key" in before && before.key ? { key: before.key } : {};
  const user = "user" in before ? before.user : "";
  const header = "header" in before ? before.header : "";
  const region = "region" in before ? before.region : (/\.([a-z0-9-]+)\.amazonaws\.com/.exec(url)?.[1] ?? "");
  const variable = "variable" in before ? before.variable : ((provider && VARIABLES[provider]) ?? "");
  switch (kind) {
    case "none":
      return { kind };
    case "bearer":
    case "api_key":
      return { kind, ...key };
    case "basic":
      return { kind, user, ...key };
    case "header":
      return { kind, header, ...key };
    case "aws":
    case "aws_env":
      return { kind, region };
    case "basic_env":
      return { kind, user, variable };
    case "header_env":
      return { kind, header, variable };
    default:
      return { kind, variable };
  }
}

/** Whether a key was typed. */
export const isTyped = (auth: ConnectionAuth): boolean => ("key" in auth && !!auth.key) || ("access_key_id" in auth && !!auth.access_key_id);

/** Whether the kept key of a connection stays, as it goes to the same server as before. */
export function keepsKey(saved: Connection | null, { auth, base_url, provider }: ConnectionInput): boolean {
  if (!saved || !isSealed(saved.auth.kind) || (saved.auth.kind === "aws") !== (auth.kind === "aws")) return false;
  const place = (url: string, of: Provider) => (URL.canParse(url) ? new URL(url).origin : of);
  return place(saved.base_url, saved.provider) === place(base_url.trim(), provider);
}

/** Names under which keys usually lie. */
const VARIABLES: Partial<Record<Provider, string>> = { open_ai: "OPENAI_API_KEY", azure_open_ai: "AZURE_OPENAI_API_KEY", anthropic: "ANTHROPIC_API_KEY", gemini: "GEMINI_API_KEY", cohere: "COHERE_API_KEY", bedrock: "AWS_BEARER_TOKEN_BEDROCK", hugging_face: "HF_TOKEN" };
/** Providers at one place in the world: their address may be left out. */
const OWN_ADDRESS: readonly Provider[] = ["open_ai", "anthropic", "gemini", "cohere", "hugging_face"];
/** The kind of key that a provider usually wants. */
export const usualAuth = (provider: Provider): AuthKind =>
  provider === "azure_open_ai" || provider === "anthropic" || provider === "gemini" ? "api_key" : VARIABLES[provider] ? "bearer" : "none";

/** A name for a connection to this model that no other has and that is not too long. */
export function nameFor(model: string, taken: readonly string[]): string {
  const short = [...(model.split("/").findLast(Boolean) ?? "")];
  for (let n = 1; ; n += 1) {
    const ending = n === 1 ? "" : ` ${n}`;
    const name = short.slice(0, RANGES.name.most - ending.length).join("").trim() + ending;
    if (!taken.includes(name)) return name;
  }
}

/** A price as people write it, dollars for a million tokens. Empty: unknown. */
export type PriceText = { input: string; cached: string; output: string };
export const priceText = (price: Price | null | undefined): PriceText => ({ input: price ? String(price.input / 1e6) : "", cached: price ? String(price.cached / 1e6) : "", output: price ? String(price.output / 1e6) : "" });
/** `null`: none was given; `undefined`: it is no price. A cached prompt costs what others do, if nothing is said. */
export function priceOf({ input, cached, output }: PriceText): Price | null | undefined {
  if ([input, cached, output].every((text) => text.trim() === "")) return null;
  const read = (text: string) => (/^\d+([.,]\d+)?$/.test(text.trim()) ? Math.round(Number(text.trim().replace(",", ".")) * 1e6) : undefined);
  const price = { input: read(input), cached: cached.trim() === "" ? read(input) : read(cached), output: read(output) };
  return price.input !== undefined && price.cached !== undefined && price.output !== undefined ? (price as Price) : undefined;
}

type Name = "name" | "base_url" | "model" | "key" | "access_key_id" | "region" | "variable" | "user" | "header" | "window" | "max_tools" | "num_ctx" | "prompt_tokens" | "weight";
export type Problem = "name_missing" | "name_bad" | "base_url_bad" | "model_missing" | "key_missing" | "region_bad" | "variable_bad" | "user_missing" | "header_bad" | "window_bad" | "max_tools_bad" | "tokens_bad" | "weight_bad";
export type Problems = Partial<Record<Name, Problem>>;

/** What each field of a number takes, and how long a name may be. */
export const RANGES = {
  name: lengthOf(limits.ConnectionInput.name),
  weight: numbersOf(limits.ConnectionInput.weight),
  window: numbersOf(limits.Capabilities.window),
  max_tools: numbersOf(limits.Capabilities.max_tools),
  num_ctx: numbersOf(limits.Capabilities.num_ctx),
  prompt_tokens: numbersOf(limits.Capabilities.prompt_tokens),
} satisfies Partial<Record<Name, Range>>;
/** The same of any field; most have none. */
export const rangeOf = (name: Name): Range | undefined => (RANGES as Partial<Record<Name, Range>>)[name];

export function problemsOf(form: ConnectionInput, saved: Connection | null = null): Problems {
  const out: Problems = authProblems(form.auth, keepsKey(saved, form));
  if (form.name.trim() === "") out.name = "name_missing";
  // It stands in paths: `connection/NAME` is a model's name for other programs.
  else if (charactersOf(form.name.trim()) > RANGES.name.most || form.name.includes("/")) out.name = "name_bad";
  if (!isAddress(form.base_url.trim()) && !(form.base_url.trim() === "" && OWN_ADDRESS.includes(form.provider))) out.base_url = "base_url_bad";
  if (form.model.trim() === "") out.model = "model_missing";
  const { capabilities, weight } = form;
  const whole = (n: number, range: Range) => Number.isInteger(n) && within(n, range);
  const tokens = (n: number | null | undefined, range: Range) => n === null || n === undefined || whole(n, range);
  if (capabilities && !whole(capabilities.window, RANGES.window)) out.window = "window_bad";
  if (capabilities && !whole(capabilities.max_tools, RANGES.max_tools)) out.max_tools = "max_tools_bad";
  if (capabilities && !tokens(capabilities.num_ctx, RANGES.num_ctx)) out.num_ctx = "tokens_bad";
  if (capabilities && !tokens(capabilities.prompt_tokens, RANGES.prompt_tokens)) out.prompt_tokens = "tokens_bad";
  if (weight !== undefined && !whole(weight, RANGES.weight)) out.weight = "weight_bad";
  return out;
}

/** What is wrong with the key, or with where it is found; `kept`: one is in the vault. */
export function authProblems(auth: ConnectionAuth, kept = false): Problems {
  const out: Problems = {};
  if ("variable" in auth && !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(auth.variable)) out.variable = "variable_bad";
  if ("user" in auth && auth.user.trim() === "") out.user = "user_missing";
  if ("header" in auth && !/^[A-Za-z0-9_-]{1,100}$/.test(auth.header)) out.header = "header_bad";
  if ("region" in auth && !/^[a-z0-9-]{1,40}$/.test(auth.region)) out.region = "region_bad";
  if (auth.kind === "aws") {
    const given = [auth.access_key_id, auth.secret_access_key].filter(Boolean).length;
    if (given === 2 || (given === 0 && kept && !auth.session_token)) return out;
    if (!auth.access_key_id) out.access_key_id = "key_missing";
    if (!auth.secret_access_key) out.key = "key_missing";
  } else if (isSealed(auth.kind) && !kept && !isTyped(auth)) out.key = "key_missing";
  return out;
}

/** Whether something is an address, or becomes one with a scheme before it. */
export const looksLikeAddress = (text: string): boolean => isAddress(text.trim()) || (/^[\w.[\]-]+(:\d+)?(\/\S*)?$/.test(text.trim()) && isAddress(`http://${text.trim()}`));

export function isAddress(text: string): boolean {
  try {
    const { protocol } = new URL(text);
    return protocol === "http:" || protocol === "https:";
  } catch {
    return false;
  }
}
