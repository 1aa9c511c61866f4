//! Notes and comments that the body refers to, and the marks of notes.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::list_number::written;
use super::super::office::Remark;
use super::super::rich_text::Script;
use super::super::xml::{Node, Xml};
use std::collections::BTreeMap;

/// Notes of one kind.
struct Notes {
    label: &'static str,
    texts: BTreeMap<String, Remark>,
    /// How their numbers are written, and the next one.
    way: String,
    next: u32,
}

/// What an element of the body refers to.
pub(super) struct Referred {
    /// The note's number as it stands in the text; `None` for comments and for notes that have a mark of their own.
    pub mark: Option<String>,
    /// What stands before the text of a note that has a mark of its own.
    pub label: Option<&'static str>,
    pub text: String,
}

/// Texts that the body refers to, by their ids; each is read once.
pub(super) struct Beside {
    footnotes: Notes,
    endnotes: Notes,
    comments: BTreeMap<String, Remark>,
}

impl Beside {
    pub fn new(
        footnotes: BTreeMap<String, Remark>,
        endnotes: BTreeMap<String, Remark>,
        comments: BTreeMap<String, Remark>,
    ) -> Self {
        let notes = |label, texts, way: &str| Notes { label, texts, way: way.to_owned(), next: 1 };
        Self {
            footnotes: notes("Footnote", footnotes, "decimal"),
            endnotes: notes("Endnote", endnotes, "lowerRoman"),
            comments,
        }
    }

    /// Takes how notes are numbered, as the settings or sections of a part say.
    pub fn read_ways(&mut self, text: &str, part: &str, budget: &Budget<'_>) -> Result<()> {
        if !text.contains("notePr") {
            return Ok(());
        }
        let mut xml = Xml::new(text, part, budget);
        let mut open = None;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => {
                    let value = || element.attribute("val");
                    let notes = match open {
                        Some(true) => &mut self.footnotes,
                        Some(false) => &mut self.endnotes,
                        None => {
                            open = match element.name() {
                                "footnotePr" => Some(true),
                                "endnotePr" => Some(false),
                                _ => None,
                            };
                            continue;
                        }
                    };
                    match element.name() {
                        "numFmt" => notes.way = value().unwrap_or_default(),
                        "numStart" => notes.next = value().and_then(|start| start.parse().ok()).unwrap_or(1),
                        _ => {}
                    }
                }
                Node::Close(name) if matches!(name.as_str(), "footnotePr" | "endnotePr") => open = None,
                _ => {}
            }
        }
        Ok(())
    }

    /// What an element of the body refers to; `has_own_mark`: it brings its mark along.
    pub fn take(&mut self, element: &str, id: &str, has_own_mark: bool) -> Option<Referred> {
        let notes = match element {
            "footnoteReference" => &mut self.footnotes,
            "endnoteReference" => &mut self.endnotes,
            "commentReference" => {
                let text = self.comments.remove(id)?.written("");
                return Some(Referred { mark: None, label: None, text });
            }
            _ => return None,
        };
        let note = notes.texts.remove(id)?;
        let text = note.text.trim().to_owned();
        if has_own_mark {
            return Some(Referred { mark: None, label: Some(notes.label), text });
        }
        let number = written(notes.next, &notes.way);
        notes.next = notes.next.saturating_add(1);
        let text = format!("{} {number}: {text}", notes.label);
        Some(Referred { mark: Some(raised(&number)), label: None, text })
    }

    /// Comments that nothing refers to; Word shows those, but not such notes.
    pub fn take_rest(&mut self) -> Vec<String> {
        std::mem::take(&mut self.comments).into_values().map(|comment| comment.written("")).collect()
    }
}

/// The mark of a note as it stands behind a word. What Unicode can't raise stands behind `^`, signs as they are.
fn raised(mark: &str) -> String {
    const LETTERS: &str = "abcdefghijklmnoprstuvwxyz";
    const RAISED: &str = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ";
    if let Some(digits) = Script::Raised.to_unicode(mark).filter(|_| !mark.contains(char::is_alphabetic)) {
        return digits;
    }
    if !mark.contains(char::is_alphanumeric) {
        return mark.to_owned();
    }
    let letters = mark.chars().map(|letter| RAISED.chars().nth(LETTERS.chars().position(|one| one == letter)?));
    letters.collect::<Option<String>>().unwrap_or_else(|| format!("^({mark})"))
}

#[cfg(test)]
mod tests {
    use super::raised;

    #[test]
    fn marks_of_notes_are_raised() {
        for (mark, expected) in
            [("1", "¹"), ("12", "¹²"), ("i", "ⁱ"), ("iv", "ⁱᵛ"), ("c", "ᶜ"), ("IV", "^(IV)"), ("*", "*"), ("††", "††")]
        {
            assert_eq!(raised(mark), expected);
        }
    }
}
