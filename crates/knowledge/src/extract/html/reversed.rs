//! Lists that count down begin with how many items they have, which has to be known before the first one.

use super::{attribute, content_of, tokenize};
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use std::cell::RefCell;

pub(super) fn is_reversed(tag: &Tag) -> bool {
    &*tag.name == "ol" && attribute(tag, "reversed").is_some()
}

/// How many items each list of a page has that counts down.
pub(super) fn count_items(html: &str) -> Vec<u32> {
    if !html.contains("reversed") && !html.contains("REVERSED") {
        return Vec::new();
    }
    tokenize(html, Counter::default()).0.into_inner().items
}

#[derive(Default)]
struct Counter(RefCell<Lists>);

#[derive(Default)]
struct Lists {
    items: Vec<u32>,
    /// Of each list that is open, its place among those that count down.
    open: Vec<Option<usize>>,
}

impl TokenSink for Counter {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        let mut lists = self.0.borrow_mut();
        match (&*tag.name, tag.kind) {
            ("ol" | "ul", TagKind::StartTag) => {
                let at = is_reversed(&tag).then_some(lists.items.len());
                lists.items.extend(at.map(|_| 0));
                lists.open.push(at);
            }
            ("ol" | "ul", TagKind::EndTag) => drop(lists.open.pop()),
            ("li", TagKind::StartTag) => {
                if let Some(at) = lists.open.last().copied().flatten()
                    && let Some(count) = lists.items.get_mut(at)
                {
                    *count += 1;
                }
            }
            _ => {}
        }
        if tag.kind == TagKind::StartTag { content_of(&tag.name) } else { TokenSinkResult::Continue }
    }
}
