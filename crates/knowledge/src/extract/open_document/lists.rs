//! Numbers of headings and of lists.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::list_number::written;
use super::super::xml::{Element, Node, Xml};
use std::collections::HashMap;

const LEVELS: usize = 10;

#[derive(Debug, Clone, Default)]
struct Level {
    /// `1`, `a`, `A`, `i`, `I`, or nothing.
    format: String,
    prefix: String,
    suffix: String,
    /// How many levels the number shows.
    shown: usize,
    start: u32,
}

type Style = HashMap<usize, Level>;

/// A list that is open.
#[derive(Debug, Default)]
struct Open {
    /// The first paragraph of an item has its number.
    waits: bool,
}

/// The styles of lists, the lists that are open, and how far they are counted.
#[derive(Debug, Default)]
pub(super) struct Lists {
    styles: HashMap<String, Style>,
    outline: Style,
    headings: [Option<u32>; LEVELS],
    open: Vec<Open>,
    /// The style of the outermost list, which those within it have too.
    style: String,
    counted: [Option<u32>; LEVELS],
    /// How far lists were counted that others go on with, by ids and styles.
    ended: HashMap<String, [Option<u32>; LEVELS]>,
    id: String,
}

impl Lists {
    /// Takes the styles of lists from a part.
    pub fn read(&mut self, text: &str, part: &str, budget: &Budget<'_>) -> Result<()> {
        let mut xml = Xml::new(text, part, budget);
        let mut open: Option<(Option<String>, Style)> = None;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "list-style" => open = Some((element.attribute("name"), Style::default())),
                    "outline-style" => open = Some((None, Style::default())),
                    "list-level-style-number" | "outline-level-style" => {
                        let Some((_, style)) = &mut open else { continue };
                        let number = |name: &str| element.attribute(name).and_then(|number| number.parse().ok());
                        let level = Level {
                            format: element.attribute("num-format").unwrap_or_default(),
                            prefix: element.attribute("num-prefix").unwrap_or_default(),
                            suffix: element.attribute("num-suffix").unwrap_or_default(),
                            shown: number("display-levels")
                                .map_or(1, |levels: u32| usize::try_from(levels).unwrap_or(1)),
                            start: number("start-value").unwrap_or(1),
                        };
                        let at = number("level").unwrap_or(1).saturating_sub(1);
                        style.insert(usize::try_from(at).unwrap_or(0), level);
                    }
                    _ => {}
                },
                Node::Close(name) if matches!(name.as_str(), "list-style" | "outline-style") => match open.take() {
                    Some((Some(name), style)) => drop(self.styles.insert(name, style)),
                    Some((None, style)) if name == "outline-style" => self.outline = style,
                    _ => {}
                },
                _ => {}
            }
        }
        Ok(())
    }

    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub fn open(&mut self, element: &Element<'_>) {
        let style = element.attribute("style-name");
        if self.open.is_empty() {
            self.style = style.clone().unwrap_or_default();
            let before = match element.attribute("continue-list") {
                Some(id) => Some(id),
                None if element.attribute("continue-numbering").is_some_and(|on| on == "true") => {
                    Some(self.style.clone())
                }
                None => None,
            };
            self.counted = before.and_then(|before| self.ended.get(&before).copied()).unwrap_or_default();
            self.id = element.attribute("id").unwrap_or_default();
        } else if let Some(style) = style {
            self.style = style;
        }
        self.open.push(Open::default());
    }

    pub fn close(&mut self) {
        self.open.pop();
        if let Some(below) = self.counted.get_mut(self.open.len() + 1..) {
            below.fill(None);
        }
        if self.open.is_empty() {
            self.ended.insert(std::mem::take(&mut self.id), self.counted);
            self.ended.insert(self.style.clone(), self.counted);
        }
    }

    pub fn open_item(&mut self, element: &Element<'_>) {
        let at = self.open.len().saturating_sub(1).min(LEVELS - 1);
        let Some(open) = self.open.last_mut() else { return };
        open.waits = element.name() == "list-item";
        // A header of a list has no number.
        if let (true, Some(start)) =
            (open.waits, element.attribute("start-value").and_then(|start| start.parse::<u32>().ok()))
        {
            self.counted[at] = start.checked_sub(1);
        }
    }

    /// What stands before the paragraph that begins: its number and a space, or nothing.
    pub fn number_of_paragraph(&mut self) -> String {
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return String::new() };
        if !std::mem::take(&mut open.waits) {
            return String::new();
        }
        let at = (depth - 1).min(LEVELS - 1);
        self.styles.get(&self.style).map_or_else(String::new, |style| count(style, &mut self.counted, at))
    }

    /// What stands before a heading.
    pub fn number_of_heading(&mut self, element: &Element<'_>, level: u8) -> String {
        if element.attribute("is-list-header").is_some_and(|on| on == "true") {
            return String::new();
        }
        // A heading within a list belongs to that.
        if self.is_open() {
            let number = self.number_of_paragraph();
            if !number.is_empty() {
                return number;
            }
        }
        if let (Some(start), true) = (
            element.attribute("start-value").and_then(|start| start.parse::<u32>().ok()),
            element.attribute("restart-numbering").is_some_and(|on| on == "true"),
        ) {
            self.headings[usize::from(level) - 1] = start.checked_sub(1);
        }
        count(&self.outline, &mut self.headings, usize::from(level) - 1)
    }
}

fn count(style: &Style, counted: &mut [Option<u32>; LEVELS], at: usize) -> String {
    let own = style.get(&at);
    let start = own.map_or(1, |level| level.start);
    counted[at] = Some(counted[at].map_or(start, |count| count.saturating_add(1)));
    counted[at + 1..].fill(None);
    let Some(own) = own.filter(|own| !own.format.is_empty()) else { return String::new() };
    let first = (at + 1).saturating_sub(own.shown.max(1));
    let numbers: Vec<String> = (first..=at)
        .filter_map(|at| {
            let level = style.get(&at).filter(|level| !level.format.is_empty())?;
            let way = match level.format.as_str() {
                "a" => "lowerLetter",
                "A" => "upperLetter",
                "i" => "lowerRoman",
                "I" => "upperRoman",
                _ => "decimal",
            };
            Some(written(counted[at].unwrap_or(level.start), way))
        })
        .collect();
    format!("{}{}{} ", own.prefix, numbers.join("."), own.suffix)
}
