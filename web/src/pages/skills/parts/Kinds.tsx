import { isOperator, useMe, useSkillKinds } from "@/api/hooks";
import type { SkillKindInfo } from "@/api/types";
import { useT } from "@/i18n";
import { ErrorState, RiskBadge, Skeleton } from "@/ui";
import { mayWrite } from "./form";
import { KindIcon } from "./labels";

/** Chooses what carries a new skill out. */
export function Kinds({ onChoose }: { onChoose: (kind: SkillKindInfo) => void }) {
  const t = useT("skills");
  const kinds = useSkillKinds();
  const me = useMe();
  if (kinds.error) return <ErrorState error={kinds.error} onRetry={() => void kinds.refetch()} />;
  if (!kinds.data) return <Skeleton rows={8} />;
  // A tool of an MCP server becomes a skill where the server is.
  const offered = kinds.data.filter((kind) => kind.type !== "mcp" && mayWrite(me.data, kind.type));
  return (
    <div className="flex flex-col gap-4">
      <ul aria-label={t("kinds")} className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {offered.map((kind) => (
          <li key={kind.type}>
            <button type="button" onClick={() => onChoose(kind)} className="flex h-full w-full flex-col gap-1.5 rounded-lg border border-line bg-surface px-4 py-3 text-left transition-colors hover:border-line-2 hover:bg-hover">
              <span className="flex w-full items-center gap-2.5 text-base font-semibold [&>svg]:size-4.5 [&>svg]:text-accent-ink"><KindIcon kind={kind.type} />{t(`kind_${kind.type}`)}{kind.type !== "internal" && <span className="ml-auto"><RiskBadge risk={kind.risk} /></span>}</span>
              <span className="text-sm text-ink-2">{t(`kind_${kind.type}_text`)}</span>
            </button>
          </li>
        ))}
      </ul>
      <p className="text-sm text-ink-3">{t("kinds_mcp")}{!isOperator(me.data) && <> {t("kinds_operator")}</>}</p>
    </div>
  );
}
