//! The model of jobs A: an embedding, one layer of attention without a residual connection or norms, the mean over
//! positions, and a linear readout of one class for each sentence. All of it is trained.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::{Architecture, AttentionModel, Classes, Pooling, Readout};
use attune_engine::numerics::positions::Positions;

pub struct Sizes {
    pub vocabulary: usize,
    pub tokens: usize,
    pub sentences: usize,
    pub width: usize,
    pub heads: usize,
}

impl Sizes {
    pub fn rows(&self) -> usize {
        self.sentences * self.tokens
    }

    pub fn model(&self) -> AttentionModel<f32> {
        let attention = AttentionConfig::multi_head(self.width, self.heads);
        let architecture = Architecture {
            train_embedding: true,
            blocks: vec![BlockConfig { residual: false, ..BlockConfig::plain(attention.clone()) }],
            pooling: Pooling::Mean,
            readout: Readout::Linear,
            ..Architecture::of_attention(attention, Positions::None, self.tokens)
        };
        let embedding = Arc::new(Matrix::zeros(self.vocabulary, self.width).into());
        AttentionModel::new(architecture, embedding, Classes::Labels(self.vocabulary))
    }
}
