// What is known of those who are told, and of what is told.
import type { Dispatch, HappeningKind, MessageForm } from "@/api/types";

export const FORMS = ["standard", "slack", "teams", "mattermost", "matrix", "ntfy", "gotify", "apprise"] as const satisfies readonly MessageForm[];

/** Whether a service takes a token besides its address, and whether it works without. */
const TOKENS = { standard: "may", matrix: "must", ntfy: "may", gotify: "must" } as const satisfies Partial<Record<MessageForm, "may" | "must">>;
export type TokenForm = keyof typeof TOKENS;
export const takesToken = (form: MessageForm): form is TokenForm => form in TOKENS;
export const needsToken = (form: MessageForm): boolean => takesToken(form) && TOKENS[form] === "must";

type Chosen = Exclude<HappeningKind, "test">;
export const GROUPS = {
  runs: ["run.started", "run.finished", "run.failed", "run.stopped"],
  approvals: ["approval.requested", "approval.decided"],
  automation: ["schedule.missed", "schedule.paused", "webhook.paused", "subscription.paused"],
  data: ["data.blocked", "backup.finished", "backup.failed"],
} as const satisfies Record<string, readonly Chosen[]>;
export type Group = keyof typeof GROUPS;
const KINDS: readonly HappeningKind[] = [...Object.values(GROUPS).flat(), "test"];

/** Told to administrators only. */
export const isBackup = (kind: HappeningKind): boolean => kind.startsWith("backup.");

type Underscored<K extends string> = K extends `${infer A}.${infer B}` ? `${A}_${B}` : K;
/** The text of a kind. `null`: one that a newer server knows. */
export const kindKey = (kind: string): `kind_${Underscored<HappeningKind>}` | null => ((KINDS as readonly string[]).includes(kind) ? (`kind_${kind.replace(".", "_")}` as `kind_${Underscored<HappeningKind>}`) : null);

/** What the server always says in the same words. */
const TOLD = { "the subscription was paused": "told_paused", "the subscription was deleted": "told_deleted", "the subscription is gone": "told_gone" } as const;
export const toldKey = (last: string) => TOLD[last as keyof typeof TOLD] as (typeof TOLD)[keyof typeof TOLD] | undefined;

/** Where a message stands; one that was tried is told apart from one that wasn't. */
export const standOf = ({ status, tries }: Pick<Dispatch, "status" | "tries">) => (status === "waiting" && tries > 0 ? "again" : status);
