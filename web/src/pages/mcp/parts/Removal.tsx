import { useMcpActions, useMcpSkills } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, Skeleton, toast } from "@/ui";

/** Asks before a server goes, and says which skills stand for its tools. */
export function Removal({ server, onClose, onRemoved }: { server: McpServer; onClose: () => void; onRemoved?: () => void }) {
  const t = useT("mcp");
  const { remove } = useMcpActions();
  const who = useMcpSkills();
  const skills = who.data?.skills.filter((skill) => skill.config.server === server.name) ?? [];
  const end = () =>
    remove.mutate(server.id, {
      onSuccess: () => {
        toast({ title: t("removed", { name: server.name }) });
        onClose();
        onRemoved?.();
      },
    });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { name: server.name })} description={t("remove_text")} confirm={t("remove")} danger busy={remove.isPending} onConfirm={end}>
      <div className="flex flex-col gap-2 pb-1 text-base">
        {remove.error && <ErrorState inline error={remove.error} />}
        {who.error ? <ErrorState inline error={who.error} onRetry={() => void who.refetch()} /> : !who.data ? <Skeleton rows={1} /> : skills.length === 0 ? <p>{t("remove_unused")}</p> : (
          <>
            <p className="font-medium">{t("remove_used")}</p>
            <ul className="flex flex-col gap-1">
              {skills.map((skill) => {
                const agents = who.data.agents.filter((agent) => agent.skills?.includes(skill.id)).map((agent) => agent.name);
                return <li key={skill.id} className="wrap-anywhere"><code className="font-mono text-sm">{skill.name}</code>{agents.length > 0 && <span className="text-sm text-ink-3"> · {t("had_by", { agents: agents.join(", ") })}</span>}</li>;
              })}
            </ul>
          </>
        )}
      </div>
    </ConfirmDialog>
  );
}
