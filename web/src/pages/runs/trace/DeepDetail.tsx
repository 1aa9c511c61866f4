import { DeepSteps } from "@/run/cards/deep-steps";
import { useT } from "@/i18n";
import { Part } from "../parts/Fold";
import type { DeepNode } from "./nodes";

/** One version of a deep plan, with how far it came. */
export function DeepDetail({ node }: { node: DeepNode }) {
  const t = useT("runs");
  const { version } = node;
  return (
    <>
      {version.reason && <Part title={t("deep_why")}><p className="text-base wrap-anywhere">{version.reason}</p></Part>}
      {version.steps.length > 0 ? <DeepSteps version={version} working={node.working} /> : <p className="text-base text-ink-2">{version.reason === null ? t("deep_not_worth") : t("deep_without")}</p>}
      {version.notes.length > 0 && <Part title={t("sec_notes")}><ul className="flex flex-col gap-1 rounded-md bg-sunken px-3 py-2 text-sm">{version.notes.map((line, index) => <li key={index} className="wrap-anywhere">{line}</li>)}</ul></Part>}
    </>
  );
}
