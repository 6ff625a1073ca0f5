//! What a conversation can be given as, and comes back as.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::v1::Format;

/// A conversation in its provider's own shape: a whole request body or the list of its messages. What goes in comes out in the same
/// kind.
///
/// | given | comes back | exactness |
/// | --- | --- | --- |
/// | `str`, `String` | `String` | what was not changed on purpose is the same, byte for byte |
/// | `[u8]`, `Vec<u8>` | `Vec<u8>` | the same |
/// | [`Value`], `[Value]`, `Vec<Value>` | `Value`, `Vec<Value>` | equal values; key order and number spelling with the feature `exact-json` |
/// | [`Typed`] | `Typed` | what the type holds; an error if it does not hold what came back |
pub trait Body {
    /// The kind that comes back.
    type Output: Body;

    /// The JSON of the body.
    ///
    /// # Errors
    ///
    /// [`Error::Body`] if it cannot be written as JSON.
    fn json(&self) -> Result<Json<'_>, Error>;

    /// Makes a body of JSON. It is of the kind that [`json`](Body::json) returned.
    ///
    /// # Errors
    ///
    /// [`Error::Body`] if the kind cannot hold it.
    fn restore(json: Json<'_>) -> Result<Self::Output, Error>;

    /// The format, if the body knows it. Default: it is told from the JSON.
    fn format(&self) -> Option<Format> {
        None
    }

    /// Names the format of the body, for one whose JSON does not tell it.
    fn with_format(&self, format: Format) -> WithFormat<'_, Self> {
        WithFormat { body: self, format }
    }
}

/// The JSON of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'a> {
    /// As text.
    Text(Cow<'a, str>),
    /// As bytes, which may turn out not to be UTF-8.
    Bytes(Cow<'a, [u8]>),
}

impl Json<'_> {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// The same JSON, borrowed from nobody.
    #[must_use]
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Text(text) => Json::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Json::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with the byte offset where it is not UTF-8.
    pub fn text(&self) -> Result<&str, Error> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|e| Error::InvalidRequest {
                message: e.to_string(),
                field: Some("conversation.native.json_bytes".to_owned()),
                reason: None,
                byte_offset: Some(e.valid_up_to() as u64),
                index: None,
            }),
        }
    }

    /// Other JSON of the same kind.
    pub(crate) fn replaced(&self, bytes: Vec<u8>) -> Result<Json<'static>, Error> {
        match self {
            Self::Text(_) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Json::Text(Cow::Owned(text))),
                Err(e) => Err(Error::Internal { message: format!("the service cut a character: {e}"), error_id: None }),
            },
            Self::Bytes(_) => Ok(Json::Bytes(Cow::Owned(bytes))),
        }
    }
}

impl Body for str {
    type Output = String;

    fn json(&self) -> Result<Json<'_>, Error> {
        Ok(Json::Text(Cow::Borrowed(self)))
    }

    fn restore(json: Json<'_>) -> Result<String, Error> {
        match json {
            Json::Text(text) => Ok(text.into_owned()),
            bytes @ Json::Bytes(_) => bytes.text().map(str::to_owned),
        }
    }
}

impl Body for String {
    type Output = Self;

    fn json(&self) -> Result<Json<'_>, Error> {
        self.as_str().json()
    }

    fn restore(json: Json<'_>) -> Result<Self, Error> {
        str::restore(json)
    }
}

impl Body for [u8] {
    type Output = Vec<u8>;

    fn json(&self) -> Result<Json<'_>, Error> {
        Ok(Json::Bytes(Cow::Borrowed(self)))
    }

    fn restore(json: Json<'_>) -> Result<Vec<u8>, Error> {
        Ok(match json {
            Json::Text(text) => text.into_owned().into_bytes(),
            Json::Bytes(bytes) => bytes.into_owned(),
        })
    }
}

impl Body for Vec<u8> {
    type Output = Self;

    fn json(&self) -> Result<Json<'_>, Error> {
        self.as_slice().json()
    }

    fn restore(json: Json<'_>) -> Result<Self, Error> {
        <[u8]>::restore(json)
    }
}

impl Body for Value {
    type Output = Self;

    fn json(&self) -> Result<Json<'_>, Error> {
        write(self)
    }

    fn restore(json: Json<'_>) -> Result<Self, Error> {
        read(&json)
    }
}

impl Body for [Value] {
    type Output = Vec<Value>;

    fn json(&self) -> Result<Json<'_>, Error> {
        write(self)
    }

    fn restore(json: Json<'_>) -> Result<Vec<Value>, Error> {
        read(&json)
    }
}

impl Body for Vec<Value> {
    type Output = Self;

    fn json(&self) -> Result<Json<'_>, Error> {
        write(self)
    }

    fn restore(json: Json<'_>) -> Result<Self, Error> {
        read(&json)
    }
}

/// A body of a type of your own, or of an SDK's: anything that serde writes and reads.
///
/// A type that cannot hold a member of what comes back (for example the `cache_control` of a breakpoint) gives [`Error::Body`]; nothing
/// is dropped in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Typed<T>(pub T);

impl<T: Serialize + DeserializeOwned> Body for Typed<T> {
    type Output = Self;

    fn json(&self) -> Result<Json<'_>, Error> {
        write(&self.0)
    }

    fn restore(json: Json<'_>) -> Result<Self, Error> {
        let typed: T = read(&json)?;
        let held = serde_json::to_value(&typed).map_err(|e| Error::body(e.to_string()))?;
        match lost(&read(&json)?, &held, String::new()) {
            Some(path) => Err(Error::body(format!("{} cannot hold {path} of the result", std::any::type_name::<T>()))),
            None => Ok(Self(typed)),
        }
    }
}

/// The first place of `whole` that `held` does not have. What `held` has beyond that is its type's business.
fn lost(whole: &Value, held: &Value, path: String) -> Option<String> {
    match (whole, held) {
        (Value::Object(whole), Value::Object(held)) => whole.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match held.get(key) {
                Some(held) => lost(value, held, path),
                None if value.is_null() => None,
                None => Some(path),
            }
        }),
        (Value::Array(whole), Value::Array(held)) if whole.len() == held.len() => {
            (0..whole.len()).find_map(|i| lost(&whole[i], &held[i], format!("{path}[{i}]")))
        }
        (Value::Number(a), Value::Number(b)) => (a != b && a.as_f64() != b.as_f64()).then_some(path),
        _ => (whole != held).then_some(path),
    }
}

/// A body with its format. Made by [`Body::with_format`].
#[derive(Debug, Clone, Copy)]
pub struct WithFormat<'a, B: ?Sized> {
    body: &'a B,
    format: Format,
}

impl<B: Body + ?Sized> Body for WithFormat<'_, B> {
    type Output = B::Output;

    fn json(&self) -> Result<Json<'_>, Error> {
        self.body.json()
    }

    fn restore(json: Json<'_>) -> Result<Self::Output, Error> {
        B::restore(json)
    }

    fn format(&self) -> Option<Format> {
        Some(self.format)
    }
}

fn write<T: Serialize + ?Sized>(value: &T) -> Result<Json<'static>, Error> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(Json::Text(Cow::Owned(text))),
        Err(e) => Err(Error::body(format!("the body cannot be written as JSON: {e}"))),
    }
}

fn read<T: DeserializeOwned>(json: &Json<'_>) -> Result<T, Error> {
    serde_json::from_slice(json.as_bytes())
        .map_err(|e| Error::body(format!("the result cannot be read as the body was: {e}")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    fn through<B: Body + ?Sized>(body: &B) -> Result<B::Output, Error> {
        B::restore(body.json()?)
    }

    #[test]
    fn every_kind_comes_back_as_it_went() {
        let text = r#"{"z":1.50,"a":123456789012345678901234567890,"é":"\u00e9 \ud800"}"#;
        assert_eq!(through(text).unwrap(), text);
        assert_eq!(through(text.as_bytes()).unwrap(), text.as_bytes());
        assert_eq!(through(&vec![0xff_u8]).unwrap(), vec![0xff_u8]);
        assert_eq!(through(&json!({"a": [1]})).unwrap(), json!({"a": [1]}));
        assert_eq!(through(&vec![json!({"role": "user"})]).unwrap(), vec![json!({"role": "user"})]);
    }

    #[cfg(feature = "exact-json")]
    #[test]
    fn values_keep_key_order_and_number_spelling() {
        let text = r#"{"z":1.50,"a":123456789012345678901234567890,"m":-0.0,"b":1E400}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let Json::Text(got) = value.json().unwrap() else { panic!("no text") };
        assert_eq!(got.to_lowercase().replace('+', ""), text.to_lowercase());
    }

    #[test]
    fn a_lone_surrogate_fits_text_and_no_value() {
        let text = r#"["\ud800"]"#;
        assert_eq!(through(text).unwrap(), text);
        assert!(matches!(Value::restore(text.json().unwrap()), Err(Error::Body { .. })));
    }

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    struct Message {
        role: String,
        content: String,
        #[serde(default)]
        name: Option<String>,
    }

    #[test]
    fn a_type_that_cannot_hold_the_result_says_so() {
        let whole = r#"[{"role":"user","content":"hi"}]"#;
        let read = <Typed<Vec<Message>>>::restore(whole.json().unwrap()).unwrap();
        assert_eq!(read.0[0].content, "hi");
        let more = r#"[{"role":"user","content":"hi","cache_control":{"type":"ephemeral"}}]"#;
        let Err(Error::Body { message }) = <Typed<Vec<Message>>>::restore(more.json().unwrap()) else {
            panic!("no error")
        };
        assert!(message.contains("[0].cache_control"), "{message}");
    }
}
