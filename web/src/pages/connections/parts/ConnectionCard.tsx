import { Link } from "@tanstack/react-router";
import { ClipboardCheck, Cloud, Ellipsis, House, KeyRound, Lock, Pencil, Star, Trash2 } from "lucide-react";
import type { Connection, ConnectionHealth } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ButtonLink, formatNumber, GradeBadge, IconButton, Menu, MenuItem, MenuSeparator, PriceText } from "@/ui";
import { headGrade } from "./exam";
import { HealthLine } from "./Health";
import { TestReport, type TestState } from "./TestReport";

type Props = {
  connection: Connection;
  health: ConnectionHealth | undefined;
  operator: boolean;
  test: TestState | undefined;
  onTest: () => void;
  onEdit: () => void;
  onDefault: () => void;
  onRemove: () => void;
};

export function ConnectionCard({ connection, health, operator, test, onTest, onEdit, onDefault, onRemove }: Props) {
  const t = useT("connections");
  const m = useT("models");
  const { auth, capabilities } = connection;
  const grade = connection.exam && headGrade(connection.exam.grades);
  return (
    <li className="flex flex-col gap-2.5 rounded-lg border border-line bg-surface px-4 py-3.5">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-60 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
            <Link to="/connections/$connectionId" params={{ connectionId: connection.id }} className="wrap-anywhere hover:underline">{connection.name}</Link>
            {grade && <GradeBadge grade={grade} />}
            {connection.default && <Badge tone="accent" icon={<Star aria-hidden className="fill-current" />} title={t("default_hint")}>{t("default")}</Badge>}
          </h2>
          <p className="text-base wrap-anywhere"><code className="font-mono text-sm">{connection.model}</code></p>
          <p className="text-sm text-ink-3 wrap-anywhere">{m(`provider_${connection.provider}`)}{connection.base_url && <> · <span className="font-mono text-xs">{connection.base_url}</span></>}</p>
        </div>
        <div className="flex items-center gap-1.5">
          {operator && <Button size="sm" loading={test?.busy ?? false} onClick={onTest}>{test?.report ? t("test_again") : t("test")}</Button>}
          <ButtonLink size="sm" to="/connections/$connectionId" params={{ connectionId: connection.id }} icon={<ClipboardCheck aria-hidden className="size-3.5" />}>{t("report_card")}</ButtonLink>
          {operator && (!connection.default || connection.editable) && (
            <Menu trigger={<IconButton size="sm" label={t("actions", { name: connection.name })}><Ellipsis /></IconButton>}>
              {!connection.default && <MenuItem icon={<Star />} onSelect={onDefault}>{t("make_default")}</MenuItem>}
              {connection.editable && <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("edit")}</MenuItem>}
              {connection.editable && <MenuSeparator />}
              {connection.editable && <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>{t("remove")}</MenuItem>}
            </Menu>
          )}
        </div>
      </div>
      <HealthLine health={health} />
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-ink-3">
        <span>{t("window", { n: formatNumber(capabilities.window) })} · {t("calls_by", { strategy: m(`strategy_${capabilities.strategy}`) })}</span>
        <PriceText price={connection.known_price} />
        <Place connection={connection} />
        <span className="inline-flex items-center gap-1.5"><KeyRound aria-hidden className="size-3.5" />{auth.kind === "none" ? t("no_key") : "variable" in auth ? t("key_in", { variable: auth.variable }) : auth.kind === "aws_env" ? t("key_in", { variable: "AWS_SECRET_ACCESS_KEY" }) : t("key_sealed")}</span>
        <span className="inline-flex items-center gap-1.5" title={connection.editable ? undefined : t("fixed")}>{!connection.editable && <Lock aria-hidden className="size-3.5" />}{connection.from === "saved" ? t("from_saved") : connection.from}</span>
      </p>
      {test && (test.busy || test.report || test.error) ? <div role="status" className="border-t border-line pt-3"><TestReport test={test} onTest={onTest} /></div> : null}
    </li>
  );
}

/** Whether policies over data count it as in the house. */
export function Place({ connection: { in_house, in_house_by_hand } }: { connection: Connection }) {
  const t = useT("connections");
  const Icon = in_house ? House : Cloud;
  return <span className="inline-flex items-center gap-1.5" title={t(typeof in_house_by_hand === "boolean" ? "in_house_by_hand" : "in_house_by_address")}><Icon aria-hidden className="size-3.5" />{t(in_house ? "in_house" : "outside")}</span>;
}
