// The form of an agent: its start, and what is wrong with it.
import type { Agent, AgentInput } from "@/api/types";

export const EMPTY: AgentInput = {
  name: "",
  instructions: "",
  tools: [],
  connection: null,
  policy: { read: "allow", write: "ask", external: "ask", destructive: "ask", tools: {} },
  budget: "agent",
  tuning: { temperature: 0.2, max_tokens: 4096, timeout_ms: 300_000 },
};

export const MAX_NAME = 64;
export const MAX_TOKENS = 1_000_000;

/** An agent without its id. */
export const inputOf = ({ id: _id, ...input }: Agent): AgentInput => input;

export type Problem = "name_missing" | "name_long" | "tools_missing" | "temperature_bad" | "max_tokens_bad" | "timeout_bad";
export type Problems = Partial<Record<"name" | "tools" | "temperature" | "max_tokens" | "timeout", Problem>>;

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
  return out;
}
