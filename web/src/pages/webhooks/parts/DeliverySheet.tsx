import { FlaskConical, RotateCcw } from "lucide-react";
import { useDelivery, useHookActions } from "@/api/hooks";
import type { Hook, HookDeliveryContent } from "@/api/types";
import { useT } from "@/i18n";
import { Button, CopyButton, ErrorState, Facts, formatBytes, formatExact, JsonView, Sheet, Skeleton, toast } from "@/ui";
import { indented } from "./content";
import { EventName, Fate, RunLink } from "./Fate";
import { useMoves } from "./moves";

type Props = { hook: Hook; id: string; onClose: () => void; onOpen: (id: string) => void; onTry: (content: HookDeliveryContent) => void };

/** One delivery with what was sent. */
export function DeliverySheet({ hook, id, onClose, onOpen, onTry }: Props) {
  const t = useT("webhooks");
  const found = useDelivery(hook.id, id);
  const at = found.data?.delivery.received_at;
  return (
    <Sheet open onOpenChange={(open) => !open && onClose()} title={t("delivery")} {...(at !== undefined && { description: formatExact(at) })}>
      {found.data ? <Content hook={hook} content={found.data} onOpen={onOpen} onTry={onTry} /> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={6} className="p-4" />}
    </Sheet>
  );
}

function Content({ hook, content, onOpen, onTry }: { hook: Hook; content: HookDeliveryContent } & Pick<Props, "onOpen" | "onTry">) {
  const t = useT("webhooks");
  const { replay } = useHookActions();
  const { failed } = useMoves();
  const { delivery, headers, body } = content;
  const live = hook.deleted_at === null;
  const again = () => replay.mutate({ id: hook.id, delivery: delivery.id }, { onSuccess: (started) => toast({ title: t("started_again"), action: { label: t("show"), run: () => onOpen(started.id) } }), onError: failed });
  const names = Object.entries(headers ?? {});
  return (
    <div className="flex flex-col gap-5 p-4">
      <Facts
        items={[
          [t("event"), <EventName key="event" delivery={delivery} />],
          [t("fate"), <Fate key="fate" delivery={delivery} />],
          ...(delivery.run_id === null ? [] : [[t("col_run"), <RunLink key="run" delivery={delivery} />] as [string, React.ReactNode]]),
          [t("came"), formatExact(delivery.received_at)],
          [t("size"), formatBytes(delivery.bytes)],
        ]}
      />
      {headers === null || body === null ? <p className="rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2">{t("content_gone")}</p> : (
        <>
          {live && (
            <div className="flex flex-wrap gap-2">
              <Button size="sm" icon={<RotateCcw aria-hidden className="size-3.5" />} loading={replay.isPending} onClick={again}>{t("start_again")}</Button>
              <Button size="sm" icon={<FlaskConical aria-hidden className="size-3.5" />} onClick={() => onTry(content)}>{t("try_this")}</Button>
            </div>
          )}
          <section>
            <h3 className="mb-1 flex items-center gap-2 text-sm font-medium">{t("body")}{body !== "" && <CopyButton text={body} label={t("body_copy")} />}</h3>
            {body === "" ? <p className="text-base text-ink-3">{t("body_empty")}</p> : <JsonView value={indented(body)} className="max-h-[60vh]!" />}
          </section>
          <section>
            <h3 className="mb-1 text-sm font-medium">{t("headers")}</h3>
            {names.length === 0 ? <p className="text-base text-ink-3">{t("headers_none")}</p> : (
              <>
                <Facts className="text-sm [&_dd]:font-mono [&_dt]:font-mono max-sm:grid-cols-1 max-sm:gap-y-0.5" items={names} />
                <p className="mt-2 text-sm text-ink-3">{t("headers_text")}</p>
              </>
            )}
          </section>
        </>
      )}
    </div>
  );
}
