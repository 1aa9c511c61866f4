/** Steward's mark: the lines of a log, the last one waiting. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden className={className}>
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path d="M8 10.5h10M8 16h16M8 21.5h7" className="stroke-on-accent" strokeWidth="2.4" strokeLinecap="round" />
      <circle cx="22.5" cy="21.5" r="2.4" className="fill-on-accent" />
    </svg>
  );
}
