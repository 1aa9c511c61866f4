//! What can be acted on, by number.

use std::collections::{BTreeMap, HashMap};

/// Elements of a document that get a number.
const NUMBERED: usize = 2000;

/// Something that can be clicked or filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// The browser's own number of it.
    pub node: i64,
    pub role: String,
    pub name: String,
}

impl Element {
    /// In words: `button “Send”`.
    pub fn words(&self) -> String {
        if self.name.is_empty() {
            format!("{} without a name", self.role)
        } else {
            format!("{} “{}”", self.role, self.name)
        }
    }
}

/// The numbers of a page. A number stands for one element under one name for ever: one of an older page hits nothing,
/// and an element that is called otherwise has another number, so that what a person approved is what is clicked.
#[derive(Debug, Default)]
pub(super) struct Elements {
    last: u32,
    loader: String,
    /// Address of the page when it was last looked at.
    pub url: String,
    numbers: HashMap<i64, u32>,
    known: BTreeMap<u32, Element>,
}

impl Elements {
    /// Before a look: a new document forgets the elements of the one before.
    pub fn begin(&mut self, loader: &str, url: &str) {
        if self.loader != loader {
            loader.clone_into(&mut self.loader);
            self.numbers.clear();
            self.known.clear();
        }
        url.clone_into(&mut self.url);
    }

    /// The element of a number, if it belongs to the document of `loader`.
    pub fn of(&self, number: u32, loader: &str) -> Option<Element> {
        let same = self.loader == loader;
        self.known.get(&number).filter(|_| same).cloned()
    }

    /// The element as it was last seen.
    pub fn seen(&self, number: u32) -> Option<&Element> {
        self.known.get(&number)
    }

    /// The number of an element, a new one where it has none; `None` where too many have one.
    pub fn number(&mut self, element: Element) -> Option<u32> {
        if let Some(number) = self.numbers.get(&element.node) {
            if self.known.get(number) == Some(&element) {
                return Some(*number);
            }
            self.known.remove(number);
        } else if self.numbers.len() >= NUMBERED {
            return None;
        }
        self.last += 1;
        self.numbers.insert(element.node, self.last);
        self.known.insert(self.last, element);
        Some(self.last)
    }
}
