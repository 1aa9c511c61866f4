import { CircleCheck, CircleMinus } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { useDelivery, useHookActions } from "@/api/hooks";
import type { Hook, HookDeliveryContent, HookPreview } from "@/api/types";
import { useT } from "@/i18n";
import { Button, CodeBlock, Dialog, ErrorState, Field, Textarea } from "@/ui";
import { indented, readHeaders, writeHeaders } from "./content";
import { BODY, saidOf } from "./form";

type Props = { hook: Hook; content: HookDeliveryContent | null; onClose: () => void };

const mono = { autoComplete: "off", spellCheck: false, className: "font-mono text-sm" } as const;

/** What a call would do, without doing it. `content`: what to begin with. */
export function Try({ hook, content, onClose }: Props) {
  const t = useT("webhooks");
  const { preview } = useHookActions();
  const [body, setBody] = useState(() => indented(content?.body ?? ""));
  const [headers, setHeaders] = useState(() => writeHeaders(content?.headers ?? {}));
  const [tried, setTried] = useState(false);
  const read = readHeaders(headers);
  const run = () => {
    setTried(true);
    if (read) preview.mutate({ id: hook.id, headers: read, body });
  };
  const take = (taken: HookDeliveryContent) => {
    setBody(indented(taken.body ?? ""));
    setHeaders(writeHeaders(taken.headers ?? {}));
    preview.reset();
  };
  const refused = preview.error instanceof ApiError ? preview.error.problems.find((one) => one.field === "body") : undefined;
  return (
    <Dialog open wide onOpenChange={onClose} title={t("try_title", { name: hook.name })} description={t("try_text")} footer={<>{hook.may_change && hook.last && <Last hook={hook.id} id={hook.last.id} onTake={take} />}<Button variant="primary" loading={preview.isPending} onClick={run}>{t("try_run")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), run())}>
        {preview.error && !refused && <ErrorState inline error={preview.error} />}
        <Field label={t("try_body")} hint={t("try_body_hint")} error={refused && saidOf(refused)}>{(p) => <Textarea {...p} {...mono} autoFocus rows={6} maxLength={BODY.most} placeholder={'{"action": "opened"}'} value={body} onChange={(event) => (setBody(event.target.value), preview.reset())} />}</Field>
        <Field label={t("try_headers")} hint={t("try_headers_hint")} error={tried && !read ? t("try_headers_bad") : undefined}>{(p) => <Textarea {...p} {...mono} rows={2} maxRows={6} value={headers} onChange={(event) => (setHeaders(event.target.value), preview.reset())} />}</Field>
        <div aria-live="polite">{preview.data && <Result preview={preview.data} />}</div>
      </form>
    </Dialog>
  );
}

/** Takes what the last delivery held, as long as it is kept. */
function Last({ hook, id, onTake }: { hook: string; id: string; onTake: (content: HookDeliveryContent) => void }) {
  const t = useT("webhooks");
  const { data } = useDelivery(hook, id);
  if (!data || data.body === null) return null;
  return <Button onClick={() => onTake(data)}>{t("try_last")}</Button>;
}

function Result({ preview }: { preview: HookPreview }) {
  const t = useT("webhooks");
  const { starts, reason, event, request } = preview;
  const Icon = starts ? CircleCheck : CircleMinus;
  const box = useRef<HTMLElement>(null);
  // It stands below what was typed, which may be long.
  useEffect(() => {
    // In braces: newer browsers return a promise here, which React would take for a clean-up.
    box.current?.scrollIntoView({ block: "nearest" });
  }, [preview]);
  return (
    <section ref={box} aria-label={t("try_result")} className="flex flex-col gap-2 rounded-lg bg-sunken px-4 py-3">
      <p className="flex items-start gap-2 text-base font-medium"><Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" /><span className="min-w-0 wrap-anywhere">{starts ? t("try_starts") : `${t("try_starts_not")} ${reason ?? ""}`}</span></p>
      <p className="text-sm text-ink-2 wrap-anywhere">{event === null ? t("try_event_none") : t("try_event", { event })}</p>
      <h3 className="text-sm font-medium">{t("try_request")}</h3>
      <CodeBlock text={request} className="my-0!" />
    </section>
  );
}
