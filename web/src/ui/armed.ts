import { useEffect, useState } from "react";

/** How long something must have been shown before a yes or no to it counts, ms: less can't have been read. */
export const READ_FIRST = 600;

/** Whether what is shown under `key` has been there long enough to be answered. */
export function useArmed(key: string): boolean {
  const [armed, setArmed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(key), READ_FIRST);
    return () => clearTimeout(timer);
  }, [key]);
  return armed === key;
}
