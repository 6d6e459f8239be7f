/* Routines that libgomp has since GCC 13 to 16, found by name: the libgomp of GCC 12 has none of them
   for the linker. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HOST = -1, INVALID = -4, DEFAULT = -5, TARGETSYNC = 2 };

static void *find(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    CHECK(function);
    return function;
}

static void memory(void)
{
    void *(*mapped)(const void *, int) = find("omp_get_mapped_ptr");
    int (*accessible)(const void *, size_t, int) = find("omp_target_is_accessible");
    void *(*fill)(void *, int, size_t, int) = find("omp_target_memset");
    int (*copy)(void *, const void *, size_t, size_t, size_t, int, int, int, omp_depend_t *) =
        find("omp_target_memcpy_async");
    void *(*fill_later)(void *, int, size_t, int, int, omp_depend_t *) = find("omp_target_memset_async");
    int a[4] = {1, 2, 3, 4};
    #pragma omp target enter data map(to: a)
    int *there = mapped(&a[1], 0), got = 0;
    CHECK(there && mapped(&a[1], DEFAULT) == there && mapped(a, HOST) == a);
    CHECK(accessible(there, sizeof *there, 0) && accessible(a, sizeof a, HOST));
    #pragma omp target is_device_ptr(there) map(from: got)
    got = there[2];
    CHECK(got == 4);
    CHECK(fill(there, 0, 8, DEFAULT) == there);
    #pragma omp target update from(a)
    CHECK(a[0] == 1 && a[1] == 0 && a[2] == 0 && a[3] == 4);
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        omp_depend_t object;
        #pragma omp depobj(object) depend(inout: there)
        fill_later(there, 1, 4, 0, 1, &object);
        CHECK(copy(a, there, 4, 0, 0, HOST, 0, 1, &object) == 0);
        #pragma omp taskwait
        #pragma omp depobj(object) destroy
    }
    CHECK(a[0] == 0x01010101);
    #pragma omp target exit data map(delete: a)
    CHECK(mapped(a, 0) == NULL);
}

static void names(void)
{
    const char *(*name_of)(int) = find("omp_get_uid_from_device");
    int (*device_of)(const char *) = find("omp_get_device_from_uid");
    void (*name_of_)(const char **, size_t *, int32_t) = find("omp_get_uid_from_device_");
    int (*device_of_)(const char *, size_t) = find("omp_get_device_from_uid_");
    CHECK(device_of(name_of(0)) == 0 && device_of(name_of(HOST)) == HOST && device_of("nothing") == INVALID);
    CHECK(name_of(7) == NULL && name_of(DEFAULT) == name_of(0));
    const char *name;
    size_t length;
    name_of_(&name, &length, 0);
    CHECK(name == name_of(0) && length == strlen(name) && device_of_(name, length) == 0);
    CHECK(device_of_(name, length - 1) == INVALID);
    name_of_(&name, &length, 7);
    CHECK(name == NULL && length == 0);
}

static void interop(void)
{
    void (*construct)(int, int, void ***, const int *, const char **, int, void **, int, void ***, unsigned, void **) =
        find("GOMP_interop");
    intptr_t (*number)(void *, int, int *) = find("omp_get_interop_int");
    void *(*pointer)(void *, int, int *) = find("omp_get_interop_ptr");
    const char *(*text)(void *, int, int *) = find("omp_get_interop_str");
    /* prefer_type: opencl, or hip. */
    static const char preferred[] = {-128, 3, -128, 0, -128, 5, -128, 0, 0};
    const char *list[2] = {preferred, NULL};
    void *one = NULL, *other = NULL, **both[2] = {&one, &other};
    const int types[2] = {TARGETSYNC, 1};
    int code;
    construct(DEFAULT, 2, both, types, list, 0, NULL, 0, NULL, 0, NULL);
    CHECK(one && other);
    CHECK(number(one, -1, &code) == 5 && code == 0 && !strcmp(text(one, -2, NULL), "hip"));
    CHECK(number(one, -5, NULL) == 0 && number(one, -7, &code) == 0 && code == 0);
    CHECK(pointer(one, -7, &code) == NULL && code == -3);
    CHECK(pointer(one, -9, &code) && (intptr_t) pointer(one, -9, NULL) == number(one, -9, NULL));
    CHECK(number(other, -1, NULL) == 1 && pointer(other, -9, &code) == NULL && code == 1);
    /* CUDA's runtime has no contexts. */
    CHECK(pointer(other, -8, &code) == NULL && code == 1 && pointer(one, -8, &code) && code == 0);
    CHECK(text(NULL, -2, &code) == NULL && code == -1 && text(one, -20, &code) == NULL && code == -2);
    construct(DEFAULT, 0, NULL, NULL, NULL, 1, &one, 2, both, 1, NULL);
    CHECK(!one && !other);
    construct(HOST, 1, both, types, NULL, 0, NULL, 0, NULL, 0, NULL);
    CHECK(!one);
}

int main(void)
{
    memory();
    names();
    interop();
    puts("passed");
}
