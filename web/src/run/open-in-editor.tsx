import { useNavigate } from "@tanstack/react-router";
import { PencilLine } from "lucide-react";
import { isOperator, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { handOver } from "@/pages/data/parts/hand-over";
import { Button } from "@/ui";

/** Takes a text of domains and views from an answer into the editor, where it is looked at before it is saved. */
export function OpenInEditor({ text }: { text: string }) {
  const t = useT("data");
  const navigate = useNavigate();
  if (!isOperator(useMe().data)) return null;
  return <Button size="sm" variant="quiet" icon={<PencilLine aria-hidden className="size-3.5" />} onClick={() => (handOver(`${text}\n`), void navigate({ to: "/data/editor", search: { handed: 1 } as never }))}>{t("open_in_editor")}</Button>;
}
