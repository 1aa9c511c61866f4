export { ConnectionPage } from "./ConnectionPage";
export { ConnectionsPage } from "./ConnectionsPage";
export { NewPage } from "./NewPage";
