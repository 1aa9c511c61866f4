// The form of an agent: its start, and what is wrong with it.
import { NO_ROUTING } from "@/api/hooks/connections";
import type { Agent, AgentInput, Deep, OwnData, Task } from "@/api/types";

export const TASKS: readonly Task[] = ["chat", "tool_call", "planning", "reasoning", "rag_answer", "summarize", "extract", "classify", "code_gen", "translate"];
const INHERITED: Deep = { enabled: null, max_steps: null, style: null };
const KEEPS_NOTHING: OwnData = { memory: null, database: "off", documentation: false };
/** Tools that an agent has by a switch, never by being chosen. */
export const SWITCHED: readonly string[] = ["db_query", "update_db_schema"];

export const EMPTY: AgentInput = {
  name: "",
  instructions: "",
  tools: [],
  connection: null,
  policy: { read: "allow", write: "ask", external: "ask", destructive: "ask", tools: {} },
  budget: "agent",
  tuning: { temperature: 0.2, max_tokens: 4096, timeout_ms: 300_000 },
  routing: NO_ROUTING,
  deep: INHERITED,
  own_data: KEEPS_NOTHING,
  skills: [],
};

export const MAX_NAME = 64;
export const MAX_TOKENS = 1_000_000;

/** An agent without its id; what its answer leaves out is as usual. */
export const inputOf = ({ id: _id, routing, deep, own_data, ...input }: Agent): AgentInput => ({ ...input, routing: { ...NO_ROUTING, ...routing }, deep: { ...INHERITED, ...deep }, own_data: { ...KEEPS_NOTHING, ...own_data } });

/** The agent as it is sent: skills, credentials and metadata only where the form changed them, for others give these to it too. */
export function sent({ skills, credentials: _credentials, metadata: _metadata, ...input }: AgentInput, before: AgentInput): AgentInput {
  return JSON.stringify(skills) === JSON.stringify(before.skills) ? input : { ...input, skills: skills ?? null };
}

/** A list with the entry at `from` moved to `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, at) => at !== from);
  return from in list ? [...rest.slice(0, to), list[from]!, ...rest.slice(to)] : rest;
}

export type Problem = "attempts_bad" | "hedge_bad" | "deep_steps_bad" | "name_missing" | "name_long" | "tools_missing" | "temperature_bad" | "max_tokens_bad" | "timeout_bad";
export type Problems = Partial<Record<"name" | "tools" | "temperature" | "max_tokens" | "timeout" | "attempts" | "hedge" | "deep_steps", Problem>>;

/** `all`: whether the agent has all tools; else some must be chosen. */
export function problemsOf(form: AgentInput, all: boolean): Problems {
  const { temperature, max_tokens, timeout_ms } = form.tuning;
  const out: Problems = {};
  if (form.name.trim() === "") out.name = "name_missing";
  else if (form.name.trim().length > MAX_NAME) out.name = "name_long";
  if (!all && form.tools.length === 0) out.tools = "tools_missing";
  if (!(temperature >= 0 && temperature <= 2)) out.temperature = "temperature_bad";
  if (!(Number.isInteger(max_tokens) && max_tokens >= 1 && max_tokens <= MAX_TOKENS)) out.max_tokens = "max_tokens_bad";
  if (!(timeout_ms >= 1_000 && timeout_ms <= 3_600_000)) out.timeout = "timeout_bad";
  const { max_fallback_attempts: attempts, hedge_after_ms: hedge } = form.routing;
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= 20)) out.attempts = "attempts_bad";
  if (hedge !== null && !(hedge >= 50 && hedge <= 600_000)) out.hedge = "hedge_bad";
  const steps = form.deep.max_steps;
  if (steps !== null && !(Number.isInteger(steps) && steps >= 1 && steps <= 20)) out.deep_steps = "deep_steps_bad";
  return out;
}
