import { Link } from "@tanstack/react-router";
import { FileDiff, Undo2 } from "lucide-react";
import { useState } from "react";
import { mayWork, useChangeActions, useMe, useRecordChanges } from "@/api/hooks";
import type { ChangeInfo, RecordChangeState } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, cx, EmptyState, ErrorState, PagedList, Select, Time, type Tone, useArmed } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { Area } from "../parts/Area";
import { Difference } from "../parts/Difference";
import { domainPath } from "../parts/links";

const STATES: readonly RecordChangeState[] = ["proposed", "confirmed", "done", "failed", "discarded", "undone"];
const tones: Record<RecordChangeState, Tone> = { proposed: "warn", confirmed: "accent", done: "ok", failed: "bad", discarded: "neutral", undone: "neutral" };

/** Changes of records: those that wait for a person, and what became of the others. */
export function ChangesPage() {
  const t = useT("data");
  const [{ state }, set] = useFilters(["state"] as const);
  const chosen = STATES.find((one) => one === state) ?? "";
  const list = useRecordChanges(chosen);
  const works = mayWork(useMe().data);
  return (
    <Area title={t("changes_title")} lead={t("changes_lead")} width="text" actions={<Select small aria-label={t("filter_state")} value={chosen} onChange={(event) => set({ state: event.target.value })}><option value="">{t("any_state")}</option>{STATES.map((one) => <option key={one} value={one}>{t(`state_${one}`)}</option>)}</Select>}>
      <PagedList list={list} empty={<EmptyState icon={<FileDiff />} title={t(chosen ? "changes_none" : "changes_empty")} action={chosen && <Button onClick={() => set({ state: "" })}>{t("any_state")}</Button>}>{!chosen && t("changes_empty_text")}</EmptyState>}>
        <ol aria-label={t("changes_title")} className="flex flex-col gap-3">{list.items.map((info) => <Change key={info.change.id} info={info} works={works} />)}</ol>
      </PagedList>
    </Area>
  );
}

function Change({ info, works }: { info: ChangeInfo; works: boolean }) {
  const t = useT("data");
  const [now, setNow] = useState<ChangeInfo | null>(null);
  // The answer to a click is newer than the list, until that is read again.
  const { change, difference, undoable } = now && now.change.version >= info.change.version ? now : info;
  const { confirm, discard, undo } = useChangeActions();
  const armed = useArmed(change.id);
  const busy = confirm.isPending || discard.isPending || undo.isPending;
  const error = confirm.error ?? discard.error ?? undo.error;
  const act = (one: typeof confirm) => one.mutate(change.id, { onSuccess: setNow });
  const { key } = change.change as { key?: unknown };
  const named = key && typeof key === "object" ? Object.entries(key).map(([field, value]) => `${field} ${String(value)}`).join(", ") : key !== undefined ? String(key) : "";
  return (
    <li data-change={change.state} className="rounded-lg border border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-base font-semibold wrap-anywhere">{t(`verb_${change.change.change}`)} <Link to={domainPath(change.domain)} className="hover:underline">{change.domain}</Link>{named && <span className="font-normal text-ink-2"> · {named}</span>}</h2>
        <Badge tone={tones[change.state]}>{t(`state_${change.state}`)}</Badge>
        <span className="flex-1" />
        <span className="text-sm text-ink-3">{change.run ? <Link to="/runs/$runId" params={{ runId: change.run }} className="underline underline-offset-2">{t("by_run")}</Link> : t("by_person")} · <Time relative at={change.proposed_at} /></span>
      </div>
      <div className="mt-2 flex flex-col gap-2">
        <Difference items={difference} caption={t("difference_of", { domain: change.domain })} />
        {change.outcome && <p className={cx("text-sm wrap-anywhere", change.state === "failed" ? "text-bad" : "text-ink-2")}>{change.outcome}</p>}
        {change.decided_at !== undefined && <p className="text-xs text-ink-3">{t(change.state === "discarded" ? "discarded_at" : "decided_at")} <Time relative at={change.decided_at} /></p>}
        {error ? <ErrorState inline error={error} /> : null}
        {works && change.state === "proposed" && (
          <div className="flex gap-2">
            <Button size="sm" variant={change.change.change === "delete" ? "danger" : "primary"} disabled={!armed || busy} loading={confirm.isPending} onClick={() => act(confirm)}>{t("confirm")}</Button>
            <Button size="sm" disabled={busy} loading={discard.isPending} onClick={() => act(discard)}>{t("discard")}</Button>
          </div>
        )}
        {works && undoable && <Button size="sm" className="self-start" icon={<Undo2 aria-hidden className="size-3.5" />} disabled={busy} loading={undo.isPending} onClick={() => act(undo)}>{t("undo")}</Button>}
      </div>
    </li>
  );
}
