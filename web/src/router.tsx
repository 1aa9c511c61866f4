import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from "@tanstack/react-router";
import { authState } from "@/auth/state";
import { Frame } from "@/frame/frame";
import { Crash, NotFound } from "@/frame/trouble";
import { load } from "@/pages/load";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Crash });
const outside = <P extends string>(path: P, load: () => Promise<{ default: React.ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Frame,
  beforeLoad: ({ location }) => {
    if (authState() === "out") throw redirect({ to: "/login", search: { next: location.href } });
  },
});
const page = <P extends string>(path: P, load: () => Promise<unknown>, name = "default") =>
  createRoute({
    getParentRoute: () => frame,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, React.ComponentType>>, name),
    validateSearch: (search: Record<string, unknown>): Record<string, unknown> => search,
  });

const tree = root.addChildren([
  outside("/login", () => import("@/pages/login")),
  outside("/setup", () => import("@/pages/setup")),
  outside("/invitation", () => import("@/pages/invitation")),
  frame.addChildren([
    createRoute({ getParentRoute: () => frame, path: "/", beforeLoad: () => { throw redirect({ to: "/chat" }); } }),
    page("/chat", load.chat),
    page("/chat/$conversationId", load.chat),
    page("/runs", load.runs, "RunsPage"),
    page("/runs/$runId", load.runs, "RunPage"),
    page("/approvals", load.approvals),
    page("/agents", load.agents, "AgentsPage"),
    page("/agents/new", load.agents, "AgentPage"),
    page("/agents/$agentId", load.agents, "AgentPage"),
    page("/schedules", load.schedules, "SchedulesPage"),
    page("/schedules/$scheduleId", load.schedules, "SchedulePage"),
    page("/webhooks", load.webhooks, "WebhooksPage"),
    page("/webhooks/$webhookId", load.webhooks, "WebhookPage"),
    page("/webhooks/outgoing/$subscriptionId", load.webhooks, "SubscriptionPage"),
    page("/skills", load.skills, "SkillsPage"),
    page("/skills/new", load.skills, "SkillPage"),
    page("/skills/$skillId", load.skills, "SkillPage"),
    page("/skills/packages/$packageName", load.skills, "PackagePage"),
    page("/documents", load.documents),
    page("/files", load.files),
    page("/data", load.data, "DataPage"),
    page("/data/changes", load.data, "ChangesPage"),
    page("/data/sources", load.data, "SourcesPage"),
    page("/data/editor", load.data, "EditorPage"),
    page("/data/instructions", load.data, "InstructionsPage"),
    page("/data/views/$viewName", load.data, "ViewPage"),
    page("/data/domains/$domainName", load.data, "DomainPage"),
    page("/data/$domainName", load.data, "DomainPage"),
    page("/connections", load.connections, "ConnectionsPage"),
    page("/connections/new", load.connections, "NewPage"),
    page("/connections/$connectionId", load.connections, "ConnectionPage"),
    page("/credentials", load.credentials, "CredentialsPage"),
    page("/credentials/$credentialId", load.credentials, "CredentialPage"),
    page("/mcp-servers", load.mcp, "ServersPage"),
    page("/mcp-servers/$serverId", load.mcp, "ServerPage"),
    page("/dashboard", load.dashboard),
    page("/system", load.system),
    page("/usage", load.usage),
    page("/users", load.users),
    page("/groups", load.groups, "GroupsPage"),
    page("/groups/$groupId", load.groups, "GroupPage"),
    page("/tenants", load.tenants),
    page("/audit", load.audit),
    page("/governance", load.governance),
    page("/settings", load.settings),
    page("/about", load.about),
  ]),
]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent", defaultPreloadStaleTime: 0, scrollRestoration: false, defaultErrorComponent: Crash });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
