//! Comments on slides, in their older and newer form.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::office::Remark;
use super::super::xml::{Node, Xml};
use std::collections::HashMap;

/// Comments with their answers, in their order.
pub(super) fn read(
    text: &str,
    part: &str,
    authors: &HashMap<String, String>,
    budget: &Budget<'_>,
) -> Result<Vec<Remark>> {
    let mut xml = Xml::new(text, part, budget);
    let (mut found, mut open) = (Vec::<Remark>::new(), Vec::new());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                // An answer stands within its comment, before that one's text.
                "cm" | "reply" => {
                    let author = element.attribute("authorId").and_then(|id| authors.get(&id).cloned());
                    open.push(found.len());
                    found.push(Remark { author: author.unwrap_or_default(), text: String::new() });
                }
                "text" | "t" => {
                    let text = xml.inner_text()?;
                    if let Some(remark) = open.last().and_then(|at| found.get_mut(*at)) {
                        remark.text.push_str(&text);
                    }
                }
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "cm" | "reply" => drop(open.pop()),
                "p" => {
                    if let Some(remark) = open.last().and_then(|at| found.get_mut(*at)) {
                        remark.text.push('\n');
                    }
                }
                _ => {}
            },
            Node::Text(_) => {}
        }
    }
    found.retain(|remark| !remark.text.trim().is_empty());
    Ok(found)
}
