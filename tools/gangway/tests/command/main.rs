//! The `gangway` command as a user runs it, on programs that stock compilers make.

mod check;
mod compile;
mod crash_place;
mod env;
mod full_disk;
mod info;
mod inspect;
mod member_name;
mod mutants;
mod pages;
mod report;
mod run;
mod scratch;
mod support;
