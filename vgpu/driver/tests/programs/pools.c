// Memory that is allocated and freed in the order of streams.
#include "kernels.h"
#include <stdatomic.h>
#include <unistd.h>

enum { THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

static atomic_int gate;

static void hold(void *unused) {
    (void)unused;
    while (!atomic_load(&gate)) usleep(50);
}

static uint64_t get(CUmemoryPool pool, int attribute) {
    uint64_t value;
    OK(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void set(CUmemoryPool pool, int attribute, uint64_t value) {
    OK(cuMemPoolSetAttribute(pool, attribute, &value));
}

int main(void) {
    CUcontext context = start();
    CUstream stream;
    CUmemoryPool pool, other, found;
    CUdeviceptr memory, again;
    unsigned result[4];
    OK(cuStreamCreate(&stream, 1));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuDeviceGetMemPool(&found, 0));
    CHECK(pool == found && pool != NULL);

    // Use between allocation and free, all in one stream.
    OK(cuMemAllocAsync(&memory, 1000, stream));
    OK(cuMemsetD32Async(memory, 42, 250, stream));
    OK(cuMemcpyDtoHAsync_v2(result, memory + 16, 16, stream));
    OK(cuMemFreeAsync(memory, stream));
    EXPECT(INVALID_VALUE, cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(result[0] == 42 && result[3] == 42);
    CHECK(get(pool, USED) == 0 && get(pool, USED_HIGH) == 1000 && get(pool, RESERVED) == 0);
    EXPECT(INVALID_VALUE, cuMemsetD32Async(memory, 0, 1, stream));
    EXPECT(INVALID_VALUE, cuMemFreeAsync(memory, stream));
    EXPECT(INVALID_VALUE, cuMemAllocAsync(&memory, 0, stream));
    OK(cuMemFreeAsync(0, stream));

    // Freed in turn, not before.
    OK(cuMemAllocAsync(&memory, 64, stream));
    OK(cuLaunchHostFunc(stream, hold, NULL));
    OK(cuMemFreeAsync(memory, stream));
    CHECK(get(pool, USED) == 64);
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(stream));
    CHECK(get(pool, USED) == 0);

    // Kept up to the threshold, and used again.
    set(pool, THRESHOLD, 1 << 20);
    OK(cuMemAllocAsync(&memory, 4096, stream));
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(get(pool, RESERVED) == 4096);
    OK(cuMemAllocAsync(&again, 4096, stream));
    CHECK(again == memory && get(pool, RESERVED) == 4096);
    OK(cuMemFree_v2(again));
    CHECK(get(pool, USED) == 0 && get(pool, RESERVED) == 4096);
    // What the pool keeps is not the program's any more, so it cannot be freed again.
    EXPECT(INVALID_VALUE, cuMemFree_v2(memory));
    EXPECT(INVALID_VALUE, cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemAllocAsync(&again, 4096, stream));
    CHECK(again == memory && get(pool, RESERVED) == 4096);
    OK(cuMemsetD32Async(again, 7, 1024, stream));
    OK(cuMemFreeAsync(again, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemPoolTrimTo(pool, 0));
    CHECK(get(pool, RESERVED) == 0);
    set(pool, USED_HIGH, 0);
    CHECK(get(pool, USED_HIGH) == 0);
    uint64_t wrong = 5;
    EXPECT(INVALID_VALUE, cuMemPoolSetAttribute(pool, USED_HIGH, &wrong));
    EXPECT(INVALID_VALUE, cuMemPoolSetAttribute(pool, USED, &wrong));
    EXPECT(INVALID_VALUE, cuMemPoolGetAttribute(pool, 99, &wrong));
    int reuse = 0;
    OK(cuMemPoolSetAttribute(pool, 2, &reuse));
    reuse = 9;
    OK(cuMemPoolGetAttribute(pool, 2, &reuse));
    CHECK(reuse == 0);

    // Ordinary memory can be freed in order, too.
    OK(cuMemAlloc_v2(&memory, 100));
    OK(cuMemFreeAsync(memory, stream));
    EXPECT(INVALID_VALUE, cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(INVALID_VALUE, cuMemFree_v2(memory));

    // A pool of one's own, with a limit, as the device's.
    PoolProperties properties = {.allocType = 1, .location = {1, 0}, .maxSize = 8192};
    OK(cuMemPoolCreate(&other, &properties));
    properties.location.id = 99;
    EXPECT(101, cuMemPoolCreate(&found, &properties));
    properties = (PoolProperties){.allocType = 1, .handleTypes = 1, .location = {1, 0}};
    EXPECT(NOT_SUPPORTED, cuMemPoolCreate(&found, &properties));
    OK(cuDeviceSetMemPool(0, other));
    EXPECT(INVALID_VALUE, cuDeviceSetMemPool(1, other));
    OK(cuMemAllocAsync(&memory, 8000, stream));
    CHECK(get(other, USED) == 8000);
    EXPECT(OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&again, 8000, other, stream));
    EXPECT(OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&again, SIZE_MAX - 100, other, stream));
    // With a free on the way there is room.
    OK(cuMemFreeAsync(memory, stream));
    OK(cuMemAllocFromPoolAsync(&again, 8000, other, stream));
    OK(cuMemPoolDestroy(other));
    OK(cuDeviceGetMemPool(&found, 0));
    CHECK(found == pool);
    OK(cuMemsetD32Async(again, 1, 2000, stream));
    OK(cuMemFreeAsync(again, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(INVALID_VALUE, cuMemPoolDestroy(pool));
    EXPECT(INVALID_VALUE, cuMemPoolDestroy(other));

    // Access of the other device.
    int flags;
    Location location = {1, 1};
    AccessDescription access = {location, 3};
    OK(cuMemPoolGetAccess(&flags, pool, &location));
    CHECK(flags == 0);
    OK(cuMemPoolSetAccess(pool, &access, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &location));
    CHECK(flags == 3);
    access = (AccessDescription){{1, 0}, 0};
    EXPECT(INVALID_VALUE, cuMemPoolSetAccess(pool, &access, 1));

    // More than there is.
    EXPECT(OUT_OF_MEMORY, cuMemAllocAsync(&memory, (size_t)1 << 45, stream));

    // What a pool keeps makes room before it is full.
    properties = (PoolProperties){.allocType = 1, .location = {1, 0}, .maxSize = 8192};
    OK(cuMemPoolCreate(&other, &properties));
    set(other, THRESHOLD, 1 << 20);
    OK(cuMemAllocFromPoolAsync(&memory, 4096, other, stream));
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(get(other, RESERVED) == 4096);
    OK(cuMemAllocFromPoolAsync(&memory, 8000, other, stream));
    CHECK(get(other, RESERVED) == 8000);
    EXPECT(OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&again, 193, other, stream));
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    // What could never fit costs the pool nothing.
    EXPECT(OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&again, 8193, other, stream));
    CHECK(get(other, RESERVED) == 8000);
    OK(cuMemPoolDestroy(other));

    // A free whose turn never comes, as its context has failed: the memory can still be freed.
    CUstream failing;
    Kernels kernels = load_kernels();
    uint64_t used = get(pool, USED);
    OK(cuMemAllocAsync(&memory, 4096, stream));
    OK(cuStreamCreate(&failing, 1));
    atomic_store(&gate, 0);
    OK(cuLaunchHostFunc(stream, hold, NULL));
    OK(cuMemFreeAsync(memory, stream));
    OK(launch(kernels.stray, 1, failing, NULL));
    EXPECT(ILLEGAL_ADDRESS, cuStreamSynchronize(failing));
    atomic_store(&gate, 1);
    OK(cuCtxDestroy_v2(context));
    OK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(get(pool, USED) == used + 4096);
    // The end of a failed context waits for no host function: the free behind it goes when it returns.
    CUresult freed;
    while ((freed = cuMemFreeAsync(memory, NULL)) == INVALID_VALUE) usleep(50);
    OK(freed);
    OK(cuCtxSynchronize());
    CHECK(get(pool, USED) == used);
    OK(cuCtxDestroy_v2(context));
    return 0;
}
