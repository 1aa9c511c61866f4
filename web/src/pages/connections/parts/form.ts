// The form of a connection: presets, and what is wrong with it.
import type { Capabilities, Connection, ConnectionInput } from "@/api/types";

export const EMPTY: ConnectionInput = { name: "", provider: "compatible", base_url: "", model: "", auth: { kind: "none" } };

/** What Steward takes for granted of a model it knows nothing of. */
export const CAPABILITIES: Capabilities = { strategy: "native", window: 32_768, json_schema: true, scoring: false, plans: true, summarises: true, max_tools: 64 };

export const PRESETS = {
  ollama: { name: "Ollama", provider: "ollama", base_url: "http://127.0.0.1:11434/v1", model: "", auth: { kind: "none" } },
  llama_cpp: { name: "llama.cpp", provider: "llama_cpp", base_url: "http://127.0.0.1:8080/v1", model: "default", auth: { kind: "none" } },
  vllm: { name: "vLLM", provider: "compatible", base_url: "http://127.0.0.1:8000/v1", model: "", auth: { kind: "none" } },
  openai: { name: "OpenAI", provider: "open_ai", base_url: "https://api.openai.com/v1", model: "", auth: { kind: "bearer_env", variable: "OPENAI_API_KEY" } },
} as const satisfies Record<string, ConnectionInput>;

export const inputOf = ({ name, provider, base_url, model, auth, capabilities }: Connection): ConnectionInput => ({ name, provider, base_url, model, auth, capabilities });

export type Problems = Partial<Record<"name" | "base_url" | "model" | "variable" | "window" | "max_tools", "name_missing" | "base_url_bad" | "model_missing" | "variable_bad" | "window_bad" | "max_tools_bad">>;

export function problemsOf(form: ConnectionInput): Problems {
  const out: Problems = {};
  if (form.name.trim() === "") out.name = "name_missing";
  if (!isAddress(form.base_url.trim())) out.base_url = "base_url_bad";
  if (form.model.trim() === "") out.model = "model_missing";
  if (form.auth.kind === "bearer_env" && !/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(form.auth.variable)) out.variable = "variable_bad";
  const { capabilities } = form;
  if (capabilities && !(capabilities.window >= 512 && capabilities.window <= 10_000_000)) out.window = "window_bad";
  if (capabilities && !(capabilities.max_tools >= 1 && capabilities.max_tools <= 512)) out.max_tools = "max_tools_bad";
  return out;
}

function isAddress(text: string): boolean {
  try {
    const { protocol } = new URL(text);
    return protocol === "http:" || protocol === "https:";
  } catch {
    return false;
  }
}
