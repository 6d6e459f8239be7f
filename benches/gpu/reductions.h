/* A sum and a triad of the same arrays of ELEMENT; kernels.c includes it for each type. */

static ELEMENT *NAMED(a), *NAMED(b), *NAMED(c);

static void NAMED(setup)(void) {
  ELEMENT *p = NAMED(a) = block(ELEMENTS * sizeof *p);
  ELEMENT *q = NAMED(b) = block(ELEMENTS * sizeof *q);
  ELEMENT *r = NAMED(c) = block(ELEMENTS * sizeof *r);
  for (long i = 0; i < ELEMENTS; ++i)
    q[i] = (ELEMENT)(i % 16), r[i] = (ELEMENT)(i % 3);
#pragma omp target enter data map(to : p[0 : ELEMENTS], q[0 : ELEMENTS], r[0 : ELEMENTS])
}

static void NAMED(triad)(void) {
  ELEMENT *p = NAMED(a), *q = NAMED(b), *r = NAMED(c);
#pragma omp target teams distribute parallel for                                                    \
    map(to : p[0 : ELEMENTS], q[0 : ELEMENTS], r[0 : ELEMENTS])
  for (long i = 0; i < ELEMENTS; ++i)
    p[i] = q[i] + (ELEMENT)2 * r[i];
}

static void NAMED(triad_check)(void) {
  ELEMENT *p = NAMED(a);
#pragma omp target update from(p[0 : ELEMENTS])
  for (long i = 0; i < ELEMENTS; ++i)
    require(p[i] == (ELEMENT)(i % 16 + 2 * (i % 3)), "an element is wrong");
}

static void NAMED(sum)(void) {
  ELEMENT *q = NAMED(b), sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)                                 \
    map(to : q[0 : ELEMENTS]) map(tofrom : sum)
  for (long i = 0; i < ELEMENTS; ++i)
    sum += q[i];
  total = (double)sum;
}

static void NAMED(sum_check)(void) { require(near(total, 7.5 * ELEMENTS, 1e-3), "the sum is wrong"); }

#undef ELEMENT
#undef NAMED
