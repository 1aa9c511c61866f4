// A decision on an approval: once, for the run, for a while, or no with a reason.
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { mayWork, useDecide, useMe } from "@/api/hooks";
import type { Answer, GrantScope, Risk } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ErrorState, IconButton, Menu, MenuItem, MenuLabel, MenuSeparator, Textarea, useArmed } from "@/ui";

const BOXES = [15, 60, 24 * 60] as const;

/** Frame of a card that waits for the user. */
export function WaitingCard({ title, children }: { title: React.ReactNode; children: React.ReactNode }) {
  return (
    <section className="overflow-hidden rounded-lg border border-warn-line/70 bg-surface shadow-1" data-waiting>
      <div className="border-l-3 border-warn-line">
        <h2 className="flex flex-wrap items-center gap-2 px-4 pt-3 text-base font-semibold wrap-anywhere">{title}</h2>
        <div className="flex flex-col gap-3 px-4 pt-2 pb-3.5">{children}</div>
      </div>
    </section>
  );
}

/** Text and two buttons, for a reason or a refinement. */
export function SayWhy({ label, confirm, optional, busy, onSay, onCancel }: { label: string; confirm: string; optional?: boolean; busy: boolean; onSay: (text: string) => void; onCancel: () => void }) {
  const t = useT("common");
  const [text, setText] = useState("");
  const ready = optional || text.trim() !== "";
  return (
    <div className="flex flex-col gap-2">
      <Textarea autoFocus aria-label={label} placeholder={label} value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && ready) (event.preventDefault(), onSay(text.trim()));
        if (event.key === "Escape") (event.stopPropagation(), onCancel());
      }} />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="primary" disabled={!ready} loading={busy} onClick={() => onSay(text.trim())}>{confirm}</Button>
        <Button size="sm" variant="quiet" onClick={onCancel}>{t("cancel")}</Button>
      </div>
    </div>
  );
}

type Props = { approvalId: string; risk: Risk; scope: GrantScope | null; scopeName: string; approve: string; onDecided?: () => void; refine?: boolean };

/** The row of buttons. `scope`: what a grant beyond this call covers; never for what can't be undone. */
export function DecideRow({ approvalId, risk, scope, scopeName, approve, onDecided, refine }: Props) {
  const t = useT("chat");
  const { data: me } = useMe();
  const decide = useDecide();
  const [saying, setSaying] = useState<"deny" | "refine" | null>(null);
  const armed = useArmed(approvalId);
  const send = (answer: Answer) => decide.mutate({ id: approvalId, answer }, { onSuccess: () => (setSaying(null), onDecided?.()) });
  if (!mayWork(me)) return <p className="text-sm text-ink-3">{t("mayNotDecide")}</p>;
  const grants = scope && risk !== "destructive";
  return (
    <div className="flex flex-col gap-2.5">
      {decide.error && <ErrorState inline error={decide.error} />}
      {saying === "deny" && <SayWhy optional label={t("denyReason")} confirm={t("deny")} busy={decide.isPending} onCancel={() => setSaying(null)} onSay={(reason) => send({ decision: "deny", ...(reason && { reason }) })} />}
      {saying === "refine" && <SayWhy label={t("refineHow")} confirm={t("refineSend")} busy={decide.isPending} onCancel={() => setSaying(null)} onSay={(text) => send({ decision: "feedback", text })} />}
      {saying === null && (
        <div className="flex flex-wrap items-center gap-2">
          <div className="flex">
            <Button size="sm" variant="primary" className={grants ? "rounded-r-none" : ""} loading={decide.isPending} disabled={!armed} onClick={() => send({ decision: "approve" })}>{approve}</Button>
            {grants && (
              <Menu align="start" className="w-72" trigger={<IconButton size="sm" label={t("approveMore")} disabled={!armed} className="rounded-l-none border-l border-on-accent/30 bg-accent text-on-accent! hover:bg-accent-hover!"><ChevronDown /></IconButton>}>
                <MenuLabel>{t("grantFor", { what: scopeName })}</MenuLabel>
                <MenuItem onSelect={() => send({ decision: "approve", grant: scope })}>{t("grantRun")}</MenuItem>
                <MenuSeparator />
                {BOXES.map((minutes) => <MenuItem key={minutes} onSelect={() => send({ decision: "approve", grant: scope, until: Date.now() + minutes * 60_000 })}>{minutes < 60 ? t("grantMinutes", { count: minutes }) : t("grantHours", { count: minutes / 60 })}</MenuItem>)}
              </Menu>
            )}
          </div>
          {refine && <Button size="sm" onClick={() => setSaying("refine")}>{t("refine")}</Button>}
          <Button size="sm" variant="quiet" disabled={!armed} onClick={() => setSaying("deny")}>{t(refine ? "reject" : "deny")}…</Button>
        </div>
      )}
    </div>
  );
}
