export { GroupPage } from "./GroupPage";
export { GroupsPage } from "./GroupsPage";
