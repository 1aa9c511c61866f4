// Types of the HTTP API, by their names in its OpenAPI document (`npm run gen` writes schema.d.ts).
import type { components } from "./schema";

type S = components["schemas"];
/** Fields that a request may leave out stand in every answer, and this studio always sends them. */
type With<T, U> = Omit<T, keyof U> & U;

export type Page<T> = { items: T[]; next_cursor: string | null };
type Json = Record<string, unknown>;

export type Role = S["Role"];
export type Me = S["Me"];
export type Session = S["Session"];
export type AuthStatus = S["AuthStatus"];
export type LoginSessionView = S["LoginSessionView"];

export type Decision = S["Decision"];
export type Policy = Required<S["Policy"]>;
export type Tuning = S["Tuning"];
export type Preset = S["Preset"];
type Whole = { tools: string[]; connection: string | null; policy: Policy };
export type AgentInput = With<S["AgentInput"], Whole>;
export type Agent = With<S["Agent"], Whole>;
export type Risk = S["Risk"];
export type Tool = With<S["Tool"], { parameters: Json }>;
export type PromptPreview = S["PromptPreview"];

export type Conversation = S["Conversation"];
export type ConversationDetail = S["ConversationDetail"];

export type RunStatus = S["RunStatus"];
export type Outcome = S["Outcome"];
export type Verdict = S["Verdict"];
export type Origin = S["Origin"];
export type Mode = S["Mode"];
export type Run = S["Run"];
export type RunDetail = S["RunDetail"];
export type ForkPoint = S["ForkPoint"];
export type ChatStarted = S["ChatStarted"];

export type Preview = S["Preview"];
export type Subject = S["Subject"];
export type GrantScope = S["GrantScope"];
export type Answer = S["Answer"];
export type PlanStep = S["PlanStep"];
export type Approval = S["Approval"];
export type Decide = S["Decide"];
export type Decided = S["Decided"];
export type StandingGrant = S["StandingGrant"];

export type Provider = S["Provider"];
export type ConnectionAuth = S["Auth"];
export type Capabilities = S["Capabilities"];
export type Connection = S["Connection"];
export type ConnectionInput = With<S["ConnectionInput"], { auth: ConnectionAuth }>;
export type ConnectionTest = S["ConnectionTest"];

export type Undone = S["Undone"];
export type Difference = S["Difference"];
export type Replay = S["Replay"];
export type KeptRun = S["KeptRun"];
export type KeptReport = S["KeptReport"];
export type Health = S["Part"];
export type About = S["About"];
export type Uploaded = S["Uploaded"];

// In `run.finished`, whose body the document leaves open.
export type Claim = { text: string; start: number; end: number; action: string; calls?: string[]; why: string };
export type Receipts = { verdict: Verdict; claims?: Claim[] };

/** A problem+json answer. */
export type Problem = Partial<S["Problem"]> & { title: string; status: number };
