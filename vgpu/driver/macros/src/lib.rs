//! The attribute `entry`, which exports a function of the CUDA driver API or of the HSA runtime API.
//!
//! It belongs to `gangway-driver` and `gangway-hsa-driver`, and names items that both crates have:
//! `abi::Status`, `api::entry::run` and `api::exports::entry`.
//! Functions are ordinary items, so that rustfmt, the compiler's messages and editors see them as
//! they are.

#![warn(clippy::must_use_candidate, clippy::use_self)]

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, FnArg, Ident, ItemFn, Pat, Result, Token, parse_macro_input};

/// Exports a function to C under its own name, inside the guard `api::entry::run`:
///
/// ```ignore
/// /// Starts the driver.
/// #[entry(before_init)]
/// fn cuInit(_: &Call, flags: u32) -> Result { ... }
///
/// #[entry(per_thread = cuMemcpyDtoH_v2_ptds)]
/// fn cuMemcpyDtoH_v2(call: &Call, to: Memory, from: CUdeviceptr, size: usize) -> Result { ... }
/// ```
///
/// `before_init`: it may be called before `cuInit`. `per_thread`: it has a variant for
/// per-thread default streams, which is exported as well. C passes all parameters but the first.
#[proc_macro_attribute]
pub fn entry(options: proc_macro::TokenStream, function: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let options = parse_macro_input!(options as Options);
    let function = parse_macro_input!(function as ItemFn);
    exports(&options, function).unwrap_or_else(Error::into_compile_error).into()
}

#[derive(Default)]
struct Options {
    before_init: bool,
    per_thread: Option<Ident>,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let option: Ident = input.parse()?;
            if option == "before_init" {
                options.before_init = true;
            } else if option == "per_thread" {
                input.parse::<Token![=]>()?;
                options.per_thread = Some(input.parse()?);
            } else {
                return Err(Error::new(option.span(), "expected `before_init` or `per_thread = NAME`"));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// The exported function, and its variant for per-thread default streams if it has one.
fn exports(options: &Options, mut function: ItemFn) -> Result<TokenStream> {
    let attributes = std::mem::take(&mut function.attrs);
    let (name, before_init) = (&function.sig.ident, options.before_init);
    let parameters: Vec<_> = function.sig.inputs.iter().skip(1).collect();
    let arguments = parameters.iter().map(|parameter| argument(parameter)).collect::<Result<Vec<_>>>()?;
    let exports = std::iter::once(name).chain(&options.per_thread).map(|export| {
        quote! {
            #(#attributes)*
            ///
            /// # Safety
            ///
            /// Pointers are null or what the CUDA driver API says of them.
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn #export(#(#parameters),*) -> crate::abi::Status {
                #[allow(clippy::too_many_arguments, reason = "the ABI's signature")]
                #[inline]
                #function
                crate::api::entry::run(&crate::api::exports::entry::#export, #before_init, |call| {
                    #name(call, #(#arguments),*)
                })
            }
        }
    });
    Ok(exports.collect())
}

/// The name of a parameter.
fn argument(parameter: &FnArg) -> Result<&Ident> {
    match parameter {
        FnArg::Typed(typed) if let Pat::Ident(name) = &*typed.pat => Ok(&name.ident),
        other => Err(Error::new_spanned(other, "expected a name and a type, `size: usize`")),
    }
}
