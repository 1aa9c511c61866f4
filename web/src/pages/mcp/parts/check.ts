import { useState } from "react";
import { useMcpActions } from "@/api/hooks";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { toast, useErrorText } from "@/ui";
import { countsOf } from "./state";

/** Asks a server for its tools and says what came of it. */
export function useCheck() {
  const t = useT("mcp");
  const errorText = useErrorText();
  const { check } = useMcpActions();
  const [since, setSince] = useState<number | null>(null);
  const run = (server: Pick<McpServer, "id" | "name">) => {
    setSince(Date.now());
    check.mutate(server.id, {
      onSuccess: (seen) => {
        const counts = countsOf(seen.tools);
        if (seen.error !== null) toast({ title: t("check_failed", { name: seen.name }), tone: "bad" });
        else if (counts.changed + counts.new > 0) toast({ title: t("check_waiting", { count: counts.changed + counts.new }) });
        else toast({ title: t("check_same") });
      },
      onError: (error) => {
        const { title, hint } = errorText(error);
        toast({ title, ...(hint && { detail: hint }), tone: "bad" });
      },
      onSettled: () => setSince(null),
    });
  };
  return { run, since };
}
