/* Writes a picture of scalar values as a PNG, coloured by a heat map.
 *
 * The smallest valid encoder: 8-bit palette, no filter, and a zlib stream of
 * stored blocks, so that the examples need no library. */
#ifndef GANGWAY_EXAMPLES_PNG_H
#define GANGWAY_EXAMPLES_PNG_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t png_crc(uint32_t crc, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
  }
  return crc;
}

static inline void png_word(uint8_t *out, uint32_t value) {
  for (int i = 0; i < 4; ++i)
    out[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A chunk: length, four-letter kind, content, checksum of kind and content. */
static inline void png_chunk(FILE *file, const char *kind, const uint8_t *content,
                             size_t size) {
  uint8_t word[4];
  png_word(word, (uint32_t)size);
  fwrite(word, 1, 4, file);
  fwrite(kind, 1, 4, file);
  fwrite(content, 1, size, file);
  uint32_t crc = png_crc(0xffffffffu, (const uint8_t *)kind, 4);
  png_word(word, ~png_crc(crc, content, size));
  fwrite(word, 1, 4, file);
}

/* Dark blue through violet and orange to pale yellow; `position` is 0 to 1. */
static inline void png_heat_colour(double position, uint8_t *rgb) {
  static const double stops[][3] = {
      {10, 10, 32},   {42, 16, 92},   {98, 20, 122},  {158, 34, 110},
      {212, 62, 76},  {243, 112, 38}, {252, 174, 44}, {252, 250, 178}};
  const int last = (int)(sizeof stops / sizeof *stops) - 1;
  double scaled = position * last;
  int index = scaled >= last ? last - 1 : (int)scaled;
  double part = scaled - index;
  for (int channel = 0; channel < 3; ++channel)
    rgb[channel] = (uint8_t)(stops[index][channel] * (1.0 - part) +
                             stops[index + 1][channel] * part + 0.5);
}

/* Writes width x height palette indices. Answers 0, or -1 if that failed. */
static inline int png_write(const char *path, const uint8_t *pixels, int width,
                            int height) {
  enum { BLOCK = 65535 };
  size_t row = (size_t)width + 1, raw_size = row * (size_t)height;
  size_t blocks = (raw_size + BLOCK - 1) / BLOCK;
  uint8_t *raw = calloc(raw_size, 1);
  uint8_t *stream = malloc(2 + raw_size + 5 * blocks + 4);
  FILE *file = fopen(path, "wb");
  if (!raw || !stream || !file) {
    free(raw);
    free(stream);
    if (file)
      fclose(file);
    return -1;
  }
  /* Every row begins with a filter byte, 0 for none. */
  for (int y = 0; y < height; ++y)
    memcpy(raw + row * (size_t)y + 1, pixels + (size_t)width * (size_t)y,
           (size_t)width);

  size_t used = 0;
  stream[used++] = 0x78;
  stream[used++] = 0x01;
  uint32_t low = 1, high = 0; /* Adler-32 */
  for (size_t at = 0; at < raw_size; at += BLOCK) {
    size_t size = raw_size - at < BLOCK ? raw_size - at : BLOCK;
    stream[used++] = at + size == raw_size;
    stream[used++] = (uint8_t)size;
    stream[used++] = (uint8_t)(size >> 8);
    stream[used++] = (uint8_t)~size;
    stream[used++] = (uint8_t)(~size >> 8);
    memcpy(stream + used, raw + at, size);
    used += size;
    for (size_t i = at; i < at + size; ++i) {
      low = (low + raw[i]) % 65521;
      high = (high + low) % 65521;
    }
  }
  png_word(stream + used, high << 16 | low);
  used += 4;

  uint8_t header[13], palette[3 * 256];
  png_word(header, (uint32_t)width);
  png_word(header + 4, (uint32_t)height);
  memcpy(header + 8, "\x08\x03\x00\x00\x00", 5); /* 8 bits, palette */
  for (int i = 0; i < 256; ++i)
    png_heat_colour(i / 255.0, palette + 3 * i);
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
  png_chunk(file, "IHDR", header, sizeof header);
  png_chunk(file, "PLTE", palette, sizeof palette);
  png_chunk(file, "IDAT", stream, used);
  png_chunk(file, "IEND", NULL, 0);
  int failed = ferror(file);
  failed |= fclose(file);
  free(raw);
  free(stream);
  return failed ? -1 : 0;
}

#endif
