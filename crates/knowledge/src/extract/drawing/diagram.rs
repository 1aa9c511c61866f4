//! Diagrams: points with texts, and which is below which.

use super::super::draft::Draft;
use super::super::error::Result;
use super::super::escapes::unescape;
use super::super::rich_text::{RichText, TextStyle};
use super::super::xml::{Node, Xml};
use super::super::zip::Archive;
use super::run_style;
use std::collections::{HashMap, HashSet};
use steward_core::extracted::BlockKind;

/// Most levels that are marked.
const MAX_LEVELS: usize = 10;

#[derive(Default)]
struct Points {
    /// Their ids and texts, as the file has them.
    all: Vec<(String, String)>,
    /// The points below a point, with their places.
    below: HashMap<String, Vec<(u32, String)>>,
    top: Option<String>,
}

/// Adds the texts of a diagram as items, in their order, with a dash for each level that one stands below the first.
pub(in super::super) fn add_diagram(part: &str, archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let text = archive.need(part)?;
    let points = read(&text, part, draft)?;
    let texts: HashMap<&str, &str> = points.all.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    // The document itself is level 0.
    let mut waiting: Vec<(&str, usize)> = points.top.iter().map(|id| (id.as_str(), 0)).collect();
    while let Some((id, level)) = waiting.pop() {
        if seen.insert(id) {
            order.push((id, level));
            let below = points.below.get(id).map(Vec::as_slice).unwrap_or_default();
            waiting.extend(below.iter().rev().map(|(_, id)| (id.as_str(), level + 1)));
        }
    }
    // Those that nothing leads to.
    order.extend(points.all.iter().map(|(id, _)| (id.as_str(), 1)).filter(|(id, _)| !seen.contains(id)));
    for (id, level) in order {
        let text = texts.get(id).copied().unwrap_or_default();
        if !text.trim().is_empty() {
            let mark = "– ".repeat(level.saturating_sub(1).min(MAX_LEVELS));
            draft.block(BlockKind::ListItem, &format!("{mark}{text}"))?;
        }
    }
    Ok(())
}

fn read(text: &str, part: &str, draft: &Draft<'_>) -> Result<Points> {
    let mut xml = Xml::new(text, part, draft.budget);
    let mut points = Points::default();
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                "pt" => {
                    let id = element.attribute("modelId").unwrap_or_default();
                    if element.attribute("type").as_deref() == Some("doc") {
                        points.top = Some(id.clone());
                    }
                    points.all.push((id, String::new()));
                }
                "cxn" => {
                    let is_below = element.attribute("type").is_none_or(|kind| kind == "parOf");
                    let ends = (element.attribute("srcId"), element.attribute("destId"));
                    if let ((Some(above), Some(below)), true) = (ends, is_below) {
                        let place = element.attribute("srcOrd").and_then(|place| place.parse().ok()).unwrap_or(0);
                        points.below.entry(above).or_default().push((place, below));
                    }
                }
                "t" => {
                    // The text of a point and the texts in it have the same local name.
                    let text = paragraphs(&mut xml)?;
                    if let Some((_, all)) = points.all.last_mut() {
                        all.push_str(&text);
                    }
                }
                _ => {}
            },
            Node::Close(_) | Node::Text(_) => {}
        }
    }
    for below in points.below.values_mut() {
        below.sort();
    }
    Ok(points)
}

/// Up to the end of the element that was opened last.
fn paragraphs(xml: &mut Xml<'_>) -> Result<String> {
    let (mut open, mut all, mut style) = (1, RichText::default(), TextStyle::default());
    while open > 0 {
        match xml.next()? {
            Some(Node::Open(element)) => {
                open += 1;
                match element.name() {
                    "p" | "br" if !all.is_empty() => all.add("\n", TextStyle::default()),
                    "r" | "fld" => style = TextStyle::default(),
                    "rPr" => style = run_style(&element),
                    _ => {}
                }
            }
            Some(Node::Close(_)) => open -= 1,
            Some(Node::Text(text)) if !text.trim().is_empty() || !all.is_empty() => all.add(&unescape(&text), style),
            Some(Node::Text(_)) => {}
            None => break,
        }
    }
    Ok(all.take().trim().to_owned())
}
