//! `#[derive(Document)]` of [docvalues](https://docs.rs/docvalues), which re-exports it in its module `document` with
//! the feature `derive`.
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, GenericParam, Ident, LitStr, Result, Type};

/// Implements `docvalues::document::Document` for a struct with named fields: see there.
#[proc_macro_derive(Document, attributes(document))]
pub fn document(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// A field of the struct that is a field of documents.
struct Column<'a> {
    member: &'a Ident,
    of: &'a Type,
    name: String,
    kind: TokenStream,
}

/// The `#[document(…)]` attributes of a field.
#[derive(Default)]
struct Options {
    rename: Option<LitStr>,
    kind: Option<LitStr>,
    is_id: bool,
    is_version: bool,
    is_skipped: bool,
}

impl Options {
    fn of(field: &Field) -> Result<Options> {
        let mut options = Options::default();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("document")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    options.rename = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("kind") {
                    options.kind = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("id") {
                    options.is_id = true;
                } else if meta.path.is_ident("version") {
                    options.is_version = true;
                } else if meta.path.is_ident("skip") {
                    options.is_skipped = true;
                } else {
                    return Err(
                        meta.error("expected `rename = \"…\"`, `kind = \"…\"`, `id`, `version` or `skip`")
                    );
                }
                Ok(())
            })?;
        }
        Ok(options)
    }

    /// The kind of the column, as an expression.
    fn kind(&self, of: &Type) -> Result<TokenStream> {
        let kind = self.kind.as_ref().map(|kind| (kind.span(), kind.value()));
        match kind.as_ref().map(|(span, kind)| (span, kind.as_str())) {
            None if self.is_id => Ok(quote!(::docvalues::Kind::Binary)),
            None => Ok(quote!(::docvalues::document::kind::<#of>())),
            Some((_, "binary")) => Ok(quote!(::docvalues::Kind::Binary)),
            Some((span, _)) if self.is_id => Err(Error::new(*span, "an id is binary")),
            Some((_, "sorted")) => Ok(quote!(::docvalues::Kind::Sorted)),
            Some((span, _)) => Err(Error::new(*span, "expected \"binary\" or \"sorted\"")),
        }
    }
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.span(), "only structs are documents"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.span(), "only structs with named fields are documents"));
    };
    let lifetime = match input.generics.params.iter().collect::<Vec<_>>()[..] {
        [] => None,
        [GenericParam::Lifetime(only)] => Some(&only.lifetime),
        _ => {
            return Err(Error::new(
                input.generics.span(),
                "a document has at most one lifetime, and no types",
            ));
        }
    };
    let (mut columns, mut skipped) = (Vec::new(), Vec::new());
    let (mut id, mut version) = (quote!(::core::option::Option::None), quote!(::core::option::Option::None));
    for field in &fields.named {
        let Some(member) = &field.ident else { continue };
        let options = Options::of(field)?;
        if options.is_skipped {
            skipped.push(member);
            continue;
        }
        let name = options.rename.as_ref().map_or_else(|| member.unraw().to_string(), LitStr::value);
        for (is_this, which, what) in
            [(options.is_id, &mut id, "id"), (options.is_version, &mut version, "version")]
        {
            if is_this {
                if which.to_string().contains("Some") {
                    return Err(Error::new(field.span(), format!("a document has one {what}")));
                }
                *which = quote!(::core::option::Option::Some(#name));
            }
        }
        columns.push(Column { member, of: &field.ty, name, kind: options.kind(&field.ty)? });
    }
    let of_row = lifetime.map_or_else(|| quote!('row), |lifetime| quote!(#lifetime));
    let of_struct = lifetime.map(|lifetime| quote!(<#lifetime>));
    let (this, at) = (&input.ident, (0..columns.len()).collect::<Vec<_>>());
    let (members, types): (Vec<_>, Vec<_>) = columns.iter().map(|column| (column.member, column.of)).unzip();
    let (names, kinds): (Vec<_>, Vec<_>) = columns.iter().map(|column| (&column.name, &column.kind)).unzip();
    Ok(quote! {
        impl<#of_row> ::docvalues::document::Document<#of_row> for #this #of_struct {
            const NAMES: &'static [&'static str] = &[#(#names),*];
            const ID: ::core::option::Option<&'static str> = #id;
            const VERSION: ::core::option::Option<&'static str> = #version;

            fn fields() -> ::std::vec::Vec<::docvalues::Field> {
                ::std::vec![#(::docvalues::Field::new(
                    #names, #kinds, <#types as ::docvalues::document::ToValue>::LOGICAL
                )),*]
            }

            fn write(
                &self,
                ids: &[::docvalues::FieldId],
                doc: &mut ::docvalues::writer::Document<'_>,
            ) -> ::core::result::Result<(), ::docvalues::writer::Error> {
                #(::docvalues::document::ToValue::write(&self.#members, ids[#at], doc)?;)*
                ::core::result::Result::Ok(())
            }

            fn read(row: &::docvalues::search::export::Row<#of_row>) -> ::docvalues::search::Result<Self> {
                ::core::result::Result::Ok(#this {
                    #(#members: row.get(#at)?,)*
                    #(#skipped: ::core::default::Default::default(),)*
                })
            }
        }
    })
}
