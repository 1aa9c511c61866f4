// The form of a credential: its start, what is wrong with it, and what is sent.
import { charactersOf, lengthOf, limits } from "@/api/limits";
import type { Credential, CredentialField, CredentialInput, CredentialKind, CredentialPatch, Role } from "@/api/types";

export const ROLES: readonly Role[] = ["admin", "operator", "developer", "viewer"];
/** Fields of several lines. */
export const MULTILINE: readonly string[] = ["private_key", "certificate"];
/** Largest value the vault takes, bytes. */
export const MAX_VALUE = 64 * 1024;
/** How long a name may be. */
export const NAME = lengthOf(limits.CredentialInput.name);
const DAY = 86_400_000;
/** From how many days before its end on a credential is told of. */
export const DAYS_WARNED = 14;

export type Expiry = "never" | "later" | "soon" | "past";
export function expiryOf(at: number | null, now: number): Expiry {
  if (at === null) return "never";
  if (at <= now) return "past";
  return at - now <= DAYS_WARNED * DAY ? "soon" : "later";
}

/** `add`: all of it. `edit`: what is told of it. `replace`: its values. */
export type Purpose = "add" | "edit" | "replace";
export type Form = {
  name: string;
  kind: CredentialKind;
  description: string;
  /** By the field's name. A secret one is empty until it is typed. */
  values: Record<string, string>;
  /** Further fields, which are secret. */
  further: { name: string; value: string }[];
  /** Secret fields that are to go. */
  dropped: string[];
  roles: Role[];
  discoverable: boolean;
  /** Hosts that it may be sent to, apart by spaces, commas or lines. */
  hosts: string;
  /** The last day, `2027-01-31` of UTC, or nothing. */
  ends: string;
};

const dayOf = (at: number | null) => (at === null ? "" : new Date(at).toISOString().slice(0, 10));
/** The chosen day is included. `undefined`: that is no day. */
export const endOf = (day: string): number | null | undefined => {
  if (day === "") return null;
  const at = Date.parse(`${day}T23:59:59Z`);
  return Number.isNaN(at) ? undefined : at;
};

export const EMPTY: Form = { name: "", kind: "password", description: "", values: {}, further: [], dropped: [], roles: [], discoverable: false, hosts: "", ends: "" };
export const formOf = (credential: Credential): Form => ({ ...EMPTY, name: credential.name, kind: credential.kind, description: credential.description, values: { ...credential.shown }, roles: [...credential.roles], discoverable: credential.discoverable, hosts: credential.hosts.join("\n"), ends: dayOf(credential.expires_at) });

const hostsOf = (text: string) => [...new Set(text.toLowerCase().split(/[\s,;]+/).filter(Boolean))].sort();
const isHost = (text: string) => /^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?$/.test(text);

export type Problem = "name_missing" | "name_long" | "hosts_bad" | "value_missing" | "further_bad" | "further_twice" | "further_empty" | "ends_bad" | "nothing_new";
/** What is wrong, by `name`, `ends`, `all`, `field:NAME` or `further:N`. */
export type Problems = Record<string, Problem>;

/** The kind's fields, and further ones that a credential has already: those are secret and can be replaced or taken away too. */
export function fieldsOf(fields: readonly CredentialField[], before: Credential | null): CredentialField[] {
  const known = fields.map((field) => field.name);
  return [...fields, ...(before?.secret ?? []).filter((name) => !known.includes(name)).map((name) => ({ name, secret: true, required: false }))];
}

export function problemsOf(form: Form, fields: readonly CredentialField[], purpose: Purpose, before: Credential | null, now: number): Problems {
  const out: Problems = {};
  if (purpose !== "replace") {
    if (form.name.trim() === "") out.name = "name_missing";
    else if (charactersOf(form.name.trim()) > NAME.most) out.name = "name_long";
    if (!hostsOf(form.hosts).every(isHost)) out.hosts = "hosts_bad";
  }
  if (purpose !== "edit") {
    for (const field of fields) {
      const kept = field.secret && before?.secret.includes(field.name);
      if (field.required && !kept && !form.values[field.name]?.trim()) out[`field:${field.name}`] = "value_missing";
    }
    form.further.forEach(({ name, value }, at) => {
      if (!/^[a-z0-9_]{1,64}$/.test(name)) out[`further:${at}`] = "further_bad";
      else if (fieldsOf(fields, before).some((field) => field.name === name) || form.further.findIndex((other) => other.name === name) !== at) out[`further:${at}`] = "further_twice";
      else if (value === "") out[`further:${at}`] = "further_empty";
    });
  }
  const end = endOf(form.ends);
  // One that is over already may stay while something else is changed.
  const same = before !== null && form.ends === dayOf(before.expires_at);
  if (end === undefined || (end !== null && end <= now && !same)) out.ends = "ends_bad";
  if (before && Object.keys(out).length === 0 && Object.keys(patchOf(form, fields, purpose, before)).length === 0) out.all = "nothing_new";
  return out;
}

export function inputOf(form: Form, fields: readonly CredentialField[]): CredentialInput {
  const known = fields.map((field) => [field.name, form.values[field.name] ?? ""] as const);
  const values = Object.fromEntries([...known, ...form.further.map(({ name, value }) => [name, value] as const)].filter(([, value]) => value !== ""));
  return { name: form.name.trim(), kind: form.kind, description: form.description.trim(), fields: values, roles: form.roles, discoverable: form.discoverable, hosts: hostsOf(form.hosts), expires_at: endOf(form.ends) ?? null };
}

/** Only what differs from `before`. */
export function patchOf(form: Form, fields: readonly CredentialField[], purpose: Purpose, before: Credential): CredentialPatch {
  const patch: CredentialPatch = {};
  if (form.ends !== dayOf(before.expires_at)) patch.expires_at = endOf(form.ends) ?? null;
  if (purpose === "edit") {
    if (form.name.trim() !== before.name) patch.name = form.name.trim();
    if (form.description.trim() !== before.description) patch.description = form.description.trim();
    if (form.roles.length !== before.roles.length || form.roles.some((role) => !before.roles.includes(role))) patch.roles = form.roles;
    if (form.discoverable !== before.discoverable) patch.discoverable = form.discoverable;
    if (hostsOf(form.hosts).join() !== before.hosts.join()) patch.hosts = hostsOf(form.hosts);
    return patch;
  }
  const values: Record<string, string> = {};
  for (const { name, secret } of fieldsOf(fields, before)) {
    const value = form.values[name] ?? "";
    if (secret ? value !== "" : value !== (before.shown[name] ?? "")) values[name] = value;
  }
  // An empty value takes a field away.
  for (const name of form.dropped) values[name] = "";
  for (const { name, value } of form.further) values[name] = value;
  if (Object.keys(values).length > 0) patch.fields = values;
  return patch;
}

/** Whether a credential is one that was searched for. `words`: all must be found. */
export function fits(credential: Credential, words: string): boolean {
  const text = [credential.name, credential.description, credential.kind, ...Object.values(credential.shown)].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
