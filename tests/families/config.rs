//! The fields of `config.json`, and what is refused.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::model::Readout;
use attune_engine::pretrained::config::Plain;
use attune_engine::pretrained::{Config, Family};

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let said = Config::parse(text).expect_err(text).to_string();
    for words in words {
        assert!(said.contains(words), "{said}\nlacks: {words}");
    }
}

fn bert(fields: &str) -> String {
    format!(r#"{{"model_type":"bert",{fields}}}"#)
}

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
    let tanh = Config::parse(&bert_with_act("gelu_pytorch_tanh")).expect("a config");
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
        assert!((found - millions).abs() <= 0.11, "{config}: {found} million");
    }
}

fn bert_with_act(name: &str) -> String {
    bert(&format!(r#""hidden_act":"{name}""#))
}

#[test]
fn families_that_are_not_known_are_refused_by_name() {
    refused(
        r#"{"model_type":"strange"}"#,
        &["the model_type `strange`", "bert, gpt2, distilbert", "only models of these families"],
    );
    refused(r#"{"model_type":"gpt_oss"}"#, &["the model_type `gpt_oss`", "attention sinks", "experts"]);
    refused(r#"{"model_type":"qwen3_next"}"#, &["linear attention"]);
    refused(r#"{"model_type":7}"#, &["a model_type that is not text"]);
    refused(r#"{"model_type":"deberta-v2"}"#, &["words and positions separately (disentangled attention)"]);
    refused(r#"{"model_type":"bloom"}"#, &["fixed slopes (ALiBi)"]);
    refused(r#"{"model_type":"albert"}"#, &["narrower than the layers"]);
    refused(r#"{"model_type":"electra"}"#, &["128 as embedding_size", "256 wide", "narrower than the layers"]);
    refused("[]", &["invalid type: sequence, expected a map at line 1 column 2"]);
    refused("{", &["EOF", "a config in JSON"]);
    refused(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), &["invalid type: sequence, expected a map"]);
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
    refused(
        r#"{"architectures":["DebertaV2ForMaskedLM"]}"#,
        &["no model_type, and the class `DebertaV2", "disentangled"],
    );
    refused(r#"{"architectures":["MyModel"]}"#, &["the class `MyModel`", "only models of these families"]);
    refused("{}", &["no model_type and no architectures", r#"such as "model_type": "bert""#]);
    refused(r#"{"n_embd":8,"architectures":[]}"#, &[r#"such as "model_type": "gpt2""#]);
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
fn a_window_that_does_not_count_is_said_to_be_one() {
    for model_type in ["qwen2", "qwen3"] {
        let text = format!(
            r#"{{"model_type":"{model_type}","hidden_size":24,"num_hidden_layers":2,
            "num_attention_heads":2,"num_key_value_heads":2,"head_dim":12,"sliding_window":4,
            "layer_types":["sliding_attention","full_attention"]}}"#
        );
        refused(&text, &["layers with a window (layer_types)", "use_sliding_window is not true"]);
        let counts = text.replace("\"sliding_window\"", "\"use_sliding_window\":true,\"sliding_window\"");
        let windows: Vec<_> = Config::parse(&counts).expect("it counts").architecture.blocks;
        assert_eq!(windows.iter().map(|block| block.attention.window.before).collect::<Vec<_>>(), [Some(3), None]);
        let none = counts.replace("\"sliding_window\":4", "\"sliding_window\":null");
        refused(&none, &["and no sliding_window"]);
    }
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    refused(&bert(r#""hidden_size":770"#), &["12 heads that share a width of 770", "divide evenly"]);
    refused(&bert(r#""num_hidden_layers":0"#), &["0 as the number of layers", "1 to 128"]);
    refused(&bert(r#""num_hidden_layers":129"#), &["129 as the number of layers"]);
    refused(&bert(r#""hidden_size":8193"#), &["8193 as the width", "1 to 8192"]);
    refused(&bert(r#""num_attention_heads":512,"hidden_size":1024"#), &["512 as the number of heads"]);
    refused(&bert(r#""vocab_size":1000001"#), &["the vocabulary", "1 to 1000000"]);
    refused(&bert(r#""max_position_embeddings":65537"#), &["positions", "1 to 65536"]);
    refused(&bert(r#""type_vocab_size":100000"#), &["100000 token types"]);
    refused(&bert(r#""hidden_size":8192,"num_attention_heads":64"#), &["MB of weights", "at most 2048 MB"]);
    refused(&bert(r#""hidden_size":-1"#), &["hidden_size: invalid value: integer `-1`", "at line 1 column 37"]);
    refused(&bert(r#""hidden_size":"big""#), &["hidden_size: invalid type: string \"big\"", "at line 1 column 40"]);
    refused(&bert(r#""layer_norm_eps":0"#), &["0 as the norm's epsilon"]);
    refused(&bert(r#""layer_norm_eps":[]"#), &["layer_norm_eps: invalid type: sequence, expected f64"]);
    refused(r#"{"model_type":"gpt2","n_embd":18446744073709551615}"#, &["as the width"]);
}

#[test]
fn forms_that_attune_does_not_compute_are_refused() {
    refused(&bert_with_act("gleu"), &["`gleu` as hidden_act", "gelu, gelu_new", "was gelu meant?"]);
    refused(&bert_with_act("quick_gelu"), &["`quick_gelu` as hidden_act"]);
    refused(&bert(r#""hidden_act":7"#), &["hidden_act: invalid type: integer `7`, expected a string"]);
    refused(&bert(r#""position_embedding_type":"relative_key""#), &["`relative_key` as position_embedding_type"]);
    refused(r#"{"model_type":"gpt2","add_cross_attention":true}"#, &["attention to a second model"]);
    refused(
        r#"{"model_type":"gpt2","scale_attn_weights":1}"#,
        &["scale_attn_weights: invalid type: integer `1`", "expected a boolean"],
    );
}
