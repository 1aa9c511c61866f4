import { useMemo, useState } from "react";
import type { useStandards } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, SearchInput, Skeleton } from "@/ui";
import { clausesWith } from "./form";

type Props = { standards: ReturnType<typeof useStandards>; policy: string; chosen: readonly string[]; onChange: (chosen: string[]) => void; onClose: () => void };

/** Chooses the clauses that a policy serves, by search through all standards. */
export function References({ standards, policy, chosen, onChange, onClose }: Props) {
  const t = useT("governance");
  const [query, setQuery] = useState("");
  const found = useMemo(() => clausesWith(standards.data ?? [], query), [standards.data, query]);
  const names = [...new Set(found.map((clause) => clause.standard))];
  return (
    <Dialog open wide onOpenChange={onClose} title={t("references_title", { name: policy })} description={t("references_text")} footer={<Button variant="primary" onClick={onClose}>{t("done")}</Button>}>
      {standards.error ? <ErrorState inline error={standards.error} onRetry={() => void standards.refetch()} /> : !standards.data ? <Skeleton rows={6} /> : (
        <div className="flex flex-col gap-4 pb-2">
          <SearchInput label={t("references_search")} value={query} onChange={setQuery} />
          <p role="status" className="text-sm text-ink-3">{found.length === 0 ? t("references_none") : t("references_found", { count: found.length, chosen: chosen.length })}</p>
          {names.map((name) => (
            <fieldset key={name} className="flex min-w-0 flex-col gap-2.5">
              <legend className="mb-2 text-sm font-semibold">{name}</legend>
              {found.filter((clause) => clause.standard === name).map((clause) => (
                <Checkbox
                  key={clause.id}
                  checked={chosen.includes(clause.id)}
                  onChange={(on) => onChange(on ? [...chosen, clause.id] : chosen.filter((id) => id !== clause.id))}
                  label={`${clause.number} ${clause.title}`}
                  hint={clause.about}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </Dialog>
  );
}
