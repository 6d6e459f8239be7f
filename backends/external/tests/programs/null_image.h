/* Makes a program that clang compiled for x86-64 devices bring an image for the
 * null back end too, as a compiler with such a target would: between the program
 * and the runtime, the images that are registered get a companion, which is the
 * same code behind the null back end's magic. All else is the compiler's.
 *
 * ONLY_NULL=1 in the environment leaves the x86-64 images out. */
#ifndef NULL_IMAGE_H
#define NULL_IMAGE_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
  const char *start, *end;
  const void *entries_begin, *entries_end;
};
struct descriptor {
  int32_t count;
  struct image *images;
  const void *entries_begin, *entries_end;
};

static struct image images[2];
static struct descriptor both = {0, images, NULL, NULL};

static void call_runtime(const char *name)
{
  void (*function)(struct descriptor *) = (void (*)(struct descriptor *))dlsym(RTLD_NEXT, name);
  if (!function)
    abort();
  function(&both);
}

void __tgt_register_lib(struct descriptor *compilers)
{
  static const char magic[] = "GWNULL\0kernel prepare\nelf\n";
  const size_t magic_size = sizeof magic - 1;
  if (compilers->count != 1)
    abort();
  const struct image *original = compilers->images;
  size_t size = original->end - original->start;
  char *copy = malloc(magic_size + size);
  memcpy(copy, magic, magic_size);
  memcpy(copy + magic_size, original->start, size);
  struct image null = *original;
  null.start = copy;
  null.end = copy + magic_size + size;
  if (!getenv("ONLY_NULL"))
    images[both.count++] = *original;
  images[both.count++] = null;
  both.entries_begin = compilers->entries_begin;
  both.entries_end = compilers->entries_end;
  call_runtime("__tgt_register_lib");
}

void __tgt_unregister_lib(struct descriptor *compilers)
{
  (void)compilers;
  call_runtime("__tgt_unregister_lib");
}

/* Ends the program if something is not as it has to be. */
#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);               \
      _Exit(1);                                                                             \
    }                                                                                       \
  } while (0)

#endif
