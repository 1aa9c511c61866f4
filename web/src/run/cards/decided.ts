import type { Answer } from "@/api/types";

/** Key of an answer's text. */
export const said = (answer: Answer) => (answer.decision === "approve" ? (answer.until ? "until" : answer.grant ? "run" : "approve") : answer.decision);
/** What the person wrote with it. */
export const noteOf = (answer: Answer) => {
  const note = answer.decision === "deny" ? answer.reason : answer.decision === "feedback" ? answer.text : null;
  return note ? ` “${note}”` : "";
};
