// Streams and events: order, asynchrony, answers.
#include "cuda_api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int gate, ran, order;
static pthread_t main_thread;

static void hold(void *unused) {
    (void)unused;
    while (!atomic_load(&gate)) usleep(50);
}

static void count(void *data) {
    CHECK(!pthread_equal(pthread_self(), main_thread));
    CHECK(data == &ran);
    atomic_fetch_add(&ran, 1);
}

static void in_order(void *number) {
    CHECK(atomic_fetch_add(&order, 1) == (int)(intptr_t)number);
}

static void callback(CUstream stream, CUresult result, void *data) {
    CHECK(result == SUCCESS && stream != NULL);
    // Waiting here would be for itself; asking is no harm.
    EXPECT(NOT_PERMITTED, cuStreamSynchronize(stream));
    EXPECT(NOT_READY, cuStreamQuery(stream));
    *(int *)data = 7;
}

static void answers(CUcontext context) {
    CUstream stream, other;
    unsigned flags;
    int priority, least, greatest;
    unsigned long long id, other_id;
    CUcontext found;
    CUdevice device;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreateWithPriority(&other, 0, -100));
    OK(cuStreamGetFlags(stream, &flags));
    CHECK(flags == 1);
    OK(cuStreamGetFlags(other, &flags));
    CHECK(flags == 0);
    OK(cuStreamGetFlags(NULL, &flags));
    CHECK(flags == 0);
    OK(cuStreamGetPriority(other, &priority));
    CHECK(priority == greatest);
    OK(cuStreamGetId(stream, &id));
    OK(cuStreamGetId(other, &other_id));
    CHECK(id != other_id);
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &id));
    OK(cuStreamGetId_ptsz(NULL, &other_id));
    CHECK(id == other_id);
    OK(cuStreamGetId(CU_STREAM_LEGACY, &other_id));
    CHECK(id != other_id);
    OK(cuStreamGetCtx(stream, &found));
    CHECK(found == context);
    OK(cuStreamGetDevice(stream, &device));
    CHECK(device == 0);
    uint64_t value[8] = {3}, read[8];
    OK(cuStreamSetAttribute(stream, 3, value));
    OK(cuStreamCopyAttributes(other, stream));
    OK(cuStreamGetAttribute(other, 3, read));
    CHECK(read[0] == 3);
    EXPECT(INVALID_VALUE, cuStreamSetAttribute(stream, 77, value));
    EXPECT(INVALID_VALUE, cuStreamCreate(&stream, 99));
    EXPECT(INVALID_VALUE, cuStreamCreate(NULL, 0));
    OK(cuStreamDestroy_v2(other));
    EXPECT(INVALID_HANDLE, cuStreamDestroy_v2(other));
    EXPECT(INVALID_HANDLE, cuStreamSynchronize(other));
    EXPECT(INVALID_HANDLE, cuStreamQuery((CUstream)(intptr_t)0x1234560));
    OK(cuStreamDestroy_v2(stream));
}

static void asynchrony(void) {
    CUstream stream;
    CUevent event, timed;
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&event, 2));
    OK(cuEventCreate(&timed, 0));
    OK(cuEventQuery(event));
    OK(cuLaunchHostFunc(stream, hold, NULL));
    OK(cuEventRecord(event, stream));
    EXPECT(NOT_READY, cuStreamQuery(stream));
    EXPECT(NOT_READY, cuEventQuery(event));
    // The legacy stream has nothing to do with this one.
    OK(cuStreamSynchronize(NULL));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));

    OK(cuLaunchHostFunc(stream, count, &ran));
    while (atomic_load(&ran) == 0) usleep(50);

    int told = 0;
    OK(cuStreamAddCallback(stream, callback, &told, 0));
    OK(cuStreamSynchronize(stream));
    CHECK(told == 7);
    EXPECT(INVALID_VALUE, cuStreamAddCallback(stream, callback, &told, 1));
    EXPECT(INVALID_VALUE, cuLaunchHostFunc(stream, NULL, NULL));

    float time;
    EXPECT(INVALID_HANDLE, cuEventElapsedTime(&time, event, timed));
    EXPECT(INVALID_HANDLE, cuEventElapsedTime(&time, timed, timed));
    EXPECT(INVALID_VALUE, cuEventCreate(&event, 4));
    EXPECT(INVALID_VALUE, cuEventCreate(&event, 8));
    OK(cuEventDestroy_v2(timed));
    EXPECT(INVALID_HANDLE, cuEventRecord(timed, stream));
    OK(cuStreamDestroy_v2(stream));
}

static void hold_and_nap(void *unused) {
    hold(unused);
    usleep(20000);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static void times(void) {
    CUstream stream;
    CUevent start, end;
    float time;
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 1));
    // It does not end by itself: this thread may be held up for longer than it takes.
    atomic_store(&gate, 0);
    double began = now();
    OK(cuEventRecord(start, stream));
    OK(cuLaunchHostFunc(stream, hold_and_nap, NULL));
    OK(cuEventRecord(end, stream));
    EXPECT(NOT_READY, cuEventElapsedTime(&time, start, end));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(end));
    double took = now() - began;
    OK(cuEventElapsedTime(&time, start, end));
    // The events lie within what the host has measured; a float is good for six digits.
    CHECK(time >= 20.0f && time <= took * 1.0001 + 0.001);
    OK(cuStreamDestroy_v2(stream));
}

static void default_streams(void) {
    CUstream blocking;
    OK(cuStreamCreate(&blocking, 0));
    atomic_store(&gate, 0);
    OK(cuLaunchHostFunc(blocking, hold, NULL));
    OK(cuLaunchHostFunc(blocking, in_order, (void *)0));
    OK(cuLaunchHostFunc(NULL, in_order, (void *)1));
    OK(cuLaunchHostFunc(blocking, in_order, (void *)2));
    OK(cuLaunchHostFunc(CU_STREAM_LEGACY, in_order, (void *)3));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, in_order, (void *)4));
    EXPECT(NOT_READY, cuStreamQuery(NULL));
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize_ptsz(NULL));
    CHECK(atomic_load(&order) == 5);
    OK(cuStreamDestroy_v2(blocking));
}

static void across_streams(void) {
    CUstream from, to;
    CUevent event;
    CUdeviceptr memory;
    enum { N = 1 << 20 };
    unsigned *result;
    OK(cuMemAlloc_v2(&memory, N * sizeof(unsigned)));
    OK(cuMemAllocHost_v2((void **)&result, N * sizeof(unsigned)));
    OK(cuStreamCreate(&from, 1));
    OK(cuStreamCreate(&to, 1));
    OK(cuEventCreate(&event, 2));
    for (unsigned round = 0; round < 50; round++) {
        OK(cuMemsetD32Async(memory, round, N, from));
        OK(cuEventRecord(event, from));
        OK(cuStreamWaitEvent(to, event, 0));
        OK(cuMemcpyDtoHAsync_v2(result, memory, N * sizeof(unsigned), to));
        OK(cuEventRecord(event, to));
        OK(cuStreamWaitEvent(from, event, 0));
        OK(cuStreamSynchronize(to));
        for (unsigned i = 0; i < N; i += 1023) CHECK(result[i] == round);
    }
    EXPECT(INVALID_VALUE, cuStreamWaitEvent(to, event, 5));
    OK(cuMemFree_v2(memory));
    OK(cuMemFreeHost(result));
    OK(cuStreamDestroy_v2(from));
    OK(cuStreamDestroy_v2(to));
}

static void values(void) {
    CUstream stream, writer;
    CUdeviceptr flag;
    unsigned value;
    OK(cuMemAlloc_v2(&flag, 16));
    OK(cuMemsetD32_v2(flag, 0, 4));
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&writer, 1));
    OK(cuStreamWaitValue32_v2(stream, flag, 5, 0));
    OK(cuMemsetD32Async(flag + 4, 9, 1, stream));
    usleep(2000);
    EXPECT(NOT_READY, cuStreamQuery(stream));
    OK(cuStreamWriteValue32_v2(writer, flag, 6, 0));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&value, flag + 4, 4));
    CHECK(value == 9);
    BatchOperation batch[2] = {
        {.operation = 5, .address = flag + 8, .value = 1ull << 40},
        {.operation = 4, .address = flag + 8, .value = 1ull << 40, .flags = 1},
    };
    OK(cuStreamBatchMemOp_v2(stream, 2, batch, 0));
    OK(cuStreamSynchronize(stream));
    // Fewer than 256 at once; more are refused unread.
    static BatchOperation many[255];
    for (int i = 0; i < 255; i++) many[i] = (BatchOperation){.operation = 2, .address = flag + 12, .value = i + 1};
    OK(cuStreamBatchMemOp_v2(stream, 255, many, 0));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&value, flag + 12, 4));
    CHECK(value == 255);
    EXPECT(INVALID_VALUE, cuStreamBatchMemOp_v2(stream, 256, (BatchOperation *)16, 0));
    EXPECT(INVALID_VALUE, cuStreamBatchMemOp_v2(stream, UINT32_MAX, (BatchOperation *)16, 0));
    EXPECT(INVALID_VALUE, cuStreamBatchMemOp_v2(stream, 0, many, 0));
    EXPECT(INVALID_VALUE, cuStreamWaitValue32_v2(stream, flag + 1, 0, 0));
    EXPECT(INVALID_VALUE, cuStreamWaitValue64_v2(stream, flag + 16, 0, 0));
    EXPECT(INVALID_VALUE, cuStreamWriteValue64_v2(stream, 0x1000, 0, 0));
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(writer));
    OK(cuMemFree_v2(flag));
}

static void managed(void) {
    CUdeviceptr memory;
    OK(cuMemAllocManaged(&memory, 4096, 1));
    OK(cuStreamAttachMemAsync(NULL, memory, 0, 4));
    EXPECT(INVALID_VALUE, cuStreamAttachMemAsync(NULL, memory, 0, 3));
    OK(cuMemFree_v2(memory));
    EXPECT(INVALID_VALUE, cuStreamAttachMemAsync(NULL, memory, 0, 1));
}

int main(void) {
    main_thread = pthread_self();
    CUcontext context = start();
    answers(context);
    asynchrony();
    times();
    default_streams();
    across_streams();
    values();
    managed();
    OK(cuCtxSynchronize());
    // A context that goes takes its streams along, waits or not.
    CUstream stream;
    CUdeviceptr flag;
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&flag, 4));
    OK(cuStreamWaitValue32_v2(stream, flag, 77, 1));
    OK(cuCtxDestroy_v2(context));
    EXPECT(INVALID_HANDLE, cuStreamDestroy_v2(stream));
    return 0;
}
