// Files that are dropped anywhere on the page, also whole folders.
import { useEffect, useRef, useState } from "react";

/** So many files of folders are taken at once. */
const MOST = 2_000;

/** All files of a drop. To be called while the event is handled: what it holds is gone afterwards. */
export function filesOf(data: DataTransfer): Promise<File[]> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return Promise.resolve([...data.files]);
  return walk(entries.filter((entry) => entry !== null));
}

async function walk(begin: FileSystemEntry[]): Promise<File[]> {
  const files: File[] = [];
  const open = [...begin];
  for (let entry = open.shift(); entry && files.length < MOST; entry = open.shift()) {
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile) files.push(await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed)));
    else {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      // It gives a hundred at a time.
      for (let more = true; more; ) {
        const found = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
        open.push(...found);
        more = found.length > 0;
      }
    }
  }
  return files;
}

/** Whether files are held over the page; `onFiles` gets them when they are dropped. */
export function useDropped(onFiles: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    // Entering a child comes before leaving its parent.
    let depth = 0;
    const meant = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true && document.querySelector("[role=dialog]") === null;
    const enter = (event: DragEvent) => {
      if (!meant(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const hold = (event: DragEvent) => meant(event) && event.preventDefault();
    const drop = (event: DragEvent) => {
      depth = 0;
      setOver(false);
      if (!meant(event) || !event.dataTransfer) return;
      event.preventDefault();
      void filesOf(event.dataTransfer).then((files) => files.length > 0 && take.current(files));
    };
    const all = [["dragenter", enter], ["dragleave", leave], ["dragover", hold], ["drop", drop]] as const;
    for (const [name, handler] of all) window.addEventListener(name, handler);
    return () => {
      for (const [name, handler] of all) window.removeEventListener(name, handler);
    };
  }, []);
  return over;
}
