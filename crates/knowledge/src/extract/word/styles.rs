//! What paragraphs are by their styles.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::rich_text::Script;
use super::super::xml::{Element, Xml};
use super::super::zip::Archive;
use std::collections::HashMap;

/// Stands for the id of the style that paragraphs have which name none; no style has an empty one.
pub(super) const DEFAULT: &str = "";

/// A style with what it has from those that it is based on.
#[derive(Debug, Default, Clone)]
pub(super) struct Style {
    /// Of headings.
    pub level: Option<usize>,
    /// The list that it belongs to, and its level.
    pub list: Option<String>,
    pub list_level: Option<usize>,
    /// Of runs.
    pub script: Option<Script>,
    pub is_struck: Option<bool>,
    based_on: Option<String>,
}

/// Styles by their ids.
pub(super) fn read(part: Option<String>, archive: &Archive<'_>, budget: &Budget<'_>) -> Result<HashMap<String, Style>> {
    let Some(part) = part else { return Ok(HashMap::new()) };
    let Some(text) = archive.text(&part)? else { return Ok(HashMap::new()) };
    let mut xml = Xml::new(&text, &part, budget);
    let mut styles: HashMap<String, Style> = HashMap::new();
    let (mut id, mut usual) = (String::new(), None);
    while let Some(element) = xml.next_open()? {
        let value = || element.attribute("val");
        match element.name() {
            "style" => {
                id = element.attribute("styleId").unwrap_or_default();
                let is_usual = element.attribute("default").is_some_and(|on| on != "0" && on != "false");
                if is_usual && element.attribute("type").is_some_and(|kind| kind == "paragraph") {
                    usual = Some(id.clone());
                }
            }
            "name" => {
                let name = value().unwrap_or_default().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                styles.entry(id.clone()).or_default().level = level.or_else(|| (name == "title").then_some(1));
            }
            "numId" => styles.entry(id.clone()).or_default().list = value(),
            "ilvl" => {
                styles.entry(id.clone()).or_default().list_level = value().and_then(|level| level.parse().ok());
            }
            "vertAlign" => styles.entry(id.clone()).or_default().script = Some(script(&element)),
            "strike" | "dstrike" => styles.entry(id.clone()).or_default().is_struck = Some(is_on(&element)),
            "basedOn" => styles.entry(id.clone()).or_default().based_on = value(),
            "outlineLvl" => {
                let style = styles.entry(id.clone()).or_default();
                style.level = style.level.or_else(|| outline(&element));
            }
            _ => {}
        }
    }
    let mut found: HashMap<String, Style> = styles.keys().map(|id| (id.clone(), resolved(id, &styles))).collect();
    if let Some(style) = usual.and_then(|id| found.get(&id).cloned()) {
        found.insert(DEFAULT.to_owned(), style);
    }
    Ok(found)
}

/// The styles that one is based on may be a circle.
fn resolved(id: &str, styles: &HashMap<String, Style>) -> Style {
    let mut found = Style::default();
    let mut next = styles.get(id);
    for _ in 0..10 {
        let Some(style) = next else { break };
        found.level = found.level.or(style.level);
        found.list_level = found.list_level.or(style.list_level);
        found.script = found.script.or(style.script);
        found.is_struck = found.is_struck.or(style.is_struck);
        found.list = found.list.or_else(|| style.list.clone());
        next = style.based_on.as_ref().and_then(|id| styles.get(id));
    }
    found
}

/// From 0; 9 is body text.
pub(super) fn outline(element: &Element<'_>) -> Option<usize> {
    element.attribute("val")?.parse().ok().filter(|level| *level < 9).map(|level: usize| level + 1)
}

pub(super) fn script(element: &Element<'_>) -> Script {
    match element.attribute("val").as_deref() {
        Some("superscript") => Script::Raised,
        Some("subscript") => Script::Lowered,
        _ => Script::Normal,
    }
}

/// Of an element that is a switch.
pub(super) fn is_on(element: &Element<'_>) -> bool {
    element.attribute("val").is_none_or(|value| !matches!(value.as_str(), "0" | "false" | "off"))
}
