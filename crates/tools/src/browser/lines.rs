//! Text in lines, and lines in parts.

/// Longest text of a page, bytes.
const TEXT: usize = 400_000;
/// Longest part that is shown at once, characters.
pub(super) const PART: usize = 8000;

/// Text in lines.
#[derive(Default)]
pub(super) struct Lines {
    ended: Vec<String>,
    line: String,
    cells: usize,
    bytes: usize,
    /// Whether something was left out.
    pub cut: bool,
}

impl Lines {
    pub fn full(&self) -> bool {
        self.bytes > TEXT
    }

    pub fn text(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
            self.line.push_str(word);
            self.bytes += word.len() + 1;
        }
    }

    /// Begins a cell of a table.
    pub fn cell(&mut self) {
        if self.cells > 0 {
            self.line.push_str(" | ");
        }
        self.cells += 1;
    }

    pub fn line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        self.cells = 0;
        if !line.trim_matches(['-', '#', '|', ' ']).is_empty() {
            self.ended.push(line.to_owned());
        }
    }

    /// The lines in parts of what is shown at once, and whether something was left out.
    pub fn finish(mut self) -> (Vec<String>, bool) {
        self.line();
        let mut parts = vec![String::new()];
        let mut room = PART;
        for line in self.ended {
            let mut rest: Vec<char> = line.chars().collect();
            while !rest.is_empty() {
                if room == 0 || rest.len() > room && room < PART {
                    parts.push(String::new());
                    room = PART;
                }
                let now = rest.len().min(room);
                let piece: String = rest.drain(..now).collect();
                room = (room - now).saturating_sub(1);
                if let Some(part) = parts.last_mut() {
                    part.push_str(&piece);
                    part.push('\n');
                }
            }
        }
        (parts, self.cut)
    }
}
