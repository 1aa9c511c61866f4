import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAuthStatus } from "@/api/hooks";
import { LoginForm } from "@/auth/form";
import { Gate } from "@/auth/gate";
import { useAuthState } from "@/auth/state";
import { useT } from "@/i18n";

export default function LoginPage() {
  const t = useT("auth");
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false }) as { next?: string };
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
      <LoginForm />
    </Gate>
  );
}
