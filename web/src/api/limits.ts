// What the server takes at most and at least, by the API's document (`npm run gen` writes `limits.json`). A form has no such
// number of its own.
import limits from "./limits.json";

export { limits };

export type Range = { least: number; most: number };
/** Of a number; `unit`: how many of the server's units one of the form's is, such as 1000 for seconds. */
export const numbersOf = ({ minimum, maximum }: { minimum: number; maximum: number }, unit = 1): Range => ({ least: minimum / unit, most: maximum / unit });
/** Of a text, in characters. */
export const lengthOf = ({ minLength = 0, maxLength }: { minLength?: number; maxLength: number }): Range => ({ least: minLength, most: maxLength });
/** `false` for what is no number. */
export const within = (value: number, { least, most }: Range): boolean => value >= least && value <= most;
/** Characters as the server counts them. */
export const charactersOf = (text: string): number => [...text].length;
