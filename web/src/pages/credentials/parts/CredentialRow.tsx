import { Link } from "@tanstack/react-router";
import { Ellipsis, Pencil, RefreshCcw, Trash2 } from "lucide-react";
import type { Credential } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";
import { Expiry } from "./Expiry";
import type { Purpose } from "./form";

type Props = { credential: Credential; operator: boolean; onChange: (purpose: Purpose) => void; onRemove: () => void };

export function CredentialRow({ credential, operator, onChange, onRemove }: Props) {
  const t = useT("credentials");
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          <Link to="/credentials/$credentialId" params={{ credentialId: credential.id }} className="wrap-anywhere hover:underline">{credential.name}</Link>
          <Badge>{t(`kind_${credential.kind}`)}</Badge>
          <Expiry at={credential.expires_at} badge />
        </h2>
        {credential.description && <p className="text-sm text-ink-2 wrap-anywhere">{credential.description}</p>}
        <p className="text-sm text-ink-3">{credential.connection ? <Link to="/connections/$connectionId" params={{ connectionId: credential.connection }} className="underline">{t("of_connection")}</Link> : <Access credential={credential} />} · {credential.used_at === null ? t("never_used") : <>{t("last_used")} <Time relative at={credential.used_at} /></>}<Expiry at={credential.expires_at} /></p>
      </div>
      {operator && !credential.connection && <CredentialMenu credential={credential} onChange={onChange} onRemove={onRemove} />}
    </li>
  );
}

/** Whose runs may use it, in a few words. */
export function Access({ credential }: { credential: Credential }) {
  const t = useT("credentials");
  const roles = credential.roles.map((role) => t(`role_${role}`)).join(", ");
  const more = [roles && t("access_roles", { roles }), credential.discoverable && t("access_kind")].filter(Boolean);
  return <>{more.length > 0 ? more.join(" · ") : t("access_named")}</>;
}

export function CredentialMenu({ credential, onChange, onRemove }: { credential: Credential; onChange: (purpose: Purpose) => void; onRemove: () => void }) {
  const t = useT("credentials");
  return (
    <Menu trigger={<IconButton size="sm" label={t("actions", { name: credential.name })}><Ellipsis /></IconButton>}>
      <MenuItem icon={<RefreshCcw />} onSelect={() => onChange("replace")}>{t("replace_menu")}</MenuItem>
      <MenuItem icon={<Pencil />} onSelect={() => onChange("edit")}>{t("edit")}</MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>{t("remove")}</MenuItem>
    </Menu>
  );
}
