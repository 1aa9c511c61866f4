export { AgentPage } from "./AgentPage";
export { AgentsPage } from "./AgentsPage";
