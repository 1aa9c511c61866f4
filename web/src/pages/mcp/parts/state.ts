// How a server and its tools stand.
import type { McpServer, McpTool, Skill } from "@/api/types";

export type ServerState = "off" | "never" | "failed" | "reachable";
export const serverState = (server: McpServer): ServerState => (!server.enabled ? "off" : server.checked_at === null ? "never" : server.error !== null ? "failed" : "reachable");

/** `changed` and `new` wait for a person; of `withdrawn` one has said no. */
export type ToolState = "accepted" | "changed" | "new" | "withdrawn" | "gone";
export const toolState = (tool: McpTool): ToolState => (tool.gone ? "gone" : tool.changed ? "changed" : tool.callable ? "accepted" : tool.withdrawn ? "withdrawn" : "new");

/** Whether somebody's acceptance of it is kept, though it may have changed or be gone since. */
export const isAccepted = (tool: McpTool): boolean => tool.accepted_at != null;

const ORDER: Record<ToolState, number> = { changed: 0, new: 1, accepted: 2, withdrawn: 3, gone: 4 };
/** What waits for a person first, else as the server has them. */
export const inOrder = (tools: readonly McpTool[]): McpTool[] => [...tools].sort((a, b) => ORDER[toolState(a)] - ORDER[toolState(b)]);

export function countsOf(tools: readonly McpTool[]): Record<ToolState, number> {
  const counts: Record<ToolState, number> = { accepted: 0, changed: 0, new: 0, withdrawn: 0, gone: 0 };
  for (const tool of tools) counts[toolState(tool)] += 1;
  return counts;
}

/** The skill that stands for a tool, if it was attached. */
export const skillOf = (skills: readonly Skill[], server: string, tool: string): Skill | undefined => skills.find((skill) => skill.config.server === server && skill.config.tool === tool);

// Zero-width, direction-changing, tag and control characters: a model reads them, a person doesn't see them.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
/** A text of a server with what is not to be seen made visible. */
export const visible = (text: string): string => text.replace(HIDDEN, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
/** Whether anything that a tool says of itself holds what is not to be seen. */
export const hides = (tool: McpTool): boolean => [tool.name, tool.description, JSON.stringify(tool.parameters)].some((text) => text.search(HIDDEN) >= 0);
