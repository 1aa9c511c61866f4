//! What has a language of its own within a page: formulas, drawings, lists to choose from.

use super::super::formula::Formula;
use super::super::text::is_one_of;
use super::attribute;
use html5ever::tokenizer::Tag;

/// They end what is embedded, if it has no end.
const BLOCKS: &str = "p div table td th tr ul ol li dl dt dd h1 h2 h3 h4 h5 h6 body section article main pre form";
/// Most entries of a list that are named.
const MAX_ENTRIES: usize = 20;

pub(super) enum Embedded {
    /// With how many elements `math` are open.
    Formula(Formula, usize),
    /// Entries, and whether each is chosen.
    Choice(Vec<(String, bool)>),
    Drawing {
        texts: Vec<String>,
        in_text: bool,
        depth: usize,
    },
}

impl Embedded {
    pub fn begin(tag: &Tag) -> Option<Self> {
        match &*tag.name {
            "math" => Some(Self::Formula(Formula::default(), 1)),
            "select" => Some(Self::Choice(Vec::new())),
            "svg" => Some(Self::Drawing { texts: Vec::new(), in_text: false, depth: 1 }),
            _ => None,
        }
    }

    /// `false`: the tag belongs to the page, which has gone on.
    pub fn open(&mut self, tag: &Tag) -> bool {
        let name: &str = &tag.name;
        if is_one_of(name, BLOCKS) {
            return false;
        }
        match self {
            Self::Formula(formula, depth) => {
                *depth += usize::from(name == "math" && !tag.self_closing);
                formula.open(name, |name| attribute(tag, name).map(str::to_owned));
                if tag.self_closing {
                    formula.close(name);
                }
            }
            Self::Choice(entries) if name == "option" => {
                entries.push((String::new(), attribute(tag, "selected").is_some()));
            }
            Self::Choice(_) => return !matches!(name, "select" | "input" | "textarea"),
            Self::Drawing { texts, in_text, depth } => match name {
                "svg" => *depth += usize::from(!tag.self_closing),
                "text" => {
                    *in_text = !tag.self_closing;
                    texts.push(String::new());
                }
                "tspan" => texts.last_mut().into_iter().for_each(|text| text.push(' ')),
                _ => {}
            },
        }
        true
    }

    pub fn add(&mut self, text: &str) {
        match self {
            Self::Formula(formula, _) => formula.add(text),
            Self::Choice(entries) => entries.last_mut().into_iter().for_each(|(entry, _)| entry.push_str(text)),
            Self::Drawing { texts, in_text: true, .. } => {
                texts.last_mut().into_iter().for_each(|all| all.push_str(text));
            }
            Self::Drawing { .. } => {}
        }
    }

    /// Whether it has ended.
    pub fn close(&mut self, name: &str) -> bool {
        let depth = match self {
            Self::Choice(_) => return name == "select",
            Self::Formula(formula, depth) => {
                if name != "math" {
                    formula.close(name);
                    return false;
                }
                depth
            }
            Self::Drawing { in_text, depth, .. } => {
                *in_text &= name != "text";
                if name != "svg" {
                    return false;
                }
                depth
            }
        };
        *depth -= 1;
        *depth == 0
    }

    pub fn write(self) -> String {
        match self {
            Self::Formula(formula, _) => formula.write(),
            Self::Drawing { texts, .. } => {
                let texts: Vec<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
                if texts.is_empty() { String::new() } else { format!(" {} ", texts.join(" ")) }
            }
            Self::Choice(entries) => write_choice(&entries),
        }
    }
}

/// What is chosen, and from what.
fn write_choice(entries: &[(String, bool)]) -> String {
    let is_shown = |(entry, _): &&(String, bool)| !entry.trim().is_empty();
    let mut chosen: Vec<&str> =
        entries.iter().filter(is_shown).filter(|(_, chosen)| *chosen).map(|(entry, _)| entry.trim()).collect();
    let all: Vec<&str> = entries.iter().filter(is_shown).map(|(entry, _)| entry.trim()).collect();
    if chosen.is_empty() {
        chosen.extend(all.first());
    }
    let chosen = chosen.join(", ");
    match all.len() {
        0 => String::new(),
        1 => format!(" {chosen} "),
        2..=MAX_ENTRIES => format!(" {chosen} (choice of {}) ", all.join(", ")),
        count => format!(" {chosen} (choice of {count}) "),
    }
}
