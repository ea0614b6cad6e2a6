//! Input schemas, built from the table of tools.
//!
//! Only what every client accepts: an object with properties of plain types. References, alternatives, formats and
//! null types make one client or another refuse or strip a schema, so none is ever written.

use dtmcp_core::guide::tools::{Parameter, Takes, Tool};
use serde_json::{Map, Value, json};

/// The input schema of a tool, its properties in the table's order.
#[must_use]
pub fn input_schema(tool: &Tool) -> Map<String, Value> {
    let mut properties = Map::new();
    for parameter in tool.parameters {
        properties.insert(parameter.name.to_owned(), Value::Object(property(parameter)));
    }
    let required: Vec<&str> = tool.parameters.iter().filter(|p| p.required).map(|p| p.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn property(parameter: &Parameter) -> Map<String, Value> {
    let shape = match parameter.takes {
        Takes::Text | Takes::Pattern => json!({"type": "string"}),
        Takes::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Takes::Seconds { max } => json!({"type": "number", "minimum": 0, "maximum": max}),
        Takes::Flag => json!({"type": "boolean"}),
        Takes::Choice(words) => json!({"type": "string", "enum": words}),
        Takes::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Takes::Variables => json!({"type": "object", "additionalProperties": {"type": "string"}}),
    };
    let mut property = match shape {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    property.insert("description".to_owned(), json!(parameter.text));
    property
}
