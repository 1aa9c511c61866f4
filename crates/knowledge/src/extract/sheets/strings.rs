//! Texts of cells: their parts have looks of their own.

use super::super::error::Result;
use super::super::escapes::unescape;
use super::super::limits::Budget;
use super::super::rich_text::{RichText, Script, TextStyle};
use super::super::xml::{Element, Node, Xml};

/// A text of parts that is being read.
#[derive(Debug, Default)]
pub(super) struct Runs {
    text: RichText,
    style: TextStyle,
}

impl Runs {
    /// Takes what an element says about the look of a part.
    pub fn read_style(&mut self, element: &Element<'_>) {
        let value = element.attribute("val");
        match element.name() {
            "r" => self.style = TextStyle::default(),
            "vertAlign" => {
                self.style.script = match value.as_deref() {
                    Some("superscript") => Script::Raised,
                    Some("subscript") => Script::Lowered,
                    _ => Script::Normal,
                }
            }
            "strike" => self.style.is_struck = is_on(value.as_deref()),
            _ => {}
        }
    }

    pub fn add(&mut self, text: &str) {
        self.text.add(&unescape(text), self.style);
    }

    /// The whole; the next text begins.
    pub fn take(&mut self) -> String {
        self.style = TextStyle::default();
        self.text.take()
    }
}

/// Of a switch whose element is there.
pub(super) fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("0" | "false"))
}

/// The texts that cells share.
pub(super) fn read_shared(text: &str, budget: &Budget<'_>) -> Result<Vec<String>> {
    let mut xml = Xml::new(text, "sharedStrings", budget);
    let (mut all, mut runs) = (Vec::new(), Runs::default());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                // How it is spoken.
                "rPh" => xml.skip()?,
                "t" => runs.add(&xml.inner_text()?),
                _ => runs.read_style(&element),
            },
            Node::Close(name) if name == "si" => all.push(runs.take()),
            _ => {}
        }
    }
    Ok(all)
}
