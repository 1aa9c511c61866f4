//! Runs: parts of a paragraph that have a look of their own.

use super::super::draft::Draft;
use super::super::rich_text::{RichText, TextStyle};
use super::super::symbol_font::{Sign, find_sign, show_text};
use super::super::xml::Element;
use super::styles::{Style, is_on, script};
use std::collections::{BTreeSet, HashMap};

/// How the run that is open looks.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub style: TextStyle,
    /// What the paragraph's style says.
    of_paragraph: TextStyle,
    font: String,
    /// Fonts with signs that are left out.
    unread: BTreeSet<String>,
}

impl Run {
    /// Takes what an element says about a run, and begins one at `r`. Whether it says anything about runs.
    pub fn read(&mut self, element: &Element<'_>, styles: &HashMap<String, Style>) -> bool {
        match element.name() {
            "r" => self.end(),
            "rStyle" => {
                if let Some(style) = element.attribute("val").and_then(|id| styles.get(&id)) {
                    self.style.script = style.script.unwrap_or(self.style.script);
                    self.style.is_struck = style.is_struck.unwrap_or(self.style.is_struck);
                }
            }
            "vertAlign" => self.style.script = script(element),
            "strike" | "dstrike" => self.style.is_struck = is_on(element),
            "rFonts" => {
                self.font = element.attribute("ascii").or_else(|| element.attribute("hAnsi")).unwrap_or_default();
            }
            _ => return false,
        }
        true
    }

    /// Begins a paragraph of this style.
    pub fn begin_paragraph(&mut self, style: Option<&Style>) {
        self.of_paragraph = TextStyle {
            script: style.and_then(|style| style.script).unwrap_or_default(),
            is_struck: style.and_then(|style| style.is_struck).unwrap_or_default(),
        };
        self.end();
    }

    pub fn end(&mut self) {
        self.style = self.of_paragraph;
        self.font.clear();
    }

    pub fn add_text(&mut self, text: &str, to: &mut RichText) {
        let (shown, has_unknown) = show_text(&self.font, text);
        if has_unknown {
            self.unread.insert(self.font.clone());
        }
        to.add(&shown, self.style);
    }

    /// Adds the sign that an element `sym` stands for.
    pub fn add_sign(&mut self, element: &Element<'_>, to: &mut RichText) {
        let code = element.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok()).unwrap_or(0);
        let font = element.attribute("font").unwrap_or_else(|| self.font.clone());
        let sign = match find_sign(&font, code) {
            Some(Sign::Character(sign)) => Some(sign),
            Some(Sign::Unknown) => None,
            None => char::from_u32(code).filter(|_| code > 0),
        };
        match sign {
            Some(sign) => to.add(&sign.to_string(), self.style),
            None => {
                self.unread.insert(font);
            }
        }
    }

    /// Says whose signs were left out.
    pub fn warn(&mut self, draft: &mut Draft<'_>) {
        for font in std::mem::take(&mut self.unread) {
            draft.warn(format!("Signs of the font `{font}` that no character is known for are left out."));
        }
    }
}
