export * from "./account";
export * from "./agents";
export * from "./approvals";
export * from "./connections";
export * from "./conversations";
export { type Paged, useFresh, usePaged } from "./core";
export * from "./runs";
export * from "./spending";
