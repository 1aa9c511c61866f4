// Providers by name, so that nobody has to know their addresses.

/** `part`: what everybody has to put their own in place of. */
export type Known = { name: string; url: string; part?: string };

/** Those of `crates/models/data/providers.json`, after what usually runs on one's own machine. */
export const KNOWN: readonly Known[] = [
  { name: "Ollama", url: "http://127.0.0.1:11434" },
  { name: "llama.cpp", url: "http://127.0.0.1:8080" },
  { name: "vLLM", url: "http://127.0.0.1:8000" },
  { name: "OpenAI", url: "https://api.openai.com/v1" },
  { name: "Azure OpenAI", url: "https://my-resource.openai.azure.com/openai/v1", part: "my-resource" },
  { name: "Anthropic", url: "https://api.anthropic.com/v1" },
  { name: "Google Gemini", url: "https://generativelanguage.googleapis.com/v1beta" },
  { name: "Amazon Bedrock", url: "https://bedrock-runtime.us-east-1.amazonaws.com", part: "us-east-1" },
  { name: "Mistral", url: "https://api.mistral.ai/v1" },
  { name: "Cohere", url: "https://api.cohere.com/v2" },
  { name: "DeepSeek", url: "https://api.deepseek.com/v1" },
  { name: "Groq", url: "https://api.groq.com/openai/v1" },
  { name: "Hugging Face", url: "https://router.huggingface.co/v1" },
  { name: "OpenRouter", url: "https://openrouter.ai/api/v1" },
  { name: "Together", url: "https://api.together.xyz/v1" },
  { name: "xAI", url: "https://api.x.ai/v1" },
];

/** Of a known one whose address is still to be completed: what to put one's own in place of. */
export const partOf = (url: string): string | undefined => KNOWN.find((one) => one.url === url.trim())?.part;
