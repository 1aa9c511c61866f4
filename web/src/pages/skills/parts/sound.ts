import { useCallback, useRef, useState } from "react";

/** Whether all fields with a text of their own hold something that can be taken; `forget` when they begin anew. */
export function useSound(): { sound: boolean; onSound: (id: string, sound: boolean) => void; forget: () => void } {
  const broken = useRef(new Set<string>());
  const [sound, setSound] = useState(true);
  const onSound = useCallback((id: string, fine: boolean) => {
    if (fine) broken.current.delete(id);
    else broken.current.add(id);
    setSound(broken.current.size === 0);
  }, []);
  const forget = useCallback(() => (broken.current.clear(), setSound(true)), []);
  return { sound, onSound, forget };
}
