use super::Refusal;
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;

#[derive(Debug, Clone)]
pub(crate) struct ChatMessage {
    pub role: String,
    pub content: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Prompt {
    /// `prefix`: the beginning of the answer.
    Messages { messages: Vec<ChatMessage>, prefix: String },
    /// Without a template.
    Text(String),
}

/// The end is not tokenised yet, since a continuation may merge with it.
pub(super) struct Tokens {
    pub head: Vec<LlamaToken>,
    pub tail: String,
}

/// Turns conversations into tokens with the model's own template.
pub(super) struct Prompter<'m> {
    model: &'m LlamaModel,
    template: LlamaChatTemplate,
    /// Texts of control tokens.
    controls: Vec<String>,
}

// From a private use plane: no template has them.
const MARK_OPEN: char = '\u{F0000}';
const MARK_CLOSE: char = '\u{F0001}';

impl<'m> Prompter<'m> {
    pub fn new(model: &'m LlamaModel) -> Result<Self, Refusal> {
        let chatml = LlamaChatTemplate::new("chatml").map_err(|e| Refusal::internal(e.to_string()))?;
        let mut prompter = Self {
            template: model.chat_template(None).unwrap_or_else(|_| chatml.clone()),
            model,
            controls: controls(model),
        };
        let probe = [ChatMessage { role: "user".to_owned(), content: "x".to_owned() }];
        // Templates that llama.cpp does not know are Jinja programs; ChatML is the common ground.
        if prompter.render(&probe).is_err() {
            prompter.template = chatml;
        }
        Ok(prompter)
    }

    pub fn tokens(&self, prompt: &Prompt) -> Result<Tokens, Refusal> {
        let (mut parts, prefix) = match prompt {
            Prompt::Text(text) => (vec![(text.clone(), true)], ""),
            Prompt::Messages { messages, prefix } => (self.parts(messages)?, prefix.as_str()),
        };
        let mut tail = String::new();
        if let Some((last, true)) = parts.last_mut() {
            tail = last.split_off(self.end_of_controls(last));
        }
        tail.push_str(prefix);
        let mut head = Vec::new();
        let vocab = self.model.vocab();
        if vocab.should_add_bos() {
            head.push(vocab.bos());
        }
        for (text, trusted) in &parts {
            vocab.tokenize_into(text.as_bytes(), &mut head, false, *trusted);
        }
        Ok(Tokens { head, tail })
    }

    /// Control tokens in `text` have no effect.
    pub fn plain(&self, text: &str) -> Vec<LlamaToken> {
        self.model.vocab().tokenize(text.as_bytes(), false, false)
    }

    /// The rendered conversation in parts, with whether a part may contain control tokens. A message that spells out
    /// a control token (a web page, a document, a tool result) must not be able to open a turn, so its text is kept
    /// apart from the template's.
    fn parts(&self, messages: &[ChatMessage]) -> Result<Vec<(String, bool)>, Refusal> {
        let steers = |m: &ChatMessage| self.controls.iter().any(|c| m.content.contains(c));
        if !messages.iter().any(steers) {
            return Ok(vec![(self.render(messages)?, true)]);
        }
        let marked: Vec<ChatMessage> = messages
            .iter()
            .enumerate()
            .map(|(i, m)| ChatMessage { role: m.role.clone(), content: format!("{MARK_OPEN}{i}{MARK_CLOSE}") })
            .collect();
        let rendered = self.render(&marked)?;
        let mut parts = Vec::new();
        let mut rest = rendered.as_str();
        while let Some((before, after)) = rest.split_once(MARK_OPEN) {
            let (index, after) = after.split_once(MARK_CLOSE).unwrap_or((after, ""));
            parts.push((before.to_owned(), true));
            if let Some(message) = index.parse().ok().and_then(|i: usize| messages.get(i)) {
                parts.push((message.content.clone(), false));
            }
            rest = after;
        }
        parts.push((rest.to_owned(), true));
        Ok(parts)
    }

    fn render(&self, messages: &[ChatMessage]) -> Result<String, Refusal> {
        let chat: Vec<LlamaChatMessage> = messages
            .iter()
            .map(|m| LlamaChatMessage::new(m.role.clone(), m.content.clone()))
            .collect::<Result<_, _>>()
            .map_err(|_| Refusal::invalid("messages", "a message contains a null character"))?;
        self.model
            .apply_chat_template(&self.template, &chat, true)
            .map_err(|e| Refusal::invalid("messages", format!("the model's chat template refuses these messages: {e}")))
    }

    fn end_of_controls(&self, text: &str) -> usize {
        self.controls.iter().filter_map(|c| text.rfind(c).map(|at| at + c.len())).max().unwrap_or(0)
    }
}

fn controls(model: &LlamaModel) -> Vec<String> {
    let vocab = model.vocab();
    vocab
        .tokens()
        .filter(|token| vocab.is_control(*token))
        .filter_map(|token| String::from_utf8(vocab.token_to_piece(token, true, None)).ok())
        .filter(|text| text.len() > 1)
        .collect()
}
