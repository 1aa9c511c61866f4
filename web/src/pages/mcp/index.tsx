export { ServerPage } from "./ServerPage";
export { ServersPage } from "./ServersPage";
