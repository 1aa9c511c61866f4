import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useT } from "@/i18n";
import { Field, Textarea } from "@/ui";

type Props = {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  value: unknown;
  /** Only an object will do. */
  object?: boolean;
  rows?: number;
  disabled?: boolean;
  onChange: (value: unknown) => void;
  /** Whether what stands there is JSON of that form; what is not, is not passed on. */
  onSound?: ((id: string, sound: boolean) => void) | undefined;
};

const written = (value: unknown) => (value === undefined ? "" : JSON.stringify(value, null, 2));
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as JSON text. Empty: no value. */
export function JsonField({ label, hint, error, value, object, rows = 4, disabled, onChange, onSound }: Props) {
  const t = useT("skills");
  const id = useId();
  const [text, setText] = useState(() => written(value));
  const known = useRef(JSON.stringify(value));
  const [wrong, setWrong] = useState("");
  // Someone else changed it: their value is shown.
  useEffect(() => {
    const now = JSON.stringify(value);
    if (now === known.current) return;
    known.current = now;
    setText(written(value));
    setWrong("");
  }, [value]);
  useEffect(() => onSound?.(id, wrong === ""), [wrong]);
  useEffect(() => () => onSound?.(id, true), []);
  const type = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = next.trim() === "" ? undefined : JSON.parse(next);
      if (object && !isObject(parsed)) return setWrong(t("json_object"));
      setWrong("");
      known.current = JSON.stringify(parsed);
      onChange(parsed);
    } catch (why) {
      setWrong(t("json_bad", { why: why instanceof Error ? why.message : "" }));
    }
  };
  return <Field label={label} hint={hint} error={wrong || error}>{(p) => <Textarea {...p} rows={rows} maxRows={30} disabled={disabled} spellCheck={false} className="font-mono text-sm" value={text} onChange={(event) => type(event.target.value)} />}</Field>;
}
