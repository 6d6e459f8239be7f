//! The CUDA driver API of the virtual GPU: libcuda.so.1.
