import { useState } from "react";
import { useAgentMemory, useOwnDataActions } from "@/api/hooks";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, Skeleton, toast } from "@/ui";
import { KeptTextEditor } from "./KeptTextEditor";

/** What an agent remembers for the viewer, or for all who share it: to read, edit and clear. */
export function AgentMemory({ agent, shared, disabled }: { agent: string; shared: boolean; disabled: boolean }) {
  const t = useT("agents");
  const memory = useAgentMemory(agent);
  const { saveMemory, clearMemory } = useOwnDataActions(agent);
  const [clearing, setClearing] = useState(false);
  if (memory.error) return <ErrorState inline error={memory.error} onRetry={() => void memory.refetch()} />;
  if (!memory.data) return <Skeleton rows={3} />;
  const clear = () => clearMemory.mutate(undefined, { onSuccess: () => (setClearing(false), toast({ about: "memory", title: t("memory_cleared") })) });
  return (
    <>
      <KeptTextEditor label={t(shared ? "memory_shared" : "memory")} hint={t("memory_hint")} kept={memory.data} disabled={disabled} save={saveMemory} reread={() => memory.refetch().then(({ data }) => data)} onClear={() => setClearing(true)} />
      {clearing && <ConfirmDialog open danger title={t("memory_clear_title")} description={t("memory_clear_text")} confirm={t("kept_clear")} busy={clearMemory.isPending} onOpenChange={() => setClearing(false)} onConfirm={clear} />}
    </>
  );
}
