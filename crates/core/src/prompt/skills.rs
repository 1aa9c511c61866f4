use crate::skill::SkillPrompt;
use crate::tool::truncate;

/// Characters of one token, as in the estimate of prompts.
const CHARS: u64 = 3;

/// The internal skills in order, within about `room` tokens: the longest are cut first, to one length, each cut marked.
pub fn skills_text(skills: &[SkillPrompt], room: u64) -> String {
    let sections = skills.iter().map(|skill| (format!("Skill: {}", skill.name), skill.text.trim()));
    sections_within(sections.filter(|(_, text)| !text.is_empty()).collect(), room)
}

/// Sections by title, within about `room` tokens, each cut to one length.
pub(super) fn sections_within(sections: Vec<(String, &str)>, room: u64) -> String {
    let room = usize::try_from(room.saturating_mul(CHARS)).unwrap_or(usize::MAX);
    let lengths: Vec<usize> = sections.iter().map(|(_, text)| text.chars().count()).collect();
    let limit = fair(&lengths, room);
    let sections = sections.into_iter().map(|(title, text)| format!("## {title}\n{}", truncate(text, limit).0));
    sections.collect::<Vec<_>>().join("\n\n")
}

/// The longest common length at which all fit; short ones leave their share to the others.
fn fair(lengths: &[usize], room: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (done, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - done);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::skills_text;
    use crate::Timestamp;
    use crate::message::Message;
    use crate::prompt::{Compaction, PromptInput, assemble, estimate_tokens};
    use crate::skill::SkillPrompt;

    fn skills(of: &[(&str, usize)]) -> Vec<SkillPrompt> {
        let text = |length: usize| "a rule to keep. ".chars().cycle().take(length).collect();
        of.iter().map(|(name, length)| SkillPrompt { name: (*name).to_owned(), text: text(*length) }).collect()
    }

    #[test]
    fn what_fits_is_said_in_full() {
        assert_eq!(skills_text(&[], 100), "");
        let text = skills_text(&skills(&[("tone", 15), ("empty", 0), ("facts", 15)]), 100);
        assert_eq!(text, "## Skill: tone\na rule to keep.\n\n## Skill: facts\na rule to keep.");
    }

    #[test]
    fn the_section_stands_between_instructions_and_tools() {
        let skills = skills(&[("tone", 15), ("facts", 15)]);
        let prompt = assemble(&PromptInput {
            instructions: "You help.",
            skills: &skills_text(&skills, 100),
            tool_text: "Tools: none.",
            memory: "",
            own_sections: "",
            own_changes: "",
            references: "",
            notes: "",
            now: Timestamp(0),
            history: &[],
            messages: &[Message::user("Go.")],
            closing: "",
            beside: 0,
            window: 4000,
            reserve: 100,
            longest: None,
            compaction: &Compaction::default(),
        });
        assert_eq!(
            prompt.messages[0].text,
            "You help.\n\n## Skill: tone\na rule to keep.\n\n## Skill: facts\na rule to keep.\n\nTools: none."
        );
    }

    #[test]
    fn the_longest_is_cut_and_marked_in_a_small_window() {
        let all = skills(&[("tone", 60), ("handbook", 9000), ("facts", 60)]);
        let text = skills_text(&all, 300);
        assert!(text.contains("[truncated: 8220 chars omitted]"), "{text}");
        assert_eq!(text.matches("truncated").count(), 1, "the short ones stay");
        assert!(estimate_tokens(&text) < 300 + 40, "{}", estimate_tokens(&text));
        assert_eq!(skills_text(&all, 0).matches("truncated").count(), 3);
    }
}
