import { Monitor } from "lucide-react";
import { useAccountActions, useSessions } from "@/api/hooks";
import { useT } from "@/i18n";
import { Badge, Button, Card, EmptyState, formatAgo, formatExact, PagedList, toast, useErrorText } from "@/ui";

/** Browsers that are logged in. */
export function Sessions() {
  const t = useT("settings");
  const list = useSessions();
  const { endSession } = useAccountActions();
  const errorText = useErrorText();
  const end = (id: string) =>
    endSession.mutate(id, {
      onSuccess: () => toast({ title: t("session_ended") }),
      onError: (error) => {
        const { title, hint } = errorText(error);
        toast({ title, ...(hint && { detail: hint }), tone: "bad" });
      },
    });
  return (
    <Card title={t("sec_sessions")} pad={false}>
      <p className="px-4 pt-3 text-sm text-ink-3">{t("sessions_text")}</p>
      <PagedList list={list} skeletonRows={3} empty={<EmptyState title={t("sessions_empty")}>{t("sessions_empty_text")}</EmptyState>}>
        <ul className="divide-y divide-line">
          {list.items.map((session) => (
            <li key={session.id} className="flex items-center gap-3 px-4 py-3">
              <Monitor aria-hidden className="size-4 shrink-0 text-ink-3" />
              <div className="min-w-0 flex-1">
                <p className="flex flex-wrap items-center gap-2 text-base font-medium wrap-anywhere">{session.label}{session.current && <Badge tone="accent">{t("session_current")}</Badge>}</p>
                <p className="text-sm text-ink-3" title={formatExact(session.rotated_at)}>{t("session_used", { when: formatAgo(session.rotated_at) })} · {t("session_began", { when: formatAgo(session.created_at) })}</p>
              </div>
              {!session.current && <Button size="sm" aria-label={t("session_end_label", { label: session.label })} loading={endSession.isPending && endSession.variables === session.id} onClick={() => end(session.id)}>{t("session_end")}</Button>}
            </li>
          ))}
        </ul>
      </PagedList>
    </Card>
  );
}
