/* Clang reads the version of a CUDA toolkit here, and chooses the version of PTX by it.
   A program that includes <cuda.h> gets the header of the toolkit it is compiled with. */
#if defined(__has_include_next)
#if __has_include_next(<cuda.h>)
#include_next <cuda.h>
#endif
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION 12080
#endif
