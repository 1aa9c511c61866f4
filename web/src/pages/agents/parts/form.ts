// The form of an agent: its start, and what is wrong with it.
import { NO_ROUTING } from "@/api/hooks/connections";
import { charactersOf, lengthOf, limits, numbersOf, type Range, within } from "@/api/limits";
import type { Agent, AgentInput, Deep, OwnData, Task } from "@/api/types";

export const TASKS: readonly Task[] = ["chat", "tool_call", "planning", "reasoning", "rag_answer", "summarize", "extract", "classify", "code_gen", "translate"];
const INHERITED: Deep = { enabled: null, max_steps: null, style: null };
const KEEPS_NOTHING: OwnData = { memory: null, database: false, documentation: false, shared: false };
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
  auto_link_uploads: false,
  skills: [],
};

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

export type Problem = "attempts_bad" | "hedge_bad" | "deep_steps_bad" | "name_missing" | "name_long" | "instructions_long" | "tools_missing" | "temperature_bad" | "max_tokens_bad" | "timeout_bad";
export type Problems = Partial<Record<"name" | "instructions" | "tools" | "temperature" | "max_tokens" | "timeout" | "attempts" | "hedge" | "deep_steps", Problem>>;

/** What each field takes, times in seconds. */
export const RANGES = {
  name: lengthOf(limits.AgentInput.name),
  instructions: lengthOf(limits.AgentInput.instructions),
  temperature: numbersOf(limits.Tuning.temperature),
  max_tokens: numbersOf(limits.Tuning.max_tokens),
  timeout: numbersOf(limits.Tuning.timeout_ms, 1_000),
  attempts: numbersOf(limits.Routing.max_fallback_attempts),
  hedge: numbersOf(limits.Routing.hedge_after_ms, 1_000),
  deep_steps: numbersOf(limits.Deep.max_steps),
} satisfies Partial<Record<keyof Problems, Range>>;
/** The same of any field; most have none. */
export const rangeOf = (name: keyof Problems): Range | undefined => (RANGES as Partial<Record<keyof Problems, Range>>)[name];

/** `all`: whether the agent has all tools; else some must be chosen. */
export function problemsOf(form: AgentInput, all: boolean): Problems {
  const { temperature, max_tokens, timeout_ms } = form.tuning;
  const out: Problems = {};
  if (form.name.trim() === "") out.name = "name_missing";
  else if (charactersOf(form.name.trim()) > RANGES.name.most) out.name = "name_long";
  if (charactersOf(form.instructions) > RANGES.instructions.most) out.instructions = "instructions_long";
  if (!all && form.tools.length === 0) out.tools = "tools_missing";
  if (!within(temperature, RANGES.temperature)) out.temperature = "temperature_bad";
  if (!(Number.isInteger(max_tokens) && within(max_tokens, RANGES.max_tokens))) out.max_tokens = "max_tokens_bad";
  if (!within(timeout_ms / 1_000, RANGES.timeout)) out.timeout = "timeout_bad";
  const { max_fallback_attempts: attempts, hedge_after_ms: hedge } = form.routing;
  if (!(Number.isInteger(attempts) && within(attempts, RANGES.attempts))) out.attempts = "attempts_bad";
  if (hedge !== null && !within(hedge / 1_000, RANGES.hedge)) out.hedge = "hedge_bad";
  const steps = form.deep.max_steps;
  if (steps !== null && !(Number.isInteger(steps) && within(steps, RANGES.deep_steps))) out.deep_steps = "deep_steps_bad";
  return out;
}
