import { Ban, CircleCheck, Ellipsis, Pencil, Trash2 } from "lucide-react";
import type { Tenant } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";

type Props = { tenant: Tenant; onEdit: () => void; onDisable: () => void; onEnable: () => void; onDelete: () => void };

export function TenantRow({ tenant, onEdit, onDisable, onEnable, onDelete }: Props) {
  const t = useT("tenants");
  const disabled = tenant.disabled_at !== null;
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          <span className="wrap-anywhere">{tenant.name}</span>
          {tenant.default && <Badge tone="accent">{t("own")}</Badge>}
          {disabled && <Badge tone="bad">{t("state_disabled")}</Badge>}
        </h2>
        <p className="font-mono text-sm text-ink-2 wrap-anywhere">{tenant.slug}</p>
        <p className="text-sm text-ink-3">{tenant.disabled_at !== null ? <>{t("disabled_since")} <Time relative at={tenant.disabled_at} /></> : tenant.default ? t("own_text") : t("login_at", { address: `${window.location.origin}/login?tenant=${tenant.slug}` })}</p>
      </div>
      <Menu trigger={<IconButton size="sm" label={t("actions", { slug: tenant.slug })}><Ellipsis /></IconButton>}>
        <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("rename")}</MenuItem>
        {!tenant.default && (disabled ? <MenuItem icon={<CircleCheck />} onSelect={onEnable}>{t("enable")}</MenuItem> : <MenuItem icon={<Ban />} onSelect={onDisable}>{t("disable")}</MenuItem>)}
        {!tenant.default && disabled && (
          <>
            <MenuSeparator />
            <MenuItem icon={<Trash2 />} danger onSelect={onDelete}>{t("delete")}</MenuItem>
          </>
        )}
      </Menu>
    </li>
  );
}
