// Types of the HTTP API.
export type Role = "admin" | "operator" | "developer" | "viewer";
export type Me = { id: string; email: string; name: string; role: Role };
export type Session = { access_token: string; token_type: string; expires_in: number; user: Me };
export type AuthStatus = { needs_setup: boolean; version: string };
export type LoginSessionView = { id: string; label: string; created_at: number; rotated_at: number; expires_at: number; current: boolean };

export type Page<T> = { items: T[]; next_cursor: string | null };

export type Decision = "allow" | "ask" | "deny";
export type Policy = { read: Decision; write: Decision; external: Decision; destructive: Decision; tools: Record<string, Decision> };
export type Tuning = { temperature: number; max_tokens: number; timeout_ms: number };
export type Preset = "query" | "agent" | "executor" | "plan";
export type AgentInput = { name: string; instructions: string; tools: string[]; connection: string | null; policy: Policy; budget: Preset; tuning: Tuning };
export type Agent = AgentInput & { id: string };
export type Risk = "read" | "write" | "external" | "destructive";
export type Tool = { name: string; description: string; parameters: Record<string, unknown>; risk: Risk; effect: "read" | "idempotent" | "keyed" | "write" };
export type PromptPreview = { messages: { role: string; text: string }[]; sections: { name: string; tokens: number }[]; tokens: number; window: number; reserved: number; fits: boolean; tools: string[]; model: string };

export type Conversation = { id: string; agent_id: string; agent_name: string | null; title: string; created_at: number; updated_at: number; deleted_at: number | null; forked_from: string | null; open_run: string | null };
export type ConversationDetail = Conversation & { messages: { role: "user" | "assistant"; text: string }[]; runs: Run[] };

export type RunStatus = "running" | "parked" | "finished";
export type Outcome = { status: "completed" } | { status: "failed"; message: string } | { status: "stopped"; by: string } | { status: "limited"; limit: string } | { status: "rejected" };
export type Verdict = "verified" | "unverified" | "no-claims";
export type Origin = "cli" | "chat" | "api" | "schedule" | "delegation";
export type Mode = "loop" | "plan" | "plan_only" | "dry_run";
export type Run = { id: string; agent_id: string; agent_name: string | null; conversation_id: string | null; title: string; status: RunStatus; outcome: Outcome | null; answer: string | null; origin: Origin; user_id: string | null; model: string; verdict: Verdict | null; forked_from: string | null; created_at: number; updated_at: number; last_seq: number; tokens: number; cost_micros: number };
export type RunDetail = Run & { input: string; mode: Mode; asked_by: string; connection_id: string; budget: Record<string, number>; waiting_approval: string | null; undoable: number; forkable: ForkPoint[]; kept_as: string | null };
export type ForkPoint = { seq: number; step: number; purpose: string };
export type ChatStarted = { run_id: string; conversation_id: string | null };

export type Preview = { summary: string; detail?: string | null; count?: number | null; reversible: boolean };
export type Subject =
  | { kind: "call"; call_id: string; tool: string; arguments: Record<string, unknown>; args_hash: string; risk: Risk; preview: Preview }
  | { kind: "plan"; plan_hash: string; previews: { step: number; risk: Risk; preview: Preview }[] }
  | { kind: "uncertain"; call_id: string; tool: string; arguments: Record<string, unknown> }
  | { kind: "question"; call_id: string; text: string };
export type GrantScope = { kind: "tool"; name: string } | { kind: "call"; name: string; args_hash: string } | { kind: "all_but_destructive" };
export type Answer = { decision: "approve"; grant?: GrantScope | null; until?: number | null } | { decision: "deny"; reason?: string | null } | { decision: "feedback"; text: string } | { decision: "happened" } | { decision: "run_again" } | { decision: "skip" };
export type PlanStep = { tool: string; args: Record<string, unknown>; thought: string };
export type Approval = {
  id: string; run_id: string; subject: Subject; asked_at: number; answer: Answer | null; decided_by: string | null; decided_at: number | null;
  status: "open" | "decided" | "withdrawn";
  run: { title: string; agent_id: string; agent_name: string | null; origin: Origin; asked_by: string; conversation_id: string | null };
  plan: PlanStep[] | null; if_denied: string; reason: string; tainted: boolean; duplicates: string[];
};
export type Decide = { answer: Answer; standing?: boolean; duplicates?: boolean };
export type Decided = { approval: Approval; also: string[] };
export type StandingGrant = { id: string; agent_id: string; agent_name: string | null; grant: { scope: GrantScope; until?: number | null }; by: string; created_at: number };

export type Provider = "open_ai" | "compatible" | "ollama" | "llama_cpp" | "local";
export type ConnectionAuth = { kind: "none" } | { kind: "bearer_env"; variable: string };
export type Capabilities = { strategy: "native" | "guided_json" | "react"; window: number; json_schema: boolean; scoring: boolean; plans: boolean; summarises: boolean; max_tools: number };
export type Connection = { id: string; name: string; provider: Provider; base_url: string; model: string; auth: ConnectionAuth; capabilities: Capabilities; from: string; default: boolean; editable: boolean };
export type ConnectionInput = { name: string; provider: Provider; base_url: string; model: string; auth: ConnectionAuth; capabilities?: Capabilities };
export type ConnectionTest = { ok: boolean; accepted_ms: number | null; first_ms: number | null; total_ms: number | null; text: string; model: string; error: string | null; hint: string | null };

export type Undone = { call_id: string; tool: string; undone: boolean; detail: string };
export type Difference = { seq: number; recorded: string; now: string };
export type Replay = { run_id: string; same: boolean; events: number; decisions: number; differences: Difference[] };
export type KeptRun = { name: string; run_id: string; by: string; created_at: number };
export type KeptReport = { name: string; run_id: string; same: boolean; differences: Difference[] };
export type Health = { name: string; status: "ok" | "failing"; detail: string; needed: boolean };
export type About = { version: string; commit: string | null; event_version: number; schema_version?: number; database: "sqlite" | "postgresql"; database_version: string; data_dir: string; workspace: string; started_at: number; runs_at_work: number; health: Health[] };
export type Claim = { text: string; start: number; end: number; action: string; calls?: string[]; why: string };
export type Receipts = { verdict: Verdict; claims?: Claim[] };
export type Uploaded = { path: string; bytes: number };

/** A problem+json answer. */
export type Problem = { type?: string; title: string; status: number; hint?: string; code?: string; run_id?: string; retry_after?: number };
