// Filters that live in the URL, so that a view can be shared, reloaded and gone back to.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

/** A number stands in the address as it is; a text of digits would stand in quotes. */
const plain = (value: unknown) => (typeof value === "string" && /^(0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value);

/** The named search parameters as texts (missing: empty), and a way to change some. */
export function useFilters<K extends string>(names: readonly K[]): [Record<K, string>, (patch: Partial<Record<K, string>>) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const values = Object.fromEntries(names.map((name) => [name, search[name] === undefined || search[name] === null ? "" : String(search[name])])) as Record<K, string>;
  const set = (patch: Partial<Record<K, string>>) =>
    void navigate({
      to: ".",
      replace: true,
      search: ((old: Record<string, unknown>) => Object.fromEntries(Object.entries({ ...old, ...patch }).filter(([, value]) => value !== "" && value !== undefined).map(([name, value]) => [name, plain(value)]))) as never,
    });
  return [values, set];
}

/** A text field's own value, passed on when typing pauses. */
export function useTyped(value: string, onChange: (value: string) => void, wait = 250): [string, (value: string) => void] {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setTyped(value);
    }
  }, [value]);
  useEffect(() => {
    if (typed === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = typed;
      change.current(typed);
    }, wait);
    return () => clearTimeout(timer);
  }, [typed, wait]);
  return [typed, setTyped];
}
