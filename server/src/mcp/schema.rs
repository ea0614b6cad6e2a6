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
        Takes::Objects(shape) => json!({"type": "array", "items": input_schema(shape)}),
        Takes::Variables => json!({"type": "object", "additionalProperties": {"type": "string"}}),
    };
    let mut property = match shape {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    property.insert("description".to_owned(), json!(parameter.text));
    property
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use dtmcp_core::guide::tools::TOOLS;

    use super::*;

    /// The contract's parameters, in its order; one it has and we have not works only later.
    const CONTRACT: &[(&str, &str)] = &[
        ("session_create", "name command cwd env cols rows prompt_pattern delete_logs_on_close adopt"),
        ("run", "session line timeout until show show_after last_lines save_to typing prompt_pattern"),
        ("expect", "session line timeout rules until show show_after last_lines save_to"),
        ("send", "session text keys signal screen settle"),
        ("wait", "session timeout until show show_after last_lines save_to"),
        ("read", "session view region from to last_lines max_lines numbers"),
        ("search", "session all pattern region context max_hits ignore_case from to"),
        ("regions", "session last status pattern"),
        ("shell_integrate", "session"),
        ("session_resize", "session cols rows follow"),
        ("session_list", "session closed"),
        ("session_close", "session window"),
        ("guide", "topic"),
    ];

    #[test]
    fn parameters_stand_in_the_order_of_the_contract() {
        assert!(TOOLS.iter().map(|tool| tool.name).eq(CONTRACT.iter().map(|(name, _)| *name)));
        for (tool, (_, all)) in TOOLS.iter().zip(CONTRACT) {
            let schema = input_schema(tool);
            let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            let expected: Vec<&str> =
                all.split(' ').filter(|name| tool.parameters.iter().any(|p| p.name == *name)).collect();
            assert_eq!(names, expected, "{}", tool.name);
        }
    }

    #[test]
    fn schemas_are_small_and_plain() {
        for tool in TOOLS {
            let schema = Value::Object(input_schema(tool));
            let text = schema.to_string();
            assert!(text.len() <= 4000, "{}: {} bytes", tool.name, text.len());
            check(&schema, tool.name);
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["additionalProperties"], false);
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["type"].is_string(), "{}.{name}", tool.name);
                assert!(!property["description"].as_str().unwrap().is_empty(), "{}.{name}", tool.name);
            }
        }
    }

    /// No keyword beyond those that every client takes.
    fn check(schema: &Value, place: &str) {
        const KEYWORDS: &[&str] = &[
            "type",
            "properties",
            "required",
            "additionalProperties",
            "description",
            "enum",
            "items",
            "minimum",
            "maximum",
        ];
        for (key, value) in schema.as_object().unwrap() {
            assert!(KEYWORDS.contains(&key.as_str()), "{place}: {key}");
            match key.as_str() {
                "properties" => value.as_object().unwrap().iter().for_each(|(name, inner)| check(inner, name)),
                "items" => check(value, place),
                "additionalProperties" if value.is_object() => check(value, place),
                "type" => assert!(value.is_string() && value != "null", "{place}"),
                _ => {}
            }
        }
    }
}
