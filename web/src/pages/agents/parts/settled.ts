import { useEffect, useState } from "react";

/** `value`, once it has not changed for a while. */
export function useSettled<T>(value: T, wait = 400): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return settled;
}
