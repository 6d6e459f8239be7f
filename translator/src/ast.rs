//! What libclang knows of a file: the only module that calls it.
//!
//! The library is loaded when the first file needs it. What leaves this module owns its data.
#![allow(unsafe_code, reason = "libclang is a C library")]
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ffi::{CStr, CString, OsStr, c_char, c_uint};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, ptr};

use clang_sys::*;

use crate::error::Error;

/// The versions that are known to show all that is asked here.
const VERSIONS: [&str; 2] = ["22.", "23."];

/// A file's text in the place of what is on disk.
#[derive(Debug)]
pub struct Unsaved<'t> {
    pub file: &'t Path,
    pub text: &'t [u8],
}

/// A parsed file.
pub struct Unit {
    index: CXIndex,
    unit: CXTranslationUnit,
}

/// A part of the syntax tree; valid as long as its unit, which it borrows.
#[derive(Clone, Copy)]
pub struct Node<'u> {
    cursor: CXCursor,
    _unit: std::marker::PhantomData<&'u Unit>,
}

/// A type.
#[derive(Clone, Copy)]
pub struct Type<'u> {
    raw: CXType,
    _unit: std::marker::PhantomData<&'u Unit>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: PathBuf,
    pub at: usize,
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: both are this unit's, and nodes borrow it.
        unsafe {
            clang_disposeTranslationUnit(self.unit);
            clang_disposeIndex(self.index);
        }
    }
}

/// Loads the library, once a thread.
fn load() -> Result<(), Error> {
    if clang_sys::is_loaded() {
        return Ok(());
    }
    let advice = "install it (Debian: apt-get install libclang1-22), or set LIBCLANG_PATH to its folder";
    clang_sys::load().map_err(|error| {
        Error::Library(format!("reverse offload needs libclang 22 or 23; {advice}: {error}"))
    })?;
    // SAFETY: the library is loaded.
    let version = unsafe { owned(clang_getClangVersion()) };
    if version.split_whitespace().any(|word| VERSIONS.iter().any(|known| word.starts_with(known))) {
        return Ok(());
    }
    Err(Error::Library(format!("reverse offload needs libclang 22 or 23, and this is {version}; {advice}")))
}

/// The variable that `clang-sys` asks where the library is.
const FOLDER: &str = "LIBCLANG_PATH";

/// Has the library of a compiler's own installation be used if there is one, and the user has chosen none.
/// Without that, all folders below `/usr/lib` are searched, which takes longer than reading a file.
fn prefer_library_of(compiler: &[u8]) {
    let folder = || {
        let compiler = Path::new(OsStr::from_bytes(compiler)).canonicalize().ok()?;
        let folder = compiler.parent()?.parent()?.join("lib");
        let mut names =
            fs::read_dir(&folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_library = |name: String| name.starts_with("libclang-") && !name.contains("-cpp.");
        names.any(is_library).then_some(folder)
    };
    let is_alone = || fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if std::env::var_os(FOLDER).is_none()
        && is_alone()
        && let Some(folder) = folder()
    {
        // SAFETY: this is the only thread, as has just been looked up, so nobody reads the environment now.
        unsafe { std::env::set_var(FOLDER, folder) };
    }
}

/// Loads the library, of a compiler's installation if it has one, while something else is done: that takes
/// as long as a small file does. What fails here fails again, and is told, where the library is needed.
pub fn load_meanwhile<R>(compiler: &[u8], work: impl FnOnce() -> R) -> R {
    prefer_library_of(compiler);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if load().is_ok() {
                // It stays when this thread ends, and the next thread finds it loaded.
                std::mem::forget(get_library());
            }
        });
        work()
    })
}

/// # Safety
/// The string is libclang's, and nobody's else.
unsafe fn owned(string: CXString) -> String {
    // SAFETY: as the caller says; a null pointer is no text.
    unsafe {
        let text = clang_getCString(string);
        let copy =
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() };
        clang_disposeString(string);
        copy
    }
}

fn c_string(text: &[u8]) -> CString {
    CString::new(text.split(|byte| *byte == 0).next().unwrap_or_default()).unwrap_or_default()
}

impl Unit {
    /// Parses with the arguments of a compiler, among which the file is.
    ///
    /// # Errors
    /// The library is missing, or the source has errors: then what clang says of them.
    pub fn parse(arguments: &[Vec<u8>], unsaved: &[Unsaved<'_>]) -> Result<Self, Error> {
        load()?;
        let arguments: Vec<CString> = arguments.iter().map(|argument| c_string(argument)).collect();
        let arguments: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let names: Vec<CString> =
            unsaved.iter().map(|file| c_string(file.file.as_os_str().as_encoded_bytes())).collect();
        let mut files: Vec<CXUnsavedFile> = unsaved
            .iter()
            .zip(&names)
            .map(|(file, name)| CXUnsavedFile {
                Filename: name.as_ptr(),
                Contents: file.text.as_ptr().cast(),
                Length: file.text.len() as u64,
            })
            .collect();
        // SAFETY: the library is loaded; all pointers live until the end of the call.
        unsafe {
            let index = clang_createIndex(0, 0);
            let mut unit = ptr::null_mut();
            let code = clang_parseTranslationUnit2FullArgv(
                index,
                ptr::null(),
                arguments.as_ptr(),
                arguments.len() as i32,
                files.as_mut_ptr(),
                files.len() as c_uint,
                CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing,
                &raw mut unit,
            );
            if code != CXError_Success || unit.is_null() {
                clang_disposeIndex(index);
                return Err(Error::Library(format!("libclang cannot parse the file: its error {code}")));
            }
            Ok(Self { index, unit })
        }
    }

    /// What clang says of errors in the source; `None` without errors.
    #[must_use]
    pub fn errors(&self) -> Option<String> {
        self.errors_but(|_| false)
    }

    /// The same, without errors that are none, by the line that says them.
    #[must_use]
    pub fn errors_but(&self, is_none: impl Fn(&str) -> bool) -> Option<String> {
        let mut text = String::new();
        let mut failed = false;
        // SAFETY: the unit is valid; each diagnostic is disposed of.
        unsafe {
            for at in 0..clang_getNumDiagnostics(self.unit) {
                let diagnostic = clang_getDiagnostic(self.unit, at);
                if clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error {
                    let line = told(diagnostic, "error");
                    if !is_none(&line) {
                        failed = true;
                        text += &line;
                    }
                }
                clang_disposeDiagnostic(diagnostic);
            }
        }
        failed.then_some(text)
    }

    /// What clang warns of in the source.
    #[must_use]
    pub fn warnings(&self) -> String {
        let mut text = String::new();
        // SAFETY: the unit is valid; each diagnostic is disposed of.
        unsafe {
            for at in 0..clang_getNumDiagnostics(self.unit) {
                let diagnostic = clang_getDiagnostic(self.unit, at);
                if clang_getDiagnosticSeverity(diagnostic) == CXDiagnostic_Warning {
                    text += &told(diagnostic, "warning");
                }
                clang_disposeDiagnostic(diagnostic);
            }
        }
        text
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        // SAFETY: the unit is valid.
        Node { cursor: unsafe { clang_getTranslationUnitCursor(self.unit) }, _unit: std::marker::PhantomData }
    }

    /// The bytes of a file that the preprocessor has left out.
    #[must_use]
    pub fn skipped(&self, file: &Path) -> Vec<Range<usize>> {
        let name = c_string(file.as_os_str().as_encoded_bytes());
        let mut skipped = Vec::new();
        // SAFETY: the unit is valid; the list is read within its length and disposed of.
        unsafe {
            let file = clang_getFile(self.unit, name.as_ptr());
            if file.is_null() {
                return skipped;
            }
            let list = clang_getSkippedRanges(self.unit, file);
            if list.is_null() {
                return skipped;
            }
            for at in 0..(*list).count as usize {
                let range = *(*list).ranges.add(at);
                let (start, end) = (place(clang_getRangeStart(range)), place(clang_getRangeEnd(range)));
                skipped.extend(start.zip(end).map(|(start, end)| start.at..end.at));
            }
            clang_disposeSourceRangeList(list);
        }
        skipped
    }

    /// The files that the unit includes, and whether each is a system's header.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, bool)> {
        extern "C" fn visit(file: CXFile, stack: *mut CXSourceLocation, depth: c_uint, data: CXClientData) {
            // SAFETY: libclang gives a file and at least one place where it is included from,
            // except for the main file; the data is the caller's vector.
            unsafe {
                let system = depth > 0 && clang_Location_isInSystemHeader(*stack) != 0;
                let files = &mut *data.cast::<Vec<(PathBuf, bool)>>();
                files.push((owned(clang_getFileName(file)).into(), system));
            }
        }
        let mut files: Vec<(PathBuf, bool)> = Vec::new();
        // SAFETY: the unit is valid; the vector outlives the call.
        unsafe { clang_getInclusions(self.unit, visit, (&raw mut files).cast()) };
        files
    }
}

/// A line for a diagnostic, at the place that it has for the user.
///
/// # Safety
/// The diagnostic is libclang's, and not disposed of.
unsafe fn told(diagnostic: CXDiagnostic, what: &str) -> String {
    // SAFETY: the caller's promise; the strings are disposed of.
    unsafe {
        let (mut file, mut line, mut column) = (CXString::default(), 0, 0);
        let location = clang_getDiagnosticLocation(diagnostic);
        clang_getPresumedLocation(location, &raw mut file, &raw mut line, &raw mut column);
        let message = owned(clang_getDiagnosticSpelling(diagnostic));
        format!("{}:{line}:{column}: {what}: {message}\n", owned(file))
    }
}

fn place(location: CXSourceLocation) -> Option<Place> {
    let mut file = ptr::null_mut();
    let mut at = 0;
    // SAFETY: the location is of a valid unit.
    unsafe {
        clang_getFileLocation(location, &raw mut file, ptr::null_mut(), ptr::null_mut(), &raw mut at);
        (!file.is_null()).then(|| Place { file: owned(clang_getFileName(file)).into(), at: at as usize })
    }
}

impl<'u> Node<'u> {
    const fn new(cursor: CXCursor) -> Self {
        Self { cursor, _unit: std::marker::PhantomData }
    }

    #[must_use]
    pub const fn kind(self) -> CXCursorKind {
        self.cursor.kind
    }

    #[must_use]
    pub fn name(self) -> String {
        // SAFETY: the cursor is of a valid unit.
        unsafe { owned(clang_getCursorSpelling(self.cursor)) }
    }

    #[must_use]
    pub fn children(self) -> Vec<Node<'u>> {
        extern "C" fn visit(cursor: CXCursor, _: CXCursor, data: CXClientData) -> CXChildVisitResult {
            // SAFETY: the data is the caller's vector.
            unsafe { (*data.cast::<Vec<CXCursor>>()).push(cursor) };
            CXChildVisit_Continue
        }
        let mut children: Vec<CXCursor> = Vec::new();
        // SAFETY: the cursor is of a valid unit; the vector outlives the call.
        unsafe { clang_visitChildren(self.cursor, visit, (&raw mut children).cast()) };
        children.into_iter().map(Node::new).collect()
    }

    /// Where it begins, and the byte after its end, if both are in one file.
    #[must_use]
    pub fn extent(self) -> Option<(PathBuf, usize, usize)> {
        // SAFETY: the cursor is of a valid unit.
        let (start, end) = unsafe {
            let range = clang_getCursorExtent(self.cursor);
            (place(clang_getRangeStart(range))?, place(clang_getRangeEnd(range))?)
        };
        (start.file == end.file).then_some((start.file, start.at, end.at))
    }

    #[must_use]
    pub fn place(self) -> Option<Place> {
        // SAFETY: the cursor is of a valid unit.
        place(unsafe { clang_getCursorLocation(self.cursor) })
    }

    /// What it refers to.
    #[must_use]
    pub fn referenced(self) -> Option<Node<'u>> {
        // SAFETY: the cursor is of a valid unit.
        unsafe {
            let cursor = clang_getCursorReferenced(self.cursor);
            (clang_Cursor_isNull(cursor) == 0).then(|| Node::new(cursor))
        }
    }

    /// The first declaration of what it declares.
    #[must_use]
    pub fn canonical(self) -> Node<'u> {
        // SAFETY: the cursor is of a valid unit.
        Node::new(unsafe { clang_getCanonicalCursor(self.cursor) })
    }

    #[must_use]
    pub fn parent(self) -> Node<'u> {
        // SAFETY: the cursor is of a valid unit.
        Node::new(unsafe { clang_getCursorSemanticParent(self.cursor) })
    }

    /// Whether it stands in a header of the system's.
    #[must_use]
    pub fn is_in_system_header(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        unsafe { clang_Location_isInSystemHeader(clang_getCursorLocation(self.cursor)) != 0 }
    }

    /// Whether a function is `inline`, said or not.
    #[must_use]
    pub fn is_inline(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        unsafe { clang_Cursor_isFunctionInlined(self.cursor) != 0 }
    }

    /// Whether it is another thing in each translation unit.
    #[must_use]
    pub fn is_of_its_unit(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        let linkage = unsafe { clang_getCursorLinkage(self.cursor) };
        matches!(linkage, CXLinkage_Internal | CXLinkage_UniqueExternal | CXLinkage_NoLinkage)
    }

    /// Whether a variable is a whole number that is known when it is compiled.
    #[must_use]
    pub fn is_constant_number(self) -> bool {
        let ty = self.ty();
        // SAFETY: the cursor and its type are of a valid unit; the result is disposed of.
        unsafe {
            if clang_isConstQualifiedType(clang_getCanonicalType(ty.raw)) == 0 {
                return false;
            }
            let result = clang_Cursor_Evaluate(self.cursor);
            if result.is_null() {
                return false;
            }
            let kind = clang_EvalResult_getKind(result);
            clang_EvalResult_dispose(result);
            kind == CXEval_Int
        }
    }

    /// Whether a member of a class may be named from everywhere.
    #[must_use]
    pub fn is_public(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        let access = unsafe { clang_getCXXAccessSpecifier(self.cursor) };
        // In C there is no other.
        matches!(access, CX_CXXPublic | CX_CXXInvalidAccessSpecifier)
    }

    /// Whether a member shares its bytes with others.
    #[must_use]
    pub fn is_bit_field(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        unsafe { clang_Cursor_isBitField(self.cursor) != 0 }
    }

    /// The value of what an `enum` names.
    #[must_use]
    pub fn enumerator(self) -> Option<i64> {
        // SAFETY: the cursor is of a valid unit.
        (self.kind() == CXCursor_EnumConstantDecl)
            .then(|| unsafe { clang_getEnumConstantDeclValue(self.cursor) })
    }

    /// The value of an expression that clang knows as a whole number.
    #[must_use]
    pub fn constant_value(self) -> Option<i64> {
        // SAFETY: the cursor is of a valid unit; the result is disposed of.
        unsafe {
            let result = clang_Cursor_Evaluate(self.cursor);
            if result.is_null() {
                return None;
            }
            let value = (clang_EvalResult_getKind(result) == CXEval_Int)
                .then(|| clang_EvalResult_getAsLongLong(result));
            clang_EvalResult_dispose(result);
            value
        }
    }

    /// Whether it is an expression.
    #[must_use]
    pub fn is_expression(self) -> bool {
        // SAFETY: any kind may be asked about.
        unsafe { clang_isExpression(self.kind()) != 0 }
    }

    /// What tells a declaration from all others of the program.
    #[must_use]
    pub fn identity(self) -> String {
        // SAFETY: the cursor is of a valid unit.
        unsafe { owned(clang_getCursorUSR(self.cursor)) }
    }

    /// What a binary operator does, an assignment among them.
    #[must_use]
    pub fn operator(self) -> CXBinaryOperatorKind {
        // SAFETY: the cursor is of a valid unit.
        unsafe { clang_getCursorBinaryOperatorKind(self.cursor) }
    }

    /// Whether a variable lives as long as the program.
    #[must_use]
    pub fn is_static(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        unsafe { clang_Cursor_hasVarDeclGlobalStorage(self.cursor) == 1 }
    }

    /// Whether each thread has a variable of its own.
    #[must_use]
    pub fn is_thread_local(self) -> bool {
        // SAFETY: the cursor is of a valid unit.
        unsafe { clang_getCursorTLSKind(self.cursor) != CXTLS_None }
    }

    #[must_use]
    pub fn ty(self) -> Type<'u> {
        // SAFETY: the cursor is of a valid unit.
        Type::new(unsafe { clang_getCursorType(self.cursor) })
    }
}

impl<'u> Type<'u> {
    const fn new(raw: CXType) -> Self {
        Self { raw, _unit: std::marker::PhantomData }
    }

    /// Its kind without typedefs.
    #[must_use]
    pub fn kind(self) -> CXTypeKind {
        self.canonical().raw.kind
    }

    #[must_use]
    pub const fn written_kind(self) -> CXTypeKind {
        self.raw.kind
    }

    #[must_use]
    pub fn canonical(self) -> Self {
        // SAFETY: the type is of a valid unit.
        Self::new(unsafe { clang_getCanonicalType(self.raw) })
    }

    /// Whether nothing may change it.
    #[must_use]
    pub fn is_const(self) -> bool {
        // SAFETY: the type is of a valid unit.
        unsafe { clang_isConstQualifiedType(self.canonical().raw) != 0 }
    }

    /// As it is written in source.
    #[must_use]
    pub fn spelling(self) -> String {
        // SAFETY: the type is of a valid unit.
        unsafe { owned(clang_getTypeSpelling(self.raw)) }
    }

    /// Whether what a pointer leads to is reached through no other (C17 section 6.7.3.1).
    #[must_use]
    pub fn is_restrict(self) -> bool {
        // SAFETY: the type is of a valid unit.
        unsafe { clang_isRestrictQualifiedType(self.canonical().raw) != 0 }
    }

    /// Whether nothing is known of when its objects change.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        // SAFETY: the type is of a valid unit.
        unsafe { clang_isVolatileQualifiedType(self.canonical().raw) != 0 }
    }

    /// How many bytes its objects have, if that is known.
    #[must_use]
    pub fn size(self) -> Option<u64> {
        // SAFETY: the type is of a valid unit.
        u64::try_from(unsafe { clang_Type_getSizeOf(self.raw) }).ok()
    }

    /// The multiple of bytes at which its objects begin, if that is known.
    #[must_use]
    pub fn align(self) -> Option<u64> {
        // SAFETY: the type is of a valid unit.
        u64::try_from(unsafe { clang_Type_getAlignOf(self.raw) }).ok()
    }

    /// Whether it is of whole numbers with a sign.
    #[must_use]
    pub fn is_signed(self) -> bool {
        (CXType_Char_S..=CXType_Int128).contains(&self.kind())
    }

    /// Whether it is of whole numbers.
    #[must_use]
    pub fn is_integer(self) -> bool {
        (CXType_Bool..=CXType_Int128).contains(&self.kind()) || self.kind() == CXType_Enum
    }

    /// What a pointer or reference leads to.
    #[must_use]
    pub fn pointee(self) -> Self {
        // SAFETY: the type is of a valid unit.
        Self::new(unsafe { clang_getPointeeType(self.raw) })
    }

    /// What an array consists of.
    #[must_use]
    pub fn element(self) -> Self {
        // SAFETY: the type is of a valid unit.
        Self::new(unsafe { clang_getArrayElementType(self.raw) })
    }

    #[must_use]
    pub fn declaration(self) -> Node<'u> {
        // SAFETY: the type is of a valid unit.
        Node::new(unsafe { clang_getTypeDeclaration(self.raw) })
    }
}
