// Texts as data. English is in the main bundle, but for what pages bring along; other languages are loaded when chosen.
import { useSyncExternalStore } from "react";
import first from "./en";
import type subscriptions from "./en/subscriptions.json";
import type webhooks from "./en/webhooks.json";

/** Texts of pages that bring them along in English ({@link addTexts}), which keeps them out of the main bundle. */
type Late = { webhooks: typeof webhooks; subscriptions: typeof subscriptions };
type Texts = typeof first & Late;
const en = first as Texts;
export type Namespace = keyof Texts;
/** `key` of a namespace; the `_one`/`_other` of a counted text are left out: `t("files", {count})`. */
export type Key<N extends Namespace> = Plain<keyof Texts[N] & string>;
type Plain<K extends string> = K extends `${infer Base}_one` | `${infer Base}_other` ? Base : K;
export type Values = Record<string, string | number>;
export type T<N extends Namespace> = (key: Key<N>, values?: Values) => string;

/** Languages that there are, under their own names. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const loaders: Record<Language, () => Promise<Record<Namespace, Record<string, string>>>> = {
  en: async () => en,
  de: async () => (await import("./de")).default,
};

let language: Language = "en";
let texts: Record<Namespace, Record<string, string>> = en;
const listeners = new Set<() => void>();

function wanted(): Language {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem("steward.lang");
  } catch {
    // Storage is blocked: the browser's language is used.
  }
  const found = [chosen, ...navigator.languages].map((tag) => tag?.slice(0, 2)).find((tag) => tag && tag in LANGUAGES);
  return (found as Language | undefined) ?? "en";
}

/** The English texts of a page, with its code: before anything asks for them. */
export function addTexts<N extends keyof Late>(namespace: N, texts: Late[N]): void {
  Object.assign(en, { [namespace]: texts });
}

/** Loads the language of the user; before the first render. */
export async function startLanguage(): Promise<void> {
  await apply(wanted());
}

/** Changes the language and remembers it. */
export async function setLanguage(next: Language): Promise<void> {
  try {
    localStorage.setItem("steward.lang", next);
  } catch {
    // Not remembered then.
  }
  await apply(next);
}

async function apply(next: Language): Promise<void> {
  texts = await loaders[next]();
  language = next;
  document.documentElement.lang = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The language in use. */
export const useLanguage = (): Language => useSyncExternalStore(subscribe, currentLanguage, currentLanguage);

/** For formatters outside components. */
export const currentLanguage = (): Language => language;

/** `const t = useT("chat"); t("title"); t("files", { count: 3 })`. Re-renders when the language changes. */
export function useT<N extends Namespace>(namespace: N): T<N> {
  useLanguage();
  return (key, values) => translate(namespace, key, values);
}

/** The same outside components. */
export function translate<N extends Namespace>(namespace: N, key: Key<N>, values?: Values): string {
  const table: Record<string, string> = texts[namespace];
  const fallback = en[namespace] as Record<string, string>;
  let text: string | undefined = table[key];
  if (text === undefined && typeof values?.count === "number") {
    const form = new Intl.PluralRules(language).select(values.count) === "one" ? "one" : "other";
    text = table[`${key}_${form}`] ?? fallback[`${key}_${form}`];
  }
  text ??= fallback[key] ?? key;
  return values ? text.replace(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole)) : text;
}
