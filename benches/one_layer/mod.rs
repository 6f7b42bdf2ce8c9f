//! The model of jobs A: embedding, one layer of attention without residual or norm, the mean over
//! positions, and a linear readout of one class for each sentence; everything trained.

use std::sync::Arc;

use attune::numerics::Matrix;
use attune::numerics::attention::AttentionConfig;
use attune::numerics::block::{Attends, BlockConfig, Norm};
use attune::numerics::model::{Architecture, AttentionModel, Classes, Pooling, Readout};
use attune::numerics::positions::Positions;

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
        let block = BlockConfig {
            attention: AttentionConfig::multi_head(self.width, self.heads),
            attends: Attends::OwnSentence,
            residual: false,
            norm: Norm::None,
            feed_forward: None,
        };
        let architecture = Architecture {
            width: self.width,
            max_tokens: self.tokens,
            positions: Positions::None,
            train_embedding: true,
            source_blocks: Vec::new(),
            blocks: vec![block],
            pooling: Pooling::Mean,
            readout: Readout::Linear,
        };
        let embedding = Arc::new(Matrix::zeros(self.vocabulary, self.width));
        AttentionModel::new(architecture, embedding, Classes::Labels(self.vocabulary))
    }
}
