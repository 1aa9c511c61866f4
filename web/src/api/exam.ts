// An exam of a connection, told check by check while it goes on.
import { authorized, problemFrom, problemOf } from "./client";
import { sseParser } from "./events";
import type { Check, ExamReport } from "./types";

/** Examines a connection. Ends with its report, or throws an `ApiError`; aborting `signal` stops the exam at the server too. */
export async function examine(id: string, { signal, onCheck }: { signal: AbortSignal; onCheck: (check: Check) => void }): Promise<ExamReport> {
  const response = await authorized(`/api/connections/${id}/exam`, { method: "POST", headers: { accept: "text/event-stream" }, signal });
  if (!response.ok || !response.body) throw await problemOf(response);
  const feed = sseParser();
  const text = new TextDecoder();
  const reader = response.body.getReader();
  let report: ExamReport | null = null;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (const { event, data } of feed(text.decode(value, { stream: true }))) {
      const body: unknown = JSON.parse(data);
      if (event === "check") onCheck(body as Check);
      else if (event === "report") report = body as ExamReport;
      else if (event === "problem") throw problemFrom((body as { status?: number }).status ?? 500, body);
    }
  }
  if (!report) throw problemFrom(502, { title: "The exam broke off", hint: "The server ended it without a report. Examine it again." });
  return report;
}
