import { useState } from "react";
import { useConnectionActions } from "@/api/hooks";
import type { TestState } from "./TestReport";

/** Tests of connections and what they found, for as long as the page is open. */
export function useTests() {
  const { test } = useConnectionActions();
  const [tests, setTests] = useState<Record<string, TestState>>({});
  const run = async ({ id }: { id: string }) => {
    const note = (entry: TestState) => setTests((old) => ({ ...old, [id]: entry }));
    note({ busy: true, report: null, error: null });
    try {
      note({ busy: false, report: await test.mutateAsync(id), error: null });
    } catch (error) {
      note({ busy: false, report: null, error });
    }
  };
  return { of: (id: string): TestState | undefined => tests[id], run: (connection: { id: string }) => void run(connection) };
}
