# Which of GCC's compilers scripts call, in one place: `. scripts/compilers.sh`.
#
# It is the release of Debian that chooses, as in tests/compilers: the commands without a number are
# its own GCC. GANGWAY_TEST_GCC=13 chooses another version that is installed.
# shellcheck shell=bash
# shellcheck disable=SC2034  # For those who read this file.
gcc=gcc${GANGWAY_TEST_GCC:+-$GANGWAY_TEST_GCC}
gfortran=gfortran${GANGWAY_TEST_GCC:+-$GANGWAY_TEST_GCC}
