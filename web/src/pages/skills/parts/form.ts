// A skill as a form holds it: what it begins with, what is wrong with it, and who may write it.
import type { ApiError } from "@/api/client";
import { isOperator, mayWork } from "@/api/hooks";
import { limits, lengthOf, numbersOf, type Range, within } from "@/api/limits";
import type { Me, Skill, SkillDetail, SkillInput, SkillKind, SkillKindInfo } from "@/api/types";
import { NO_INPUTS } from "./inputs";
import { completed, type Field, type Json, missing, saidOf, type Schema, shapeOf } from "./schema";

/** Types that reach servers or start programs: an operator's to write. */
const GUARDED: readonly SkillKind[] = ["ssh", "shell", "ansible", "docker", "mcp"];
export const mayWrite = (me: Me | undefined, kind: SkillKind): boolean => (GUARDED.includes(kind) ? isOperator(me) : mayWork(me));
/** Of those that may be reached in the house, which only an operator names; types without such a setting have none. */
const privateHosts = (skill: SkillInput): unknown[] => (Array.isArray(skill.config.allow) ? skill.config.allow : []);
/** Whether a role changes a skill that is there: one that uses a credential, reaches private hosts or is an agent's already is an operator's. A list knows no agents. */
export const mayChange = (me: Me | undefined, skill: Skill & { agents?: string[] }): boolean =>
  isOperator(me) || (mayWrite(me, skill.type) && !skill.credential && privateHosts(skill).length === 0 && !skill.agents?.length);
/** What a role may begin with: others than operators make no skill with a credential or with private hosts. */
export function startOf(me: Me | undefined, skill: SkillInput): SkillInput {
  if (isOperator(me)) return skill;
  const { credential: _credential, ...rest } = skill;
  const { allow: _allow, ...config } = skill.config;
  return { ...rest, config };
}
/** What asking for it would really do is up to a model: these can't be called by themselves. */
export const callable = (kind: SkillKind): boolean => kind !== "internal" && kind !== "agent_delegation";

export const RISKS = ["read", "write", "external", "destructive"] as const;
export const EFFECTS = ["read", "idempotent", "keyed", "write"] as const;
export const LIMITS = { timeout_ms: 30_000, result_chars: 8_000 };
/** What each field takes, times in seconds. */
export const RANGES = {
  name: lengthOf(limits.SkillInput.name),
  "limits.timeout_ms": numbersOf(limits.SkillLimits.timeout_ms, 1_000),
  "limits.result_chars": numbersOf(limits.SkillLimits.result_chars),
} satisfies Record<string, Range>;
/** The same of any field; most have none. */
export const rangeOf = (name: string): Range | undefined => (RANGES as Record<string, Range>)[name];

/** A skill without what the server adds; fields that no form knows stay. */
export function inputOf(skill: Skill | SkillDetail): SkillInput {
  const { id: _id, version: _version, package: _package, at: _at, by: _by, agents: _agents, ...input } = skill as SkillDetail;
  return input;
}

/** The example of a type. */
export const exampleOf = (kind: SkillKindInfo): SkillInput => structuredClone({ parameters: NO_INPUTS, enabled: true, ...kind.example });
/** Nothing but the type. */
export const emptyOf = (kind: SkillKindInfo): SkillInput => ({ name: "", description: "", type: kind.type, config: {}, parameters: NO_INPUTS, enabled: true });

/** A free name for a copy: `restart_2`. */
export function copyName(name: string, taken: readonly string[]): string {
  const stem = name.replace(/_\d+$/, "").slice(0, RANGES.name.most - 4);
  let number = 2;
  while (taken.includes(`${stem}_${number}`)) number++;
  return `${stem}_${number}`;
}

/** Fields of a type's settings; a type whose settings are variants has one field per variant chosen. */
export function settingsOf(schema: Schema, config: Json): Field[] {
  const shape = shapeOf(schema);
  if (shape.is === "object") return shape.fields;
  if (shape.is === "variants") return shape.variants.find((variant) => variant.value === config[shape.tag])?.fields ?? [];
  return [];
}

export type Problem = "name_missing" | "name_bad" | "description_missing" | "timeout_bad" | "chars_bad" | "needed" | "compensation_missing";

/** What is wrong, by the field's path. */
export function problemsOf(form: SkillInput, kind: SkillKindInfo | undefined): Record<string, Problem> {
  const out: Record<string, Problem> = {};
  const { timeout_ms, result_chars } = { ...LIMITS, ...form.limits };
  if (form.name === "") out.name = "name_missing";
  else if (!/^[a-z0-9_]{1,64}$/.test(form.name)) out.name = "name_bad";
  if (form.description.trim() === "") out.description = "description_missing";
  if (!within(timeout_ms / 1_000, RANGES["limits.timeout_ms"])) out["limits.timeout_ms"] = "timeout_bad";
  if (!(Number.isInteger(result_chars) && within(result_chars, RANGES["limits.result_chars"]))) out["limits.result_chars"] = "chars_bad";
  if (form.compensation && !form.compensation.skill) out["compensation.skill"] = "compensation_missing";
  for (const name of kind ? missing(settingsOf(kind.config, form.config), form.config) : []) out[`config.${name}`] = "needed";
  return out;
}

/** The form as it is sent. */
export function sent(form: SkillInput, kind: SkillKindInfo | undefined): SkillInput {
  return { ...form, description: form.description.trim(), ...(kind && { config: completed(settingsOf(kind.config, form.config), form.config) }) };
}

/** What the server says is wrong, by the field's path. A settings error names its fields in its words. */
export function refusedOf(error: ApiError | null): Record<string, string> {
  if (!error?.field) return {};
  const said = error.field === "config" ? Object.fromEntries(Object.entries(saidOf(error.message)).map(([name, why]) => [`config.${name}`, why])) : {};
  return { [error.field]: error.message, ...said };
}

/** The server whose key a refused call wants accepted, and the fingerprint it showed. */
export function hostOf(error: string): { host: string; port: string; fingerprint: string } | null {
  const [, place, fingerprint] = /trust-host (\S+) (SHA256:[A-Za-z0-9+/]{43})/.exec(error) ?? [];
  if (!place || !fingerprint) return null;
  const [, inner, host, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(place) ?? [];
  const name = inner ?? host;
  return name ? { host: name, port: port ?? "22", fingerprint } : null;
}
