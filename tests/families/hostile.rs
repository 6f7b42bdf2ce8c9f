//! Configs and tensors that do not fit, each refused by its key or tensor.

use std::fs;

use attune_engine::pretrained::{Config, load};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value, json};

use crate::folder::Folder;
use crate::{fixture, text, weights};

/// The refusal of a fixture whose config has other values in some fields.
#[track_caller]
fn said(name: &str, spelling: &str, change: &Value) -> String {
    let mut config: Map<String, Value> = serde_json::from_str(&text(name, spelling)).expect("JSON");
    config.extend(change.as_object().expect("fields").clone());
    let text = Value::Object(config).to_string();
    Config::parse(&text).err().unwrap_or_else(|| panic!("{name} opens with {change}")).to_string()
}

#[test]
fn values_that_make_no_model_are_refused_by_their_key() {
    let (new, old) = ("config.json", "config_hub.json");
    for (name, spelling, change, words) in [
        ("llama-wild", new, json!({ "num_key_value_heads": 4 }), "num_key_value_heads"),
        ("llama-wild", new, json!({ "num_key_value_heads": 0 }), "num_key_value_heads"),
        ("llama-wild", new, json!({ "num_key_value_heads": 27 }), "num_key_value_heads"),
        ("llama-wild", new, json!({ "head_dim": 0 }), "head_dim"),
        ("llama-wild", new, json!({ "head_dim": 5 }), "an even number"),
        ("llama-wild", new, json!({ "head_dim": 1_u64 << 40 }), "head_dim"),
        ("llama-wild", new, json!({ "head_dim": null, "hidden_size": 37 }), "9 heads that share a width of 37"),
        ("llama-wild", old, json!({ "rope_theta": 0 }), "0 as rope_theta"),
        ("llama-wild", old, json!({ "rope_theta": -1e4 }), "-10000 as rope_theta"),
        ("llama-wild", old, json!({ "rope_theta": "NaN" }), "rope_theta: invalid type: string \"NaN\""),
        ("llama-wild", old, json!({ "rope_theta": 1e300 }), "as rope_theta"),
        ("llama-wild", new, json!({ "rope_parameters": { "rope_theta": 0.5 } }), "0.5 as rope_theta"),
        ("llama-wild", new, json!({ "rope_parameters": [1] }), "rope_parameters.full_attention: invalid type"),
        ("llama-wild", new, json!({ "rms_norm_eps": 0 }), "rms_norm_eps"),
        ("llama-wild", new, json!({ "max_position_embeddings": 0 }), "max_position_embeddings"),
        ("llama-wild", new, json!({ "num_hidden_layers": 1_000_000_000 }), "num_hidden_layers"),
        ("llama-wild", new, json!({ "vocab_size": 1_000_000, "hidden_size": 8192 }), "MB of weights"),
        ("llama-wild", new, json!({ "mlp_bias": 1 }), "mlp_bias: invalid type"),
        ("llama3-scaling", old, json!({ "rope_scaling": { "rope_type": "llama3" } }), "a rope_type without factor"),
        ("llama3-scaling", old, json!({ "rope_scaling": { "type": "linear", "factor": 0 } }), "0 as factor"),
        ("mistral-window", new, json!({ "sliding_window": 0 }), "0 as sliding_window"),
        ("phi3-wild", new, json!({ "sliding_window": -3 }), "sliding_window: invalid value: integer `-3`"),
        ("gemma2-wild", new, json!({ "layer_types": ["full_attention"] }), "layer_types of 1 layer"),
        ("gemma2-wild", new, json!({ "sliding_window": null }), "no sliding_window"),
        ("gemma2-wild", new, json!({ "query_pre_attn_scalar": 0 }), "0 as query_pre_attn_scalar"),
        ("gemma2-wild", new, json!({ "attn_logit_softcapping": 0 }), "0 as attn_logit_softcapping"),
        ("gemma2-wild", new, json!({ "final_logit_softcapping": -1 }), "-1 as final_logit_softcapping"),
        ("gemma3-wild", old, json!({ "sliding_window_pattern": 0 }), "sliding_window_pattern"),
        ("gemma3-wild", old, json!({ "rope_local_base_freq": 0 }), "0 as rope_local_base_freq"),
        ("neox-wild", old, json!({ "rotary_pct": 0.5 }), "found 3 rotated columns of 6 in a head (rotary_pct)"),
        ("neox-wild", old, json!({ "rotary_pct": 2 }), "2 as rotary_pct"),
        ("neox-wild", old, json!({ "rotary_pct": 0 }), "found 0 rotated columns of 6"),
        ("neox-wild", old, json!({ "rotary_emb_base": 0 }), "0 as rotary_emb_base"),
        ("neo-wild", new, json!({ "attention_layers": ["global"] }), "attention_layers of 1 layer"),
        ("neo-wild", old, json!({ "attention_types": [[["global"], 1_u64 << 60]] }), "attention_layers of 4 layers"),
        ("neo-wild", new, json!({ "window_size": 0 }), "0 as window_size"),
        ("modernbert-wild", new, json!({ "local_attention": 0 }), "0 as local_attention"),
        ("modernbert-wild", old, json!({ "global_attn_every_n_layers": 0 }), "global_attn_every_n_layers"),
        ("modernbert-wild", old, json!({ "global_rope_theta": 0 }), "0 as global_rope_theta"),
        ("roberta-wild", new, json!({ "pad_token_id": 43 }), "43 as pad_token_id"),
        ("roberta-wild", new, json!({ "pad_token_id": 1_u64 << 63 }), "as pad_token_id"),
        ("roberta-wild", new, json!({ "pad_token_id": u64::MAX }), "as pad_token_id"),
    ] {
        let said = said(name, spelling, &change);
        assert!(said.contains(words) && said.len() < 900, "{name}, {change}: {said}\nlacks: {words}");
    }
}

#[test]
fn mathematics_that_is_not_there_is_refused_by_its_name() {
    for (name, change, words) in [
        ("llama-wild", json!({ "rope_scaling": { "rope_type": "yarn", "factor": 4 } }), "`yarn` as rope_type"),
        ("llama-wild", json!({ "rope_scaling": { "type": "dynamic", "factor": 4 } }), "`dynamic` as rope_type"),
        ("phi3-wild", json!({ "rope_scaling": { "type": "longrope", "short_factor": [] } }), "`longrope` as rope_type"),
        (
            "qwen3-wild",
            json!({ "layer_types": ["full_attention", "linear_attention", "full_attention"] }),
            "`linear_attention` as layer_types",
        ),
        ("llama-wild", json!({ "num_local_experts": 8 }), "8 as the number of experts (num_local_experts)"),
        ("qwen3-wild", json!({ "num_experts": 128 }), "128 as the number of experts (num_experts)"),
        ("llama-wild", json!({ "add_cross_attention": true }), "attention to a second model"),
        ("gemma3-wild", json!({ "use_bidirectional_attention": true }), "`use_bidirectional_attention: false`"),
        ("phi-wild", json!({ "qk_layernorm": true }), "`qk_layernorm: false`"),
        ("roberta-wild", json!({ "position_embedding_type": "relative_key" }), "as position_embedding_type"),
        ("llama-wild", json!({ "hidden_act": "quick_gelu" }), "`quick_gelu` as hidden_act"),
        ("llama-wild", json!({ "model_type": "gpt_oss" }), "attention sinks"),
        ("llama-wild", json!({ "model_type": "mixtral" }), "experts"),
    ] {
        let said = said(name, "config_hub.json", &change);
        assert!(said.contains(words), "{name}, {change}: {said}\nlacks: {words}");
    }
}

/// The refusal of a fixture, one of whose tensors has another shape and as many zeros.
fn said_of(name: &str, tensor: &str, shape: &[usize]) -> String {
    let folder = Folder::new("hostile");
    fs::copy(fixture(name).join("config.json"), folder.join("config.json")).expect("a copy");
    let bytes = fs::read(&weights(name)[0]).expect("weights");
    let zeros = vec![0; shape.iter().product::<usize>() * 4];
    let file = SafeTensors::deserialize(&bytes).expect("tensors");
    let other = TensorView::new(Dtype::F32, shape.to_vec(), &zeros).expect("a tensor");
    let tensors = file.iter().filter(|(name, _)| *name != tensor).chain([(tensor, other)]);
    fs::write(folder.join("model.safetensors"), safetensors::serialize(tensors, None).expect("bytes"))
        .expect("written");
    load(&folder.0, &mut |_| true).err().unwrap_or_else(|| panic!("{name} opens with {tensor} {shape:?}")).to_string()
}

#[test]
fn tensors_that_do_not_fit_are_refused_by_their_name() {
    for (name, tensor, shape, words) in [
        ("phi3-wild", "model.layers.1.self_attn.qkv_proj.weight", &[71, 36][..], "(71, 36); expected (72, 36)"),
        ("phi3-wild", "model.layers.0.mlp.gate_up_proj.weight", &[80, 35], "(80, 35); expected (80, 36)"),
        ("modernbert-wild", "model.layers.2.attn.Wqkv.weight", &[30, 90], "(30, 90); expected (90, 30)"),
        ("modernbert-wild", "model.layers.2.mlp.Wi.weight", &[26, 30], "(26, 30); expected (52, 30)"),
        ("neox-wild", "gpt_neox.layers.0.attention.query_key_value.bias", &[30], "(30); expected (90)"),
        ("neox-wild", "gpt_neox.layers.0.attention.query_key_value.weight", &[3, 30, 30], "expected (90, 30)"),
        ("llama-wild", "model.layers.0.self_attn.k_proj.weight", &[36, 36], "expected (12, 36)"),
        ("qwen3-wild", "model.layers.0.self_attn.q_norm.weight", &[48], "(48); expected (8)"),
        ("olmo2-wild", "model.layers.0.self_attn.q_norm.weight", &[6], "(6); expected (36)"),
        ("roberta-wild", "roberta.embeddings.position_embeddings.weight", &[42, 28], "expected (44, 28)"),
        // A part that the config does not mention would be left out of the mathematics.
        ("llama-wild", "model.layers.1.self_attn.q_proj.bias", &[36], "does not mention"),
        ("llama-wild", "model.layers.1.self_attn.q_norm.weight", &[4], "does not mention"),
        ("modernbert-wild", "model.layers.0.attn_norm.weight", &[30], "does not mention"),
    ] {
        let said = said_of(name, tensor, shape);
        assert!(said.contains(words) && said.contains(tensor), "{name}, {tensor}: {said}\nlacks: {words}");
    }
}
