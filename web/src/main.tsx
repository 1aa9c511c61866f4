import "./styles/index.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "@/api/client";
import { startAuth, useAuthState } from "@/auth/state";
import { listenForShortcuts } from "@/frame/shortcuts";
import { startLanguage, useT } from "@/i18n";
import { Spinner, TooltipProvider } from "@/ui";
import { router } from "./router";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // Only what may pass by itself is tried again: no connection, and the server's own failures.
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
    mutations: { retry: false },
  },
});

function App() {
  const state = useAuthState();
  const t = useT("common");
  useEffect(() => {
    // Only what no page shows: under a page that is still there, lists would be asked for again, without a token.
    const forget = () => queries.removeQueries({ type: "inactive" });
    if (state === "out") void router.invalidate().then(forget);
    if (state === "in") forget();
    // The server is away: come back by itself.
    if (state === "unreachable") {
      const timer = setTimeout(() => void startAuth(), 2_500);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [state]);
  if (state === "starting" || state === "unreachable") {
    return (
      <div className="flex h-full flex-col items-center justify-center gap-3 text-ink-3">
        <Spinner className="size-5" label={t("loading")} />
        {state === "unreachable" && <p role="status" className="max-w-sm px-4 text-center text-base">{t("error.offline")}. {t("error.offlineHint")}</p>}
      </div>
    );
  }
  return <RouterProvider router={router} />;
}

listenForShortcuts();
await Promise.all([startLanguage(), startAuth()]);
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <TooltipProvider delayDuration={350} skipDelayDuration={150}>
        <App />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
