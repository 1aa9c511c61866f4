//! Styles that raise, lower or strike out text.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::rich_text::{Script, TextStyle};
use super::super::xml::{Node, Xml};
use std::collections::HashMap;

/// Most styles above a style.
const PARENTS: usize = 20;

#[derive(Debug, Default)]
struct Style {
    script: Option<Script>,
    is_struck: Option<bool>,
    parent: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct TextStyles(HashMap<String, Style>);

impl TextStyles {
    /// Takes the styles of a part.
    pub fn read(&mut self, text: &str, part: &str, budget: &Budget<'_>) -> Result<()> {
        if !text.contains("text-position") && !text.contains("line-through") {
            return Ok(());
        }
        let mut xml = Xml::new(text, part, budget);
        let mut open: Option<(String, Style)> = None;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) if element.name() == "style" => {
                    let style = Style { parent: element.attribute("parent-style-name"), ..Style::default() };
                    open = element.attribute("name").map(|name| (name, style));
                }
                Node::Open(element) if element.name() == "text-properties" => {
                    let Some((_, style)) = &mut open else { continue };
                    style.script = element.attribute("text-position").map(|position| script(&position));
                    let line = ["text-line-through-style", "text-line-through-type"]
                        .iter()
                        .find_map(|name| element.attribute(name));
                    style.is_struck = line.map(|line| line != "none");
                }
                Node::Close(name) if name == "style" => self.0.extend(open.take()),
                _ => {}
            }
        }
        Ok(())
    }

    /// How a text of this style looks that stands in one of another look.
    pub fn apply(&self, name: &str, within: TextStyle) -> TextStyle {
        let styles = std::iter::successors(self.0.get(name), |style| self.0.get(style.parent.as_deref()?));
        let (mut script, mut is_struck) = (None, None);
        for style in styles.take(PARENTS) {
            script = script.or(style.script);
            is_struck = is_struck.or(style.is_struck);
        }
        TextStyle { script: script.unwrap_or(within.script), is_struck: is_struck.unwrap_or(within.is_struck) }
    }
}

/// `super 58%`, `sub`, or by how much it is raised, as `33% 58%`.
fn script(position: &str) -> Script {
    match position.split_whitespace().next().unwrap_or_default() {
        "super" => Script::Raised,
        "sub" => Script::Lowered,
        share => match share.trim_end_matches('%').parse::<f64>() {
            Ok(share) if share > 0.0 => Script::Raised,
            Ok(share) if share < 0.0 => Script::Lowered,
            _ => Script::Normal,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Script, script};

    #[test]
    fn positions_are_raised_or_lowered() {
        for (position, expected) in [
            ("super 58%", Script::Raised),
            ("sub 58%", Script::Lowered),
            ("33% 58%", Script::Raised),
            ("-33% 100%", Script::Lowered),
            ("0% 100%", Script::Normal),
            ("", Script::Normal),
        ] {
            assert_eq!(script(position), expected, "{position}");
        }
    }
}
