//! Serialised forms of types of other crates, and of doubles: modules for serde's attribute `with`. Knows no search.

/// Fields, with the names of their kind and type.
pub(crate) mod field {
    use docvalues_column::{Field, Kind, LogicalType};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(field: &Field, to: S) -> Result<S::Ok, S::Error> {
        (&field.name, field.kind.name(), field.logical.name(), &field.format).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Field, D::Error> {
        let (name, kind, logical, format): (String, String, String, Option<String>) =
            Deserialize::deserialize(from)?;
        let known = Kind::ALL.into_iter().find(|known| known.name() == kind);
        let kind = known.ok_or_else(|| D::Error::custom(format!("expected a kind, found \"{kind}\"")))?;
        let known = LogicalType::ALL.into_iter().find(|known| known.name() == logical);
        let logical =
            known.ok_or_else(|| D::Error::custom(format!("expected a type, found \"{logical}\"")))?;
        Ok(Field { name, kind, logical, format })
    }
}

/// Sort keys: column, whether descending, whether documents without a value come first.
pub(crate) mod sort_keys {
    use docvalues_column::SortKey;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(keys: &[SortKey], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(keys.iter().map(|key| (&key.column, key.descending, key.missing_first)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SortKey>, D::Error> {
        let keys: Vec<(String, bool, bool)> = Vec::deserialize(from)?;
        let key = |(column, descending, missing_first)| SortKey { column, descending, missing_first };
        Ok(keys.into_iter().map(key).collect())
    }
}

/// Values, numbers with the names of their types; `None` for no value.
pub(crate) mod values {
    use std::borrow::Cow;

    use docvalues_column::{LogicalType, Value};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    enum Form<'a> {
        Number(Cow<'a, str>, i64),
        Bytes(Cow<'a, [u8]>),
    }

    fn form(value: &Value) -> Form<'_> {
        match value {
            Value::Bytes(bytes) => Form::Bytes(bytes.as_slice().into()),
            number => Form::Number(number.logical().name().into(), number.stored().unwrap_or_default()),
        }
    }

    pub(crate) fn serialize<S: Serializer>(values: &[Option<Value>], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|value| value.as_ref().map(form)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Option<Value>>, D::Error> {
        let value = |form: Form<'_>| -> Result<Value, D::Error> {
            let (name, number) = match form {
                Form::Bytes(bytes) => return Ok(Value::Bytes(bytes.into_owned())),
                Form::Number(name, number) => (name, number),
            };
            let mut types = LogicalType::ALL.into_iter().filter(|known| !known.is_bytes());
            let known = types.find(|known| known.name() == name);
            let expected = || D::Error::custom(format!("expected a type of numbers, found \"{name}\""));
            Ok(Value::of(known.ok_or_else(expected)?, number))
        };
        let forms: Vec<Option<Form<'_>>> = Vec::deserialize(from)?;
        forms.into_iter().map(|form| form.map(value).transpose()).collect()
    }
}

/// Addresses: part and document.
pub(crate) mod address {
    use docvalues_column::{DocAddress, DocId};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(address: &DocAddress, to: S) -> Result<S::Ok, S::Error> {
        (address.part, address.doc.get()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DocAddress, D::Error> {
        let (part, doc) = Deserialize::deserialize(from)?;
        Ok(DocAddress { part, doc: DocId::new(doc) })
    }
}

/// Doubles as their bits, since some formats have no NaN, and others round.
pub(crate) mod double {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(double: &f64, to: S) -> Result<S::Ok, S::Error> {
        double.to_bits().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

/// As [`double`], for a list.
pub(crate) mod doubles {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(doubles: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(doubles.iter().map(|double| double.to_bits()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let bits: Vec<u64> = Vec::deserialize(from)?;
        Ok(bits.into_iter().map(f64::from_bits).collect())
    }
}
