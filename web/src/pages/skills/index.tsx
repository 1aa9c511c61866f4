export { PackagePage } from "./PackagePage";
export { SkillPage } from "./SkillPage";
export { SkillsPage } from "./SkillsPage";
