/* Makes a program that clang compiled for x86-64 devices bring an image for the
 * null back end too, as a compiler with such a target would: between the program
 * and the runtime, the images that are registered get a companion, which is the
 * same code behind the null back end's magic. All else is the compiler's.
 *
 * ONLY_NULL=1 in the environment leaves the x86-64 images out. With RANKED=1 there are three
 * images for the null back end: for its oldest device, a better one that is broken, and one
 * for a device that is newer still. With RANKED=0 the first of them is missing. */
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

static struct image images[4];
static struct descriptor both = {0, images, NULL, NULL};

static void call_runtime(const char *name)
{
  void (*function)(struct descriptor *) = (void (*)(struct descriptor *))dlsym(RTLD_NEXT, name);
  if (!function)
    abort();
  function(&both);
}

/* Adds an image: these lines, then the compiler's code. */
static void add_image(const struct image *original, const char *lines, size_t lines_size)
{
  size_t size = original->end - original->start;
  char *copy = malloc(lines_size + size);
  memcpy(copy, lines, lines_size);
  memcpy(copy + lines_size, original->start, size);
  struct image null = *original;
  null.start = copy;
  null.end = copy + lines_size + size;
  images[both.count++] = null;
}
#define ADD_IMAGE(original, lines) add_image(original, lines, sizeof(lines) - 1)

void __tgt_register_lib(struct descriptor *compilers)
{
  if (compilers->count != 1)
    abort();
  const struct image *original = compilers->images;
  const char *ranked = getenv("RANKED");
  if (!getenv("ONLY_NULL"))
    images[both.count++] = *original;
  if (!ranked) {
    ADD_IMAGE(original, "GWNULL\0kernel prepare\nelf\n");
  } else {
    if (*ranked == '1')
      ADD_IMAGE(original, "GWNULL\0arch 1\nkernel prepare\nelf\n");
    ADD_IMAGE(original, "GWNULL\0arch 2\nkernel missing\nelf\n");
    ADD_IMAGE(original, "GWNULL\0arch 3\nkernel prepare\nelf\n");
  }
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
