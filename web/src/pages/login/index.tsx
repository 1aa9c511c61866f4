import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAuthStatus } from "@/api/hooks";
import { LoginForm } from "@/auth/form";
import { Gate } from "@/auth/gate";
import { useAuthState } from "@/auth/state";
import { useT } from "@/i18n";

/** Why a login with a provider came to nothing. */
const WHY = ["no_provider", "state", "denied", "provider", "token", "no_email", "not_admitted", "no_account", "email_taken", "too_many", "unavailable"] as const;

export default function LoginPage() {
  const t = useT("auth");
  const navigate = useNavigate();
  const { next, sign_on } = useSearch({ strict: false }) as { next?: string; sign_on?: string };
  const status = useAuthStatus();
  const state = useAuthState();
  useEffect(() => {
    // Only a path of this studio: never another site's address.
    if (state === "in") void navigate({ href: next?.startsWith("/") && !next.startsWith("//") ? next : "/chat", replace: true });
  }, [state, next, navigate]);
  if (status.data?.needs_setup) {
    return <Gate title={t("needsSetup")} lead={t("needsSetupHint")}><span /></Gate>;
  }
  return (
    <Gate title={t("signIn")}>
      {sign_on && <p role="alert" className="mb-4 rounded-md border border-line bg-bad-soft px-3 py-2.5 text-base text-bad">{t(WHY.find((word) => word === sign_on) ? `signOn.${sign_on as (typeof WHY)[number]}` : "signOn.token")}</p>}
      <LoginForm />
    </Gate>
  );
}
