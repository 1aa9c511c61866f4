import type { ReactNode } from "react";
import type { McpServer } from "@/api/types";
import { useT } from "@/i18n";
import { Facts } from "@/ui";
import { variablesOf } from "./form";

/** How a server is reached, and with which credential. */
export function Reached({ server }: { server: McpServer }) {
  const t = useT("mcp");
  const c = useT("credentials");
  const { transport, credential } = server;
  const code = (lines: readonly string[]) => <span className="font-mono text-sm whitespace-pre-wrap">{lines.join("\n")}</span>;
  const wanted = credential?.name ?? (credential?.kind ? t("credential_of_kind", { kind: c(`kind_${credential.kind}`) }) : null);
  const { env, secrets } = variablesOf(transport);
  const pairs = (label: string, all: Record<string, string>): [ReactNode, ReactNode][] => (Object.keys(all).length > 0 ? [[label, code(Object.entries(all).map(([name, value]) => `${name}=${value}`))]] : []);
  const items: [ReactNode, ReactNode][] =
    transport.kind === "stdio"
      ? [
          [t("command"), code(transport.command)],
          ...((transport.read ?? []).length > 0 ? [[t("read_head"), code(transport.read ?? [])] as [ReactNode, ReactNode]] : []),
          ...((transport.write ?? []).length > 0 ? [[t("write_head"), code(transport.write ?? [])] as [ReactNode, ReactNode]] : []),
          ...pairs(t("env_head"), env),
          ...pairs(t("secrets_head"), secrets),
          [t("network_head"), t(transport.network ? "network_yes" : "network_no")],
          [t("credential"), wanted === null ? t("credential_none") : t("credential_in", { name: wanted, variable: transport.secret_variable ?? "–" })],
        ]
      : [
          [t("url"), code([transport.url])],
          ...((transport.allow ?? []).length > 0 ? [[t("allow_head"), code(transport.allow ?? [])] as [ReactNode, ReactNode]] : []),
          [t("credential"), server.per_user ? t("credential_own") : (wanted ?? t("credential_none"))],
        ];
  return <Facts items={items} />;
}
