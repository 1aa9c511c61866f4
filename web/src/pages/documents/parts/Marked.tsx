import type { Piece } from "./marks";

/** A passage with the question's words marked. */
export function Marked({ pieces }: { pieces: readonly Piece[] }) {
  return <>{pieces.map((piece, index) => (piece.hit ? <mark key={index} className="rounded-xs bg-warn-soft font-medium text-ink">{piece.text}</mark> : <span key={index}>{piece.text}</span>))}</>;
}
