//! Drawings in office files: charts, diagrams (`SmartArt`), text boxes.

mod chart;
mod diagram;

pub(super) use chart::add_chart;
pub(super) use diagram::add_diagram;

use super::draft::Draft;
use super::error::Result;
use super::escapes::unescape;
use super::formula;
use super::relations;
use super::rich_text::{RichText, Script, TextStyle};
use super::xml::{Element, Node, Xml};
use super::zip::Archive;

/// What stands in a part of its own and is shown where an element names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outside {
    Chart(String),
    Diagram(String),
    /// A file of any kind.
    File(String),
}

impl Outside {
    /// By the element that was opened last; holds the id of a relation.
    pub fn of(element: &Element<'_>, xml: &Xml<'_>) -> Option<Self> {
        match element.name() {
            "chart" => xml.relation(element, "id").map(Self::Chart),
            "relIds" => xml.relation(element, "dm").map(Self::Diagram),
            "OLEObject" | "oleObj" => xml.relation(element, "id").map(Self::File),
            _ => None,
        }
    }
}

/// How a run of text is shown, by its properties (`rPr`).
pub(super) fn run_style(properties: &Element<'_>) -> TextStyle {
    let script = match properties.number("baseline") {
        Some(share) if share > 0.0 => Script::Raised,
        Some(share) if share < 0.0 => Script::Lowered,
        _ => Script::Normal,
    };
    let is_struck = properties.attribute("strike").is_some_and(|strike| strike != "noStrike");
    TextStyle { script, is_struck }
}

/// Text that stands for a picture.
pub(super) fn description(element: &Element<'_>) -> Option<String> {
    let text = element.attribute("descr")?.trim().to_owned();
    // Names of files, and words that programs set.
    let is_name = text.is_ascii() && !text.contains(char::is_whitespace);
    (!is_name).then_some(text)
}

/// Adds the texts, charts and diagrams of a drawing that lies over a sheet or chart.
pub(super) fn add_drawing(part: &str, archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let Some(text) = archive.text(part)? else { return Ok(()) };
    let related = relations::of(part, archive, draft.budget)?;
    let mut xml = Xml::new(&text, part, draft.budget);
    let (mut paragraph, mut described, mut style) = (None::<RichText>, None, TextStyle::default());
    let plain = TextStyle::default();
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => {
                if let Some(outside) = Outside::of(&element, &xml) {
                    add_outside(&outside, &related, archive, draft)?;
                }
                match element.name() {
                    "cNvPr" => described = description(&element),
                    "pic" => draft.count_picture(),
                    "p" => paragraph = Some(RichText::default()),
                    "r" | "fld" => style = plain,
                    "rPr" => style = run_style(&element),
                    "oMath" => {
                        let formula = formula::read(&mut xml)?;
                        if let Some(paragraph) = &mut paragraph {
                            paragraph.add(&formula, plain);
                        }
                    }
                    "t" => {
                        let text = unescape(&xml.inner_text()?);
                        if let Some(paragraph) = &mut paragraph {
                            paragraph.add(&text, style);
                        }
                    }
                    "br" => paragraph.iter_mut().for_each(|paragraph| paragraph.add("\n", plain)),
                    _ => {}
                }
            }
            Node::Close(name) => match name.as_str() {
                "p" => draft.paragraph(&paragraph.take().unwrap_or_default().take())?,
                "pic" => {
                    if let Some(text) = described.take() {
                        draft.paragraph(&format!("Description: {text}"))?;
                    }
                }
                _ => {}
            },
            Node::Text(_) => {}
        }
    }
    Ok(())
}

/// Adds a chart or diagram; files are left to the caller.
pub(super) fn add_outside(
    outside: &Outside,
    related: &relations::Relations,
    archive: &Archive<'_>,
    draft: &mut Draft<'_>,
) -> Result<()> {
    let (id, what) = match outside {
        Outside::Chart(id) => (id, "chart"),
        Outside::Diagram(id) => (id, "diagram"),
        Outside::File(_) => return Ok(()),
    };
    match related.part(id).filter(|part| archive.has(part)) {
        Some(part) if what == "chart" => add_chart(part, archive, draft),
        Some(part) => add_diagram(part, archive, draft),
        None => {
            draft.warn(format!("A {what} is not read, since its data is not in the file."));
            Ok(())
        }
    }
}
