//! A macro for enums whose variants have names.

/// Declares an enum with a constant `ALL` of its variants, in order, and a method `name`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        pub enum $type:ident {
            $( $(#[$about_variant:meta])* $variant:ident $(= $tag:literal)? => $name:literal, )+
        }
    ) => {
        $(#[$about])*
        pub enum $type {
            $( $(#[$about_variant])* $variant $(= $tag)?, )+
        }

        impl $type {
            /// Every variant, in the order of the tags.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// The name that errors and `dv info` print.
            pub const fn name(self) -> &'static str {
                match self {
                    $( $type::$variant => $name, )+
                }
            }
        }
    };
}

pub(crate) use named;
