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

export type OfferedLogins = S["OfferedLogins"];
export type SecondFactorRequired = S["SecondFactorRequired"];
export type SecondFactorView = S["SecondFactorView"];
export type NewSecondFactor = S["NewSecondFactor"];
export type FinishedLogin = S["FinishedLogin"];
export type LoginSettings = Required<S["LoginSettings"]>;
export type Admission = Required<S["Admission"]>;
export type OidcSettings = With<S["OidcSettings"], { admission: Admission }>;
export type IdentityProvider = With<S["IdentityProvider"], { settings: OidcSettings }>;
export type DirectorySettings = With<S["DirectorySettings"], { admission: Admission }>;
export type IdentityDirectory = With<S["IdentityDirectory"], { settings: DirectorySettings | null }>;

export type TriedLogin = S["TriedLogin"];
export type ScimSettings = Required<S["ScimSettings"]>;
export type ScimToken = S["ScimToken"];
export type NewScimToken = S["NewScimToken"];

export type UserState = S["UserState"];
export type User = S["User"];
export type UserInput = S["UserInput"];
export type UserPatch = S["UserPatch"];
export type InvitedUser = S["InvitedUser"];
export type Tenant = S["Tenant"];
export type TenantInput = S["TenantInput"];
export type TenantPatch = S["TenantPatch"];
export type NewTenant = S["NewTenant"];
export type DeletedTenant = S["DeletedTenant"];

export type Group = S["Group"];
export type GroupInput = S["GroupInput"];
export type GroupPatch = S["GroupPatch"];
export type ResourceKind = S["ResourceKind"];
export type AccessLevel = S["AccessLevel"];
export type ResourceAccess = S["ResourceAccess"];
export type ResourceGrant = S["ResourceGrant"];
export type GrantInput = S["GrantInput"];
export type HeldGrant = S["HeldGrant"];
export type AccessExplanation = S["AccessExplanation"];
export type AccessDefaults = S["AccessDefaults"];

export type Classification = S["Classification"];
export type Classified = S["Classified"];
export type DataAction = S["DataAction"];
export type NamedRef = S["NamedRef"];
export type DataLabel = S["DataLabelInput"];
export type DataLabelView = S["DataLabelView"];
export type PiiKind = S["PiiKind"];
export type DataPolicy = S["DataPolicy"];
export type DataRules = S["DataRulesInput"];
export type DataRulesView = S["DataRulesView"];
export type DataCheck = S["DataCheck"];
export type DataChecked = S["DataChecked"];
export type ResolvedPolicy = S["ResolvedPolicy"];
export type RetentionRules = Required<S["RetentionRules"]>;
export type RetentionPolicy = S["RetentionPolicy"];
export type RetentionView = S["RetentionView"];
export type RetentionPreview = S["RetentionPreview"];
export type ErasureView = S["ErasureView"];
export type Erasure = S["Erasure"];
export type Standard = S["Standard"];

export type Decision = S["Decision"];
export type ToolRule = S["ToolRuleInput"];
export type ToolRules = S["ToolRulesInput"];
export type ToolRuleView = S["ToolRuleView"];
export type ToolRulesView = S["ToolRulesView"];
export type Policy = Required<S["Policy"]>;
export type Tuning = S["Tuning"];
export type Preset = S["Preset"];
export type OwnData = { memory: boolean | null; database: boolean; documentation: boolean; shared: boolean };
export type KeptText = S["KeptText"];
export type OwnTable = S["OwnTable"];
export type OwnDatabase = S["OwnDatabase"];
export type OwnRows = With<S["OwnRows"], { rows: unknown[][] }>;
type Whole = { tools: string[]; connection: string | null; policy: Policy; routing: Routing; deep: Deep; own_data: OwnData };
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
export type Reminder = S["Reminder"];
export type Run = S["Run"];
export type RunDetail = S["RunDetail"];
export type ForkPoint = S["ForkPoint"];
export type ChatStarted = S["ChatStarted"];

export type AuditEntry = S["AuditEntry"];
export type AuditResult = S["AuditResult"];
export type AuditProgress = S["AuditProgress"];
export type AuditReport = S["AuditReport"];
export type AuditRetention = S["AuditRetention"];

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
export type Wire = S["Wire"];
/** Millionths of a US dollar for a million tokens. */
export type Price = Required<S["Price"]>;
/** As it goes in, with the key if one was typed; what comes out has none. */
export type ConnectionAuth = S["AuthInput"];
export type Strategy = S["Strategy"];
export type Constrained = S["Constrained"];
export type Capabilities = Required<S["Capabilities"]>;
type Priced = { auth: ConnectionAuth; capabilities?: Capabilities | null; wire?: Wire | null; price?: Price | null; weight?: number };
export type ConnectionInput = With<S["ConnectionInput"], Priced>;
export type Connection = With<S["Connection"], { capabilities: Capabilities; price: Price | null; known_price: Price | null; exam: ExamBrief | null; in_house_by_hand: boolean | null }>;
export type ConnectionTest = S["ConnectionTest"];

export type Breaker = S["Breaker"];
export type ModelErrorClass = "auth" | "unknown_model" | "context_length" | "bad_request" | "rate_limit" | "server" | "connect" | "timeout" | "broken" | "empty" | "cancelled" | "blocked_by_policy";
export type ConnectionHealth = With<S["ConnectionHealth"], { last_error: With<S["ConnectionError"], { class: ModelErrorClass }> | null }>;
export type Recognised = S["Recognised"];
export type Task = S["Task"];
export type Grade = S["Grade"];
export type Check = S["Check"];
type Graded = { grades: Partial<Record<Task, Grade>> };
/** A few words about an exam. */
export type ExamBrief = With<S["ExamBrief"], Graded>;
export type ExamReport = With<S["ExamReport"], Graded & { capabilities: Capabilities }>;

export type Balance = S["Balance"];
export type Routing = With<Required<S["Routing"]>, { task_routing: Partial<Record<Task, string>> }>;
/** `null`: as the installation says. */
export type Deep = Required<S["Deep"]>;
type RoutingTarget = With<S["RoutingTarget"], { price: Price | null }>;
export type RoutingPreview = With<S["RoutingPreview"], { targets: RoutingTarget[]; planner: { targets: RoutingTarget[]; reason: string } | null; redirected: { reason: string } | null }>;

export type UsageBy = "day" | "agent" | "user" | "connection" | "model" | "key";
export type UsageSum = S["UsageSum"];
export type UsageRow = S["UsageRow"];
export type UsageReport = S["UsageReport"];
export type Period = S["Period"];
export type BudgetScope = S["BudgetScope"];
export type BudgetInput = S["BudgetInput"];
// By hand: in the document a run's budget goes by the same name.
export type BudgetState = With<S["BudgetState"], { limit: Required<BudgetInput> & { id: string } }>;
export type VirtualKey = S["VirtualKey"];
export type NewVirtualKey = S["NewVirtualKey"];
export type KeyInput = With<S["KeyInput"], { connections: string[] }>;
export type KeyChange = S["KeyChange"];

export type SkillKind = S["SkillKind"];
export type Effect = S["Effect"];
export type CredentialKind = S["CredentialKind"];
export type CredentialWanted = S["CredentialWanted"];
export type Compensation = With<S["Compensation"], { arguments: Json }>;
export type SkillLimits = Required<S["SkillLimits"]>;
type Configured = { config: Json; parameters: Json; compensation: Compensation | null; limits: SkillLimits };
export type Skill = With<S["Skill"], Configured>;
export type SkillDetail = Skill & { agents: string[] };
/** What may be left out is filled in by the server. */
export type SkillInput = With<S["SkillInput"], { config: Json; parameters?: Json; compensation?: Compensation | null }>;
export type SkillKindInfo = With<S["SkillKindInfo"], { config: Json; example: SkillInput }>;
export type SkillTest = With<S["SkillTest"], { arguments: Json }>;
export type SkillTested = With<S["SkillTested"], { data?: unknown }>;
export type SkillPackage = S["SkillPackage"];
export type ImportedSkillPack = S["ImportedSkillPack"];
export type PackageState = S["PackageState"];
export type PackageFinding = S["PackageFinding"];
export type PackageFileDiff = S["PackageFileDiff"];
/** A server whose key was accepted. */
export type SshHost = { host: string; port: number; fingerprint: string };

export type Credential = S["Credential"];
export type CredentialInput = S["CredentialInput"];
export type CredentialPatch = S["CredentialPatch"];
export type CredentialUse = S["CredentialUse"];
export type CredentialKindInfo = S["CredentialKindInfo"];
export type CredentialField = S["CredentialField"];

export type McpTransport = S["McpTransport"];
export type McpServerInput = S["McpServerInput"];
export type McpTool = With<S["McpTool"], { parameters: Json }>;
export type McpServer = With<S["McpServer"], { tools: McpTool[] }>;

export type Undone = S["Undone"];
export type Difference = S["Difference"];
export type Replay = S["Replay"];
export type KeptRun = S["KeptRun"];
export type KeptReport = S["KeptReport"];
export type Health = S["Part"];
export type PartStatus = S["PartStatus"];
export type HealthReport = S["HealthReport"];
export type About = S["About"];

export type Config = S["Config"];
export type ConfigGroup = S["ConfigGroup"];
export type ConfigField = S["ConfigField"];
export type RestartHint = S["RestartHint"];
export type Dashboard = S["Dashboard"];
export type DashboardPeriod = S["DashboardPeriod"];
export type RunsInTime = S["RunsInTime"];
export type ModelGlance = S["ModelGlance"];
export type Start = S["Start"];
export type SampleChange = S["SampleChange"];
export type Uploaded = S["Uploaded"];
export type SentFile = S["SentFile"];
export type FileOrigin = S["FileOrigin"];

type Tuned = { chunking: Required<S["Chunking"]>; weights: Required<S["SearchWeights"]> };
export type Collection = With<S["Collection"], Tuned>;
export type CollectionInput = S["CollectionInput"];
export type CollectionPatch = S["CollectionPatch"];
export type DocumentStatus = S["DocumentStatus"];
export type DocumentProblem = S["DocumentProblem"];
type Read = { facts: With<Required<S["ReadingFacts"]>, { title?: string }> };
export type StoredDocument = With<S["Document"], Read>;
export type DocumentDetails = StoredDocument & { agents: string[] };
export type AddedDocument = With<S["AddedDocument"], { document: StoredDocument }>;
export type Chunk = S["Chunk"];
export type Reference = S["Reference"];
export type GivenDocument = S["GivenDocument"];
/** What of a passage tells where it stands. */
export type Cited = Pick<S["Citation"], "number" | "document" | "chunk" | "name" | "headings" | "first_page">;
export type SearchMode = S["SearchMode"];
// What may be left out is filled in by the server.
export type DocumentSearch = Partial<S["DocumentSearch"]> & { query: string };
export type FoundChunk = S["FoundChunk"];
export type SearchResult = S["SearchResult"];
export type VectorStoreStats = S["VectorStoreStats"];
export type JobState = S["JobState"];
export type IngestJob = S["IngestJob"];
export type WatchedPath = S["WatchedPath"];

export type ScheduleTiming = S["ScheduleTiming"];
export type ScheduleWhen = With<S["ScheduleWhen"], { jitter_seconds: number }>;
export type MissedOccurrences = S["MissedOccurrences"];
export type OverlappingOccurrences = S["OverlappingOccurrences"];
type Timed = { when: ScheduleWhen };
export type ScheduleInput = With<Required<S["ScheduleInput"]>, Timed>;
export type ScheduleOccurrence = S["ScheduleOccurrence"];
export type Schedule = With<S["Schedule"], Timed>;
export type ReadWhen = With<S["ReadWhen"], Timed>;
export type ScheduleQuestion = With<S["ScheduleQuestion"], { choices: ReadWhen[] }>;
export type NextOccurrence = S["NextOccurrence"];
export type SchedulePreview = With<S["SchedulePreview"], { when: ScheduleWhen | null; question: ScheduleQuestion | null }>;
export type SchedulePreviewInput = With<S["SchedulePreviewInput"], { when?: ScheduleWhen; language?: S["ScheduleLanguage"] }>;
export type ScheduleRunStarted = S["ScheduleRunStarted"];
export type StartedBy = S["StartedBy"];

export type HookSigning = S["HookSigning"];
export type HookSigningKind = S["HookSigningKind"];
export type HookPlace = S["HookPlace"];
// Any JSON, where the document says objects.
export type HookFilter = With<S["HookFilter"], { equals?: unknown; one_of?: unknown[] }>;
type Filtered = { filters: HookFilter[] };
export type HookInput = With<Required<S["HookInput"]>, Filtered>;
export type Hook = With<S["Hook"], Filtered>;
export type HookWithSecret = With<S["HookWithSecret"], { hook: Hook }>;
export type HookSecret = S["HookSecret"];
export type HookDelivery = S["HookDelivery"];
export type HookDeliveryContent = S["HookDeliveryContent"];
export type HookPreview = S["HookPreview"];
export type HookPreviewInput = Required<S["HookPreviewInput"]>;

export type Subscription = S["Subscription"];
export type SubscriptionInput = Required<S["SubscriptionInput"]>;
export type SubscriptionWithSecret = S["SubscriptionWithSecret"];
export type Dispatch = S["Dispatch"];
export type MessageForm = S["MessageForm"];
export type HappeningKind = S["HappeningKind"];

export type * from "./data-types";

// In `run.finished`, whose body the document leaves open.
export type Claim = { text: string; start: number; end: number; action: string; calls?: string[]; why: string };
export type Receipts = { verdict: Verdict; claims?: Claim[] };

/** A problem+json answer. */
export type Problem = Partial<S["Problem"]> & { title: string; status: number };
