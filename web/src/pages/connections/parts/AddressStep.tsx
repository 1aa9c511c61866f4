import { CircleCheck, CircleHelp } from "lucide-react";
import { useRef, useState } from "react";
import type { Recognised } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState, Field, Input } from "@/ui";
import { looksLikeAddress } from "./form";
import { type Known, KNOWN, partOf } from "./known";

type Props = { url: string; open: boolean; busy: boolean; error: unknown; found: Recognised | null; onUrl: (url: string) => void; onAsk: (url: string) => void; onSkip: () => void };

/** Where the model is, and what seems to answer there. */
export function AddressStep({ url, open, busy, error, found, onUrl, onAsk, onSkip }: Props) {
  const t = useT("connections");
  const m = useT("models");
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const part = partOf(url);
  // What is one's own is marked, to be typed over.
  const begin = ({ url: address, part: own }: Known) => {
    onUrl(address);
    setTimeout(() => {
      field.current?.focus();
      if (own) field.current?.setSelectionRange(address.indexOf(own), address.indexOf(own) + own.length);
    });
  };
  const sound = looksLikeAddress(url);
  const ask = () => {
    setTried(true);
    if (sound) onAsk(url.trim());
  };
  return (
    <form className="flex flex-col gap-3" onSubmit={(event) => (event.preventDefault(), ask())}>
      <div className="flex flex-wrap items-end gap-2">
        <Field className="min-w-56 flex-1" label={t("paste_url")} error={tried && !sound ? t("base_url_bad") : undefined}>
          {(p) => <Input {...p} ref={field} autoFocus inputMode="url" autoComplete="off" spellCheck={false} className="font-mono text-sm" placeholder="http://127.0.0.1:11434" value={url} onChange={(event) => onUrl(event.target.value)} />}
        </Field>
        <Button type="submit" variant={open ? "default" : "primary"} loading={busy}>{t("recognise")}</Button>
      </div>
      {part && <p role="status" className="text-sm text-ink-2">{t("own_part", { part })}</p>}
      {!open && (
        <div role="group" aria-label={t("presets")} className="flex flex-wrap gap-1.5">
          {KNOWN.map((one) => <Button key={one.name} size="sm" variant="quiet" onClick={() => begin(one)}>{one.name}</Button>)}
        </div>
      )}
      {error && !busy ? <ErrorState inline error={error} /> : null}
      {error && !open && !busy ? <Button size="sm" className="self-start" onClick={onSkip}>{t("by_hand")}</Button> : null}
      {found && !busy && (
        <p role="status" className="flex items-start gap-2 text-base">
          {found.confirmed ? <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" /> : <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />}
          <span className="min-w-0 wrap-anywhere"><span className="font-medium">{found.confirmed ? t("recognised", { provider: m(`provider_${found.provider}`) }) : t("recognised_maybe", { provider: m(`provider_${found.provider}`) })}</span>{found.server && <span className="text-ink-3"> · {found.server}</span>}<span className="block text-sm text-ink-3">{found.reason}</span></span>
        </p>
      )}
    </form>
  );
}
