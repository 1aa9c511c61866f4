export { ChangesPage } from "./changes/ChangesPage";
export { DataPage } from "./DataPage";
export { DomainPage } from "./domain/DomainPage";
export { EditorPage } from "./editor/EditorPage";
export { InstructionsPage } from "./instructions/InstructionsPage";
export { SourcesPage } from "./sources/SourcesPage";
export { ViewPage } from "./view/ViewPage";
