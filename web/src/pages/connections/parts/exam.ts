// An exam as a page sees it, and how its report is read.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { examine } from "@/api/exam";
import { useFresh } from "@/api/hooks";
import type { Capabilities, Check, Connection, ExamReport, Grade, Task } from "@/api/types";

/** The exam's version that this studio was made for; a report of an older one is worth repeating. */
export const EXAM_VERSION = 1;
export const TASKS: readonly Task[] = ["chat", "tool_call", "planning", "reasoning", "rag_answer", "summarize", "extract", "classify", "code_gen", "translate"];

export type ExamState = { busy: boolean; checks: Check[]; report: ExamReport | null; error: unknown; since: number };
const IDLE: ExamState = { busy: false, checks: [], report: null, error: null, since: 0 };

/** Runs exams of one connection; leaving the page stops one that is going on. */
export function useExam(id: string | null) {
  const [state, setState] = useState<ExamState>(IDLE);
  const stop = useRef<AbortController | null>(null);
  const fresh = useFresh();
  const client = useQueryClient();
  useEffect(() => () => stop.current?.abort(), []);
  const start = async () => {
    if (!id) return;
    stop.current?.abort();
    const own = new AbortController();
    stop.current = own;
    setState({ ...IDLE, busy: true, since: Date.now() });
    try {
      const report = await examine(id, { signal: own.signal, onCheck: (check) => setState((old) => ({ ...old, checks: [...old.checks, check] })) });
      setState((old) => ({ ...old, busy: false, report, checks: report.checks }));
      client.setQueryData(["exam", id], report);
      void fresh("connections", "connection-health", "route");
    } catch (error) {
      if (own.signal.aborted) setState((old) => (stop.current === own ? { ...old, busy: false } : old));
      else setState((old) => ({ ...old, busy: false, error }));
    }
  };
  return { ...state, start: () => void start(), cancel: () => stop.current?.abort() };
}

/** Why a report may no longer be true; empty where it is. */
export function staleness(report: ExamReport, connection: Connection): ("version" | "model" | "settings")[] {
  const out: ("version" | "model" | "settings")[] = [];
  if (report.version < EXAM_VERSION) out.push("version");
  if (report.model !== connection.model) out.push("model");
  else if (differs(report.capabilities, connection.capabilities)) out.push("settings");
  return out;
}

/** Whether the connection is used otherwise than the exam decided. */
function differs(a: Capabilities, b: Capabilities): boolean {
  return a.strategy !== b.strategy || a.window !== b.window || a.max_tools !== b.max_tools || a.plans !== b.plans || a.summarises !== b.summarises;
}

/** The grade that says most of a model: using tools, else talking, else the best there is. */
export function headGrade(grades: ExamReport["grades"]): Grade | null {
  return grades.tool_call ?? grades.chat ?? Object.values(grades).sort()[0] ?? null;
}
