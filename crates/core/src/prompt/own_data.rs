use super::estimate_tokens;
use super::sections::sections_within;
use crate::agent::OwnData;
use serde::{Deserialize, Serialize};

const NO_MEMORY: &str = "No memories stored yet.";
const NO_TABLES: &str = "No tables are documented yet.";
/// What an agent keeps for itself, as sections of its prompt; `None`: the agent has no such section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OwnSections {
    /// What it remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory: Option<String>,
    /// What it has written down about the tables of its private database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub database: Option<String>,
}

impl OwnSections {
    pub fn new(switches: OwnData, memory: &str, documentation: &str) -> Self {
        Self {
            memory: (switches.memory == Some(true)).then(|| memory.trim().to_owned()),
            database: switches.has_database_section().then(|| documentation.trim().to_owned()),
        }
    }

    /// `carried`, with which the prompts of the conversation began, unless other sections are on now.
    pub fn begun_with<'s>(&'s self, carried: &'s Self) -> &'s Self {
        let same =
            self.memory.is_some() == carried.memory.is_some() && self.database.is_some() == carried.database.is_some();
        if same { carried } else { self }
    }

    /// The sections within about `room` tokens; the longer one is cut first, and the cut is marked.
    pub fn text(&self, room: u64) -> String {
        let sections = [("Your Memory", &self.memory, NO_MEMORY), ("Your Database", &self.database, NO_TABLES)];
        let present = sections.into_iter().filter_map(|(title, text, none)| {
            let text = text.as_deref()?;
            Some((title.to_owned(), if text.is_empty() { none } else { text }))
        });
        sections_within(present.collect(), room)
    }

    /// Those that are not as they were in `begun`, for the newest request; empty if none has changed.
    pub fn changed(&self, begun: &Self, room: u64) -> String {
        let changed = self.without_those_of(begun);
        if changed == Self::default() {
            return String::new();
        }
        format!("[Changed since this conversation began:]\n{}\n", changed.text(room))
    }

    pub fn changed_tokens(&self, begun: &Self) -> u64 {
        let changed = self.without_those_of(begun);
        changed.memory.iter().chain(&changed.database).map(|text| estimate_tokens(text)).sum()
    }

    fn without_those_of(&self, begun: &Self) -> Self {
        Self {
            memory: self.memory.clone().filter(|_| self.memory != begun.memory),
            database: self.database.clone().filter(|_| self.database != begun.database),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OwnSections;
    use crate::Timestamp;
    use crate::agent::OwnData;
    use crate::message::Message;
    use crate::prompt::{Compaction, PromptInput, assemble, estimate_tokens};

    fn switches(memory: Option<bool>, database: bool, documentation: bool) -> OwnData {
        OwnData { memory, database, documentation, shared: false }
    }

    /// The whole prompt: the system message, if there is one, and the request.
    fn prompt(instructions: &str, memory: &str, own: &OwnSections, begun: &OwnSections) -> Vec<String> {
        let request = [Message::user("Go.")];
        let input = PromptInput {
            instructions,
            skills: "",
            tool_text: "",
            memory,
            own_sections: &begun.text(1000),
            own_changes: &own.changed(begun, 1000),
            references: "",
            notes: "",
            now: Timestamp(0),
            history: &[],
            messages: &request,
            closing: "",
            beside: 0,
            window: 8000,
            reserve: 100,
            longest: None,
            compaction: &Compaction::default(),
        };
        assemble(&input).messages.into_iter().map(|message| message.text).collect()
    }

    fn check(instructions: &str, switches: OwnData, (memory, doc): (&str, &str), expect: &str) {
        let own = OwnSections::new(switches, memory, doc);
        let all = prompt(instructions, "", &own, &own);
        let system = if all.len() == 2 { all[0].as_str() } else { "" };
        assert_eq!(system, expect, "{switches:?}");
        assert_eq!(all.last().map(String::as_str), Some("[Now: 1970-01-01T00:00:00Z]\n\nGo."));
    }

    #[test]
    fn each_switch_adds_its_section() {
        let kept = ("likes tea\n", "ai_teas(name)");
        check("Help.", switches(None, false, false), kept, "Help.");
        check("Help.", switches(Some(false), false, false), kept, "Help.");
        check("Help.", switches(Some(true), false, false), kept, "Help.\n\n---\n\n## Your Memory\nlikes tea");
        check("Help.", switches(None, true, false), kept, "Help.\n\n---\n\n## Your Database\nai_teas(name)");
        check("Help.", switches(Some(false), false, true), kept, "Help.\n\n---\n\n## Your Database\nai_teas(name)");
        let both = "## Your Memory\nlikes tea\n\n## Your Database\nai_teas(name)";
        check("Help.", switches(Some(true), true, true), kept, &format!("Help.\n\n---\n\n{both}"));
        // Without a core nothing stands in its place, and what is enabled stays.
        check(" \n", switches(Some(true), true, true), kept, both);
        check("", switches(None, false, false), kept, "");
        let none = "## Your Memory\nNo memories stored yet.\n\n## Your Database\nNo tables are documented yet.";
        check("", switches(Some(true), true, true), (" ", ""), none);
    }

    #[test]
    fn without_switches_memory_stands_before_the_request_as_ever() {
        let own = OwnSections::new(OwnData::default(), "likes tea", "ai_teas(name)");
        assert_eq!(own, OwnSections::default());
        let all = prompt("Help.", "likes tea", &own, &own);
        assert_eq!(all, ["Help.", "[Now: 1970-01-01T00:00:00Z]\n## Your Memory\nlikes tea\n\nGo."]);
    }

    #[test]
    fn the_beginning_stays_while_a_conversation_goes_on() {
        let on = switches(Some(true), true, true);
        let begun = OwnSections::new(on, "likes tea", "ai_teas(name)");
        let now = OwnSections::new(on, "likes coffee", "ai_teas(name)");
        assert_eq!(now.begun_with(&begun), &begun);
        let (first, later) = (prompt("Help.", "", &begun, &begun), prompt("Help.", "", &now, &begun));
        assert_eq!(first[0], later[0]);
        let changed = "[Changed since this conversation began:]\n## Your Memory\nlikes coffee\n\nGo.";
        assert!(later[1].ends_with(changed), "{}", later[1]);
        // Other switches are another beginning.
        let fewer = OwnSections::new(switches(Some(true), false, false), "likes coffee", "");
        assert_eq!(fewer.begun_with(&begun), &fewer);
        assert_eq!(fewer.begun_with(&OwnSections::default()), &fewer);
    }

    #[test]
    fn a_small_window_gets_less_of_the_longer_one() {
        let on = switches(Some(true), true, true);
        let own = OwnSections::new(on, "likes tea", &"a table with columns. ".repeat(300));
        let text = own.text(200);
        assert!(text.contains("likes tea\n") && text.contains("chars omitted]"), "{text}");
        assert!(estimate_tokens(&text) < 200 + 40, "{}", estimate_tokens(&text));
    }
}
