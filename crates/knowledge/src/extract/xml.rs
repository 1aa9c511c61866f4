//! XML as office programs write it, read from front to end. Entities that a file declares itself are never resolved.

use super::error::{ExtractError, Result};
use super::limits::Budget;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;
use std::borrow::Cow;

pub(super) enum Node<'a> {
    Open(Element<'a>),
    /// The name without its prefix.
    Close(String),
    Text(Cow<'a, str>),
}

pub(super) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    /// Without its prefix.
    pub fn name(&self) -> &str {
        local(self.0.name().0)
    }

    /// By the name without its prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let found = self.0.attributes().with_checks(false).flatten().find(|one| local(one.key.0) == name)?;
        let value = found.normalized_value(XmlVersion::Implicit1_0);
        Some(value.map_or_else(|_| found.value.to_string(), Cow::into_owned))
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.attribute(name)?.trim().parse().ok()
    }
}

/// The element around contents of which one is read.
const CHOICES: &str = "AlternateContent";

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

pub(super) struct Xml<'a> {
    reader: NsReader<&'a [u8]>,
    budget: &'a Budget<'a>,
    part: &'a str,
    depth: usize,
    /// For each choice between contents that is open, whether one was taken.
    choices: Vec<bool>,
}

impl<'a> Xml<'a> {
    /// `part` is named in errors.
    pub fn new(text: &'a str, part: &'a str, budget: &'a Budget<'a>) -> Self {
        let mut reader = NsReader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, budget, part, depth: 0, choices: Vec::new() }
    }

    /// `None` at the end.
    pub fn next(&mut self) -> Result<Option<Node<'a>>> {
        loop {
            let event = self.reader.read_event().map_err(|error| {
                let at = self.reader.buffer_position();
                ExtractError::broken(format!("its part `{}` is no XML at byte {at} ({error})", self.part))
            })?;
            return Ok(Some(match event {
                Event::Start(element) => {
                    self.depth += 1;
                    self.budget.depth(self.depth)?;
                    let element = Element(element);
                    if self.is_other_choice(&element) {
                        self.skip()?;
                        continue;
                    }
                    Node::Open(element)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    let name = local(end.name().0);
                    if name == CHOICES {
                        self.choices.pop();
                    }
                    Node::Close(name.to_owned())
                }
                Event::Text(text) => Node::Text(text.into_inner()),
                Event::CData(data) => Node::Text(data.into_inner()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(letter)) => Node::Text(Cow::Owned(letter.to_string())),
                    _ => match resolve_predefined_entity(&reference) {
                        Some(text) => Node::Text(Cow::Borrowed(text)),
                        None => continue,
                    },
                },
                Event::Eof if self.depth > 0 => {
                    return Err(ExtractError::broken(format!("its part `{}` is cut off", self.part)));
                }
                Event::Eof => return Ok(None),
                _ => continue,
            }));
        }
    }

    /// Whether it is one of several contents of which another one is read: office programs write the same in a newer and
    /// an older way, and say what a program must know for the newer one.
    fn is_other_choice(&mut self, element: &Element<'_>) -> bool {
        match element.name() {
            CHOICES => self.choices.push(false),
            "Choice" if !self.choices.is_empty() => {
                let required = element.attribute("Requires").unwrap_or_default();
                let is_known = required.split_whitespace().all(|prefix| self.is_of_office(prefix));
                let Some(is_taken) = self.choices.last_mut() else { return false };
                let is_other = *is_taken || !is_known;
                *is_taken |= is_known;
                return is_other;
            }
            "Fallback" => return self.choices.last().copied().unwrap_or(true),
            _ => {}
        }
        false
    }

    /// Whether a prefix stands for a namespace of office programs. One that the file doesn't declare is taken for such.
    fn is_of_office(&self, prefix: &str) -> bool {
        let name = format!("{prefix}:name");
        match self.reader.resolver().resolve_attribute(QName(&name)).0 {
            ResolveResult::Bound(space) => {
                let space = space.into_inner();
                [
                    "schemas.microsoft.com/",
                    "schemas.openxmlformats.org/",
                    "purl.oclc.org/ooxml/",
                    "schemas-microsoft-com:",
                ]
                .iter()
                .any(|known| space.contains(known))
            }
            _ => true,
        }
    }

    /// An attribute by its name and a part of its namespace, whatever prefix the file has for that. Only of the element
    /// that was opened last.
    pub fn attribute_of(&self, element: &Element<'_>, namespace: &str, name: &str) -> Option<String> {
        let found = element.0.attributes().with_checks(false).flatten().find(|one| {
            let (space, local) = self.reader.resolver().resolve_attribute(one.key);
            local.into_inner() == name
                && matches!(space, ResolveResult::Bound(space) if space.into_inner().contains(namespace))
        })?;
        Some(found.value.to_string())
    }

    /// The id of a relation that an Office file names here.
    pub fn relation(&self, element: &Element<'_>, name: &str) -> Option<String> {
        self.attribute_of(element, "/relationships", name)
    }

    /// The next element that is opened; `None` at the end.
    pub fn next_open(&mut self) -> Result<Option<Element<'a>>> {
        while let Some(node) = self.next()? {
            if let Node::Open(element) = node {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    /// The text of the next element of this name; `None` if there is none.
    pub fn text_of_next(&mut self, name: &str) -> Result<Option<String>> {
        while let Some(element) = self.next_open()? {
            if element.name() == name {
                return self.inner_text().map(Some);
            }
        }
        Ok(None)
    }

    /// Reads past the end of the element that was opened last.
    pub fn skip(&mut self) -> Result<()> {
        let outer = self.depth.saturating_sub(1);
        while self.depth > outer && self.next()?.is_some() {}
        Ok(())
    }

    /// The text up to the end of the element that was opened last.
    pub fn inner_text(&mut self) -> Result<String> {
        let outer = self.depth.saturating_sub(1);
        let mut all = String::new();
        while self.depth > outer {
            match self.next()? {
                Some(Node::Text(text)) => all.push_str(&text),
                Some(_) => {}
                None => break,
            }
        }
        Ok(all)
    }
}
