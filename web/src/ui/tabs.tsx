import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

export type Tab = { value: string; label: ReactNode; content: ReactNode };

/** Controlled: `<Tabs value onChange tabs={[{value, label, content}]} />`. */
export function Tabs({ value, onChange, tabs, label }: { value: string; onChange: (value: string) => void; tabs: Tab[]; label: string }) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className="flex min-h-0 flex-col">
      <Radix.List aria-label={label} className="flex gap-5 overflow-x-auto overflow-y-hidden border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.value} value={tab.value} className="-mb-px flex shrink-0 items-center gap-1.5 border-b-2 border-transparent py-2 text-base text-ink-3 hover:text-ink focus-visible:outline-offset-[-2px] data-[state=active]:border-accent data-[state=active]:text-ink">
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className="min-h-0 pt-4">{tab.content}</Radix.Content>
      ))}
    </Radix.Root>
  );
}
