import { useId, useState } from "react";
import type { Tool } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Checkbox, cx, RiskBadge, SearchInput, Skeleton, Switch } from "@/ui";

type Props = { tools: Tool[] | undefined; all: boolean; chosen: string[]; error: string | undefined; onAll: (all: boolean) => void; onChange: (tools: string[]) => void };

/** All tools, or some of them with what each may do. */
export function ToolPicker({ tools, all, chosen, error, onAll, onChange }: Props) {
  const t = useT("agents");
  const [words, setWords] = useState("");
  const id = useId();
  if (!tools) return <Skeleton rows={5} />;
  const found = tools.filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(words.trim().toLowerCase()));
  const unknown = chosen.filter((name) => !tools.some((tool) => tool.name === name));
  const flip = (name: string, on: boolean) => onChange(on ? [...chosen, name] : chosen.filter((other) => other !== name));
  return (
    <div className="flex flex-col gap-3">
      <Switch checked={all} onChange={onAll} label={t("tools_all")} hint={t("tools_all_hint")} />
      {!all && (
        <>
          <div className="flex flex-wrap items-center gap-3">
            <SearchInput className="min-w-0 flex-1" label={t("tools_search")} value={words} onChange={setWords} />
            <span className="text-sm text-ink-3 tabular">{t("tools_chosen", { chosen: chosen.length, all: tools.length })}</span>
          </div>
          {error && <p role="alert" id={id} className="text-xs text-bad">{error}</p>}
          <ul aria-describedby={error ? id : undefined} className={cx("max-h-96 divide-y divide-line overflow-y-auto rounded-lg border bg-surface", error ? "border-bad" : "border-line")}>
            {found.map((tool) => (
              <li key={tool.name} className="flex items-start gap-3 px-3 py-2">
                <div className="min-w-0 flex-1 [&_label]:font-mono [&_label]:text-sm [&_label_span]:font-sans"><Checkbox checked={chosen.includes(tool.name)} onChange={(on) => flip(tool.name, on)} label={tool.name} hint={tool.description} /></div>
                <span className="shrink-0 pt-0.5" title={t(`effect_${tool.effect}`)}><RiskBadge risk={tool.risk} /></span>
              </li>
            ))}
            {unknown.map((name) => (
              <li key={name} className="flex items-start gap-3 px-3 py-2"><div className="min-w-0 flex-1 [&_label]:font-mono"><Checkbox checked onChange={() => flip(name, false)} label={name} /></div><Badge tone="warn">{t("tools_unknown")}</Badge></li>
            ))}
            {found.length === 0 && unknown.length === 0 && <li className="px-3 py-6 text-center text-base text-ink-3">{t("tools_none")}</li>}
          </ul>
        </>
      )}
    </div>
  );
}
