import { useAgents } from "@/api/hooks";
import type { Routing } from "@/api/types";
import { useT } from "@/i18n";
import { Field, Select } from "@/ui";

const HINTS = ["analytics", "documents", "general"] as const;

type Props = { redirects: Routing["redirects"]; onChange: (redirects: Routing["redirects"]) => void };

/** Where an agent's requests go by what they are about: nowhere else, to some of its tools alone, or to another agent. */
export function Redirects({ redirects, onChange }: Props) {
  const t = useT("agents");
  const agents = useAgents().items;
  const set = (hint: string, to: string) => {
    const { [hint]: _before, ...rest } = redirects;
    onChange(to === "" ? rest : { ...rest, [hint]: to === "tools" ? "tools" : { agent: to } });
  };
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">{t("redirects")}</h3>
      <p className="text-xs text-ink-3">{t("redirects_hint")}</p>
      <div className="grid gap-4 sm:grid-cols-3">
        {HINTS.map((hint) => {
          const to = redirects[hint];
          const agent = typeof to === "object" ? to.agent : "";
          return (
            <Field key={hint} label={t(`redirect_${hint}`)}>
              {(p) => (
                <Select {...p} value={to === "tools" ? "tools" : agent} onChange={(event) => set(hint, event.target.value)}>
                  <option value="">{t("redirect_none")}</option>
                  {hint !== "general" && <option value="tools">{t("redirect_tools")}</option>}
                  {agents.map((item) => <option key={item.id} value={item.id}>{t("redirect_agent", { name: item.name })}</option>)}
                  {agent && !agents.some((item) => item.id === agent) && <option value={agent}>{t("redirect_gone")}</option>}
                </Select>
              )}
            </Field>
          );
        })}
      </div>
    </div>
  );
}
