//! The places at which a tokenizer puts pieces of its own: `[CLS] A [SEP]`, and `[CLS] A [SEP] B [SEP]` for a pair of texts.

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePart {
    /// Pieces that the tokenizer adds.
    Added { ids: Vec<u32>, segment: usize },
    /// A text, by its number.
    Text { text: usize, segment: usize },
}

/// The order of texts and added pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub single: Vec<TemplatePart>,
    /// None where the model has no pairs of texts.
    pub pair: Option<Vec<TemplatePart>>,
}

impl Template {
    /// A text as it is, as in GPT-2.
    pub fn plain() -> Self {
        Self { single: vec![TemplatePart::Text { text: 0, segment: 0 }], pair: None }
    }

    /// BERT's. The second text and the end of it are the second segment.
    pub fn bert(start: u32, end: u32) -> Self {
        let added = |id, segment| TemplatePart::Added { ids: vec![id], segment };
        let single = vec![added(start, 0), TemplatePart::Text { text: 0, segment: 0 }, added(end, 0)];
        let second = [TemplatePart::Text { text: 1, segment: 1 }, added(end, 1)];
        Self { pair: Some(single.iter().cloned().chain(second).collect()), single }
    }

    /// RoBERTa's, which has two ends between the texts, and one segment.
    pub fn roberta(start: u32, end: u32) -> Self {
        let added = |id| TemplatePart::Added { ids: vec![id], segment: 0 };
        let text = |text| TemplatePart::Text { text, segment: 0 };
        let single = vec![added(start), text(0), added(end)];
        let second = [added(end), text(1), added(end)];
        Self { pair: Some(single.iter().cloned().chain(second).collect()), single }
    }

    /// Pieces before and behind the text, such as a start that some models of GPT-2's family have.
    pub fn begun_by(start: u32) -> Self {
        let added = TemplatePart::Added { ids: vec![start], segment: 0 };
        Self { single: vec![added, TemplatePart::Text { text: 0, segment: 0 }], pair: None }
    }
}
