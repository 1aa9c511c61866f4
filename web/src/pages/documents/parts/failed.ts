import { toast, useErrorText } from "@/ui";

/** Says of a failure what it is. */
export function useFailed(): (error: unknown) => void {
  const errorText = useErrorText();
  return (error) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
}
