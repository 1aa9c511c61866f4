import type { AgentInput, OwnData } from "@/api/types";
import { useT } from "@/i18n";
import { Field, Select, Switch } from "@/ui";

/** What an agent keeps for itself: each switch gives it the tool and the section of its prompt. */
export function OwnDataForm({ form, onChange }: { form: AgentInput; onChange: (change: Partial<AgentInput>) => void }) {
  const t = useT("agents");
  const own = form.own_data;
  const set = (change: Partial<OwnData>) => onChange({ own_data: { ...own, ...change } });
  return (
    <>
      <p className="text-sm text-ink-2">{t("own_text")}</p>
      <Field label={t("own_memory")}>
        {(p) => (
          <Select {...p} value={own.memory === null ? "" : String(own.memory)} onChange={(event) => set({ memory: event.target.value === "" ? null : event.target.value === "true" })}>
            <option value="">{t("own_memory_tool")}</option>
            <option value="true">{t("own_memory_on")}</option>
            <option value="false">{t("own_memory_off")}</option>
          </Select>
        )}
      </Field>
      <Switch checked={own.database} onChange={(database) => set({ database })} label={t("own_database")} hint={t("own_database_hint")} />
      <Switch checked={own.documentation} onChange={(documentation) => set({ documentation })} label={t("own_documentation")} hint={t("own_documentation_hint")} />
      <Switch checked={own.shared} onChange={(shared) => set({ shared })} label={t("own_shared")} hint={t("own_shared_hint")} />
    </>
  );
}
