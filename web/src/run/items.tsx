import { memo, useMemo } from "react";
import { useT } from "@/i18n";
import { AskCard } from "./cards/ask";
import { DeepCard } from "./cards/deep";
import { Busy, Notice, Steer } from "./cards/notice";
import { PlanCard } from "./cards/plan";
import { TextCard } from "./cards/text";
import { ToolRow } from "./cards/tool";
import { Passages } from "./cited";
import { Workspace } from "./file-open";
import type { ClaimTarget } from "./rehype-claims";
import type { Item, RunView, ToolItem } from "./view";

type Group = { key: string; tools: ToolItem[] } | { key: string; item: Exclude<Item, ToolItem> };

/** Calls that follow each other stand in one list; one that is being asked about is shown by its question. */
function groupsOf(view: RunView): Group[] {
  const groups: Group[] = [];
  for (const item of view.items) {
    // Once decided, the call's own row says so.
    if (item.kind === "ask" && item.answer && item.subject.kind !== "question") continue;
    if (item.kind !== "tool") {
      groups.push({ key: item.key, item });
      continue;
    }
    if (item.tool === "feedback" || (item.state === "asked" && view.waiting !== null)) continue;
    const last = groups.at(-1);
    if (last && "tools" in last) last.tools.push(item);
    else groups.push({ key: item.key, tools: [item] });
  }
  return groups;
}

type Props = { view: RunView; highlight: string | null; onUndo: ((callId: string) => void) | undefined; undoing: string | null; onClaim: (target: ClaimTarget) => void };

/** All that a run did, in order. */
export const RunItems = memo(({ view, highlight, onUndo, undoing, onClaim }: Props) => {
  const t = useT("chat");
  const groups = useMemo(() => groupsOf(view), [view]);
  const last = view.items.at(-1);
  const speaking = last?.kind === "text" && last.live && last.text !== "";
  const planning = last?.kind === "plan" && last.live && last.draft.length > 0;
  return (
    <Workspace value={view.workspace}>
    <Passages value={view.passages}>
    <div className="flex flex-col gap-3">
      {groups.map((group) => {
        if ("tools" in group) {
          return (
            <ol key={group.key} aria-label={t("toolCalls")} className="overflow-hidden rounded-lg border border-line bg-surface">
              {group.tools.map((item) => <ToolRow key={item.key} item={item} runId={view.id} highlight={highlight === item.callId} onUndo={onUndo} undoing={undoing === item.callId} />)}
            </ol>
          );
        }
        const { item } = group;
        if (item.kind === "text") return <TextCard key={group.key} item={item} receipts={view.receipts} onClaim={onClaim} />;
        if (item.kind === "plan") return <PlanCard key={group.key} item={item} view={view} />;
        if (item.kind === "ask") return <AskCard key={group.key} item={item} open={view.waiting === item.approvalId} />;
        if (item.kind === "deep") return <DeepCard key={group.key} item={item} working={view.status === "running" || view.status === "waiting"} />;
        if (item.kind === "steer") return <Steer key={group.key} item={item} />;
        return <Notice key={group.key} item={item} />;
      })}
      {view.status === "running" && !speaking && !planning && <Busy view={view} />}
    </div>
    </Passages>
    </Workspace>
  );
});
