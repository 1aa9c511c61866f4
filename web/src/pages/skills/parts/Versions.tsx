import { useSkillActions, useSkillVersions } from "@/api/hooks";
import type { Skill, SkillInput } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, DiffView, PagedList, Time, toast } from "@/ui";
import { Fold } from "@/run/cards/text";
import { useFailed } from "./actions";
import { inputOf } from "./form";
import { lineDiff, linesOf } from "./linediff";

/** All versions with what each changed, and a way back. */
export function Versions({ skill, mayEdit, onBack }: { skill: Skill; mayEdit: boolean; onBack: (now: SkillInput) => void }) {
  const t = useT("skills");
  const list = useSkillVersions(skill.id);
  const failed = useFailed();
  const { rollback } = useSkillActions();
  const goBack = (version: number, undo: number | null) =>
    rollback.mutateAsync({ id: skill.id, version }).then((next) => {
      onBack(inputOf(next));
      toast({ title: t("rolled_back", { from: version, to: next.version }), ...(undo !== null && { undo: () => void goBack(undo, null) }) });
    }, failed);
  return (
    <PagedList list={list} empty={null}>
      <ol aria-label={t("tab_versions")} className="flex flex-col gap-3">
        {list.items.map((version, at) => {
          const before = list.items[at + 1];
          const diff = before ? lineDiff(linesOf(inputOf(before)), linesOf(inputOf(version))) : null;
          const current = version.version === skill.version;
          return (
            <li key={version.version} className="rounded-lg border border-line bg-surface px-4 py-3">
              <div className="flex flex-wrap items-center gap-2">
                <h2 className="text-base font-semibold tabular">{t("version_title", { n: version.version })}</h2>
                {current && <Badge tone="ok">{t("version_current")}</Badge>}
                <span className="min-w-0 flex-1 truncate text-sm text-ink-3"><Time relative at={version.at} /> · {version.by}</span>
                {mayEdit && !current && <Button size="sm" disabled={rollback.isPending} onClick={() => void goBack(version.version, skill.version)}>{t("roll_back")}</Button>}
              </div>
              {diff !== null && (diff === "" ? <p className="mt-1 text-sm text-ink-3">{t("no_change")}</p> : <Fold className="mt-1" open={current} summary={t("what_changed")}><DiffView diff={diff} className="mt-1" /></Fold>)}
              {!before && !list.hasMore && <p className="mt-1 text-sm text-ink-3">{t("first_version")}</p>}
            </li>
          );
        })}
      </ol>
    </PagedList>
  );
}
