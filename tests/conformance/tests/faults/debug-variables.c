// flags: -O0 -g
// A complex number that a region has for itself.
int main(void) {
  float _Complex z = 1 + 2.0f * 1.0if;
  float parts[2];
#pragma omp target map(from : parts)
  {
    parts[0] = __real__ z;
    parts[1] = __imag__ z;
  }
  return parts[0] != 1 || parts[1] != 2;
}
