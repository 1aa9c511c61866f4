// What the palette finds: by name first, then by other words for the same.

const fits = (text: string, words: readonly string[]) => words.every((word) => text.includes(word));

/** `also`: other words for it. */
export function found<C extends { label: string; also?: string }>(all: readonly C[], query: string): C[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const named = all.filter((one) => fits(one.label.toLowerCase(), words));
  return [...named, ...all.filter((one) => !named.includes(one) && one.also && fits(`${one.label} ${one.also}`.toLowerCase(), words))];
}
