//! The numbers of paragraphs, which a file doesn't hold: it says only which list a paragraph belongs to.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::list_number::written;
use super::super::xml::{Node, Xml};
use super::super::zip::Archive;
use std::collections::HashMap;

const LEVELS: usize = 9;

#[derive(Debug, Clone)]
struct Level {
    start: u32,
    /// How numbers are written.
    way: String,
    /// With `%1` for the number of the first level, and so on.
    text: String,
    /// The level (from 1) after which this one begins anew; 0: after none.
    restart: Option<usize>,
    /// All numbers are written in digits.
    is_legal: bool,
    style: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Self { start: 1, way: "decimal".to_owned(), text: String::new(), restart: None, is_legal: false, style: None }
    }
}

#[derive(Debug, Default)]
struct Pattern {
    levels: HashMap<usize, Level>,
    /// A style that has the levels, or that these levels are of.
    link: Option<String>,
    of_style: Option<String>,
}

#[derive(Debug, Default)]
struct List {
    pattern: String,
    /// Levels that this list has in place of those of its pattern.
    levels: HashMap<usize, Level>,
    starts: HashMap<usize, u32>,
    is_begun: bool,
}

/// The lists of a document, and how far each is counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    patterns: HashMap<String, Pattern>,
    lists: HashMap<String, List>,
    /// Lists of one pattern go on counting. `None`: not begun since a level above it was counted.
    counted: HashMap<String, [Option<u32>; LEVELS]>,
}

impl Numbering {
    pub fn read(part: Option<String>, archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Self> {
        let mut found = Self::default();
        let Some(part) = part else { return Ok(found) };
        let Some(text) = archive.text(&part)? else { return Ok(found) };
        let mut xml = Xml::new(&text, &part, budget);
        let (mut pattern, mut list, mut level) = (None::<(String, Pattern)>, None::<(String, List)>, None);
        let mut overridden = 0;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => {
                    let value = || element.attribute("val");
                    let number = |text: Option<String>| text.and_then(|text| text.trim().parse::<usize>().ok());
                    match element.name() {
                        "abstractNum" => {
                            pattern =
                                Some((element.attribute("abstractNumId").unwrap_or_default(), Pattern::default()));
                        }
                        "num" => list = Some((element.attribute("numId").unwrap_or_default(), List::default())),
                        "abstractNumId" => {
                            if let Some((_, list)) = &mut list {
                                list.pattern = value().unwrap_or_default();
                            }
                        }
                        "numStyleLink" => pattern.iter_mut().for_each(|(_, pattern)| pattern.link = value()),
                        "styleLink" => pattern.iter_mut().for_each(|(_, pattern)| pattern.of_style = value()),
                        "lvlOverride" => overridden = number(element.attribute("ilvl")).unwrap_or(0),
                        "startOverride" => {
                            if let (Some((_, list)), Some(start)) =
                                (&mut list, value().and_then(|start| start.parse().ok()))
                            {
                                list.starts.insert(overridden, start);
                            }
                        }
                        "lvl" => level = Some((number(element.attribute("ilvl")).unwrap_or(0), Level::default())),
                        name => {
                            if let Some((_, level)) = &mut level {
                                match name {
                                    "start" => level.start = value().and_then(|start| start.parse().ok()).unwrap_or(1),
                                    "numFmt" => level.way = value().unwrap_or_default(),
                                    "lvlText" => level.text = value().unwrap_or_default(),
                                    "lvlRestart" => level.restart = number(value()),
                                    "isLgl" => level.is_legal = value().is_none_or(|on| on != "0" && on != "false"),
                                    "pStyle" => level.style = value(),
                                    _ => {}
                                }
                            }
                        }
                    }
                }
                Node::Close(name) => match name.as_str() {
                    "lvl" => {
                        let Some((at, level)) = level.take() else { continue };
                        match (&mut list, &mut pattern) {
                            (Some((_, list)), _) => drop(list.levels.insert(at, level)),
                            (None, Some((_, pattern))) => drop(pattern.levels.insert(at, level)),
                            (None, None) => {}
                        }
                    }
                    "abstractNum" => found.patterns.extend(pattern.take()),
                    "num" => found.lists.extend(list.take()),
                    _ => {}
                },
                Node::Text(_) => {}
            }
        }
        Ok(found)
    }

    /// The pattern that has the levels of a list; it may be that of a style.
    fn pattern_of(&self, list: &List) -> Option<(&str, &Pattern)> {
        let (id, pattern) = self.patterns.get_key_value(&list.pattern)?;
        let linked = pattern
            .link
            .as_ref()
            .filter(|_| pattern.levels.is_empty())
            .and_then(|link| self.patterns.iter().find(|(_, one)| one.of_style.as_ref() == Some(link)));
        let (id, pattern) = linked.unwrap_or((id, pattern));
        Some((id, pattern))
    }

    /// The level of a list that belongs to a style of paragraphs.
    pub fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        let (_, pattern) = self.pattern_of(self.lists.get(list)?)?;
        pattern.levels.iter().find(|(_, level)| level.style.as_deref() == Some(style)).map(|(at, _)| *at)
    }

    /// Counts a paragraph of a list, and gives its number as it is shown; empty for bullets. `None`: there is no list.
    pub fn count(&mut self, list_id: &str, level: usize) -> Option<String> {
        let level = level.min(LEVELS - 1);
        let list = self.lists.get(list_id)?;
        let (pattern_id, pattern) = self.pattern_of(list)?;
        let of = |at: usize| list.levels.get(&at).or_else(|| pattern.levels.get(&at)).cloned().unwrap_or_default();
        let levels: Vec<Level> = (0..LEVELS).map(of).collect();
        let pattern_id = pattern_id.to_owned();
        let starts: Vec<u32> =
            (0..LEVELS).map(|at| list.starts.get(&at).copied().unwrap_or(levels[at].start)).collect();
        let begins = !list.is_begun;
        let restarted: Vec<usize> = if begins { list.starts.keys().copied().collect() } else { Vec::new() };
        if let Some(list) = self.lists.get_mut(list_id) {
            list.is_begun = true;
        }
        let counted = self.counted.entry(pattern_id).or_default();
        for at in restarted {
            if let Some(count) = counted.get_mut(at) {
                *count = None;
            }
        }
        counted[level] = Some(counted[level].map_or(starts[level], |count| count.saturating_add(1)));
        for at in level + 1..LEVELS {
            // Levels below begin anew, unless they say after which.
            if levels[at].restart.is_none_or(|after| after > level) {
                counted[at] = None;
            }
        }
        let own = &levels[level];
        if own.way == "bullet" {
            return Some(String::new());
        }
        let mut text = own.text.clone();
        for at in (0..LEVELS).rev() {
            let place = format!("%{}", at + 1);
            if text.contains(&place) {
                let number = counted[at].unwrap_or(starts[at]);
                // Those in digits stay as they are.
                let way = match levels[at].way.as_str() {
                    way if own.is_legal && way != "decimalZero" => "decimal",
                    way => way,
                };
                text = text.replace(&place, &written(number, way));
            }
        }
        Some(text.trim().to_owned())
    }
}
