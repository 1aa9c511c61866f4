import { createContext, lazy, type ReactNode, Suspense, useState } from "react";

/** Where the run worked: what its answers call by an absolute path lies there. */
export const Workspace = createContext("");

const FileSheet = lazy(() => import("./file"));

/** A file's name that opens it. A link and not a button: it breaks over lines like the words it is made of. */
export function FileLink({ path, children, className }: { path: string; children: ReactNode; className?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <a href={`#${encodeURIComponent(path)}`} className={className} title={path} onClick={(event) => (event.preventDefault(), setOpen(true))}>{children}</a>
      {open && <Suspense><FileSheet path={path} onClose={() => setOpen(false)} /></Suspense>}
    </>
  );
}
