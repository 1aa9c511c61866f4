import { Eye, EyeOff, FileUp } from "lucide-react";
import { useRef, useState } from "react";
import { useT } from "@/i18n";
import { Button, cx, Field, IconButton, Input, Textarea } from "@/ui";
import { MAX_VALUE } from "./form";

type Props = { label: string; hint?: string | undefined; error?: string | undefined; value: string; placeholder?: string; multiline?: boolean; secret: boolean; onChange: (value: string) => void };

// No manager of passwords is to offer, or keep, what belongs into the vault.
const own = { autoComplete: "off", autoCorrect: "off", autoCapitalize: "off", spellCheck: false } as const;

/** A value of a credential. A secret one is hidden until one asks to see what was typed. */
export function SecretField({ label, hint, error, value, placeholder, multiline, secret, onChange }: Props) {
  const t = useT("credentials");
  const [shown, setShown] = useState(false);
  const [tooBig, setTooBig] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const hidden = secret && !shown;
  const eye = secret && <IconButton size="sm" label={t(shown ? "hide_value" : "show_value", { field: label })} aria-pressed={shown} onClick={() => setShown(!shown)}>{shown ? <EyeOff /> : <Eye />}</IconButton>;
  const read = async (chosen: File | undefined) => {
    if (!chosen) return;
    setTooBig(chosen.size > MAX_VALUE);
    if (chosen.size <= MAX_VALUE) onChange(await chosen.text());
  };
  return (
    <Field label={label} hint={hint} error={tooBig ? t("file_big") : error}>
      {(p) =>
        multiline ? (
          <div className="flex flex-col gap-1.5">
            <Textarea {...p} {...own} rows={4} maxRows={10} className={cx("font-mono text-xs", hidden && "[-webkit-text-security:disc]")} placeholder={placeholder} value={value} onChange={(event) => onChange(event.target.value)} />
            <div className="flex items-center gap-1.5">
              <Button size="sm" icon={<FileUp aria-hidden className="size-3.5" />} onClick={() => file.current?.click()}>{t("from_file")}</Button>
              {eye}
              <input ref={file} type="file" hidden aria-label={t("file_of", { field: label })} onChange={(event) => (void read(event.target.files?.[0]), (event.target.value = ""))} />
            </div>
          </div>
        ) : (
          <span className="relative block">
            <Input {...p} {...own} type={hidden ? "password" : "text"} {...(secret && { autoComplete: "new-password" })} className={cx("font-mono text-sm", secret && "pr-10")} placeholder={placeholder} value={value} onChange={(event) => onChange(event.target.value)} />
            {eye && <span className="absolute top-1/2 right-1 -translate-y-1/2">{eye}</span>}
          </span>
        )
      }
    </Field>
  );
}
