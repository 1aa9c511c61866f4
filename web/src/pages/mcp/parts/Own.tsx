import { Link } from "@tanstack/react-router";
import { useT } from "@/i18n";
import { Card, CodeBlock, CopyButton } from "@/ui";

const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "curl", version: "1" } } };

/** How other programs use Steward as their MCP server. */
export function Own() {
  const t = useT("mcp");
  const address = `${window.location.origin}/mcp`;
  const configuration = JSON.stringify({ mcpServers: { steward: { url: address, headers: { Authorization: "Bearer sk-…" } } } }, null, 2);
  const attempt = `curl ${address} \\\n  -H "Authorization: Bearer $STEWARD_KEY" \\\n  -H "Content-Type: application/json" \\\n  -H "Accept: application/json, text/event-stream" \\\n  -d '${JSON.stringify(INITIALIZE)}'`;
  const link = "text-accent-ink underline underline-offset-2";
  return (
    <Card title={t("own")}>
      <div className="flex flex-col gap-3 text-base">
        <p className="text-ink-2">{t("own_text")}</p>
        <p className="flex flex-wrap items-center gap-2"><span className="text-ink-3">{t("own_address")}</span><code data-address className="min-w-0 rounded-sm bg-sunken px-2 py-1 font-mono text-sm wrap-anywhere">{address}</code><CopyButton text={address} label={t("own_copy")} /></p>
        <p>{t("own_key")} <Link to="/settings" className={link}>{t("own_key_settings")}</Link> · <Link to="/usage" search={{ tab: "keys" }} className={link}>{t("own_key_virtual")}</Link></p>
        <section aria-label={t("own_configuration")}>
          <h3 className="text-sm font-medium">{t("own_configuration")}</h3>
          <CodeBlock text={configuration} language="json" className="mt-1.5 mb-0" />
        </section>
        <section aria-label={t("own_attempt")}>
          <h3 className="text-sm font-medium">{t("own_attempt")}</h3>
          <CodeBlock text={attempt} language="sh" className="mt-1.5 mb-0" />
        </section>
        <p className="text-ink-2">{t("own_tools")} <code className="font-mono text-sm">{'{"mcp_tools": ["read", "grep"]}'}</code></p>
      </div>
    </Card>
  );
}
