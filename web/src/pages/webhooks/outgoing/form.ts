// The form of a subscription: its start, what is wrong with it, and what is sent.
import { lengthOf, limits } from "@/api/limits";
import type { HappeningKind, MessageForm, Subscription, SubscriptionInput } from "@/api/types";
import { needsToken, takesToken } from "./services";

export const NAME = lengthOf(limits.SubscriptionInput.name);
export const ADDRESS = lengthOf(limits.SubscriptionInput.address);
export const TOKEN = lengthOf(limits.SubscriptionInput.token);
export const LINK_BASE = lengthOf(limits.SubscriptionInput.link_base);

export type Form = {
  name: string;
  form: MessageForm;
  /** Empty: as it was. */
  address: string;
  /** Empty: as it was, or none. */
  token: string;
  /** The token from before goes. */
  drop: boolean;
  /** Empty: everything. */
  kinds: HappeningKind[];
  all: boolean;
  language: "en" | "de";
  link_base: string;
};

export const emptyForm = (language: "en" | "de", link_base: string): Form => ({ name: "", form: "standard", address: "", token: "", drop: false, kinds: [], all: false, language, link_base });
export const formOf = ({ name, form, kinds, all, language, link_base }: Subscription): Form => ({ name, form, address: "", token: "", drop: false, kinds, all, language, link_base: link_base ?? "" });

const isWeb = (text: string): boolean => /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);

export type Field = "name" | "form" | "address" | "token" | "kinds" | "language" | "link_base";
export type Problem = "name_missing" | "address_missing" | "address_bad" | "token_missing" | "link_base_bad";
type Before = Pick<Subscription, "form"> | null;

/** Whether address and token from before still count: they are those of a service. */
export const staysAs = (form: Form, before: Before): boolean => before !== null && before.form === form.form;

export function problemsOf(form: Form, before: Before): Partial<Record<Field, Problem>> {
  const out: Partial<Record<Field, Problem>> = {};
  const stays = staysAs(form, before);
  const address = form.address.trim();
  const base = form.link_base.trim();
  if (form.name.trim() === "") out.name = "name_missing";
  if (address === "" ? !stays : !isWeb(address)) out.address = address === "" ? "address_missing" : "address_bad";
  if (needsToken(form.form) && form.token.trim() === "" && !stays) out.token = "token_missing";
  if (base !== "" && !isWeb(base)) out.link_base = "link_base_bad";
  return out;
}

/** What is sent of a form without problems. A token never goes along to another service. */
export function inputOf(form: Form, before: Before): SubscriptionInput {
  const token = takesToken(form.form) ? form.token.trim() : "";
  const stays = before === null || (staysAs(form, before) && !form.drop);
  return {
    name: form.name.trim(),
    form: form.form,
    address: form.address.trim() || null,
    token: token || (stays ? null : ""),
    kinds: form.kinds,
    all: form.all,
    language: form.language,
    link_base: form.link_base.trim() || null,
  };
}

const FIELDS: readonly Field[] = ["name", "form", "address", "token", "kinds", "language", "link_base"];
/** Where what the server refuses is said. `null`: above the form. */
export const fieldOf = (refused: string): Field | null => FIELDS.find((field) => field === refused.split(/[.[]/)[0]) ?? null;
