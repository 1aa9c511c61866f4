//! Boxes to tick and lists of old forms: fields whose state stands beside their code.

const CHECK_BOX: i32 = 1;
const LIST: i32 = 2;
/// Stands for a state that nobody has set.
const UNSET: i32 = 25;

#[derive(Debug, Default)]
pub(super) struct FormField {
    /// How many groups are open within the field.
    depth: usize,
    kind: Option<i32>,
    state: Option<i32>,
    state_at_first: Option<i32>,
    pub entries: Vec<String>,
    has_result: bool,
}

impl FormField {
    pub fn begin(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    pub fn read_word(&mut self, word: &str, number: Option<i32>) {
        match word {
            "fftype" => self.kind = number,
            "ffres" => self.state = number.filter(|state| *state != UNSET),
            "ffdefres" => self.state_at_first = number,
            _ => {}
        }
    }

    /// Looks whether the group that begins there has a text to show.
    pub fn note_result(&mut self, rest: &[u8]) {
        let (mut depth, mut at) = (1_usize, 0);
        while let Some(byte) = rest.get(at).filter(|_| depth > 0) {
            at += 1;
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'\\' => {
                    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
                    let length = rest[at..].iter().take_while(is_part).count();
                    let word = &rest[at..at + length];
                    if length == 0 || word.strip_prefix(b"u").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit)) {
                        self.has_result = true;
                        return;
                    }
                    at += length;
                }
                byte if byte.is_ascii_whitespace() => {}
                _ => {
                    self.has_result = true;
                    return;
                }
            }
        }
    }

    /// At the end of a group: what a field shows that is left by it and has no result.
    pub fn end(&mut self, depth: usize) -> Option<String> {
        if self.kind.is_none() || self.depth != depth {
            return None;
        }
        let field = std::mem::take(self);
        let state = field.state.or(field.state_at_first).unwrap_or(0);
        match field.kind.filter(|_| !field.has_result)? {
            CHECK_BOX => Some(if state == 1 { "☒" } else { "☐" }.to_owned()),
            LIST => field.entries.get(usize::try_from(state).ok()?).map(|entry| entry.trim().to_owned()),
            _ => None,
        }
    }
}
