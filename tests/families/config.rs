//! The fields of `config.json`; what is refused stands in `hostile`.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::model::Readout;
use attune_engine::pretrained::config::Plain;
use attune_engine::pretrained::{Config, Family};

#[test]
fn fields_that_are_missing_have_the_values_of_transformers() {
    let config = Config::parse(r#"{"model_type": "bert", "num_attention_heads": null}"#).expect("BERT-base");
    let bert = Plain {
        width: 768,
        layers: 12,
        heads: 12,
        hidden: 3072,
        positions: 512,
        norm: Norm::Post,
        norm_epsilon: 1e-12,
        activation: Activation::Gelu,
        mask: Mask::None,
        types: 2,
        readout: Readout::Transformed(Activation::Gelu),
    };
    let expected =
        |family, vocabulary, plain: &Plain| Config { family, vocabulary, architecture: plain.architecture() };
    assert_eq!(config, expected(Family::Bert, 30_522, &bert));
    let config = Config::parse(r#"{"model_type": "gpt2"}"#).expect("GPT-2 small");
    let gpt2 = Plain {
        norm: Norm::Pre,
        norm_epsilon: 1e-5,
        activation: Activation::GeluTanh,
        mask: Mask::Causal,
        positions: 1024,
        types: 0,
        readout: Readout::Tied,
        ..bert.clone()
    };
    assert_eq!(config, expected(Family::Gpt2, 50_257, &gpt2));
    assert_eq!(config.to_string(), "GPT-2: 12 layers of 12 heads, 768 wide, a vocabulary of 50257");
    let config = Config::parse(r#"{"model_type": "distilbert"}"#).expect("DistilBERT");
    assert_eq!(config, expected(Family::DistilBert, 30_522, &Plain { layers: 6, types: 0, ..bert }));
}

#[test]
fn fields_that_are_there_count() {
    let bert = Config::parse(include_str!("../fixtures/pretrained/bert-wild/config.json")).expect("a config");
    let hidden = |config: &Config| config.architecture.blocks[0].feed_forward;
    assert_eq!((bert.width(), bert.layers(), bert.heads(), hidden(&bert), bert.positions()), (24, 3, 3, Some(40), 40));
    let gpt2 = Config::parse(include_str!("../fixtures/pretrained/gpt2-wild/config.json")).expect("a config");
    assert_eq!((gpt2.width(), hidden(&gpt2), gpt2.vocabulary, gpt2.types()), (24, Some(96), 600, 0));
    let changed = r#"{"model_type":"gpt2","n_embd":12,"n_head":2,"n_layer":4,"n_inner":30,"scale_attn_weights":false,
        "scale_attn_by_inverse_layer_idx":true,"activation_function":"relu","tie_word_embeddings":false}"#;
    let gpt2 = Config::parse(changed).expect("a config");
    let last = &gpt2.architecture.blocks[3];
    assert_eq!((hidden(&gpt2), last.activation, gpt2.is_tied()), (Some(30), Activation::Relu, false));
    assert_eq!((last.attention.scale, last.attention.score_divisor), (false, 4.0));
    let tanh = Config::parse(r#"{"model_type":"bert","hidden_act":"gelu_pytorch_tanh"}"#).expect("a config");
    assert_eq!(tanh.architecture.blocks[0].activation, Activation::GeluTanh);
}

/// What is written is read as the same.
#[test]
fn configs_that_are_written_are_read_as_they_were() {
    for text in [
        r#"{"model_type":"bert","hidden_size":12,"num_attention_heads":2,"is_decoder":true,"tie_word_embeddings":false}"#,
        r#"{"model_type":"gpt2","n_layer":3,"scale_attn_by_inverse_layer_idx":true,"activation_function":"silu"}"#,
        r#"{"model_type":"distilbert","n_layers":2,"activation":"relu"}"#,
        r#"{"model_type":"llama","hidden_size":24,"num_attention_heads":4,"num_key_value_heads":2,"rope_theta":5e4,
            "attention_bias":true,"tie_word_embeddings":true,"max_position_embeddings":64}"#,
    ] {
        let config = Config::parse(text).expect(text);
        assert_eq!(Config::parse(&config.to_json()), Ok(config), "{text}");
    }
}

/// The sizes of well-known models, from the fields that their files have.
#[test]
fn well_known_models_have_their_numbers_of_parameters() {
    for (text, millions) in [
        (
            r#"{"model_type":"llama","hidden_size":576,"intermediate_size":1536,"num_hidden_layers":30,
            "num_attention_heads":9,"num_key_value_heads":3,"vocab_size":49152,"max_position_embeddings":8192,
            "tie_word_embeddings":true,"rope_theta":100000,"rms_norm_eps":1e-5}"#,
            134.5,
        ),
        (
            r#"{"model_type":"gpt_neox","hidden_size":512,"intermediate_size":2048,"num_hidden_layers":6,
            "num_attention_heads":8,"vocab_size":50304,"rotary_pct":0.25}"#,
            70.4,
        ),
        (
            r#"{"model_type":"gemma3_text","hidden_size":640,"intermediate_size":2048,"num_hidden_layers":18,
            "num_attention_heads":4,"num_key_value_heads":1,"head_dim":256,"vocab_size":262144,"sliding_window":512}"#,
            268.1,
        ),
        (
            r#"{"model_type":"qwen2","hidden_size":896,"intermediate_size":4864,"num_hidden_layers":24,
            "num_attention_heads":14,"num_key_value_heads":2,"vocab_size":151936,"tie_word_embeddings":true}"#,
            494.0,
        ),
        (r#"{"model_type":"modernbert"}"#, 149.7),
        (r#"{"model_type":"roberta","num_hidden_layers":6,"max_position_embeddings":514,"type_vocab_size":1}"#, 82.2),
        (
            r#"{"model_type":"gpt_neo","hidden_size":64,"num_layers":8,"num_heads":16,
            "attention_types":[[["global","local"],4]]}"#,
            3.7,
        ),
        (r#"{"model_type":"opt"}"#, 125.2),
    ] {
        let config = Config::parse(text).unwrap_or_else(|said| panic!("{text}: {said}"));
        let shapes = config.architecture.shapes(config.vocabulary, config.vocabulary);
        let count: usize = shapes.iter().map(|(_, rows, cols)| rows * cols).sum();
        let found = (count + config.vocabulary * config.width()) as f64 / 1e6;
        assert!((millions - 0.11..=millions + 0.11).contains(&found), "{config}: {found} million");
    }
}

#[test]
fn a_config_without_a_type_is_read_by_its_class() {
    for (class, family) in [
        ("GPT2LMHeadModel", Family::Gpt2),
        ("BertModel", Family::Bert),
        ("DistilBertForMaskedLM", Family::DistilBert),
        ("XLMRobertaForSequenceClassification", Family::XlmRoberta),
        ("GPTNeoForCausalLM", Family::GptNeo),
        ("GPTNeoXForCausalLM", Family::GptNeoX),
        ("Gemma3ForCausalLM", Family::Gemma3),
        ("ModernBertDecoderForCausalLM", Family::ModernBertDecoder),
        ("OpenAIGPTDoubleHeadsModel", Family::OpenAiGpt),
        ("Data2VecTextModel", Family::Data2Vec),
        ("OPTForCausalLM", Family::Opt),
    ] {
        let text = format!(
            r#"{{"architectures":["{class}"],"hidden_size":24,"num_hidden_layers":1,
            "num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":8,"num_layers":1,"num_heads":2,
            "vocab_size":9,"rotary_pct":1,"attention_types":[[["global"],1]]}}"#
        );
        let config = Config::parse(&text).unwrap_or_else(|said| panic!("{class}: {said}"));
        assert_eq!(config.family, family, "{class}");
    }
    let pictures = r#"{"architectures":["Gemma3ForConditionalGeneration"],"text_config":{"num_hidden_layers":1,
        "hidden_size":24,"vocab_size":9}}"#;
    assert_eq!(Config::parse(pictures).map(|config| config.family), Ok(Family::Gemma3Pictures));
}

/// As in transformers, where the config has both.
#[test]
fn sizes_are_read_by_the_names_that_all_models_have() {
    let text = r#"{"model_type":"gpt2","n_embd":30,"hidden_size":24,"num_hidden_layers":2,"num_attention_heads":3,
        "max_position_embeddings":40}"#;
    let config = Config::parse(text).expect("a config");
    assert_eq!((config.width(), config.layers(), config.heads(), config.positions()), (24, 2, 3, 40));
    let nomic =
        r#"{"model_type":"nomic_bert","n_embd":24,"n_layer":2,"n_head":3,"n_inner":20,"activation_function":"swiglu"}"#;
    let config = Config::parse(nomic).expect("a config of the hub");
    assert_eq!((config.width(), config.layers(), config.heads()), (24, 2, 3));
}

#[test]
fn a_window_counts_where_it_is_used() {
    for model_type in ["qwen2", "qwen3"] {
        let text = format!(
            r#"{{"model_type":"{model_type}","use_sliding_window":true,"hidden_size":24,"num_hidden_layers":2,
            "num_attention_heads":2,"num_key_value_heads":2,"head_dim":12,"sliding_window":4,
            "layer_types":["sliding_attention","full_attention"]}}"#
        );
        let windows: Vec<_> = Config::parse(&text).expect("it counts").architecture.blocks;
        assert_eq!(windows.iter().map(|block| block.attention.window.before).collect::<Vec<_>>(), [Some(3), None]);
    }
}
