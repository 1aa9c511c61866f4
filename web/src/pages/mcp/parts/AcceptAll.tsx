import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useMcpActions } from "@/api/hooks";
import type { McpServer, McpTool } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, toast } from "@/ui";
import { hides, visible } from "./state";

/** Accepts tools that are new, after one has read what they say. Changed ones are accepted one by one. */
export function AcceptAll({ server, tools, onClose }: { server: McpServer; tools: McpTool[]; onClose: () => void }) {
  const t = useT("mcp");
  const { accept } = useMcpActions();
  // As they were when the question was asked; what is accepted leaves the list.
  const [asked] = useState(tools);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const agree = async () => {
    setBusy(true);
    setError(null);
    try {
      for (const tool of asked.filter((one) => tools.some((left) => left.name === one.name))) await accept.mutateAsync({ id: server.id, tool: tool.name, hash: tool.hash });
      toast({ title: t("accepted_all", { count: asked.length }) });
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("accept_all_title", { count: asked.length })} description={t("accept_all_text")} confirm={t("accept_all_confirm")} busy={busy} onConfirm={() => void agree()}>
      {error ? <ErrorState inline error={error} className="mb-2" /> : null}
      <ul className="flex flex-col gap-2.5 pb-1">
        {asked.map((tool) => (
          <li key={tool.name} className="text-base">
            <code className="font-mono text-sm font-medium wrap-anywhere">{visible(tool.name)}</code>
            {hides(tool) && <TriangleAlert aria-label={t("hidden_text")} role="img" className="ml-1.5 inline size-3.5 text-bad" />}
            <p className="text-sm text-ink-2 whitespace-pre-wrap wrap-anywhere">{visible(tool.description) || t("no_description")}</p>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}
